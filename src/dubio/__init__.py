"""Feature selection when the labels are in doubt: soft, wrong, missing, pairwise or mostly unknown."""

from dubio._lazy import lazy_names

#: Names that were here, by the module that has them now.
_MOVED = {
    "dubio.scores.consensus": ("redundancy_ranking",),
    "dubio.target": (
        "IntervalLabels",
        "OrderedLabels",
        "PositiveLabels",
        "SeveralLabels",
        "SoftLabels",
        "Supervision",
    ),
    "dubio.trust": ("CorrectedLabels", "Fingerprints", "LabelTolerance", "NoiseModel", "Stability"),
}

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_names(
    __name__, __file__, {name: f"{module}.{name}" for module, names in _MOVED.items() for name in names}
)

"""What a selection is worth, as numbers with intervals, in words and as a table."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm as normal
from scipy.stats import t as student

Floats = NDArray[np.float64]
Measure = Literal["accuracy", "R2"]


@dataclass(frozen=True)
class Estimate:
    """A mean over folds, with its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"

    def signed(self) -> str:
        """A difference, with its sign."""
        mean, low, high = (f"{round(value, 3) + 0.0:+.3f}" for value in (self.mean, self.low, self.high))
        return f"{mean}, interval {low} to {high}"


@dataclass(frozen=True)
class SelectionEvaluation:
    """The result of :func:`evaluate_selection`. Every score is of rows that neither selection nor model has seen.

    Attributes
    ----------
    sizes : array (n_sizes,)
        Numbers of features.
    by_size, random_by_size : array (n_folds, n_sizes)
        Score of the model on the first features of the ranking, and on as many random ones.
        Random features are the first ones of the same random orders at every size.
    selected, all_features, random : array (n_folds,)
        Score of the model on the features that the selector keeps, on all features, and on as many random ones. If as
        many are kept in every fold, ``random`` is the column of ``random_by_size`` for this number of features.
    n_selected : array (n_folds,)
        Number of features kept in each fold.
    chance : array (n_folds,)
        Score of always saying the most frequent class, or the mean.
    measure : str
        "accuracy" (with probabilities, the expected one) or "R2".
    share_tested : float
        Share of the known rows in a test fold.
    confidence : float
    n_tested : float
        Number of independent rows on which the model was tested: groups count once if rows belong together, and rows of
        different weights count as fewer rows of the same weight. 0 if it is not known.
    """

    sizes: NDArray[np.int64]
    by_size: Floats
    random_by_size: Floats
    selected: Floats
    all_features: Floats
    random: Floats
    n_selected: NDArray[np.int64]
    chance: Floats
    measure: Measure
    share_tested: float
    confidence: float = 0.95
    n_tested: float = 0.0

    def estimate(self, scores: Floats) -> Estimate:
        r"""Mean of the scores of the folds, with an interval.

        Folds share most of their training rows, so their plain standard error is too small. The variance is
        :math:`\sigma^2 (1/m + n_{test} / n_{train})` for :math:`m` folds [1]_. If the folds happen to have nearly the
        same accuracy :math:`p`, this says too little about other rows: the interval is at least Wilson's of a share
        :math:`p` of all tested rows [2]_. If rows belong together, these are the groups.

        .. [1] C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
        .. [2] E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal of the
           American Statistical Association 22, 209-212.
        """
        mean, half = float(scores.mean()), self._half(scores)
        low, high = mean - half, min(mean + half, 1.0)
        if self.measure == "accuracy" and self.n_tested:
            n, z = self.n_tested, float(normal.ppf(0.5 + self.confidence / 2))
            middle = (mean + z**2 / (2 * n)) / (1 + z**2 / n)
            reach = z / (1 + z**2 / n) * float(np.sqrt(mean * (1 - mean) / n + z**2 / (4 * n**2)))
            low, high = min(low, middle - reach), max(high, min(middle + reach, 1.0))
        if self.measure == "accuracy":
            low = max(low, 0.0)
        return Estimate(mean, low, high)

    def difference(self, scores: Floats, others: Floats) -> Estimate:
        r"""Mean difference between two scores, fold by fold, with an interval.

        Two accuracies whose difference is :math:`d` differ in at least a share :math:`|d|` of the rows. So the variance
        of the difference is at least :math:`(|d| - d^2) / n`, however alike the folds are.
        """
        mean, half = float((scores - others).mean()), self._half(scores - others)
        if self.measure == "accuracy" and self.n_tested:
            error = float(np.sqrt(max(0.0, abs(mean) - mean**2) / self.n_tested))
            half = max(half, self._quantile(len(scores)) * error)
        low, high = mean - half, mean + half
        if self.measure == "accuracy":
            low, high = max(low, -1.0), min(high, 1.0)
        return Estimate(mean, low, high)

    def _quantile(self, n_folds: int) -> float:
        return float(student.ppf(0.5 + self.confidence / 2, n_folds - 1))

    def _half(self, values: Floats) -> float:
        """Half of the interval of a mean over folds."""
        m = len(values)
        spread = float(np.std(values, ddof=1)) * np.sqrt(1 / m + self.share_tested / (1 - self.share_tested))
        return float(self._quantile(m) * spread)

    @property
    def gain(self) -> Estimate:
        """Score on the selected features minus the score on all features, fold by fold."""
        return self.difference(self.selected, self.all_features)

    @property
    def gain_over_random(self) -> Estimate:
        """Score on the selected features minus the score on as many random ones, fold by fold."""
        return self.difference(self.selected, self.random)

    @property
    def above_chance(self) -> Estimate:
        """Score on the selected features minus that of a constant prediction, fold by fold."""
        return self.difference(self.selected, self.chance)

    def numbers(self, chosen: str = "selected") -> str:
        """The scores, in one sentence; ``chosen`` says which features a fold keeps, such as "related"."""
        measure = "R2" if self.measure == "R2" else "Accuracy"
        return (
            f"{measure} with the features {chosen} in each fold ({self._how_many()}): {self.estimate(self.selected)}; "
            f"with all features: {self.estimate(self.all_features)}; with as many random ones: "
            f"{self.estimate(self.random)}; by chance: {self.chance.mean():.3f}."
        )

    def _how_many(self) -> str:
        """How many features the folds keep, in words."""
        fewest, most = int(self.n_selected.min()), int(self.n_selected.max())
        return f"{most}" if fewest == most else f"{fewest} to {most}, on average {self.n_selected.mean():.3g}"

    def verdict(self) -> str:
        """Whether the selection helps, in one sentence with the difference and its interval."""
        gain, over_random, above_chance = self.gain, self.gain_over_random, self.above_chance
        if above_chance.low <= 0:
            return f"The model is not seen to be better than chance (difference {above_chance.signed()})."
        if gain.low > 0:
            return f"Selection helps: the model is better than with all features, by {gain.signed()}."
        if gain.high < 0:
            return f"Selection costs: the model is better with all features (difference {gain.signed()})."
        if over_random.low > 0:
            return (
                f"The selected features do as well as all of them (difference {gain.signed()}), and better than random "
                f"ones (by {over_random.signed()})."
            )
        if round(over_random.mean, 3) > 0:
            return f"The gain over as many random features may be chance (difference {over_random.signed()})."
        return (
            "Selection is not seen to help: as many random features do about as well (difference "
            f"{over_random.signed()})."
        )

    def headline(self) -> str:
        """What the selection is worth, in two sentences."""
        return f"{self.numbers()} {self.verdict()}"

    def record(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        scores = {"selected": self.selected, "all_features": self.all_features, "random": self.random}
        return {
            "measure": self.measure,
            "verdict": self.verdict(),
            "n_selected": float(self.n_selected.mean()),
            "n_folds": len(self.selected),
            "confidence": self.confidence,
            **{name: vars(self.estimate(values)) for name, values in scores.items()},
            "chance": float(self.chance.mean()),
            "gain": vars(self.gain),
            "gain_over_random": vars(self.gain_over_random),
            "by_size": [
                {
                    "n_features": int(size),
                    **vars(self.estimate(self.by_size[:, place])),
                    "random": float(self.random_by_size[:, place].mean()),
                }
                for place, size in enumerate(self.sizes)
            ],
        }

    def to_frame(self) -> Any:
        """One row per number of features: mean score with its interval, and that of random features (needs pandas)."""
        import pandas as pd

        frame = pd.DataFrame(self.record()["by_size"])
        return frame.rename(columns={"mean": self.measure})

    def __str__(self) -> str:
        return self.headline()

    def __repr__(self) -> str:
        selected, everything = self.selected.mean(), self.all_features.mean()
        kept = f"{self.n_selected.mean():.3g} features"
        return f"<SelectionEvaluation: {self.measure} {selected:.3f} with {kept}, {everything:.3f} with all>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.headline())}</p>{self.to_frame().round(3).to_html(index=False, border=0)}"

"""The order of the gallery: what is known of the target, labels in doubt, tables, models."""

from __future__ import annotations

from typing import Any

ORDER = (
    *("classes", "probabilities", "annotators", "few_labels", "positives", "ordered", "few_numbers", "survival"),
    *("pairs", "groups", "given", "nothing_known"),
    *("wrong_labels", "wrong_numbers", "tolerance"),
    *("together", "wide_genes", "spectrum", "stream"),
    *("pipeline", "evaluation", "alternatives", "toy_problems"),
    *("clinic", "checked", "readers", "genes", "sensors"),
)


class ByTopic:
    """A key for sorting; an example that is not listed comes last."""

    def __init__(self, src_dir: Any) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)

"""Pipelines for targets in doubt: models, folds and scores."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.pipelines.evaluation import SelectionEvaluation, evaluate_problem, evaluate_selection, usual_model
    from dubio.pipelines.models import (
        DoubtClassifier,
        DoubtRegressor,
        KnownFolds,
        expected_accuracy,
        known_r2,
        negative_expected_log_loss,
    )

__all__ = [
    "DoubtClassifier",
    "DoubtRegressor",
    "KnownFolds",
    "SelectionEvaluation",
    "evaluate_problem",
    "evaluate_selection",
    "expected_accuracy",
    "known_r2",
    "negative_expected_log_loss",
    "usual_model",
]

_HOMES = {
    "evaluation": "SelectionEvaluation evaluate_problem evaluate_selection usual_model",
    "models": "DoubtClassifier DoubtRegressor KnownFolds expected_accuracy known_r2 negative_expected_log_loss",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

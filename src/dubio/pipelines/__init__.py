"""Pipelines for targets in doubt: models, folds and scores."""

from typing import TYPE_CHECKING

from dubio._lazy import lazy_names

if TYPE_CHECKING:
    from dubio.pipelines.doubt_models import DoubtClassifier, DoubtRegressor
    from dubio.pipelines.evaluation import SelectionEvaluation, evaluate_problem, evaluate_selection, usual_model
    from dubio.pipelines.known_folds import KnownFolds
    from dubio.pipelines.scoring import expected_accuracy, known_r2, negative_expected_log_loss

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
    "doubt_models": "DoubtClassifier DoubtRegressor",
    "evaluation": "SelectionEvaluation evaluate_problem evaluate_selection usual_model",
    "known_folds": "KnownFolds",
    "scoring": "expected_accuracy known_r2 negative_expected_log_loss",
}

if not TYPE_CHECKING:  # type checkers and editors see the imports above
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)

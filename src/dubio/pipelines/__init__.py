"""Pipelines for targets in doubt: models, folds and scores."""

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

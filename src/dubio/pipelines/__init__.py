"""Models, splits and scores for targets in doubt, in scikit-learn's conventions."""

from dubio.pipelines.doubt_models import DoubtClassifier, DoubtRegressor
from dubio.pipelines.evaluation import SelectionEvaluation, evaluate_selection
from dubio.pipelines.known_folds import KnownFolds
from dubio.pipelines.scoring import expected_accuracy, known_r2, negative_expected_log_loss

__all__ = [
    "DoubtClassifier",
    "DoubtRegressor",
    "KnownFolds",
    "SelectionEvaluation",
    "evaluate_selection",
    "expected_accuracy",
    "known_r2",
    "negative_expected_log_loss",
]

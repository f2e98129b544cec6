"""Models, splits and scores for targets in doubt, in scikit-learn's conventions."""

from dubio.pipelines.doubt_models import DoubtClassifier, DoubtRegressor
from dubio.pipelines.evaluation import evaluate_problem, evaluate_selection
from dubio.pipelines.evaluation_record import SelectionEvaluation
from dubio.pipelines.known_folds import KnownFolds
from dubio.pipelines.scoring import expected_accuracy, known_r2, negative_expected_log_loss
from dubio.pipelines.usual_models import usual_model

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

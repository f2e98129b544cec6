"""Models that a selection is usually evaluated with: one linear, one of trees, one of kernels."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from dubio.errors import InputError

ModelName = Literal["logistic", "forest", "svm"]


def usual_model(
    name: ModelName, target: Literal["classes", "numbers"] = "classes", *, random_state: int = 0
) -> Pipeline:
    """A classifier, or the regressor that matches it, for columns of numbers of which some may be missing.

    Parameters
    ----------
    name : {"logistic", "forest", "svm"}
        Logistic regression, a random forest or a support vector machine with a Gaussian kernel. For numbers: ridge
        regression, a forest or a support vector regression.
    target : {"classes", "numbers"}
        What is predicted.
    random_state : int, default=0
        Seed of the forest.

    Returns
    -------
    Pipeline
        Missing cells are filled with the median of the training rows, and columns are scaled.

    Examples
    --------
    >>> from dubio.pipelines import usual_model
    >>> usual_model("logistic", "numbers")[-1]
    Ridge()
    """
    forest = {"n_estimators": 100, "random_state": random_state}
    models: dict[str, Any] = {
        "logistic": LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(**forest),
        "svm": SVC(),
    }
    if target == "numbers":
        models = {
            "logistic": Ridge(),
            "forest": RandomForestRegressor(**forest),
            "svm": TransformedTargetRegressor(SVR(), transformer=StandardScaler()),  # its margin is in units of y
        }
    if name not in models:
        raise InputError("name", f"={name!r}", "give 'logistic', 'forest' or 'svm'")
    return make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler(), models[name])

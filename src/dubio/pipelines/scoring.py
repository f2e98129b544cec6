"""Scores of a model on what is known of the target. Each can be the ``scoring`` of GridSearchCV and cross_val_score.

With scikit-learn's metadata routing, weights of rows that are passed on reach the scores too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score
from sklearn.utils.metadata_routing import MetadataRequest

from dubio._sklearn import check_weights, safe_indexing
from dubio.errors import InputError
from dubio.target.classes import OfClasses
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers, moderate
from dubio.target.reader import read_supervision

#: Probabilities below this count as this in the logarithm.
_FLOOR = 1e-12


def _asks_for_weights(score: Callable[..., float]) -> Callable[..., float]:
    """Let scikit-learn's metadata routing pass weights to a score."""
    request = MetadataRequest(owner=score.__name__)
    request.score.add_request(param="sample_weight", alias=True)
    score.get_metadata_routing = lambda: request  # type: ignore[attr-defined]
    return score


@_asks_for_weights
def expected_accuracy(
    estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None
) -> float:
    r"""How probable the predicted classes are, on average over the rows with a label.

    With probabilities :math:`P_{ik}` and predictions :math:`\hat y_i` this is :math:`\frac1n \sum_i P_{i \hat y_i}`,
    the accuracy to expect if the true classes follow the probabilities. With one class per row it is the accuracy.

    Parameters
    ----------
    estimator : fitted classifier
        Its predictions are judged.
    X : table (n_rows, n_features)
        What it predicts from.
    y : array-like
        Classes, some of them missing, or probabilities.
    missing_label : "auto", None or a value
        The label that means "unlabelled", besides None and NaN.
    sample_weight : array-like (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float
        From 0 to 1; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from dubio.pipelines.scoring import expected_accuracy
    >>> X, P = np.zeros((2, 1)), np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> round(expected_accuracy(DummyClassifier().fit(X, [0, 0]), X, P), 2)
    0.7
    """
    known, table, weights = _known_classes(X, y, missing_label, sample_weight)
    places = _places(known.classes, np.asarray(estimator.predict(table)))
    memberships = known.memberships
    hit = np.where(places >= 0, memberships[np.arange(len(places)), places], 0.0)
    return float(np.average(hit, weights=weights))


@_asks_for_weights
def negative_expected_log_loss(
    estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None
) -> float:
    r"""Minus the cross-entropy of the rows with a label, :math:`\frac1n \sum_i \sum_k P_{ik} \log \hat p_{ik}`.

    Parameters
    ----------
    estimator : fitted classifier
        With ``predict_proba``.
    X, y, missing_label, sample_weight
        As in :func:`expected_accuracy`.

    Returns
    -------
    float
        At most 0; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from dubio.pipelines.scoring import negative_expected_log_loss
    >>> X, y = np.zeros((3, 1)), np.array([0, 1, -1])
    >>> round(negative_expected_log_loss(DummyClassifier().fit(X[:2], y[:2]), X, y), 3)
    -0.693
    """
    known, table, weights = _known_classes(X, y, missing_label, sample_weight)
    said = np.asarray(estimator.predict_proba(table))
    places = _places(known.classes, np.asarray(estimator.classes_))
    aligned = np.zeros((len(said), len(known.classes)))
    aligned[:, places[places >= 0]] = said[:, places >= 0]
    gains = (known.memberships * np.log(np.maximum(aligned, _FLOOR))).sum(axis=1)
    return float(np.average(gains, weights=weights))


@_asks_for_weights
def known_r2(estimator: Any, X: Any, y: Any, *, missing_label: Any = "auto", sample_weight: Any = None) -> float:
    """R2 on the rows with a number.

    Parameters
    ----------
    estimator : fitted regressor
        Its predictions are judged.
    X : table (n_rows, n_features)
        What it predicts from.
    y : array-like (n_rows,)
        Numbers; NaN where nothing is known.
    missing_label : "auto", None or a value
        The number that means "unlabelled", besides NaN.
    sample_weight : array-like (n_rows,), optional
        Weight of each row.

    Returns
    -------
    float
        At most 1; high is good.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from dubio.pipelines.scoring import known_r2
    >>> X, y = np.zeros((3, 1)), np.array([1.0, 2.0, np.nan])
    >>> known_r2(DummyRegressor().fit(X[:2], y[:2]), X, y)
    0.0
    """
    supervision = read_supervision(y, len(y), target="numbers", missing_label=missing_label)
    if not isinstance(supervision, Numbers):
        raise InputError("y", f"cannot be used: {supervision.given}", "this score needs one number per row")
    rows = _labelled_rows(supervision)
    weights = None if sample_weight is None else check_weights(sample_weight, X)[rows]
    said = np.ravel(estimator.predict(safe_indexing(X, rows)))
    known, said = moderate(np.stack([supervision.values[rows], said]))  # squares of huge numbers would overflow
    return float(r2_score(known, said, sample_weight=weights))


def _known_classes(
    X: Any, y: Any, missing_label: Any, sample_weight: Any
) -> tuple[OfClasses, Any, NDArray[np.float64] | None]:
    """The classes of the labelled rows, and these rows of the table and of the weights."""
    supervision = read_supervision(y, len(y), target="classes", missing_label=missing_label)
    rows = _labelled_rows(supervision)
    if not isinstance(supervision, OfClasses):
        raise InputError("y", f"cannot be used: {supervision.given}", "this score needs classes or probabilities")
    weights = None if sample_weight is None else check_weights(sample_weight, X)[rows]
    return supervision.rows(rows), safe_indexing(X, rows), weights


def _labelled_rows(supervision: Supervision) -> NDArray[np.int64]:
    rows = np.flatnonzero(supervision.labelled)
    if not len(rows):
        raise InputError(
            "y", "has no labelled row", "a score needs some; dubio.pipelines.known_folds.KnownFolds tests only those"
        )
    return rows


def _places(classes: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Place of each wanted name among the classes; -1 for a name that is not there."""
    place = {name: k for k, name in enumerate(classes.tolist())}
    return np.array([place.get(name, -1) for name in wanted.tolist()], dtype=np.int64)

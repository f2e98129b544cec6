"""The peers: each takes what is known and returns the features, best first.

Peers know no doubt. With few labels they get the labelled rows, with probabilities the likeliest class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import (
    RFE,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge, lasso_path
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import l1_min_c

from benchmarks.selection.regimes import Known

Order = NDArray[np.int64]
TREES = 200
#: Features that a greedy peer orders; the others follow by their F-test.
GREEDY = 20
#: Tables with more columns are eliminated a tenth at a time by RFE.
ONE_BY_ONE = 150


def best_first(scores: Any) -> Order:
    """Indices by falling score; what has no score comes last."""
    values = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf)
    return np.argsort(-values, kind="stable")


def _labelled(known: Known) -> tuple[NDArray[Any], NDArray[Any]]:
    """The labelled rows; classes are numbered from 0 without gaps."""
    X, y = known.X[known.rows], known.labels[known.rows]
    return X, (y if known.kind == "numbers" else np.unique(y, return_inverse=True)[1])


def _f_scores(known: Known) -> NDArray[np.float64]:
    X, y = _labelled(known)
    with np.errstate(all="ignore"):
        return np.nan_to_num((f_regression if known.kind == "numbers" else f_classif)(X, y)[0], posinf=1e12)


def _forest(known: Known, trees: int = TREES) -> Any:
    if known.kind == "numbers":
        return RandomForestRegressor(trees, max_features=1 / 3, random_state=known.seed)
    return RandomForestClassifier(trees, random_state=known.seed)


def f_test(known: Known) -> Order:
    return best_first(_f_scores(known))


def mutual_information(known: Known) -> Order:
    score = mutual_info_regression if known.kind == "numbers" else mutual_info_classif
    return best_first(score(*_labelled(known), random_state=known.seed))


def forest(known: Known) -> Order:
    return best_first(_forest(known).fit(*_labelled(known)).feature_importances_)


def permutation(known: Known) -> Order:
    X, y = _labelled(known)
    stratify = y if known.kind != "numbers" and np.bincount(y).min() >= 2 else None
    size = max(round(0.3 * len(y)), 1 if stratify is None else int(y.max()) + 1)
    one, other = train_test_split(np.arange(len(y)), test_size=size, stratify=stratify, random_state=known.seed)
    model = _forest(known, 100).fit(X[one], y[one])
    found = permutation_importance(
        model, X[other], y[other], scoring=_quick_score, n_repeats=5, random_state=known.seed
    )
    return best_first(found.importances_mean)


def _quick_score(forest: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """What ``forest.score`` gives, without its checks and threads, which take most of the time of small tables."""
    cells = X.astype(np.float32)
    votes = np.mean([tree.tree_.predict(cells) for tree in forest.estimators_], axis=0)
    if not hasattr(forest, "classes_"):
        return float(r2_score(y, votes.ravel()))
    return float(np.mean(forest.classes_[votes.argmax(axis=1)] == y))


def rfe(known: Known) -> Order:
    X, y = _labelled(known)
    model = Ridge() if known.kind == "numbers" else LogisticRegression(max_iter=300)
    found = RFE(model, n_features_to_select=1, step=1 if X.shape[1] <= ONE_BY_ONE else 0.1).fit(X, y)
    return np.argsort(found.ranking_, kind="stable")


def l1_path(known: Known) -> Order:
    """The order in which features enter as the L1 penalty falls; ties by the size of the last coefficient."""
    X, y = _labelled(known)
    if known.kind == "numbers":
        coefficients = np.abs(lasso_path(X, y - y.mean(), n_alphas=100)[1]).T  # steps, features
    else:
        steps = l1_min_c(X, y, loss="log") * np.geomspace(1.0, 1000.0, 20)
        targets = [y == c for c in range(y.max() + 1)] if y.max() > 1 else [y == 1]

        def fitted(C: float, target: Any) -> Any:
            model = LogisticRegression(l1_ratio=1, C=C, solver="liblinear", random_state=known.seed, max_iter=200)
            return np.abs(model.fit(X, target).coef_[0])

        coefficients = np.array([np.max([fitted(C, target) for target in targets], axis=0) for C in steps])
    inside = coefficients > 0
    entered = np.where(inside.any(axis=0), inside.argmax(axis=0), len(coefficients))
    return np.lexsort((-coefficients[-1], entered))


def boruta(known: Known) -> Order:
    """Boruta's classes of features; within a class, the mean importance over its rounds."""
    from boruta import BorutaPy

    model = _forest(known).set_params(max_depth=5, n_jobs=1)
    found = BorutaPy(model, n_estimators=100, max_iter=30, random_state=known.seed).fit(*_labelled(known))
    importance = np.nan_to_num(np.nanmean(np.where(np.isnan(h := found.importance_history_), 0.0, h), axis=0))
    return np.lexsort((-importance, found.ranking_))


def _mrmr(known: Known, value: Callable[[Any, Any], Any]) -> Order:
    """Greedy: the best value of the F-test and the mean absolute correlation with what is chosen already."""
    X, _ = _labelled(known)
    relevance = _f_scores(known)
    scale = X.std(axis=0)
    Z = np.divide(X - X.mean(axis=0), scale, out=np.zeros_like(X), where=scale > 0)
    chosen = [int(relevance.argmax())]
    redundancy = np.zeros(X.shape[1])
    while len(chosen) < min(GREEDY, X.shape[1]):
        redundancy += np.abs(Z.T @ Z[:, chosen[-1]]) / len(X)
        worth = value(relevance, redundancy / len(chosen))
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
    return _then_by_f(known, chosen)


def _then_by_f(known: Known, chosen: list[int]) -> Order:
    rest = [j for j in f_test(known).tolist() if j not in set(chosen)]
    return np.array([*chosen, *rest], dtype=np.int64)


def mrmr_difference(known: Known) -> Order:
    return _mrmr(known, lambda relevance, redundancy: relevance - redundancy)


def mrmr_quotient(known: Known) -> Order:
    return _mrmr(known, lambda relevance, redundancy: relevance / np.maximum(redundancy, 0.001))


def relieff(known: Known) -> Order:
    from skrebate import ReliefF

    X, y = _labelled(known)
    fewest = len(y) if known.kind == "numbers" else int(np.bincount(y).min())
    return best_first(ReliefF(n_neighbors=max(1, min(10, fewest - 1)), n_jobs=1).fit(X, y).feature_importances_)


def self_training(known: Known) -> Order:
    y = np.full(len(known.X), -1)
    y[known.rows] = known.labels[known.rows]
    return best_first(SelfTrainingClassifier(_forest(known, 100)).fit(known.X, y).estimator_.feature_importances_)


def cleanlab_forest(known: Known) -> Order:
    """A forest on the rows that cleanlab does not doubt."""
    from cleanlab.classification import CleanLearning

    X, y = _labelled(known)
    folds = max(2, min(5, int(np.bincount(y).min())))
    learning = CleanLearning(
        _forest(known, 100), seed=known.seed, cv_n_folds=folds, find_label_issues_kwargs={"n_jobs": 1}
    )
    doubtful = learning.find_label_issues(X, y)["is_label_issue"].to_numpy()
    return best_first(_forest(known).fit(X[~doubtful], y[~doubtful]).feature_importances_)


def fastcan(known: Known) -> Order:
    """Canonical correlation with the class columns. It takes a matrix, so it gets the probabilities themselves."""
    from fastcan import FastCan

    X, y = _labelled(known)
    if known.kind == "soft":
        target = known.y[:, known.y.std(axis=0) > 0]
    elif known.kind == "hard":
        target = np.eye(int(y.max()) + 1)[y]
    else:
        target = y
    count = min(GREEDY, X.shape[1], max(1, len(X) - 2))
    return _then_by_f(known, [int(j) for j in FastCan(count, verbose=0).fit(X, target).indices_])


def shap_boosting(known: Known) -> Order:
    """Mean absolute SHAP value of each feature in gradient boosting."""
    import shap

    X, y = _labelled(known)
    options = {
        "max_iter": 60,
        "max_leaf_nodes": 8,
        "min_samples_leaf": max(2, min(20, len(y) // 15)),
        "random_state": known.seed,
    }
    kind = HistGradientBoostingRegressor if known.kind == "numbers" else HistGradientBoostingClassifier
    values = np.abs(np.asarray(shap.TreeExplainer(kind(**options).fit(X, y)).shap_values(X)))
    return best_first(values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2)))


def random_order(known: Known) -> Order:
    return np.random.default_rng(known.seed).permutation(known.X.shape[1])

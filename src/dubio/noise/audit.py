"""The label audit: which labels to doubt, what they may be instead, and how often each class is wrong."""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.noise.audit_record import LabelAudit
from dubio.noise.confident import confident_count
from dubio.noise.experts import Progress, content_order, out_of_fold_probabilities, read_experts, usable_folds
from dubio.noise.memberships import estimate_memberships
from dubio.noise.pooled import pool_experts
from dubio.supervision import Supervision, read_supervision, require_two_classes
from dubio.table import read_matrix, standardize

Floats = NDArray[np.float64]
Engine = Literal["pooled", "confident", "lnt"]

ASSUMPTIONS: dict[str, str] = {
    "pooled": (
        "every label is wrong with the same probability, towards each other class alike, and the experts are right "
        "about most rows; if wrong labels gather near the border of two classes or always go to one class, the "
        "order of doubt still holds and the rates come out too low"
    ),
    "confident": (
        "whether a label is wrong depends on its class only, not on the row, and the experts are sure of most rows of "
        "each class; where classes overlap the rates come out too high"
    ),
    "lnt": (
        "each true class has its own error rate, towards each other class alike, and rows of a class lie near each "
        "other; good enough to select features with, a weak detector of wrong labels"
    ),
}
#: Spread of the seeded noise that keeps the LNT model from distances of zero, as in its paper.
_JITTER = 1e-3


def audit_labels(
    X: Any,
    y: Any,
    *,
    engine: Engine = "pooled",
    experts: Any = None,
    probabilities: ArrayLike | None = None,
    n_folds: int = 5,
    missing_label: Any = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
) -> LabelAudit:
    """Doubt the labels of a table: experts judge every row without having seen it.

    A forest, k-NN and two Gaussian classifiers predict each row while it is held out, and are pooled log-linearly with
    weights fitted to the observed labels. Nothing is trained on the result, so no label vouches for itself.

    Parameters
    ----------
    X : array-like (n_rows, n_features)
        The table, taken as it is (the default experts scale it themselves). May be None if ``probabilities`` are given.
    y : array-like (n_rows,)
        One class a row; rows without a label get a suggested one.
    engine : {"pooled", "confident", "lnt"}, default="pooled"
        ``"pooled"``: posterior of the true class under one uniform flip rate; the best order of doubt.
        ``"confident"``: confident learning on the pooled probabilities; flags rows and counts errors class by class.
        ``"lnt"``: the k-nearest-neighbour model of :func:`dubio.estimate_memberships` on the scaled table (it needs
        the distances of all pairs of rows and no experts).
    experts : classifier, list or dict of classifiers, optional
        Your own scikit-learn classifiers with ``predict_proba`` in place of the default ones.
    probabilities : array (n_rows, n_classes) or (n_experts, n_rows, n_classes), optional
        Ready out-of-fold probabilities in place of any experts, columns in the order of the sorted classes. They must
        come from models that had not seen the row: nothing here can check that.
    n_folds : int, default=5
        Folds; fewer, with a warning, if a class has fewer rows.
    missing_label : "auto", None or a value
        What means "unlabelled" besides None and NaN.
    random_state : int or None, default=0
        Seed of the folds and of experts that have none. The order of the rows does not matter.
    n_jobs : int, optional
        For the default experts.
    progress : bool or callable, default=False
        True prints a line to standard error after each fold; a callable gets ``(what, done, total)``.

    Returns
    -------
    LabelAudit

    Notes
    -----
    Memory grows with the rows times the experts times the classes, except with ``engine="lnt"``. The audit knows only
    what the features tell: a wrong label on a row that looks like the wrong class cannot be seen, and a rare kind of
    row that looks unlike its class will be doubted although it is right. Look at the rows before changing them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from dubio import audit_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 60]] = [2, 0]  # two wrong labels
    >>> audit = audit_labels(X, y)
    >>> np.flatnonzero(audit.rank <= 2), audit.suggested[[3, 60]]
    (array([ 3, 60]), array([0, 1]))
    """
    if engine not in ASSUMPTIONS:
        raise ValueError(f"engine={engine!r}: give one of {', '.join(map(repr, ASSUMPTIONS))}.")
    if X is None and probabilities is None:
        raise ValueError("X is None: without a table give probabilities.")
    supervision = _read_labels(X, y, missing_label)
    codes, classes = supervision.codes, supervision.classes
    assert codes is not None and classes is not None
    names: tuple[str, ...] = ()
    weights = np.empty(0)
    folds_used = 0
    if engine == "lnt":
        if experts is not None or probabilities is not None:
            raise ValueError("engine='lnt' models the rows themselves: it takes neither experts nor probabilities.")
        posterior, rate = _lnt_memberships(read_matrix(X), codes, random_state, n_jobs), None
    else:
        if probabilities is not None:
            if experts is not None:
                raise ValueError("give experts or probabilities, not both.")
            said = read_probabilities(probabilities, len(codes), classes)
            # given in sorted order, as predict_proba has it; a categorical may declare another
            said = said[:, :, np.argsort(np.argsort(classes))]
            names = tuple(f"given {e}" for e in range(len(said)))
        else:
            folds_used = usable_folds(codes, classes, n_folds)
            counts = np.bincount(codes[codes >= 0])
            left = counts - -(-counts // folds_used)  # of each class, when a fold is held out
            table = read_matrix(X, allow_nan=experts is not None)
            judges = read_experts(experts, int(left.sum()), int(left.min()), table.shape[1], n_jobs)
            said = out_of_fold_probabilities(
                table,
                codes,
                len(classes),
                judges,
                n_folds=folds_used,
                random_state=random_state,
                progress=_print_progress if progress is True else progress or None,
            ).probabilities
            names = tuple(judges)
        pool = pool_experts(said, codes, flips=engine == "pooled")
        posterior, weights = pool.memberships, pool.weights
        rate = pool.flip_rate if engine == "pooled" else None
    labelled = supervision.labelled
    doubtful = np.zeros(len(codes), dtype=bool)
    if engine == "confident":
        counted = confident_count(posterior[labelled], codes[labelled])
        doubtful[labelled] = counted.doubtful
        joint = counted.joint
    else:
        doubtful[labelled] = posterior[labelled].argmax(axis=1) != codes[labelled]
        joint = np.zeros((len(classes), len(classes)))
        np.add.at(joint, codes[labelled], posterior[labelled])
    return LabelAudit(
        engine=engine,
        assumption=ASSUMPTIONS[engine],
        classes=classes,
        codes=codes,
        probabilities=posterior,
        doubtful=doubtful,
        joint=joint,
        flip_rate=rate,
        expert_names=names,
        expert_weights=weights,
        n_folds=folds_used,
        index=_index_of(X, y),
    )


def read_probabilities(probabilities: ArrayLike, n_rows: int, classes: NDArray[Any]) -> Floats:
    """Validate ready probabilities; (experts, rows, classes)."""
    said = np.array(probabilities, dtype=np.float64)
    if said.ndim == 2:
        said = said[None]
    shown = ", ".join(map(repr, classes.tolist()[:8])) + (", ..." if len(classes) > 8 else "")
    if said.ndim != 3 or said.shape[1:] != (n_rows, len(classes)):
        raise ValueError(
            f"probabilities has shape {np.shape(probabilities)}, but y has {n_rows} rows and {len(classes)} classes "
            f"({shown}): give shape ({n_rows}, {len(classes)}), columns in that order, or (experts, {n_rows}, "
            f"{len(classes)})."
        )
    wrong = np.flatnonzero(~np.isfinite(said).all(axis=(0, 2)) | (said < 0).any(axis=(0, 2)))
    if len(wrong):
        raise ValueError(
            f"probabilities has negative or missing values in {len(wrong)} row(s), first in row {wrong[0]}: every row "
            "needs a prediction from a model that had not seen it."
        )
    sums = said.sum(axis=2)
    wrong = np.flatnonzero((np.abs(sums - 1.0) > 1e-3).any(axis=0))
    if len(wrong):
        raise ValueError(
            f"the probabilities of row {wrong[0]} sum to {sums[:, wrong[0]].tolist()}, not to 1 ({len(wrong)} such "
            "row(s))."
        )
    return said / sums[:, :, None]


def _read_labels(X: Any, y: Any, missing_label: Any) -> Supervision:
    n_rows = _n_rows(y if X is None else X)
    supervision = read_supervision(y, n_rows, missing_label=missing_label)
    if supervision.kind == "none":
        raise ValueError("y is None: an audit needs labels to doubt.")
    if supervision.kind == "soft":
        raise ValueError(
            f"y has shape ({n_rows}, {supervision.n_classes}), class probabilities: they say their doubt themselves. "
            "An audit needs one label a row."
        )
    require_two_classes(supervision)
    return supervision


def _n_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _lnt_memberships(table: Any, codes: NDArray[np.int64], random_state: int | None, n_jobs: int | None) -> Floats:
    order = content_order(table, codes)
    space = standardize(np.asarray(table, dtype=np.float64))[order]
    rng = np.random.RandomState(random_state)
    space += _JITTER * rng.standard_normal(space.shape)
    model = estimate_memberships(space, codes[order], random_state=rng, n_jobs=n_jobs)
    memberships = np.empty(model.memberships.shape)
    memberships[order] = model.memberships
    return memberships


def _index_of(X: Any, y: Any) -> Any:
    """The row names of the table, or of the labels; None where there are none."""
    for source in (X, y):
        index = getattr(source, "index", None)
        if index is not None and not callable(index):
            return index
    return None


def _print_progress(what: str, done: int, total: int) -> None:
    print(f"audit: {what}, fold {done} of {total}", file=sys.stderr, flush=True)

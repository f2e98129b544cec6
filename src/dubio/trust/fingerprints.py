"""Features that are related to how rows were labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from dubio.checks import check_alpha, seed_of
from dubio.doubt.doubt_test import DoubtTest, doubt_of
from dubio.doubt.experts import ExpertOptions, pooled_opinions
from dubio.errors import InputError, counted, listed
from dubio.problem import Problem, read_problem
from dubio.progress import advance
from dubio.table.cells import is_missing
from dubio.table.matrix import check_squares
from dubio.target.classes import Memberships
from dubio.target.soft import average_votes, code_votes, dawid_skene, krippendorff_alpha, labels_with_doubt
from dubio.trust.tolerance import QuickTests
from dubio.words import say

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Random sets of rows that are left out in place of an annotator's; none of them may push the feature out too.
_LEFT_OUT = 99


@dataclass(frozen=True)
class Fingerprints:
    """Features that are related to doubt, and to annotators. Made by :func:`dubio.label_fingerprints`.

    Attributes
    ----------
    names : array (n_features,)
    doubt : array (n_features,)
        q-value of the test whether the feature is related to doubt about the labels, given the class.
    more : array (n_features,) of int
        1 if high values go with doubt, -1 if low values do.
    annotators : tuple of str
        Names of the annotators; empty if they are not known.
    by_annotator : array (n_annotators, n_features)
        The same q-values within the labels of each annotator; 1 if an annotator has too few of them.
    only_because : array (n_features,) of str
        The annotator without whose labels the feature is no longer kept, more often than chance; "" if there is none.
    alpha : float
        The share of false discoveries that was allowed.
    agreement : float
        Krippendorff's alpha; NaN if no row has two labels.
    classes : array (n_classes,)
    confusions : array (n_annotators, n_classes, n_classes)
        For each annotator, true class and given class: how often. With votes by Dawid and Skene, else against the
        opinion of the audit's models.
    n_labels : array (n_annotators,) of int
        Number of labels that each annotator gave.
    """

    names: NDArray[Any]
    doubt: Floats
    more: NDArray[np.int64]
    annotators: tuple[str, ...]
    by_annotator: Floats
    only_because: NDArray[Any]
    alpha: float
    agreement: float
    classes: NDArray[Any]
    confusions: Floats
    n_labels: NDArray[np.int64]

    @property
    def related(self) -> NDArray[np.bool_]:
        """Features related to doubt about the labels, of all annotators together."""
        return (self.doubt <= self.alpha) & (self.doubt.min(initial=1.0) <= self._first)

    @property
    def _first(self) -> float:
        """The q-value of the first finding: half of alpha, shared by three ways to be named if annotators are known."""
        return self.alpha / (6 if self.annotators else 2)

    @property
    def annotator(self) -> NDArray[Any]:
        """For each feature the annotator whose labels it marks, or "".

        It is related to doubt about this annotator's labels, or it is kept only because of them.
        """
        found = np.array(self.only_because)
        if len(self.annotators) and self.by_annotator.min(initial=1.0) <= self._first:
            best = self.by_annotator.argmin(axis=0)
            marked = self.by_annotator[best, np.arange(len(self.names))] <= self.alpha
            found[marked] = np.asarray(self.annotators, dtype=object)[best[marked]]
        return found

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Features with any fingerprint."""
        return self.related | (self.annotator != "")

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns for the ranking: the q-value of doubt, and the annotator if annotators are known."""
        columns: dict[str, NDArray[Any]] = {"doubt": self.doubt}
        return columns | ({"annotator": self.annotator} if self.annotators else {})

    def in_words(self, feature: int) -> str:
        """The fingerprint of one feature, in a sentence; "" if it has no fingerprint."""
        said = []
        if self.related[feature]:
            said.append(f"labels are more doubtful where it is {'high' if self.more[feature] > 0 else 'low'}")
        alone, whose = self.only_because[feature], self.annotator[feature]
        if whose and whose != alone:
            said.append(f"it is related to errors of {whose}")
        if alone:
            said.append(f"it is kept only because of the labels of {alone}")
        return f"{self.names[feature]}: {'; '.join(said)}" if said else ""

    def __str__(self) -> str:
        marked = np.flatnonzero(self.marked)
        said = [f"{self.in_words(int(j))}." for j in marked]
        first = "Look at these features before you trust them." if said else say("no mark")
        return " ".join([first, *said, say("only checked")])


def label_fingerprints(
    X: Any,
    y: Any = None,
    *,
    annotators: Any = None,
    alpha: float = 0.05,
    missing_label: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Fingerprints:
    r"""Find features that are related to *how* rows were labelled.

    A scanner whose images one annotator mislabels is related to the given label and passes every test. What gives it
    away: among rows that look alike, labels are more doubtful where the scanner was used.

    The doubt of a label compares it with an opinion that has not seen it: that of the audit's models
    (:func:`dubio.audit_labels`), or of the other annotators. With the opinion :math:`g` of the given class and
    :math:`o = (1-g)/(K-1)` of any other, it is :math:`(o - g) / (0.9 g + 0.1 o)`, which shows small changes of the rate
    of errors best. Rows are compared within their likely class, in parts by how sure that class is. What the
    feature itself says for the class, :math:`x (\mu_k - \bar\mu)` and :math:`(x - \mu_k)^2`, is taken out first: a
    feature that tells the classes is not a fingerprint. The rest of the doubt is permuted within the parts, and
    Benjamini and Hochberg's rule holds false discoveries at ``alpha``; the first one must reach half of it, or a
    sixth if annotators are known, since there are then three ways to be named.

    If annotators are known, each one's labels are tested too. A feature is "kept only because of" an annotator if it
    is kept with all labels, not kept without that annotator's, and kept when any of 99 random sets of as many labels of
    each class is left out instead.

    Parameters
    ----------
    X : array-like (n_rows, n_features)
        The table; missing cells are filled with the median of their column.
    y : array-like (n_rows,), optional
        One class per row. Not needed with votes.
    annotators : array-like, optional
        (n_rows,): who labelled each row. Or votes (n_rows, n_annotators): the class that each annotator gave, missing
        where there is none; a frame's columns are their names.
    alpha, missing_label, random_state, n_jobs
        As in :func:`dubio.label_tolerance`.

    Returns
    -------
    Fingerprints
        For every feature: what it is related to, and how sure that is.

    Notes
    -----
    Without annotators, a column that pushes labels from one class to the other is much like any related feature. On
    real tables it is seldom named. What is found is a column that makes labels of *all* classes more doubtful. Only
    checked rows (:func:`dubio.checked_rows`) settle whether a feature is related to the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import label_fingerprints
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 150)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 0] += 4 * truth
    >>> given = np.where((X[:, 3] > 0.8) & (rng.random(300) < 0.5), 1 - truth, truth)  # column 3 decides where
    >>> print(label_fingerprints(X, given))  # doctest: +ELLIPSIS
    Look at these features before you trust them. x3: labels are more doubtful where it is high. Only checked rows ...
    """
    check_alpha(alpha)
    options: dict[str, Any] = {"alpha": alpha, "random_state": seed_of(random_state), "n_jobs": n_jobs}
    has_votes = annotators is not None and np.ndim(annotators) == 2
    if has_votes:
        y = labels_with_doubt(np.asarray(annotators, dtype=object), missing_label=missing_label)
    elif y is None:
        raise InputError("y", "is missing", "give one class per row, or votes as annotators")
    problem = read_problem(X, y, missing_label="auto" if has_votes else missing_label, any_type=True)
    check_squares(problem.X, names=problem.column_names)
    if has_votes:
        names = [str(name) for name in getattr(annotators, "columns", range(np.shape(annotators)[1]))]
        return vote_fingerprints(problem, read_votes(annotators, missing_label), names, **options)
    who = None if annotators is None else read_annotators(annotators, problem.n_rows)
    return row_fingerprints(problem, who, **options)


def read_votes(votes: Any, missing_label: Any = "auto") -> Codes:
    """The class that each annotator gave to each row (rows, annotators); -1 where there is none."""
    return code_votes(np.asarray(votes, dtype=object), None, missing_label)[0]


def read_annotators(annotators: Any, n_rows: int) -> NDArray[Any]:
    """One name per row; "" where the annotator is not known."""
    who = np.asarray(annotators, dtype=object)
    if who.shape != (n_rows,):
        found = f"has shape {who.shape}, but the table has {n_rows} rows"
        raise InputError("annotators", found, "give one annotator per row")
    names = np.asarray(["" if is_missing(name) else str(name) for name in who], dtype=object)
    if len(set(names) - {""}) < 2:
        raise InputError("annotators", "names fewer than two annotators", "leave it out, or give one name per row")
    return names


def row_fingerprints(problem: Problem, names_of_rows: NDArray[Any] | None = None, **settings: Any) -> Fingerprints:
    """The same as :func:`label_fingerprints`, for a problem with one class, and perhaps one annotator, per row; the
    settings are ``alpha``, ``random_state`` and ``n_jobs``."""
    tests = QuickTests(**settings)
    problem.supervision.require_form("hard", remedy="fingerprints need one class per row, or votes")
    if names_of_rows is not None:
        names_of_rows = names_of_rows[problem.supervision.labelled]
    problem = problem.filled.labelled
    supervision, rows = problem.supervision, np.arange(problem.n_rows)
    if not supervision.can_be_judged:
        raise InputError("y", "has fewer than two classes with two rows or more", "label more rows of other classes")
    opinions = pooled_opinions(problem, ExpertOptions(random_state=tests.seed, n_jobs=tests.n_jobs))
    whole = _Doubted(rows, doubt_of(opinions, supervision.codes), opinions)
    names = [] if names_of_rows is None else sorted(set(names_of_rows) - {""})
    labels = [np.flatnonzero(names_of_rows == name) for name in names]
    confusions = np.zeros((len(names), supervision.n_classes, supervision.n_classes))
    for matrix, part in zip(confusions, labels, strict=True):
        np.add.at(matrix, (opinions[part].argmax(axis=1), supervision.codes[part]), 1.0)

    def left_out(e: int) -> tuple[Problem, Callable[[], Problem]]:
        part, rng = labels[e], np.random.default_rng([tests.seed, len(labels[e])])
        strata = supervision.strata

        def draw() -> Problem:
            """A random set that has as many rows of each class is left out."""
            sizes = [(np.flatnonzero(strata == k), int((strata[part] == k).sum())) for k in np.unique(strata[part])]
            return problem.rows(np.setdiff1d(rows, np.concatenate([rng.permutation(of)[:n] for of, n in sizes])))

        return problem.rows(np.setdiff1d(rows, part)), draw

    return _fingerprints(
        problem,
        whole,
        [_Doubted(part, whole.doubt[part], opinions[part]) for part in labels],
        left_out,
        tests,
        annotators=tuple(names),
        agreement=float("nan"),
        confusions=confusions,
        n_labels=np.asarray([len(part) for part in labels], dtype=np.int64),
    )


def vote_fingerprints(problem: Problem, votes: Codes, names: Sequence[str], **settings: Any) -> Fingerprints:
    """The same as :func:`label_fingerprints`, for votes (rows, annotators) with -1 where there is none."""
    tests = QuickTests(**settings)
    if len(names) < 2:
        raise InputError("annotators", "names fewer than two annotators", "give one column per annotator")
    problem = problem.filled
    n_classes = problem.supervision.n_classes
    counts = (votes[:, :, None] == np.arange(n_classes)).astype(np.float64)
    shares = counts.sum(axis=(0, 1)) / counts.sum()
    by_annotator, all_doubt = [], np.full(votes.shape, np.nan)
    for e in range(len(names)):
        others = counts.sum(axis=1) - counts[:, e]
        rows = np.flatnonzero((votes[:, e] >= 0) & (others.sum(axis=1) > 0))
        opinions = (others[rows] + shares) / (others[rows].sum(axis=1, keepdims=True) + 1.0)
        all_doubt[rows, e] = doubt_of(opinions, votes[rows, e])
        by_annotator.append(_Doubted(rows, all_doubt[rows, e], opinions))
    truth = dawid_skene(votes, n_classes).memberships
    seen = np.flatnonzero(~np.isnan(all_doubt).all(axis=1))
    doubt = np.nanmean(all_doubt[seen], axis=1) if len(seen) else np.empty(0)

    def without(mask: NDArray[np.bool_]) -> Problem:
        """The problem with the labels that the votes outside of a mask make together."""
        shares = average_votes(np.where(mask, -1, votes), n_classes)
        given, classes = ~np.isnan(shares[:, 0]), problem.supervision.classes
        labels = Memberships(labelled=given, classes=classes, memberships=np.nan_to_num(shares))
        return problem.with_supervision(labels.certain()).labelled

    def left_out(e: int) -> tuple[Problem, Callable[[], Problem]]:
        rng, mask = np.random.default_rng([tests.seed, e]), np.zeros(votes.shape, dtype=bool)
        mask[:, e] = votes[:, e] >= 0

        def draw() -> Problem:
            """One random vote in each of the annotator's rows is left out."""
            best = np.where(votes >= 0, rng.random(votes.shape), -1.0).argmax(axis=1)
            return without((np.arange(len(names)) == best[:, None]) & mask[:, [e]])

        return without(mask), draw

    return _fingerprints(
        problem,
        _Doubted(seen, doubt, truth[seen]),
        by_annotator,
        left_out,
        tests,
        annotators=tuple(names),
        agreement=krippendorff_alpha(votes),
        confusions=np.einsum("ik,iel->ekl", np.nan_to_num(truth), counts),
        n_labels=(votes >= 0).sum(axis=0),
    )


class _Doubted(NamedTuple):
    """Labels of some rows: how doubtful each is, and the opinion on each row that has not seen it."""

    rows: Codes
    doubt: Floats
    opinions: Floats


def _fingerprints(
    problem: Problem,
    labels: _Doubted,
    by_annotator: list[_Doubted],
    left_out: Callable[[int], tuple[Problem, Callable[[], Problem]]],
    tests: QuickTests,
    *,
    annotators: tuple[str, ...],
    **more: Any,
) -> Fingerprints:
    """The result, with q-values over all features, and over all annotators and features.

    ``left_out`` gives the problem without the labels of an annotator, and a function that leaves out random ones.
    """
    test = DoubtTest(problem, tests.seed)
    pvalues, more_doubt = test.pvalues(*labels)
    of_annotators = np.ones((len(annotators), problem.n_features))
    for e, one in enumerate(by_annotator):
        advance("annotators", e, len(annotators))
        of_annotators[e] = test.pvalues(*one)[0]
    if len(annotators):
        of_annotators = false_discovery_control(of_annotators, axis=None).reshape(of_annotators.shape)
    only_because = np.full(problem.n_features, "", dtype=object)
    kept = tests.kept(problem.labelled, "all") if annotators else np.zeros(problem.n_features, dtype=bool)
    for e, name in enumerate(annotators):
        without, draw = left_out(e)
        if without.n_rows < 4 or not kept.any():
            continue
        lost, n_draws = kept & ~tests.kept(without, name), 0
        while lost.any() and n_draws < _LEFT_OUT:
            lost, n_draws = lost & tests.kept(draw(), name), n_draws + 1
        only_because[lost] = name
    return Fingerprints(
        names=problem.feature_names,
        doubt=false_discovery_control(pvalues),
        more=more_doubt,
        annotators=annotators,
        alpha=tests.alpha,
        by_annotator=of_annotators,
        only_because=only_because,
        classes=problem.supervision.classes,
        **more,
    )


def annotators_in_words(found: Fingerprints) -> str:
    """The number of labels of each annotator, and their agreement."""
    if not found.annotators:
        return ""
    counts = listed(
        (f"{name} ({counted(int(n), 'label')})" for name, n in zip(found.annotators, found.n_labels, strict=True)), 12
    )
    if np.isfinite(found.agreement):
        return f"Annotators: {counts}. Krippendorff's alpha {found.agreement:.2f} (1 is full agreement, 0 is chance)."
    return f"Annotators: {counts}. No row has labels of two annotators, so their agreement cannot be measured."

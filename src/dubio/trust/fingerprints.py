"""Features that are related to how rows were labelled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, rankdata

from dubio.checks import seed_of
from dubio.doubt.experts import ExpertOptions, pooled_opinions
from dubio.errors import InputError, counted, listed
from dubio.evidence.multiple import check_alpha
from dubio.problem import Problem, read_problem
from dubio.progress import advance
from dubio.table.matrix import check_squares
from dubio.table.values import is_missing
from dubio.target.classes import Classes, Memberships, SoftLabels
from dubio.target.soft import code_votes, dawid_skene, krippendorff_alpha, soft_labels
from dubio.trust.tolerance import QuickTests

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Parts of equal size into which the rows of a likely class are divided by how sure the class is; rows in a part.
_PARTS, _ROWS_IN_PART = 4, 15
#: Permutations, at most and at least, and the limit on their work (rows x features x permutations).
_MOST, _FEWEST, _WORK = 999, 99, 3e8
#: An annotator with fewer rows is not tested.
FEWEST_ROWS = 20


class DoubtTest:
    """Tests whether features are related to doubt, by permutations among rows that look alike."""

    def __init__(self, problem: Problem, random_state: int) -> None:
        self._table, self._seed = problem.table, random_state
        self._columns = [problem.columns_of(np.array([j])) for j in range(problem.n_features)]

    def pvalues(self, rows: Codes, doubt: Floats, opinions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """p-values of all features on some rows, and the side on which there is more doubt; 1 with too few rows.

        A feature of several columns has the smallest p-value of these, times their number.
        """
        tested, sides = self._of_columns(rows, doubt, opinions)
        best = [own[int(tested[own].argmin())] for own in self._columns]
        counts = np.asarray([len(own) for own in self._columns])
        return np.minimum(1.0, counts * tested[best]), sides[best]

    def _of_columns(self, rows: Codes, doubt: Floats, opinions: Floats) -> tuple[Floats, NDArray[np.int64]]:
        n, d = len(rows), self._table.shape[1]
        if n < FEWEST_ROWS:
            return np.ones(d), np.ones(d, dtype=np.int64)
        likely = opinions.argmax(axis=1)
        parts = _Alike(likely, opinions.max(axis=1))
        x = np.apply_along_axis(rankdata, 0, self._table[rows])
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        centres = np.zeros((opinions.shape[1], d))
        for k in np.unique(likely):
            centres[k] = x[likely == k].mean(axis=0)
        towards = parts.centred(x * (centres - centres[np.unique(likely)].mean(axis=0))[likely])
        away = parts.centred((x - centres[likely]) ** 2)
        feature, rest = parts.centred(x), np.repeat(parts.centred(doubt[:, None]), d, axis=1)
        # what the feature says for the class is taken out of both, column by column (Gram and Schmidt)
        for base in (towards, away - _along(away, towards)):
            feature, rest = feature - _along(feature, base), rest - _along(rest, base)
        feature, rest = parts.centred(feature), parts.centred(rest)
        spread = np.sqrt(
            (parts.sums(feature**2) * parts.sums(rest**2) / np.maximum(parts.sizes - 1, 1)[:, None]).sum(0)
        )
        varies = spread > 1e-9 * np.sqrt((rest**2).sum(axis=0)).max(initial=1e-300)
        found = (feature * rest).sum(axis=0)
        strength = np.divide(np.abs(found), spread, out=np.zeros(d), where=varies)
        # permutations do not know that two directions were taken out, which matters with few rows
        left = n - len(parts.sizes)
        strength *= np.sqrt(max(left - 2, 1) / max(left, 1))
        rng = np.random.default_rng([self._seed, n])
        count = int(np.clip(_WORK / (n * d), _FEWEST, _MOST))
        null = np.empty((count, d))
        for b in range(count):
            drawn = (feature * rest[parts.shuffled(rng)]).sum(axis=0)
            null[b] = np.divide(np.abs(drawn), spread, out=np.zeros(d), where=varies)
        # in units of its own spread, every feature has about the same null, so that they share the permutations
        pool = np.sort(null[:, varies].ravel())
        reached = len(pool) - np.searchsorted(pool, strength - 1e-12)
        pvalues = np.where(varies, (1.0 + reached) / (1.0 + len(pool)), 1.0)
        return pvalues, np.where(found >= 0, 1, -1)


class _Alike:
    """Rows of the same likely class, in parts by how sure that class is."""

    def __init__(self, likely: Codes, sure: Floats) -> None:
        part = np.zeros(len(likely), dtype=np.int64)
        for k in np.unique(likely):
            rows = np.flatnonzero(likely == k)
            n_parts = max(1, min(_PARTS, len(rows) // _ROWS_IN_PART))
            part[rows] = k * _PARTS + np.argsort(np.argsort(sure[rows], kind="stable")) * n_parts // len(rows)
        self._part = np.unique(part, return_inverse=True)[1]
        self.sizes = np.bincount(self._part)
        self._order = np.argsort(self._part, kind="stable")

    def sums(self, values: Floats) -> Floats:
        """Sums over the rows of each part."""
        out = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(out, self._part, values)
        return out

    def centred(self, values: Floats) -> Floats:
        """Values without the mean of their part."""
        return np.asarray(values - (self.sums(values) / self.sizes[:, None])[self._part])

    def shuffled(self, rng: np.random.Generator) -> Codes:
        """A random order of the rows within each part."""
        order = np.empty(len(self._part), dtype=np.int64)
        order[self._order] = np.lexsort((rng.random(len(self._part)), self._part))
        return order


def _along(values: Floats, base: Floats) -> Floats:
    """The part of each column that lies along the same column of ``base``."""
    length = (base**2).sum(axis=0)
    return base * np.divide((base * values).sum(axis=0), length, out=np.zeros(len(length)), where=length > 1e-12)


#: The share of wrong labels at which the measure of doubt is the best one.
_ERRORS = 0.1
#: Random sets of rows that are left out in place of an annotator's; none of them may push the feature out too.
_LEFT_OUT = 99


@dataclass(frozen=True)
class Fingerprints:
    """Which features are related to doubt, and to whom. Made by :func:`dubio.label_fingerprints`.

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
        experts' opinion.
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
        """What the first finding must reach: half of alpha, shared by three ways to be named with annotators."""
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
        """What is known about one feature, in a sentence; "" if it has no fingerprint."""
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
        if not len(marked):
            return "No feature is related to doubt about the labels, beyond what its relation to the classes explains."
        return "Look at these features before you trust them. " + ". ".join(self.in_words(int(j)) for j in marked) + "."


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

    The doubt of a label compares it with an opinion that has not seen it: that of the audit's experts
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
    Without annotators, a column that pushes labels from one class to the other is like any related feature, and nothing
    can tell it apart. What is found is a column that makes labels of *all* classes more doubtful.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import label_fingerprints
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 150)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 0] += 4 * truth
    >>> given = np.where((X[:, 3] > 0.8) & (rng.random(300) < 0.5), 1 - truth, truth)  # column 3 decides where
    >>> print(label_fingerprints(X, given))
    Look at these features before you trust them. x3: labels are more doubtful where it is high.
    """
    check_alpha(alpha)
    if annotators is not None and np.ndim(annotators) == 2:
        names = [str(name) for name in getattr(annotators, "columns", range(np.shape(annotators)[1]))]
        votes = read_votes(annotators, missing_label)
        problem = read_problem(X, votes.labels, any_type=True)
        check_squares(problem.X, names=problem.column_names)
        return vote_fingerprints(
            problem, votes.codes, names, alpha=alpha, random_state=seed_of(random_state), n_jobs=n_jobs
        )
    if y is None:
        raise InputError("y", "is missing", "give one class per row, or votes as annotators")
    problem = read_problem(X, y, missing_label=missing_label, any_type=True)
    check_squares(problem.X, names=problem.column_names)
    who = None if annotators is None else read_annotators(annotators, problem.n_rows)
    return row_fingerprints(problem, who, alpha=alpha, random_state=seed_of(random_state), n_jobs=n_jobs)


@dataclass(frozen=True)
class Votes:
    """Votes as codes (-1: none), and the labels they make together."""

    codes: Codes
    labels: SoftLabels


def read_votes(votes: Any, missing_label: Any = "auto") -> Votes:
    """The class that each annotator gave to each row."""
    codes, _ = code_votes(np.asarray(votes, dtype=object), None, missing_label)
    return Votes(codes, soft_labels(np.asarray(votes, dtype=object), missing_label=missing_label))


def read_annotators(annotators: Any, n_rows: int) -> NDArray[Any]:
    """One name per row; "" where the annotator is not known."""
    who = np.asarray(annotators, dtype=object)
    if who.shape != (n_rows,):
        raise InputError(
            "annotators", f"has shape {who.shape}, but the table has {n_rows} rows", "give one annotator per row"
        )
    names = np.asarray(["" if is_missing(name) else str(name) for name in who], dtype=object)
    if len(set(names) - {""}) < 2:
        raise InputError("annotators", "names fewer than two annotators", "leave it out, or give one name per row")
    return names


def row_fingerprints(
    problem: Problem,
    who: NDArray[Any] | None = None,
    *,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Fingerprints:
    """The same as :func:`label_fingerprints`, for a problem with one class, and perhaps one annotator, per row."""
    known = problem.supervision
    if not isinstance(known, Classes):
        raise InputError("y", f"cannot be used: {known.given}", "fingerprints need one class per row, or votes")
    rows = np.flatnonzero(known.labelled)
    problem = problem.filled.labelled
    known = problem.supervision
    assert isinstance(known, Classes)
    if (known.rows_per_class() >= 2).sum() < 2:
        raise InputError("y", "has fewer than two classes with two rows or more", "label more rows of other classes")
    opinions = pooled_opinions(problem, ExpertOptions(None, 5, random_state, n_jobs))
    doubt = _doubt(opinions, known.codes)
    test = DoubtTest(problem, random_state)
    everybody = np.arange(problem.n_rows)
    overall, more = test.pvalues(everybody, doubt, opinions)
    names: tuple[str, ...] = ()
    pvalues = np.empty((0, problem.n_features))
    only = np.full(problem.n_features, "", dtype=object)
    confusions = np.empty((0, known.n_classes, known.n_classes))
    n_labels = np.empty(0, dtype=np.int64)
    if who is not None:
        who = who[rows]
        names = tuple(sorted(set(who) - {""}))
        own = [np.flatnonzero(who == name) for name in names]
        tested = []
        for done, part in enumerate(own):
            advance("annotators", done, len(own))
            tested.append(test.pvalues(part, doubt[part], opinions[part])[0])
        pvalues = np.stack(tested)
        likely = opinions.argmax(axis=1)
        confusions = np.stack([_counted(likely[part], known.codes[part], known.n_classes) for part in own])
        n_labels = np.asarray([len(part) for part in own])
        only = _only_because(problem, names, own, alpha, random_state, n_jobs)
    return Fingerprints(
        problem.feature_names,
        false_discovery_control(overall),
        more,
        names,
        _together(pvalues),
        only,
        alpha,
        float("nan"),
        known.classes,
        confusions,
        n_labels,
    )


def vote_fingerprints(
    problem: Problem,
    votes: Codes,
    names: list[str],
    *,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Fingerprints:
    """The same as :func:`label_fingerprints`, for votes (rows, annotators) with -1 where there is none."""
    known = problem.supervision
    assert isinstance(known, Memberships | Classes)
    if len(names) < 2:
        raise InputError("annotators", "names fewer than two annotators", "give one column per annotator")
    problem = problem.filled
    n_classes = known.n_classes
    said = (votes[:, :, None] == np.arange(n_classes)).astype(np.float64)
    shares = said.sum(axis=(0, 1)) / said.sum()
    test = DoubtTest(problem, random_state)
    pvalues, all_doubt = [], np.full(votes.shape, np.nan)
    for e in range(len(names)):
        advance("annotators", e, len(names))
        others = said.sum(axis=1) - said[:, e]
        part = np.flatnonzero((votes[:, e] >= 0) & (others.sum(axis=1) > 0))
        opinions = (others[part] + shares) / (others[part].sum(axis=1, keepdims=True) + 1.0)
        all_doubt[part, e] = _doubt(opinions, votes[part, e])
        pvalues.append(test.pvalues(part, all_doubt[part, e], opinions)[0])
    model = dawid_skene(votes, n_classes)
    seen = np.flatnonzero(~np.isnan(all_doubt).all(axis=1))
    overall, more = np.ones(problem.n_features), np.ones(problem.n_features, dtype=np.int64)
    if len(seen):
        overall, more = test.pvalues(seen, np.nanmean(all_doubt[seen], axis=1), model.memberships[seen])
    return Fingerprints(
        problem.feature_names,
        false_discovery_control(overall),
        more,
        tuple(names),
        _together(np.stack(pvalues)),
        _only_because_of_votes(problem, votes, names, alpha, random_state, n_jobs),
        alpha,
        krippendorff_alpha(votes),
        known.classes,
        np.einsum("ik,iel->ekl", np.nan_to_num(model.memberships), said),
        (votes >= 0).sum(axis=0),
    )


def _doubt(opinions: Floats, codes: Codes) -> Floats:
    """How much each label speaks for a higher rate of errors, given an opinion that has not seen it."""
    own = np.clip(opinions[np.arange(len(codes)), codes], 1e-6, 1.0 - 1e-6)
    other = (1.0 - own) / max(1, opinions.shape[1] - 1)
    return (other - own) / ((1.0 - _ERRORS) * own + _ERRORS * other)


def _counted(likely: Codes, given: Codes, n_classes: int) -> Floats:
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (likely, given), 1.0)
    return counts


def _together(pvalues: Floats) -> Floats:
    """q-values over all annotators and features."""
    return false_discovery_control(pvalues.ravel()).reshape(pvalues.shape) if pvalues.size else pvalues


def _only_because(
    problem: Problem,
    names: tuple[str, ...],
    own: list[Codes],
    alpha: float,
    random_state: int,
    n_jobs: int | None,
) -> NDArray[Any]:
    """For each feature, the annotator without whose rows it is not kept, more often than chance."""
    tests = QuickTests(alpha, random_state, n_jobs)
    found = np.full(problem.n_features, "", dtype=object)
    kept = tests.kept(problem, "all")
    strata = problem.supervision.strata
    everybody = np.arange(problem.n_rows)
    for name, part in zip(names, own, strict=True):
        rest = np.setdiff1d(everybody, part)
        if len(rest) < 4 or not kept.any():
            continue
        lost = kept & ~tests.kept(problem.rows(rest), name)
        rng = np.random.default_rng([random_state, len(part)])
        others = (problem.rows(_other_rows(strata, part, rng)) for _ in range(_LEFT_OUT))
        found[_beyond_chance(lost, others, tests, name)] = name
    return found


def _beyond_chance(
    lost: NDArray[np.bool_], draws: Iterator[Problem], tests: QuickTests, kind: str
) -> NDArray[np.bool_]:
    """The features, of those that were lost, that no random draw of the same kind loses."""
    while lost.any() and (problem := next(draws, None)) is not None:
        lost = lost & tests.kept(problem, kind)
    return lost


def _other_rows(strata: Codes, part: Codes, rng: np.random.Generator) -> Codes:
    """All rows without a random set that has as many rows of each class as ``part``."""
    left_out = [
        rng.permutation(np.flatnonzero(strata == value))[: np.count_nonzero(strata[part] == value)]
        for value in np.unique(strata[part])
    ]
    return np.setdiff1d(np.arange(len(strata)), np.concatenate(left_out))


def _only_because_of_votes(
    problem: Problem, votes: Codes, names: list[str], alpha: float, random_state: int, n_jobs: int | None
) -> NDArray[Any]:
    """The same for votes: the labels are made again without one annotator, or without one random vote per row."""
    tests = QuickTests(alpha, random_state, n_jobs)
    found = np.full(problem.n_features, "", dtype=object)
    kept = tests.kept(problem.labelled, "all")
    known = problem.supervision
    assert isinstance(known, Memberships | Classes)

    def without(mask: NDArray[np.bool_]) -> Problem:
        left = np.where(mask, -1, votes)
        said = (left[:, :, None] == np.arange(known.n_classes)).sum(axis=1).astype(np.float64)
        total = said.sum(axis=1)
        shares = np.divide(said, total[:, None], out=np.zeros_like(said), where=total[:, None] > 0)
        labels = Memberships(n_rows=len(left), labelled=total > 0, classes=known.classes, memberships=shares)
        return problem.with_supervision(labels.certain()).labelled

    for e, name in enumerate(names):
        if not kept.any():
            break
        mask = np.zeros(votes.shape, dtype=bool)
        mask[:, e] = votes[:, e] >= 0
        lost = kept & ~tests.kept(without(mask), name)
        rng = np.random.default_rng([random_state, e])
        rows = np.flatnonzero(mask[:, e])
        others = (without(_one_vote_each(votes, rows, rng)) for _ in range(_LEFT_OUT))
        found[_beyond_chance(lost, others, tests, name)] = name
    return found


def _one_vote_each(votes: Codes, rows: Codes, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(rows, annotators): one random vote in each of some rows."""
    random = np.where(votes >= 0, rng.random(votes.shape), -1.0)
    drawn = np.zeros(votes.shape, dtype=bool)
    drawn[rows, random[rows].argmax(axis=1)] = True
    return drawn


def annotators_in_words(found: Fingerprints) -> str:
    """How many labels each annotator gave, and how far they agree."""
    if not found.annotators:
        return ""
    counts = listed(
        (f"{name} ({counted(int(n), 'label')})" for name, n in zip(found.annotators, found.n_labels, strict=True)), 12
    )
    if np.isfinite(found.agreement):
        return f"Annotators: {counts}. Krippendorff's alpha {found.agreement:.2f} (1 is full agreement, 0 is chance)."
    return f"Annotators: {counts}. No row has labels of two annotators, so their agreement cannot be measured."

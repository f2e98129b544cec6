"""Alerts about confounders: related features are no longer related once a column such as a site is given."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dubio.errors import NoFeatureStandsOut
from dubio.evidence.evidence import Evidence, varying_parts
from dubio.evidence.relations import linear_tests, relation_combination
from dubio.evidence.relevance import relevance_of
from dubio.evidence.residuals import explained_by_given
from dubio.findings import Alert
from dubio.problem import Problem
from dubio.sampling import sample_rows
from dubio.table.given import Given, with_column_beside
from dubio.table.read import ReadTable

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Words in the name of a column that says who, where, when or with what a row was measured.
_WORDS = {"age", "sex", "gender", "site", "centre", "center", "hospital", "clinic", "ward", "department", "batch"}
_WORDS |= {"plate", "scanner", "operator"}
_MOST_LEVELS = 30  # categories of a column that may be a confounder
_MOST_CANDIDATES, _MOST_ROWS, _MOST_FEATURES = 40, 5000, 200  # that are looked at
FEWEST_GONE = 3  # features that are no longer related
#: Their share among the related ones, for a column with such a name, a date or the order of rows; and for any other
#: category, which may as well be a measurement.
_SHARE_NAMED, _SHARE_OTHERS = 0.2, 2 / 3
_CLEAR = 3.0  # standardised effect of a feature with clear evidence
_VERY_CLEAR = 5.0  # of one of fewer than three features, for a column with such a name or a date
_LEFT = 0.6  # of a standardised effect, at most, in a feature that is explained: less evidence alone is not enough
_MOST_EXPLAINED = 0.9  # share of the target: above it, the column is another form of it, or rows are sorted by it


class _Candidate(NamedTuple):
    """A column that may be a confounder: the problem in which it is given too, its place and what is asked of it."""

    problem: Problem
    name: str
    position: int
    share: float


def confounder_alerts(problem: Problem, is_related: NDArray[np.bool_], **options: Any) -> list[Alert]:
    """An alert if many related features are no longer related once one more column is given.

    Candidates are dates, the order of the rows, categories of at most 30 levels and columns named like an age, a site
    or a batch; no other measurement, which may only be redundant. Quick tests choose the one that explains most; it is
    then given to all tests, which decide. ``options`` are those of :func:`~dubio.evidence.relevance.relevance_of`.
    """
    problem = replace(problem, checks=None)
    related = np.flatnonzero(is_related & problem.is_judged)
    if problem.supervision.has_pairs:
        return []
    few = problem.filled.rows(sample_rows(problem, _MOST_ROWS, 0))
    before = _strengths(few, related)
    tried = [(_gone(one, related, before), one) for one in _candidates(few)]
    found = [(gone.sum(), one) for gone, one in tried if _is_enough(gone, one, related, before)]
    if not found:
        return []
    best = max(found, key=lambda one: one[0])[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureStandsOut)
        whole = _with_order(problem) if best.position < 0 else _with(problem, best.position)
        remains = relevance_of(whole.filled, **options, only_decides=True).relevant
    others = related != best.position
    lost = others & ~remains[related]
    if not _is_enough(lost, best, related, before):
        return []
    gone, others = related[lost], related[others]
    facts = {"gone": problem.feature_names[gone].tolist(), "related": len(others), "position": best.position}
    facts |= {"column": best.name if problem.names is not None else None}
    facts |= {"too": "" if problem.given is None else " too"}
    return [Alert("confounder", (best.name,) if best.position >= 0 else (), facts)]


def _is_enough(gone: NDArray[np.bool_], one: _Candidate, related: Rows, before: Floats) -> bool:
    """Whether so many related features are gone: three, or one that had very clear evidence."""
    fewest = FEWEST_GONE
    if one.position >= 0 and one.share == _SHARE_NAMED and (gone & (before >= _VERY_CLEAR)).any():
        fewest = 1
    return bool(gone.sum() >= max(fewest, one.share * (related != one.position).sum()))


def _candidates(problem: Problem) -> list[_Candidate]:
    """The columns that are looked at, and the order of the rows."""
    found = []
    for feature in np.flatnonzero(problem.is_judged).tolist():
        reading = None if problem.columns is None else problem.columns.reading_of(feature)
        name, kind = str(problem.feature_names[feature]), "number" if reading is None else reading.kind
        has_name = problem.names is not None and not _WORDS.isdisjoint(_words_of(name))
        is_category = reading is not None and kind == "category" and len(reading.levels) <= _MOST_LEVELS
        if has_name or kind == "date" or is_category:
            share = _SHARE_NAMED if has_name or kind == "date" else _SHARE_OTHERS
            found.append(_Candidate(_with(problem, feature), name, feature, share))
    order = _in_order(problem)
    return found[:_MOST_CANDIDATES] + ([] if order is None else [order])


def _words_of(name: str) -> list[str]:
    """The words of a name: "patientAge_2" has the words "patient" and "age"."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _with(problem: Problem, feature: int) -> Problem:
    """The same problem in which one more feature is given."""
    features = np.append(problem.given_features, feature)
    beside = np.zeros(0, dtype=np.int64) if problem.given is None else problem.given.beside
    return replace(problem, given=Given(features, beside))


def _in_order(problem: Problem) -> _Candidate | None:
    """The order of the rows; None if the table is sorted by its target, or if groups may follow each other."""
    if problem.groups is not None:
        return None
    wider = _with_order(problem)
    alone = wider.features(np.array([problem.n_features]))
    if _share_of_steps(problem) >= _explained(alone):  # as in trials with 10 to 30 % wrong labels
        return None
    return _Candidate(wider, "the order of the rows", -1, _SHARE_NAMED)


def _with_order(problem: Problem) -> Problem:
    """The same problem in which the order of the rows is given too."""
    place = np.arange(problem.n_rows, dtype=np.float64)
    table = with_column_beside(ReadTable(problem.X, problem.names, problem.columns), place, "the order of the rows")
    parts: dict[str, Any] = {"X": table.matrix, "names": table.names, "columns": table.columns}
    nominal = np.append(problem.nominal, False) if len(problem.nominal) else problem.nominal
    return _with(replace(problem, **parts, nominal=nominal), problem.n_features)


def _explained(problem: Problem) -> float:
    """The share of the target that given columns explain."""
    return explained_by_given(problem.features(problem.given_features))


def _share_of_steps(problem: Problem) -> float:
    """How much of the target is explained if the rows are cut into as many parts as there are classes."""
    tested = problem.tested.supervision
    scores = tested.target_matrix(tested.labelled)
    total, parts = float((scores**2).sum()), [scores]
    for _ in range(max(1, scores.shape[1] - 1)):
        gains = [_best_cut(part) for part in parts]
        best = int(np.argmax([gain for gain, _ in gains]))
        place = gains[best][1]
        parts[best : best + 1] = [parts[best][:place], parts[best][place:]]
    rest = sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts if len(part))
    return 1.0 - rest / total if total > 0 else 0.0


def _best_cut(part: Floats) -> tuple[float, int]:
    """By how much one cut lowers the squared errors of means, and where it is."""
    n = len(part)
    if n < 2:
        return 0.0, n
    counts = np.arange(1, n)[:, None]
    sums = np.cumsum(part - part.mean(axis=0), axis=0)[:-1]
    gains = (sums**2 * (1.0 / counts + 1.0 / (n - counts))).sum(axis=1)
    return float(gains.max()), int(gains.argmax()) + 1


def _gone(one: _Candidate, related: Rows, before: Floats) -> NDArray[np.bool_]:
    """The related features with clear evidence of which little is left once the candidate is given.

    A mark of the target explains a share of it, and leaves about the root of the rest of everybody's evidence.
    """
    share = _explained(one.problem)
    if share > _MOST_EXPLAINED:
        return np.zeros(len(related), dtype=bool)
    others = related != one.position
    after = np.full(len(related), np.inf)
    after[others] = _strengths(one.problem, related[others])
    left = np.minimum(_LEFT * np.sqrt(1.0 - share) * before, stats.norm.isf(0.025))
    return np.asarray(others & (before >= _CLEAR) & (after < left))


def _strengths(problem: Problem, features: Rows) -> Floats:
    """The evidence that each feature is related to the target, by the linear tests, as normal quantiles."""
    part = problem.features(np.concatenate([features[:_MOST_FEATURES], problem.given_features]))
    pvalues = np.ones(part.n_features)
    for independent, varying, share in varying_parts(part.tested):
        tests = relation_combination(linear_tests(Evidence.of(independent)))
        pvalues[varying] = np.minimum(pvalues[varying], tests / share)
    strengths = np.full(len(features), np.nan)
    strengths[:_MOST_FEATURES] = stats.norm.isf(np.maximum(pvalues[: len(strengths[:_MOST_FEATURES])], 1e-300) / 2)
    return strengths

"""What votes and models of the columns say together, and the audit of votes and annotators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control

from dubio.checks import require_choice, seed_of
from dubio.doubt.doubt_test import DoubtTest, doubt_of
from dubio.doubt.engines import FLOOR
from dubio.doubt.experts import MANY_FEATURES, ExpertOptions, content_order, judged_codes, out_of_fold, units_per_class
from dubio.doubt.number_experts import FEWEST_NUMBERS, rows_by_content
from dubio.errors import InputError, InputWarning, listed, name_row
from dubio.problem import Problem, read_problem
from dubio.ranking import rank_scores
from dubio.table.read import read_any_table
from dubio.target.annotators import ClassConsensus, NumberConsensus, Quality, Votes
from dubio.target.classes import Classes, SoftLabels
from dubio.target.knowledge import Supervision
from dubio.target.numbers import Numbers
from dubio.target.soft import code_votes, krippendorff_alpha, labels_with_doubt
from dubio.target.voted import Voted, VotedClasses, VotedNumbers, VotesByRow
from dubio.target.votes import votes
from dubio.words import Note, note, paragraph

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: How often models learn the consensus and votes and models are joined again. A second time gained 0.8 points of right
#: consensus on five tables, a third one nothing.
_ROUNDS = 2
#: Models are listened to if they raise the log-likelihood of the votes by this much. Where no column was related to the
#: classes they raised it by at most 4 in eleven of twelve trials, on real tables by 7 or more in eleven of fourteen.
_GAIN = 5.0
#: Most rows for which it is worked out whom to ask, and the least that an answer must be expected to gain.
_ASKED, _WORTH = 200, 0.001


class Joined(NamedTuple):
    """What votes and models say together."""

    consensus: ClassConsensus | NumberConsensus
    models: tuple[str, ...]
    """Names of the models that were listened to; none if they know nothing."""


def join_votes(problem: Problem, options: ExpertOptions) -> Joined:
    """The consensus of the votes and of models of the columns; computed once per problem.

    Models learn the likely class (number) of each row, and judge each row while it is held out. Their opinion is then
    the row's prior, and the consensus is computed again; twice. No row is judged by a model that has seen it. If the
    models do not make the votes clearly more likely, the votes alone decide.
    """
    voted = cast(Voted, problem.supervision)
    join = _join_classes if isinstance(voted, VotedClasses) else _join_numbers
    return problem.once(
        ("votes", id(options.experts), options.n_folds, options.random_state), lambda: join(problem, options)
    )


def _join_classes(problem: Problem, options: ExpertOptions) -> Joined:
    voted = cast(VotedClasses, problem.supervision)
    alone = found = voted.agreed()
    names: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        # folds and trees depend on the order of the classes: the most frequent one comes first, whatever the names
        place = np.argsort(np.argsort(-np.nansum(found.memberships, axis=0), kind="stable"), kind="stable")
        likely = np.where(voted.labelled, place[np.nan_to_num(found.memberships).argmax(axis=1)], -1)
        likeliest = problem.with_supervision(voted.as_kind(Classes, codes=likely, labelled=likely >= 0))
        if (units_per_class(likeliest.supervision, problem.groups) >= 2).sum() < 2:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # likely classes are no labels that the user could change
            said = out_of_fold(likeliest, **options.for_audit)
        learned = judged_codes(likeliest.supervision, problem.groups)
        shares = (np.bincount(learned[learned >= 0], minlength=voted.n_classes) + 1.0) / (
            (learned >= 0).sum() + voted.n_classes
        )
        joined = voted.agreed(np.log((said.probabilities + FLOOR * shares) / (1.0 + FLOOR))[:, :, place])
        if found is alone and joined.fit - alone.fit < _GAIN:
            break
        found, names = joined, said.names
    return Joined(found, names)


def _join_numbers(problem: Problem, options: ExpertOptions) -> Joined:
    voted = cast(VotedNumbers, problem.supervision)
    alone = found = voted.agreed()
    if voted.n_labelled < FEWEST_NUMBERS:
        return Joined(alone, ())
    names: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        values = np.where(voted.labelled, found.values, np.nan)
        learned = problem.with_supervision(voted.as_kind(Numbers, values=values))
        is_wide = problem.n_columns > MANY_FEATURES
        more = (options.n_folds, options.random_state, options.n_jobs)
        said = rows_by_content(learned, values, is_wide, *more)[2](values)
        known = voted.labelled
        errors = {name: float(((one - values)[known] ** 2).mean()) for name, one in said.items()}
        if min(errors.values()) >= float(values[known].var()):
            break
        weights = [max(error, 1e-12) ** -2.0 for error in errors.values()]
        found, names = voted.agreed(np.average(list(said.values()), axis=0, weights=weights)), tuple(said)
    return Joined(found, names)


def consensus_with_columns(problem: Problem, options: ExpertOptions) -> Supervision:
    """The same knowledge with one belief per row, from votes and columns."""
    voted, found = cast(Voted, problem.supervision), join_votes(problem, options)
    if isinstance(found.consensus, ClassConsensus):
        return cast(VotedClasses, voted).believing(np.nan_to_num(found.consensus.memberships), voted.labelled)
    return cast(VotedNumbers, voted).believing(found.consensus.values, voted.labelled)


def soft_labels(
    labels: Any,
    *,
    confidence: ArrayLike | None = None,
    classes: Sequence[Any] | None = None,
    combine: Literal["average", "dawid-skene", "columns"] = "average",
    normalize: bool = False,
    missing_label: Any = "auto",
    max_iter: int = 100,
    tol: float = 1e-6,
    X: Any = None,
) -> SoftLabels:
    r"""Build class memberships from doubtful labels.

    ======================================  ==================================================================
    what you have                           what to write
    ======================================  ==================================================================
    a class and how sure it is              ``soft_labels(y, confidence=c)``: :math:`p_{iy_i} = c_i`, the rest
                                            spread evenly over the other classes
    one column per annotator, some abstain  ``soft_labels(votes)``: the share of votes for each class;
                                            ``combine="dawid-skene"`` gives more weight to better annotators,
                                            and ``combine="columns"`` also uses what a table says about the rows
    candidate sets                          ``soft_labels([{"a", "b"}, {"a"}, None])``: spread evenly over
                                            the set
    a table of probabilities                ``soft_labels(P)``: checked; ``normalize=True`` divides by row sums
    ======================================  ==================================================================

    Parameters
    ----------
    labels : array-like
        See above. None, NaN, pd.NA (and -1, see ``missing_label``) mean "no label" or "abstains". A 2-D array of
        floats in [0, 1] is a table of probabilities; any other 2-D array holds votes.
    confidence : array-like (n,), optional
        Probability that the label of each row is right, in [0, 1].
    classes : sequence, optional
        All classes, in the order you want; by default the classes that occur, sorted. For a table of probabilities:
        the names of its columns.
    combine : {"average", "dawid-skene", "columns"}
        How votes become memberships. Dawid-Skene [1]_ estimates a confusion matrix per annotator by EM. "columns" joins
        the votes with models of the table ``X`` (:func:`join_votes`). Do not test the columns of ``X`` against its
        result, which they have shaped: pass :func:`dubio.votes` as ``y`` instead.
    normalize : bool
        Divide the rows of a probability table by their sums. A 2-D array of whole numbers is then also read as such
        a table (how often each class was seen), not as votes.
    missing_label : "auto", None or a value
        As in :func:`dubio.target.reader.read_supervision`.
    max_iter, tol : int, float
        When Dawid-Skene stops: after this many iterations, or when no membership changes by more than ``tol``.
    X : array-like (n, features), optional
        The table of the rows, for ``combine="columns"``.

    Returns
    -------
    SoftLabels
        ``memberships`` and ``classes``; with Dawid-Skene and with columns also ``confusions`` and ``priors``.

    References
    ----------
    .. [1] A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM
       algorithm. Applied Statistics 28, 20-28.

    Examples
    --------
    >>> from dubio import soft_labels
    >>> soft_labels(["ill", "well", None], confidence=[0.9, 0.6, 1.0]).memberships
    array([[0.9, 0.1],
           [0.4, 0.6],
           [nan, nan]])
    >>> votes = [["ill", "ill", "well"], ["well", None, "well"]]
    >>> soft_labels(votes).memberships.round(2)
    array([[0.67, 0.33],
           [0.  , 1.  ]])
    """
    require_choice("combine", combine, ("average", "dawid-skene", "columns"))
    if (X is not None) != (combine == "columns"):
        found = "is missing" if X is None else f"is given, but combine={combine!r} does not look at it"
        raise InputError("X", found, "give a table and combine='columns', or neither")
    if combine != "columns":
        more: dict[str, Any] = {"missing_label": missing_label, "max_iter": max_iter, "tol": tol}
        return labels_with_doubt(
            labels, confidence=confidence, classes=classes, combine=combine, normalize=normalize, **more
        )
    if not isinstance(labels, VotesByRow):
        table = np.asarray(labels, dtype=object)
        if table.ndim != 2:
            raise InputError("labels", "holds no votes, which combine='columns' needs", "give one column per annotator")
        codes, names = code_votes(table, classes, missing_label)
        cells = names.astype(object)[codes]
        cells[codes < 0] = None
        labels = votes(cells, classes=names.tolist())
    if labels.classes is None:
        raise InputError("labels", "are numbers, which have no probabilities", "use audit_labels(X, votes).likely")
    problem = read_problem(read_any_table(X, was_missing=True), labels).filled
    joined = cast(ClassConsensus, join_votes(problem, ExpertOptions()).consensus)
    before = joined.before[problem.supervision.labelled].mean(axis=0)
    return SoftLabels(joined.memberships, labels.classes, joined.confusions, before, joined.n_iter)


@dataclass(frozen=True, repr=False)
class VoteAudit:
    """Each row's likely truth, each doubtful vote, and how good each annotator is. Made by :func:`dubio.audit_labels`.

    Attributes
    ----------
    likely : array (n_rows,)
        The likely class (of ordered classes, the median) or number of each row; None or NaN where nothing is known.
    probability : array (n_rows,)
        The probability of the likely class; for numbers, the standard deviation of the likely number.
    annotators : tuple of str
    quality, low, high : array (n_annotators,)
        The share of right votes of each annotator, with an interval of 95 %; for numbers, the spread of their errors.
    bias : array (n_annotators,) or None
        For numbers: how far those of each annotator are above the likely ones, on average.
    n_votes : array (n_annotators,)
    confusions : array (n_annotators, n_classes, n_classes) or None
        At ``[e, k, l]`` the probability that annotator ``e`` says class ``l`` where class ``k`` is true.
    agreement : float
        Krippendorff's alpha: 1 is full agreement, 0 is chance; by the order of the classes or the size of the numbers
        if they have one.
    row, who, said, wrong : arrays (n_votes,)
        Each vote: its row, its annotator's place, what was said, and the probability that it is wrong (for numbers,
        how many standard deviations it is off).
    doubtful_votes : array (n_votes,) of bool
        Votes that are more likely wrong than right; numbers that are off by more than three standard deviations.
    features : array (n_features,)
    by_column : array (n_annotators, n_features) or None
        q-value of the test whether each annotator errs more often along a feature
        (:class:`dubio.doubt.doubt_test.DoubtTest`), among rows that look alike; 1 with fewer than 20 votes. None for
        numbers, and for tables that are too large: :func:`dubio.label_fingerprints` tests these.
    more : array (n_annotators, n_features) of int
        1 if an annotator errs more often where the feature is high, -1 where it is low, 0 if it has several columns.
    ask : array (n_rows,) of object
        Whom to ask next about the rows that are least sure, or None.
    gain : array (n_rows,)
        By how much the probability of the likely class is expected to rise if that annotator votes, too.
    models : tuple of str
        The models of the columns that were listened to; none if the columns say nothing about the classes.
    classes, index
        Names of the classes, None for numbers; row names of the table, if it has any.
    """

    likely: NDArray[Any] = field(repr=False)
    probability: Floats = field(repr=False)
    annotators: tuple[str, ...]
    quality: Floats
    low: Floats
    high: Floats
    bias: Floats | None
    n_votes: Codes
    confusions: Floats | None = field(repr=False)
    agreement: float
    row: Codes = field(repr=False)
    who: Codes = field(repr=False)
    said: NDArray[Any] = field(repr=False)
    wrong: Floats = field(repr=False)
    doubtful_votes: NDArray[np.bool_] = field(repr=False)
    features: NDArray[Any] = field(repr=False)
    by_column: Floats | None = field(repr=False)
    more: Codes = field(repr=False)
    ask: NDArray[Any] = field(repr=False)
    gain: Floats = field(repr=False)
    models: tuple[str, ...]
    memberships: Floats | None = field(default=None, repr=False)
    classes: NDArray[Any] | None = None
    index: Any = field(default=None, repr=False)

    #: What is audited.
    noun: ClassVar[str] = "votes"

    def __len__(self) -> int:
        return len(self.likely)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows of which something is known."""
        return ~np.isnan(self.probability)

    @property
    def rank(self) -> Codes:
        """1 for the row that is least sure, and so on; 0 where nothing is known."""
        known, ranks = np.flatnonzero(self.labelled), np.zeros(len(self), dtype=np.int64)
        ranks[known] = rank_scores(self.probability[known], lower_is_better=self.classes is not None)
        return ranks

    def votes_in_words(self) -> list[str]:
        """What was said of each row: ``ann: ill, bob: well``."""
        words: list[list[str]] = [[] for _ in range(len(self))]
        for row, who, said in zip(self.row.tolist(), self.who.tolist(), self.said.tolist(), strict=True):
            words[row].append(f"{self.annotators[who]}: {said}")
        return [", ".join(some) for some in words]

    def to_frame(self) -> Any:
        """One line per row: the votes, the likely truth, and whom to ask next (needs pandas)."""
        import pandas as pd

        sure = "probability" if self.classes is not None else "standard deviation"
        columns = {"votes": self.votes_in_words(), "likely": self.likely, sure: self.probability}
        columns |= {"ask": self.ask, "gain": self.gain} if self.classes is not None else {}
        return pd.DataFrame({**columns, "rank": self.rank}, index=self.index)

    def votes_frame(self) -> Any:
        """One line per vote, the most doubtful first (needs pandas)."""
        import pandas as pd

        names = np.asarray(self.annotators, dtype=object)[self.who]
        wrong = "wrong" if self.classes is not None else "standard deviations off"
        index = self.row if self.index is None else np.asarray(self.index)[self.row]
        columns = {"row": index, "annotator": names, "said": self.said, "likely": self.likely[self.row]}
        frame = pd.DataFrame({**columns, wrong: self.wrong, "doubtful": self.doubtful_votes})
        return frame.sort_values(wrong, ascending=False, kind="stable", ignore_index=True)

    def annotators_frame(self) -> Any:
        """One line per annotator, the best first (needs pandas)."""
        import pandas as pd

        what = "right" if self.classes is not None else "spread"
        columns: dict[str, Any] = {"votes": self.n_votes, what: self.quality, "low": self.low, "high": self.high}
        columns |= {} if self.bias is None else {"bias": self.bias}
        frame = pd.DataFrame(columns, index=pd.Index(self.annotators, name="annotator"))
        return frame.sort_values(what, ascending=self.classes is None, kind="stable")

    def errors_frame(self) -> Any:
        """One line per annotator and feature along which they err (needs pandas); ``more`` is 1 for high values."""
        import pandas as pd

        q = np.ones((len(self.annotators), len(self.features))) if self.by_column is None else self.by_column
        e, j = np.nonzero(q <= _ALPHA)
        order = np.argsort(q[e, j], kind="stable")
        e, j = e[order], j[order]
        names = np.asarray(self.annotators, dtype=object)[e]
        columns = {"annotator": names, "feature": np.asarray(self.features, dtype=object)[j]}
        return pd.DataFrame({**columns, "q": q[e, j], "more": self.more[e, j] if len(e) else e})

    @property
    def judged(self) -> bool:
        """True: two annotators or more judge each other."""
        return True

    @property
    def disagree(self) -> NDArray[np.bool_]:
        """Rows in which two votes differ."""
        codes = np.unique(self.said, return_inverse=True)[1]
        highest, lowest = np.full(len(self), -1), np.full(len(self), len(self.said))
        np.maximum.at(highest, self.row, codes)
        np.minimum.at(lowest, self.row, codes)
        return highest > lowest

    def headline(self) -> Note:
        """The answer in one clause."""
        doubtful, people = int(self.doubtful_votes.sum()), len(self.annotators)
        return note("votes wrong" if doubtful else "no vote wrong", n=doubtful, votes=len(self.row), people=people)

    def notes(self) -> list[Note]:
        """The answer, and what it rests on, as clauses."""
        notes = [self.headline()]
        if np.isfinite(self.agreement):
            notes.append(note("agreement", alpha=self.agreement))
        if self.classes is not None and self.disagree.any():
            sure = np.nan_to_num(self.probability)
            unsure = self.disagree & (sure < _SETTLED)
            settled = int((unsure & (sure + np.nan_to_num(self.gain) >= _SETTLED)).sum())
            facts = {"percent": 100 * _SETTLED, "unsure": int(unsure.sum()), "settled": settled}
            notes.append(note("votes disagree", n=int(self.disagree.sum()), **facts))
        without = np.setdiff1d(np.arange(len(self)), self.row)
        if len(without):
            names = listed((name_row(int(i)) for i in without), 5)
            code = "rows without votes judged" if self.labelled[without].any() else "rows without votes"
            notes.append(note(code, n=len(without), rows=names))
        return notes if self.models else [*notes, note("votes alone")]

    def on_annotators(self) -> list[Note]:
        """One clause on each annotator, the best first."""
        order = np.argsort(self.quality if self.classes is None else -self.quality, kind="stable")
        return [one for e in order if self.n_votes[e] for one in (self._on(int(e)), *self._errors_of(int(e)))]

    def _errors_of(self, e: int) -> list[Note]:
        """On which rows an annotator errs, the clearest feature first."""
        if self.by_column is None:
            return []
        q = self.by_column[e]
        found = [int(j) for j in np.argsort(q, kind="stable") if q[j] <= _ALPHA][:_MOST_ERRORS]
        codes = {1: "annotator errs high", -1: "annotator errs low", 0: "annotator errs"}
        facts = {"name": self.annotators[e]}
        return [note(codes[int(self.more[e, j])], feature=str(self.features[j]), q=float(q[j]), **facts) for j in found]

    def _on(self, e: int) -> Note:
        facts: dict[str, Any] = {"name": self.annotators[e]}
        interval = {"value": self.quality[e], "low": self.low[e], "high": self.high[e]}
        if self.confusions is None or self.classes is None:
            assert self.bias is not None
            bias = float(self.bias[e])
            return note("annotator above" if bias > 0 else "annotator below", bias=abs(bias), **interval, **facts)
        errors = np.array(self.confusions[e])
        np.fill_diagonal(errors, 0.0)
        true, called = np.unravel_index(int(errors.argmax()), errors.shape)
        names = [str(name) for name in self.classes.tolist()]
        percents = {name: 100 * float(share) for name, share in interval.items()}
        often = 100 * float(errors[true, called])
        return note("annotator right", often=often, true=names[true], called=names[called], **percents, **facts)

    def __str__(self) -> str:
        return paragraph([*self.notes(), *self.on_annotators()])

    def __repr__(self) -> str:
        return f"<VoteAudit: {int(self.doubtful_votes.sum())} of {len(self.row)} votes look wrong>"

    def soft_labels(self) -> SoftLabels:
        """The probability of each class, to pass on as ``y``."""
        if self.memberships is None or self.classes is None:
            raise InputError("votes", "are numbers, which have no probabilities", "use likely")
        return SoftLabels(self.memberships, self.classes)


#: A number that is off by more than this many standard deviations looks wrong.
_FAR = 3.0
#: A disagreement counts as settled if the likely class has this probability.
_SETTLED = 0.9
#: False discoveries among the columns on which annotators' errors depend; most of them that are named per annotator.
_ALPHA, _MOST_ERRORS = 0.05, 3
#: Most votes x features for which it is tested on which rows annotators err: a few seconds.
_TESTED = 300_000


def audit_votes(problem: Problem, *, index: Any = None, **options: Any) -> VoteAudit:
    """The same as :func:`dubio.audit_labels`, for a problem with votes; checked rows are known."""
    voted = cast(Voted, problem.supervision)
    if problem.checks is not None:
        voted = voted.knowing(problem.checks.truth)
        problem = problem.with_supervision(voted)
    voted.require_enough()
    found, models = join_votes(problem, ExpertOptions(**options))
    votes = voted.votes
    whole = voted.answers[voted.who >= 0]  # of an answer in probabilities, the likeliest class
    votes = Votes(votes.row[whole], votes.who[whole], votes.value[whole], votes.n_rows, votes.n_annotators)
    shared: dict[str, Any] = {
        "annotators": voted.annotators,
        **_quality_of(found.quality),
        "n_votes": np.bincount(votes.who, minlength=votes.n_annotators),
        "row": votes.row,
        "who": votes.who,
        "features": problem.feature_names,
        "models": models,
        "index": index,
    }
    if isinstance(found, NumberConsensus):
        values = np.where(voted.labelled, found.values, np.nan)
        off = np.abs(votes.value - found.bias[votes.who] - values[votes.row]) / found.quality.value[votes.who]
        return VoteAudit(
            likely=values,
            probability=np.where(voted.labelled, found.spread, np.nan),
            bias=found.bias,
            confusions=None,
            agreement=krippendorff_alpha(voted.values_said, "interval"),
            said=votes.value,
            wrong=off,
            doubtful_votes=off > _FAR,
            by_column=None,
            more=np.empty((0, 0), dtype=np.int64),
            ask=np.full(voted.n_rows, None, dtype=object),
            gain=np.full(voted.n_rows, np.nan),
            **shared,
        )
    voted = cast(VotedClasses, voted)
    P = found.memberships
    known = ~np.isnan(P).any(axis=1)
    likely = np.full(voted.n_rows, None, dtype=object)
    best = np.nan_to_num(P).argmax(axis=1)
    if voted.in_order:
        best = np.minimum((np.cumsum(np.nan_to_num(P), axis=1) < 0.5).sum(axis=1), voted.n_classes - 1)
    likely[known] = voted.classes[best[known]]
    wrong = 1.0 - P[votes.row, votes.value]
    ask, gain = _whom_to_ask(voted, found)
    level: Literal["ordinal", "nominal"] = "ordinal" if voted.in_order else "nominal"
    by_column, more = _errors_by_column(problem, votes, found, seed_of(options.get("random_state") or 0))
    return VoteAudit(
        likely=likely,
        probability=np.where(known, P[np.arange(len(P)), best], np.nan),
        bias=None,
        confusions=found.confusions,
        agreement=krippendorff_alpha(np.where(voted.answers, voted.codes_said, -1), level),
        said=voted.classes[votes.value],
        wrong=wrong,
        doubtful_votes=wrong > 0.5,
        by_column=by_column,
        more=more,
        ask=ask,
        gain=gain,
        memberships=P,
        classes=voted.classes,
        **shared,
    )


def _errors_by_column(problem: Problem, votes: Votes, found: ClassConsensus, seed: int) -> tuple[Floats | None, Codes]:
    """q-values (annotators, features) of the test whether an annotator errs along a feature, and the side of it.

    The opinion on a row is the consensus without the annotator's own vote.
    """
    n_features = problem.n_features
    if problem.groups is not None or len(votes.row) * n_features > _TESTED or not n_features:
        return None, np.empty((0, 0), dtype=np.int64)
    table = problem.filled.table
    test = DoubtTest(problem.filled, seed)
    pvalues = np.ones((votes.n_annotators, n_features))
    sides = np.zeros(pvalues.shape, dtype=np.int64)
    for e in range(votes.n_annotators):
        own = np.flatnonzero(votes.who == e)
        own = own[content_order(table[votes.row[own]], votes.value[own].astype(np.int64))]
        rows, code = votes.row[own], votes.value[own].astype(np.int64)
        others = found.memberships[rows] / found.confusions[e][:, code].T
        others /= others.sum(axis=1, keepdims=True)
        pvalues[e], sides[e] = test.pvalues(rows, doubt_of(others, code), others)
    one_column = np.asarray([len(problem.columns_of(np.array([j]))) == 1 for j in range(n_features)])
    return false_discovery_control(pvalues, axis=None).reshape(pvalues.shape), sides * one_column


def _quality_of(quality: Quality) -> dict[str, Any]:
    return {"quality": quality.value, "low": quality.low, "high": quality.high}


def _whom_to_ask(voted: VotedClasses, found: ClassConsensus) -> tuple[NDArray[Any], Floats]:
    r"""For the rows that are least sure: who should vote next, and what that is expected to gain.

    If annotator :math:`e` votes, the probability of the likely class becomes on average
    :math:`\sum_l \max_k p_{ik} \theta^{(e)}_{kl}`.
    """
    ask, gain = np.full(voted.n_rows, None, dtype=object), np.full(voted.n_rows, np.nan)
    sure = np.where(voted.labelled, np.nan_to_num(found.memberships).max(axis=1), np.inf)
    rows = np.argsort(sure, kind="stable")[:_ASKED]
    rows = rows[np.isfinite(sure[rows])]
    cast_votes = np.bincount(voted.votes.who, minlength=len(voted.annotators))
    free = np.tile(cast_votes > 0, (len(rows), 1))  # whose quality nobody knows is not asked
    for place, row in enumerate(rows.tolist()):
        free[place, voted.who[row][voted.who[row] >= 0]] = False
    P, expected = found.memberships[rows], np.empty(free.shape)
    for e in range(free.shape[1]):
        expected[:, e] = (P[:, :, None] * found.confusions[e]).max(axis=1).sum(axis=1)
    expected = np.where(free, expected - sure[rows][:, None], -np.inf)
    best = expected.argmax(axis=1)
    raised = expected[np.arange(len(rows)), best]
    some = raised > _WORTH
    ask[rows[some]] = np.asarray(voted.annotators, dtype=object)[best[some]]
    gain[rows[some]] = raised[some]
    return ask, gain

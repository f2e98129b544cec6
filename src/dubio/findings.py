"""The facts of a selection, of which every front end tells: :mod:`dubio.words` has the sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dubio.errors import quoted
from dubio.ranking import Ranking
from dubio.target.knowledge import Supervision
from dubio.words import PYTHON, SENTENCES, Note, Phrases, note, paragraph, say

#: Alerts about features that may be the target in disguise.
LEAKS = ("copy", "separates", "near copy")
#: Notes on what the answer means if columns are given: they stand above the table.
BEYOND = (
    *("given explains", "adjusting only without", "adjusting only with", "adjusting nothing"),
    *("effects differ", "effects same"),
)
#: Groups of equal features that are named in one sentence.
_MOST_GROUPS = 3


@dataclass(frozen=True)
class Alert:
    """Something in the table that may make the answer wrong.

    Attributes
    ----------
    kind : str
        A short name: "copy", "separates", "near copy", "contradicting rows", "visits", "repeated rows", "identifier",
        "constant", "text", "alike", "variants", "rating", "lonely class", "sentinel", "explained" or "confounder".
    features : tuple of str
        The features it is about; empty if it is about rows or the target.
    facts : dict
        The numbers and names in its words.
    """

    kind: str
    features: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def sentence(self) -> str:
        """The finding."""
        return self.finding()

    @property
    def remedy(self) -> str:
        """Something to do about it."""
        return self.advice()

    @property
    def left_out(self) -> str:
        """Why the features cannot be used, in a few words; empty if they can."""
        codes = [code for code in self._codes if self.kind not in LEAKS and f"{code} left out" in SENTENCES]
        return self._say(f"{codes[0]} left out") if codes else ""

    @property
    def asks_nothing(self) -> bool:
        """Whether nothing is to be done: to leave the features out is what anybody would do."""
        return self._codes[1] in ("identifier text", "constant")

    def finding(self, phrases: Phrases = PYTHON) -> str:
        """The finding, in the phrases of a front end."""
        found = self._say(self._codes[0], phrases)
        target = self.facts.get("target")  # one of several
        return found if target is None else f"target {quoted(target)}: {found}"

    def advice(self, phrases: Phrases = PYTHON) -> str:
        """Something to do about it, in the phrases of a front end."""
        return self._say(f"{self._codes[1]} remedy", phrases)

    def text(self, phrases: Phrases = PYTHON) -> str:
        """The finding and the remedy."""
        return say("advice", finding=self.finding(phrases), remedy=self.advice(phrases))

    def __str__(self) -> str:
        return f"{self.text()}."

    def record(self, phrases: Phrases = PYTHON) -> dict[str, Any]:
        """The alert as a plain dictionary."""
        names = {"kind": self.kind, "features": list(self.features)}
        return {**names, "sentence": self.finding(phrases), "remedy": self.advice(phrases)}

    @property
    def _codes(self) -> tuple[str, str]:
        """The codes of its finding and of its remedy."""
        facts, kind = self.facts, self.kind
        if kind == "visits":
            return f"visits {facts['why']}", kind if self.features else "visits neighbours alike"
        if kind == "near copy":
            return f"near copy {facts['why']}", kind
        if kind == "confounder" and not self.features:
            return ("confounder order",) * 2
        if kind == "identifier":
            return kind, "identifier text" if facts["value"] == "text" else kind
        if kind == "variants" and not self.features:
            return "variants of classes", kind
        if kind == "constant" and facts.get("varies outside"):
            return ("constant in sample",) * 2
        if kind == "constant":  # if no column varies, the table may have been read in a wrong way
            return f"constant {'one' if facts['values'] else 'none'}", kind if facts["others vary"] else "constant all"
        return kind, kind

    def _say(self, code: str, phrases: Phrases = PYTHON) -> str:
        facts = {**self.facts, "features": self.features, "n": len(self.facts.get("classes", self.features))}
        if self.kind == "confounder":
            facts |= {"names": self.facts["gone"], "gone": len(self.facts["gone"])}
        if self.kind in ("alike", "variants"):
            groups = self.facts["groups"]
            shown = [" and ".join([*map(quoted, names[:5]), *_more(names, 5)]) for names in groups[:_MOST_GROUPS]]
            facts["groups"] = " and ".join(["; ".join(shown), *_more(groups, _MOST_GROUPS)])
        return say(code, phrases, **facts)


def _more(names: Sequence[Any], most: int) -> list[str]:
    return [f"{len(names) - most} more"] if len(names) > most else []


@dataclass(frozen=True)
class Findings:
    """The facts of one selection."""

    supervision: Supervision
    method: str
    #: What the method does, and why this one, as clauses.
    does: str
    because: str
    ranking: Ranking
    alerts: tuple[Alert, ...] = ()
    #: What was read from the columns.
    columns: tuple[Note, ...] = ()
    #: What was sampled, grouped, weighed and completed.
    notes: tuple[Note, ...] = ()
    #: Weight of the penalty on features that resemble better ones.
    redundancy: float | None = None

    def without_cells(self, common: Collection[str] = ()) -> Findings:
        """The same without alerts, notes and reasons, which may quote cells, and without rare classes."""
        reasons = dict.fromkeys(self.ranking.left_out, say("not usable"))
        ranking = replace(self.ranking.without_rare(common), left_out=reasons)
        return replace(self, ranking=ranking, alerts=(), columns=(), notes=())

    @property
    def beyond(self) -> list[Note]:
        """How much of the target given columns explain, what adjusting changed, and where effects differ."""
        return [one for one in self.notes if one.code in BEYOND]

    def explanation(self) -> str:
        """How the target was read, which method was chosen and why, and how many features were kept and why."""
        ranking, enough = self.ranking, self.ranking.n_sufficient or 0
        told: list[object] = [self.supervision.describe()]
        told += [note("alert", alert=alert.finding()) for alert in self.alerts if not alert.asks_nothing]
        told += [ranking.what_was_left_out()] if ranking.left_out else []
        told += [note("method", method=self.method, does=self.does, because=self.because)]
        told += [*not_told_yet(self.columns, ranking.left_out), *self.notes]
        told += [ranking.about_truth] if ranking.about_truth is not None else []
        told += [note("moved down", weight=self.redundancy)] if self.redundancy else []
        if ranking.nothing_stands_out:
            told += [ranking.reason, note("nothing kept", feature=ranking.names[ranking.best_first[0]])]
            return paragraph(told)
        told += [note("kept", kept=ranking.n_kept, total=ranking.n_ranked - ranking.n_given, reason=ranking.reason)]
        if 0 < enough < (ranking.n_relevant or 0):
            code = "sufficient" if ranking.losses is None else "sufficient judged"
            told += [note(code, n=enough, names=ranking.names[ranking.best_first[:enough]].tolist())]
        return paragraph(told)


def not_told_yet(notes: Iterable[Note], left_out: Mapping[str, str]) -> list[Note]:
    """The notes on columns, without the reasons of columns that are listed as left out with the same reason."""
    return [one for one in notes if one.facts.get("why") is None or str(one.facts["name"]) not in left_out]


def left_out_by(alerts: Iterable[Alert], drop_leaks: bool = False, columns: Iterable[Note] = ()) -> dict[str, str]:
    """The features that were left out, each with the reason in a few words.

    Parameters
    ----------
    alerts : tuple of Alert
        As found by :func:`~dubio.alerts.find_alerts`.
    drop_leaks : bool, default=False
        Whether suspected copies of the target, and features that separate its classes completely, were left out too.
    columns : tuple of Note
        Notes on the columns of the table: of text, they say more than the alert.

    Returns
    -------
    dict of str to str
        The reason by the name of the feature.
    """
    of_text = {str(one.facts["name"]): one.facts["why"] for one in columns if "why" in one.facts}
    reasons: dict[str, str] = {}
    for alert in alerts:
        leak = drop_leaks and alert.kind in LEAKS
        why = say(f"{alert.kind} left out") if leak else alert.left_out
        texts = of_text if alert.kind == "text" else {}
        reasons |= {name: texts.get(name, why) for name in alert.features if why}
    return reasons


def how_sure(ranking: Ranking, alpha: float | None, stability: Any = None) -> Iterator[Note]:
    """How sure an answer is: what was left out, the tests at level ``alpha`` (None: no tests), and the stability."""
    if ranking.left_out:
        yield ranking.left_out_note()
    if ranking.nothing_stands_out:
        yield note("handed on")
    else:
        yield note("untested") if alpha is None else _tested(ranking, alpha)
        yield from _on_families(ranking)
    if stability is None:
        return
    facts = {"resampled": say(f"resampled {stability.resample}"), "draws": len(stability.rankings)}
    if ranking.n_kept == ranking.n_ranked - ranking.n_given:
        yield note("all kept")
    elif not ranking.n_kept or not stability.selected.any():
        some = int(stability.selected.any(axis=1).sum())
        yield note("sometimes kept" if some else "never kept", some=some, **facts)
    else:
        if stability.index is None:
            yield note("never kept", **facts)
            return
        yield stability.agreement()
        often = stability.frequency if stability.forecast is None else stability.forecast.frequency
        if (few := ranking.support & (often < 0.5)).any():
            yield note("unstable features", names=ranking.names[few].tolist())


def _tested(ranking: Ranking, alpha: float) -> Note:
    """How many related features may be there by chance."""
    if ranking.most_by_chance is None or not ranking.n_relevant:
        return note("tested", alpha=100 * alpha)
    code = "some by chance" if ranking.most_by_chance else "none by chance"
    bound = say(code, most=ranking.most_by_chance, n=ranking.n_relevant)
    return note("tested here", alpha=100 * alpha, bound=bound)


def _on_families(ranking: Ranking) -> Iterator[Note]:
    """How many families the related features are, and which of them add something beyond all others."""
    heads = [int(members[0]) for members in ranking.families]
    if len(heads) < 2:
        return
    said = [str(ranking.extras["beyond"][head]) for head in heads]
    shown = ranking.extras.get("region", ranking.names)
    names = [shown[head] for head, one in zip(heads, said, strict=True) if one == "adds"]
    adding = say("families add", adds=len(names), names=names) if names else say("no family adds")
    code = "families" if len(heads) != ranking.n_relevant else "no stand-ins"
    yield note(code, related=ranking.n_relevant, n=len(heads), adding=adding)
    if weak := said.count("weak test"):
        yield note("weak families", weak=weak)


def note_on_evaluation(evaluation: Any, model: str, chosen: str = "selected") -> Note:
    """What the selection is worth to a model; ``chosen`` says which features a fold keeps, such as "related"."""
    facts = {"model": model, "scores": evaluation.scores(chosen), "folds": len(evaluation.selected)}
    return note("evaluation", confidence=100 * evaluation.confidence, **facts)

"""The result of every method: features in order, with their scores and which of them are kept."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dubio.errors import InputError, all_of, counted, listed, quoted
from dubio.words import Note, note, say, sentence

#: Most rows of the table shown in a notebook.
_SHOWN = 50


@dataclass(frozen=True)
class Ranking:
    """Features ordered from best to worst.

    Parameters
    ----------
    names : array of str
        One name per feature, in the order of the table's columns.
    scores : array of float
        One raw score per feature.
    lower_is_better : bool
        Direction of the scores.
    ranking : array of int
        1 for the best feature; equal numbers are ties.
    support : array of bool
        The features that were kept.
    method : str
        What made the ranking.
    reason : str
        Why that many features were kept.
    extras : dict of arrays
        Further columns.
    n_relevant, n_sufficient : int or None
        The two lines, if features were tested: the first ``n_relevant`` of the ranking are related to the target, and
        the first ``n_sufficient`` of these predict it as well as all of them.
    left_out : dict of str to str
        Features that could not be used, each with the reason; they come last and do not count.
    about_truth : Note or None
        If rows were checked: what they say about the truth.
    given : tuple of str
        The names of given columns. Those of the table come first in the ranking and are kept, and the numbers
        ``n_relevant`` and ``n_sufficient`` do not count them.
    about : str
        What the features are related to, in words; empty if no target was given.
    scores_are_places : bool
        Whether the scores only say where a search found the features: they are not shown to people.
    suspected : tuple of str
        Features that may be the target in disguise.
    losses : array or None
        The mean loss of nearest neighbours with the first 1, 2, ... related features, if it was compared.
    most_by_chance : int or None
        The most related features that are there by chance, in nearly all permutations of the target.
    details : frozenset of str
        Names of the further columns that are each about one class or target of several.

    Examples
    --------
    >>> from dubio.ranking import Ranking
    >>> print(Ranking.from_scores([0.4, 0.1, 0.9], names=["a", "b", "c"], keep=1, method="demo"))
    rank  feature  score  kept
       1  b          0.1  yes
       2  a          0.4
       3  c          0.9
    """

    names: NDArray[Any]
    scores: NDArray[np.float64]
    lower_is_better: bool
    ranking: NDArray[np.int64]
    support: NDArray[np.bool_]
    method: str = ""
    reason: str = ""
    extras: dict[str, NDArray[Any]] = field(default_factory=dict)
    n_relevant: int | None = None
    n_sufficient: int | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    about_truth: Note | None = None
    given: tuple[str, ...] = ()
    about: str = "the target"
    scores_are_places: bool = False
    suspected: tuple[str, ...] = ()
    losses: NDArray[np.float64] | None = None
    most_by_chance: int | None = None
    details: frozenset[str] = frozenset()

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        *,
        names: ArrayLike | None = None,
        lower_is_better: bool = True,
        keep: int | None = None,
        method: str = "",
        reason: str = "",
    ) -> Ranking:
        """Rank plain scores and mark the best ``keep`` as kept (all by default)."""
        values = np.asarray(scores, dtype=np.float64)
        ranking = rank_scores(values, lower_is_better=lower_is_better)
        labels = default_names(len(values)) if names is None else np.asarray(names, dtype=object)
        support = ranking <= (len(values) if keep is None else keep)
        return cls(labels, values, lower_is_better, ranking, support, method, reason)

    @property
    def order(self) -> NDArray[np.int64]:
        """Indices of the features, best first."""
        return np.argsort(self.ranking, kind="stable")

    @property
    def n_given(self) -> int:
        """Number of given columns of the table: the first of the ranking."""
        return int(np.isin(self.names.astype(str), list(self.given)).sum()) if self.given else 0

    @property
    def n_kept(self) -> int:
        """Number of features that were kept, besides the given ones."""
        return int(self.support.sum()) - self.n_given

    @property
    def best_first(self) -> NDArray[np.int64]:
        """Indices of the features that were judged, best first."""
        return self.order[self.n_given :]

    @property
    def is_related(self) -> NDArray[np.bool_]:
        """Which features are related to the target, if features were tested."""
        return (self.ranking > self.n_given) & (self.ranking <= self.n_given + (self.n_relevant or 0))

    @property
    def families(self) -> list[NDArray[np.int64]]:
        """The members of each family, best first, the family with the best feature first; none if none are known."""
        number = self.extras.get("family", np.zeros(len(self.names)))[self.order]
        return [self.order[number == one] for one in dict.fromkeys(number[number > 0].tolist())]

    @property
    def nothing_stands_out(self) -> bool:
        """Whether features were tested and none passed."""
        return self.n_relevant == 0

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> Ranking:
        """The same ranking with further columns, each with one value per feature in the order of the table."""
        return replace(self, extras={**self.extras, **columns})

    def with_details(self, columns: Mapping[str, NDArray[Any]]) -> Ranking:
        """The same ranking with further columns that are each about one class or target of several."""
        return replace(self.with_columns(columns), details=self.details.union(columns))

    def without_rare(self, common: Collection[str]) -> Ranking:
        """The same ranking without details and categories; effects name only classes that are ``common``."""
        hidden = self.details | {"effect_level"}
        extras = {name: values for name, values in self.extras.items() if name not in hidden}
        if "effect_of" in extras:
            extras["effect_of"] = np.array(
                [name if name in common else "" for name in extras["effect_of"]], dtype=object
            )
        return replace(self, extras=extras, details=frozenset())

    def without_handed_on(self) -> Ranking:
        """The same ranking; if nothing stands out, nothing is kept, while in Python one feature is handed on."""
        return replace(self, support=self.ranking <= self.n_given) if self.nothing_stands_out else self

    def only_first(self, n_features: int) -> Ranking:
        """The ranking of the first columns alone, without further ones beside the table."""
        if n_features == len(self.names):
            return self
        ranks = rank_in_order(np.argsort(self.ranking[:n_features], kind="stable"))
        extras = {name: values[:n_features] for name, values in self.extras.items()}
        parts = {name: getattr(self, name)[:n_features] for name in ("names", "scores", "support")}
        return replace(self, ranking=ranks, extras=extras, **parts)

    @property
    def n_ranked(self) -> int:
        """Number of features that could be used."""
        return len(self.names) - int(np.isin(self.names.astype(str), list(self.left_out)).sum())

    def with_left_out(self, why: Mapping[str, str]) -> Ranking:
        """The same ranking, which knows the features that could not be used: those that come after all others."""
        named = np.isin(self.names.astype(str), list(why)) & ~self.support
        last = self.ranking > np.max(self.ranking[~named], initial=0)
        return replace(self, left_out={str(name): why[str(name)] for name in self.names[last]})

    def what_was_left_out(self) -> str:
        """How many columns were ranked and which were not, in a sentence without a full stop; "" if all were.

        >>> from dubio.ranking import Ranking
        >>> ranking = Ranking.from_scores([1, 2, 3], names=["age", "sex", "nr"], keep=1)
        >>> ranking.with_left_out({"nr": "a different text in every row"}).what_was_left_out()
        "2 of 3 columns were ranked; left out: 'nr' (a different text in every row)"
        """
        return str(self.left_out_note()) if self.left_out else ""

    def left_out_note(self) -> Note:
        """The same as a note."""
        columns = [say("because of", name=name, why=why) for name, why in self.left_out.items()]
        return note("left out", ranked=self.n_ranked, total=self.n_ranked + len(columns), columns=columns)

    def without_left_out(self) -> Ranking:
        """The same ranking without the features that could not be used."""
        kept = ~np.isin(self.names.astype(str), list(self.left_out))
        names = ("names", "scores", "ranking", "support")
        extras = {key: value[kept] for key, value in self.extras.items()}
        return replace(self, extras=extras, **{name: getattr(self, name)[kept] for name in names})

    def line_of(self, feature: int) -> str:
        """The line above which a feature stands: "given", "sufficient", "related" or ""; without tests "kept" or ""."""
        rank = int(self.ranking[feature]) - self.n_given
        if rank <= 0:
            return "given"
        if self.n_relevant is None:
            return "kept" if self.support[feature] else ""
        if self.n_sufficient is not None and rank <= self.n_sufficient:
            return "sufficient"
        return "related" if rank <= self.n_relevant else ""

    def headline(self, most: int = 12, about: str | None = None) -> str:
        """The answer in one or two sentences; ``about`` names the target.

        >>> from dataclasses import replace
        >>> from dubio.ranking import Ranking
        >>> ranking = Ranking.from_scores([1, 2, 3, 4], names=list("abcd"), keep=3)
        >>> print(replace(ranking, n_relevant=3, n_sufficient=2).headline())
        3 of 4 columns are related to the target: a, b, c. The first 2 predict it as well as all 3.
        """
        if self.suspected:
            few = [quoted(name) for name in self.suspected]
            shown = all_of(few) if len(few) < 6 else listed(few, 5)
            first = say("headline suspected", shown=shown, suspected=self.suspected)
            return f"{first} {replace(self, suspected=()).headline(most, about)}"
        if self.about_truth is not None:
            return f"{replace(self, about_truth=None).headline(most, about)} {sentence(self.about_truth)}"
        beyond = " given" if self.given else ""
        facts: dict[str, Any] = {"about": self.about and (about or self.about), "total": self.n_ranked - self.n_given}
        facts["given"] = all_of(map(quoted, self.given))
        if self.nothing_stands_out:
            return say(f"headline nothing{beyond}", **facts)
        kept, enough, related = self.n_kept, self.n_sufficient, self.n_relevant
        facts |= {"n": kept, "related": related, "names": listed(self._told(kept), most)}
        if related is None or kept not in (related, enough):
            return say(f"headline kept{beyond}", **facts)
        if kept < related:
            return say(f"headline sufficient{beyond}", **facts)
        text = say(("headline" if self.about else "headline stand out") + beyond, **facts)
        if enough is None or enough >= related:
            return text
        first = say(f"headline {'first one' if enough == 1 else 'first'}", **(facts | {"n": enough}))
        return f"{text} {first}"

    def _told(self, kept: int) -> NDArray[Any]:
        """The names of the kept features; of a spectrum of which all that is related is kept, its regions."""
        first = self.best_first[:kept]
        if "region" not in self.extras or kept != self.n_relevant:
            return self.names[first]
        return np.array(list(dict.fromkeys(self.extras["region"][first].tolist())), dtype=object)

    def to_frame(self) -> Any:
        """The ranking as a pandas frame, best first (needs pandas)."""
        import pandas as pd

        columns = {"rank": self.ranking, "feature": self.names, "score": self.scores, "kept": self.support}
        for name, line in (("sufficient", self.n_sufficient), ("relevant", self.n_relevant)):
            if line is not None:
                columns[name] = (self.ranking > self.n_given) & (self.ranking <= self.n_given + line)
        return pd.DataFrame({name: values[self.order] for name, values in (columns | self.extras).items()})

    def __repr__(self) -> str:
        by = f" by {self.method}" if self.method else ""
        return f"<Ranking of {counted(len(self.names), 'feature')}{by}, {int(self.support.sum())} kept>"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        """What people see of each feature, best first: names of columns, and their cells as text."""
        columns: dict[str, NDArray[Any]] = {} if self.scores_are_places else {"score": self.scores}
        columns |= {name: self.extras[name] for name in ("effect", "pvalue", "qvalue") if name in self.extras}
        ranks, names = ([str(value) for value in values] for values in (self.ranking, self.names))
        texts = [[f"{value:.4g}" for value in values] for values in columns.values()]
        kept = ["yes" if kept else "" for kept in self.support]
        cells = zip(ranks, names, *texts, kept, strict=True)
        by_feature = [list(row) for row in cells]
        return ["rank", "feature", *columns, "kept"], [by_feature[j] for j in self.order]

    def __str__(self) -> str:
        head, rows = self._shown()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        sides = ["<" if name in ("feature", "kept") else ">" for name in head]
        forms = [f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
        lines = ["  ".join(map(format, row, forms)).rstrip() for row in (head, *rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, cells = self._shown()
        rows = ""
        for *shown, kept in cells[:_SHOWN]:
            row = "".join(f"<td>{html.escape(cell)}</td>" for cell in shown)
            rows += f"<tr{' style=font-weight:bold' if kept else ''}>{row}</tr>"
        if len(cells) > _SHOWN:
            rows += f"<tr><td></td><td>and {len(cells) - _SHOWN} more</td></tr>"
        direction = "" if self.scores_are_places else f" ({'low' if self.lower_is_better else 'high'} is good)"
        names = "".join(f"<th>{name}</th>" for name in head[:-1])
        caption = f"<caption>{html.escape(self.method)}{direction}</caption>"
        return f"<table>{caption}<thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"


@dataclass(frozen=True)
class Scored:
    """The result of a score: one number per feature, and what else the method wants to show."""

    #: Never NaN; a feature without information has the worst possible score.
    scores: NDArray[np.float64]
    #: Further columns of the ranking, by name, and further attributes of the fitted estimator.
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The answer of a method to a problem: the ranking, further attributes of the fitted estimator, what was done."""

    ranking: Ranking
    attributes: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] | None = None


def resolve_count(n_features_to_select: int | float | str | None, n_features: int) -> tuple[int, str]:
    """How many features to keep, and the reason in words.

    ``None`` keeps half of them (as in :class:`sklearn.feature_selection.RFE`). An int is a count, a float in (0, 1] is
    a share. At least one feature is kept.
    """
    wish = n_features_to_select
    if wish is None:
        return max(1, n_features // 2), say("half")
    if isinstance(wish, Integral) and not isinstance(wish, bool):
        if not 1 <= wish <= n_features:
            found = f"={wish}, but the table has {counted(n_features, 'feature')}"
            raise InputError("n_features_to_select", found, f"give a number from 1 to {n_features}, or a share")
        return int(wish), say("as many")
    if isinstance(wish, float | np.floating) and 0 < wish <= 1:
        return max(1, int(wish * n_features + 1e-9)), say("share", percent=100 * wish, n_features=n_features)
    raise InputError("n_features_to_select", f"={wish!r}", "give None, a positive integer or a share in (0, 1]")


def default_names(n_features: int) -> NDArray[Any]:
    """scikit-learn's names for columns without names: x0, x1, ..."""
    return np.asarray([f"x{j}" for j in range(n_features)], dtype=object)


def rank_scores(scores: NDArray[np.float64], *, lower_is_better: bool) -> NDArray[np.int64]:
    """Rank 1 for the best score; if scores are equal, the lower column index comes first."""
    return rank_in_order(np.argsort(scores if lower_is_better else -scores, kind="stable"))


def rank_in_order(best_first: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Ranks of all features, from their indices in order, best first."""
    ranking = np.empty(len(best_first), dtype=np.int64)
    ranking[best_first] = np.arange(1, len(best_first) + 1)
    return ranking

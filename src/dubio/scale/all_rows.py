"""What is said of all rows of a stream, when only a sample of them is ranked."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dubio.errors import InputError, counted, listed, quoted
from dubio.scale.row_sample import DrawnRows, moments_of
from dubio.supervision import Classes, Memberships, Numbers, Supervision


def columns_of_all_rows(drawn: DrawnRows, features: list[str]) -> dict[str, NDArray[Any]]:
    """Further columns of a ranking: mean, standard deviation, range and share of missing cells over all rows.

    They are those of the numbers of a column; a column without any has 0 and NaN.
    """
    at, moments = _places(drawn, features), drawn.moments
    known = moments.low[at] <= moments.high[at]
    return {
        "mean": moments.mean[at],
        "std": np.sqrt(moments.variance[at]),
        "min": np.where(known, moments.low[at], np.nan),
        "max": np.where(known, moments.high[at], np.nan),
        "missing": moments.missing_share[at],
    }


def refuse_infinity(drawn: DrawnRows, features: list[str]) -> None:
    """Raise if a feature is infinite in any row, as for a table in memory."""
    for name, count in zip(features, drawn.moments.infinite[_places(drawn, features)], strict=True):
        if count:
            raise InputError(
                "X", f"contains infinity in {counted(int(count), 'row')} of column {quoted(name)}", "empty these cells"
            )


def vary_outside(drawn: DrawnRows, features: list[str]) -> list[str]:
    """The features that have only one value in the sample, but vary in all rows."""
    varying = np.flatnonzero(drawn.moments.varies[_places(drawn, features)])
    return [features[j] for j in varying if not moments_of(drawn.table.select([features[j]])).varies[0]]


def words_of_all_rows(drawn: DrawnRows, features: list[str], labels: list[str], supervision: Supervision) -> list[str]:
    """Sentences about all rows: the target, missing cells, and columns with only one value; without full stops."""
    at, moments = _places(drawn, features), drawn.moments
    has_numbers = np.isfinite(moments.low)
    sentences = _words_of_target(drawn, labels, supervision)
    counted_columns = at[has_numbers[at] | (moments.present[at] == 0)]  # in text, "?" or "" may mean missing
    missing = int(moments.missing[counted_columns].sum())
    if missing:
        share = _percent(missing / (drawn.n_rows * len(counted_columns)))
        sentences.append(f"{share} of the cells of all rows are missing")
    still = [features[j] for j in np.flatnonzero(has_numbers[at] & ~moments.varies[at])]
    if still:
        sentences.append(f"only one value in all rows: {listed(map(quoted, still))}")
    return sentences


def _words_of_target(drawn: DrawnRows, labels: list[str], supervision: Supervision) -> list[str]:
    if isinstance(supervision, Classes):
        counts = _rows_of_classes(drawn, supervision)
        n_labelled = sum(counts.values())
        if not n_labelled:
            return []
        most_first = sorted(counts.items(), key=lambda item: -item[1])
        shares = listed(f"{value} {_percent(n / n_labelled)}" for value, n in most_first)
        unlabelled = drawn.n_rows - n_labelled
        rest = f" ({_percent(unlabelled / drawn.n_rows)} of the rows have no class)" if unlabelled else ""
        return [f"classes of all rows: {shares}{rest}"]
    at = _places(drawn, labels)
    if isinstance(supervision, Numbers | Memberships) and len(at) and np.isfinite(drawn.moments.low[at]).all():
        means = zip(labels, drawn.moments.mean[at], strict=True)
        return ["mean of all rows: " + listed(f"{quoted(name)} {mean:.4g}" for name, mean in means)]
    return []


def _rows_of_classes(drawn: DrawnRows, supervision: Classes) -> Counter[str]:
    """Number of rows of each class over all rows, by the name to show.

    A value is the class that equals it: 1, 1.0 and True are the same. Text that is no class may be one without the
    blanks around it, as the reader of a text file takes it.
    """
    classes = set(supervision.classes.tolist())
    counts: Counter[str] = Counter()
    for value, n in drawn.class_counts.items():
        known = value if value in classes else value.strip() if isinstance(value, str) else None
        if known in classes:
            counts[_shown(known)] += n
    return counts


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _places(drawn: DrawnRows, names: list[str]) -> NDArray[np.intp]:
    place = {name: j for j, name in enumerate(drawn.columns)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"

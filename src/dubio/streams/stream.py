"""Rank the features of a table that does not fit in memory, with one pass over its rows, in batches."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dubio.errors import InputError, counted, listed
from dubio.methods.from_moments import RunningSelector
from dubio.methods.parameters import Count
from dubio.methods.register import METHODS, get_method
from dubio.moments.second_moments import SecondMoments, refuse_wide_table
from dubio.progress import advance, listener_of, listening
from dubio.ranking import Ranking
from dubio.selector import FeatureSelector
from dubio.streams.moments import BATCH_MOMENTS, StreamColumns
from dubio.streams.sample import columns_of_all_rows, draw_rows, refuse_infinity, with_all_rows, with_tests_of_all_rows
from dubio.streams.sources import Piece, batches_of, is_number, open_source, sort_of, total_rows, usual_rows
from dubio.table.matrix import arrow_frame, not_numeric

#: Row groups with more bytes of features than this are not taken whole.
_WHOLE_ROWS_BYTES = 64 * 2**20

Names = Sequence[str] | None
Progress = bool | Callable[[int, int | None], None]
Selector = TypeVar("Selector", bound=RunningSelector)


def streamed_methods() -> tuple[str, ...]:
    """Names of the methods that need only one pass over the rows, so that they work on a stream."""
    return tuple(name for name, method in METHODS.items() if issubclass(method.estimator, RunningSelector))


def rank_stream(
    source: Any,
    *,
    target: str | None = None,
    soft: Names = None,
    method: str = "auto",
    features: Names = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    n_features_to_select: Count = None,
    missing_label: Any = "auto",
    batch_rows: int | None = None,
    progress: Progress = False,
) -> Ranking:
    """Rank the features of a table of any length. The table is read once, in bounded memory.

    Parameters
    ----------
    source : path, pyarrow Dataset, Table or RecordBatchReader
        A Parquet, CSV or Arrow file, a folder of such files (all of one kind, read in order of their names), or
        an Arrow object.
    target : str
        Column of the classes, or of numbers (:class:`~dubio.LinearSearch` only). Rows with a missing value (or -1, see
        ``missing_label``) are unlabelled.
    soft : list of str
        Instead of ``target``: columns of class probabilities that sum to 1. A row that is missing in all of them is
        unlabelled.
    method : {"auto", "weighted_laplacian", "fisher", "constraint", "linear_search"}
        "auto" draws a sample of 20,000 rows in one pass (labelled rows first, each class with its share) and ranks it
        as :class:`~dubio.FeatureSelector` does. The same pass finds the mean, standard deviation, range and share of
        missing cells of every feature over all rows; they are columns of the ranking. The others use all rows; see
        :func:`~dubio.weighted_laplacian_score`, :func:`~dubio.fisher_score`, :func:`~dubio.constraint_score` (here with
        all pairs of labelled rows), :class:`~dubio.LinearSearch`.
    features : list of str, optional
        Columns to rank. By default, all columns that no other argument names.
    exclude : list of str
        Columns to leave out, such as identifiers, dates and text.
    weight : str, optional
        Column of row weights.
    n_features_to_select : int, float, "auto", "relevant", "sufficient" or None
        How many features are marked as kept; words for "auto" and searches only. None: with "auto" those related to the
        target, otherwise half of them.
    missing_label : "auto", None or a value
        The value of ``target`` that means "unlabelled", besides missing values.
    batch_rows : int, optional
        Number of rows to read at once. By default, a few columns of a Parquet row group, or about 24 MB of rows. The
        result does not depend on it (to 1e-10).
    progress : bool or callable
        True shows the progress on standard error. A function is called with the number of rows read and the total.

    Returns
    -------
    Ranking
        The features in order, with what is kept and why.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sklearn.datasets import load_iris
    >>> from dubio.streams.stream import rank_stream
    >>> table = pa.Table.from_pandas(load_iris(as_frame=True).frame)
    >>> print(rank_stream(table, target="target", method="fisher", n_features_to_select=2))
    rank  feature              score  kept
       1  petal length (cm)    16.06  yes
       2  petal width (cm)     13.06  yes
       3  sepal length (cm)    1.623
       4  sepal width (cm)    0.6688
    """
    columns: dict[str, Any] = {"target": target, "soft": soft, "weight": weight}
    columns |= {"features": features, "exclude": exclude}
    options: dict[str, Any] = {"batch_rows": batch_rows, "progress": progress}
    if method == "auto":
        return _rank_sample(source, columns, n_features_to_select, missing_label, **options)
    if method not in streamed_methods():
        able = ", ".join(map(repr, streamed_methods()))
        raise InputError("method", f"={method!r} needs the whole table", f"for a stream give one of {able}")
    selector = get_method(method).make(n_features_to_select=n_features_to_select, missing_label=missing_label)
    return fit_stream(selector, source, **columns, **options).to_ranking()


def _rank_sample(
    source: Any, columns: dict[str, Any], wish: Count, missing_label: Any, batch_rows: int | None, progress: Progress
) -> Ranking:
    """Rank a sample of the rows with ``FeatureSelector``."""
    _require_one_target(columns["target"], columns["soft"], may_lack=True)
    if columns["weight"] is not None:
        raise InputError("weight", "cannot be used with method='auto'", "leave it out, or name a method")
    pieces = open_source(source)
    asked = _columns_of(pieces, **columns)
    names, labels = asked.features, asked.labels
    with listening(listener_of(progress, of="rows")):
        drawn = draw_rows(pieces, names, labels, missing_label=missing_label, batch_rows=batch_rows)
    refuse_infinity(drawn, names)
    table, n_rows, y = drawn.table, drawn.n_rows, None
    if labels:
        y = arrow_frame(table.select(labels))
        y = y if asked.target is None else y[asked.target]
    selector = FeatureSelector(n_features_to_select="auto" if wish is None else wish, missing_label=missing_label)
    problem = selector.read_problem(arrow_frame(table.select(names)), y)
    problem = with_tests_of_all_rows(problem, drawn, labels, missing_label)
    ranking = selector.fit_problem(problem).to_ranking()
    ranking = ranking.with_columns(columns_of_all_rows(drawn, [str(name) for name in ranking.names]))
    if table.num_rows == n_rows:
        return ranking
    findings = with_all_rows(selector.findings_, drawn, names, labels)
    return replace(ranking, left_out=findings.ranking.left_out, reason=findings.explanation())


def fit_stream(
    selector: Selector,
    source: Any,
    *,
    target: str | None = None,
    soft: Names = None,
    features: Names = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    batch_rows: int | None = None,
    progress: Progress = False,
) -> Selector:
    """Fit a selector that needs only sums over rows; the table is read once, in bounded memory.

    The result is the same as that of ``fit`` on the whole table.

    Parameters
    ----------
    selector : WeightedLaplacianScore, FisherScore, ConstraintScore or LinearSearch
        The selector that is fitted.
    source, target, soft, features, exclude, weight, batch_rows, progress
        As in :func:`rank_stream`.

    Returns
    -------
    Selector
        The same one, fitted.
    """
    _require_one_target(target, soft)
    if soft is not None and "soft" not in selector._takes:
        found = f"cannot be used: {type(selector).__name__} takes one class per row"
        raise InputError("soft", found, "give target", code="no target")
    pieces = open_source(source)
    columns = _columns_of(pieces, target, soft, features, exclude, weight)
    columns = replace(columns, reads=selector._reading["target"], missing_label=selector._reading["missing_label"])
    n_features = len(columns.features)
    if selector._moments is SecondMoments:  # products need all columns of a row at once
        refuse_wide_table(n_features)
        if 8 * n_features * max(piece.largest for piece in pieces) > _WHOLE_ROWS_BYTES:
            batch_rows = batch_rows or usual_rows(columns.used)
    total, running = total_rows(pieces), None
    with listening(listener_of(progress, of="rows")):
        for block in BATCH_MOMENTS[selector._moments](batches_of(pieces, columns.used, batch_rows), columns):
            running = block if running is None else running.merge(block)
            advance("rows", running.n_rows, total)
    if running is None:
        raise InputError("source", "has no rows")
    return selector.fit_moments(running, columns.features, n_features)


def _require_one_target(target: str | None, soft: Names, may_lack: bool = False) -> None:
    if (target is not None and soft is not None) or (target is None and soft is None and not may_lack):
        remedy = "give one column of classes or several columns of probabilities, not both"
        raise InputError("target", "or soft is needed", remedy)
    if soft is not None and len(soft) < 2:
        raise InputError("soft", f"={list(soft)!r}", "give one column of probabilities per class, at least two")


def _columns_of(
    pieces: list[Piece], target: str | None, soft: Names, features: Names, exclude: Sequence[str], weight: str | None
) -> StreamColumns:
    """The columns of a stream by their role; raises if one does not exist, or has a type that cannot be used."""
    one, other = ([name] if name is not None else [] for name in (target, weight))
    asked = {"target": one, "soft": soft or [], "weight": other, "features": features or [], "exclude": exclude}
    for role, name in ((role, name) for role, names in asked.items() for name in names):
        if name not in pieces[0].types:
            types = pieces[0].types
            existing = f"{counted(len(types), 'column')} ({listed(map(repr, types), 20)})"
            close = difflib.get_close_matches(name, list(types), n=1)
            found = f"column {name!r} is not in {pieces[0].name}, which has {existing}"
            raise InputError(role, found, f"did you mean {close[0]!r}?" if close else "")
    apart = {*one, *asked["soft"], *other, *exclude}
    kept = [name for name in (pieces[0].types if features is None else features) if name not in apart]
    if not kept:
        raise InputError("source", "has no feature left: every column is a label, a weight or excluded")
    columns = StreamColumns(kept, target, tuple(soft or ()), weight)
    # before any row is read: features are numbers, and all pieces have the same columns and types
    name, types = pieces[0].name, pieces[0].types
    text = [f"{one!r} ({types[one]})" for one in columns.features if not is_number(types[one])]
    if text:
        raise not_numeric(name, text, "encode {them} as numbers, or name {them} in exclude")
    for odd in [one for one in columns.used if sort_of(types[one]) not in ("numbers", "text")]:
        remedy = "labels must be text, whole numbers or booleans"
        raise InputError(f"column {odd!r} of {name}", f"holds {types[odd]}", remedy)
    require_same_columns(pieces, columns.used)
    return columns


def require_same_columns(pieces: list[Piece], used: list[str] | None = None) -> None:
    """Raise unless all files have the same columns, and those used have the same types."""
    first = pieces[0]
    used = list(first.types) if used is None else used
    for piece in pieces[1:]:
        if missing := [name for name in used if name not in piece.types]:
            raise InputError(piece.name, f"lacks {counted(len(missing), 'column')} of {first.name}: {missing[:8]}")
        if extra := [name for name in piece.types if name not in first.types]:
            raise InputError(piece.name, f"has {counted(len(extra), 'column')} that {first.name} lacks: {extra[:8]}")
        for name in used:
            if sort_of(piece.types[name]) != sort_of(first.types[name]):
                found = f"is {first.types[name]} in {first.name} and {piece.types[name]} in {piece.name}"
                raise InputError(f"column {name!r}", found, "write all files with one type")

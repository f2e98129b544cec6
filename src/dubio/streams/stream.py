"""Rank the features of a table that does not fit in memory, with one pass over its rows, in batches."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dubio.errors import InputError, counted, listed, quoted
from dubio.methods.from_moments import RunningSelector
from dubio.methods.parameters import Count
from dubio.methods.register import METHODS, get_method
from dubio.moments.running import Moments, RunningMoments
from dubio.moments.second_moments import SecondMoments, refuse_wide_table
from dubio.progress import advance, listener_of, listening
from dubio.ranking import Ranking
from dubio.selector import FeatureSelector
from dubio.streams.moments import BATCH_MOMENTS, Batch, Labels
from dubio.streams.sample import columns_of_all_rows, draw_rows, refuse_infinity, vary_outside, words_of_all_rows
from dubio.streams.sources import Piece, is_number, open_source, usual_rows
from dubio.table.matrix import arrow_frame

#: Row groups with more bytes of features than this are not taken whole.
_WHOLE_ROWS_BYTES = 64 * 2**20

Selector = TypeVar("Selector", bound=RunningSelector)


def streamed_methods() -> tuple[str, ...]:
    """Names of the methods that need only one pass over the rows, so that they work on a stream."""
    return tuple(name for name, method in METHODS.items() if issubclass(method.estimator, RunningSelector))


def rank_stream(
    source: Any,
    *,
    target: str | None = None,
    soft: Sequence[str] | None = None,
    method: str = "auto",
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    n_features_to_select: Count = None,
    missing_label: Any = "auto",
    batch_rows: int | None = None,
    progress: bool | Callable[[int, int | None], None] = False,
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
    if method == "auto":
        return _rank_sample(
            source, target, soft, features, exclude, weight, n_features_to_select, missing_label, batch_rows, progress
        )
    if method not in streamed_methods():
        raise InputError("method", f"={method!r} needs the whole table", f"for a stream give one of {_streamed()}")
    selector = get_method(method).make(n_features_to_select=n_features_to_select, missing_label=missing_label)
    return fit_stream(
        selector,
        source,
        target=target,
        soft=soft,
        features=features,
        exclude=exclude,
        weight=weight,
        batch_rows=batch_rows,
        progress=progress,
    ).to_ranking()


def _rank_sample(
    source: Any,
    target: str | None,
    soft: Sequence[str] | None,
    features: Sequence[str] | None,
    exclude: Sequence[str],
    weight: str | None,
    wish: Count,
    missing_label: Any,
    batch_rows: int | None,
    progress: bool | Callable[[int, int | None], None],
) -> Ranking:
    """Rank a sample of the rows with ``FeatureSelector``."""
    _require_one_target(target, soft)
    if weight is not None:
        raise InputError("weight", "cannot be used with method='auto'", "leave it out, or name a method")
    labels = [target] if target is not None else list(soft or [])
    pieces = open_source(source)
    names = _feature_names(pieces[0], target, list(soft or []), weight, features, exclude)
    _check_types(pieces, names, [*names, *labels])
    with listening(listener_of(progress, of="rows")):
        drawn = draw_rows(pieces, names, labels, missing_label=missing_label, batch_rows=batch_rows)
    refuse_infinity(drawn, names)
    table, n_rows, y = drawn.table, drawn.n_rows, None
    if labels:
        y = arrow_frame(table.select(labels))
        y = y[target] if target is not None else y
    selector = FeatureSelector(n_features_to_select="auto" if wish is None else wish, missing_label=missing_label)
    ranking = selector.fit(arrow_frame(table.select(names)), y).to_ranking()
    ranking = ranking.with_columns(columns_of_all_rows(drawn, [str(name) for name in ranking.names]))
    if table.num_rows == n_rows:
        return ranking
    said = [f"a sample of {table.num_rows:,} of {n_rows:,} rows was used"]
    said += words_of_all_rows(drawn, names, labels, selector.supervision_)
    if moving := vary_outside(drawn, names):
        shown = listed(map(quoted, moving))
        said.append(f"only one value in the sample, but others in the rest of the rows: {shown}")
        why = {name: f"{why} in the sample" if name in moving else why for name, why in ranking.left_out.items()}
        of_sample = ranking.with_left_out(why)
        if ranking.left_out:
            reason = ranking.reason.replace(ranking.what_was_left_out(), of_sample.what_was_left_out(), 1)
            ranking = replace(of_sample, reason=reason)
    return replace(ranking, reason=" ".join([*(f"{line[0].upper()}{line[1:]}." for line in said), ranking.reason]))


def fit_stream(
    selector: Selector,
    source: Any,
    *,
    target: str | None = None,
    soft: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    batch_rows: int | None = None,
    progress: bool | Callable[[int, int | None], None] = False,
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
    if target is None and soft is None:
        raise InputError(
            "target", "or soft is needed", "give one column of classes or several columns of probabilities, not both"
        )
    _require_one_target(target, soft)
    if soft is not None and "soft" not in selector._takes:
        raise InputError(
            "soft",
            f"cannot be used: {type(selector).__name__} takes one class per row",
            "give target",
            code="no target",
        )
    pieces = open_source(source)
    names = _feature_names(pieces[0], target, list(soft or []), weight, features, exclude)
    labels = [target] if target is not None else list(soft or [])
    used = [*names, *labels, *([weight] if weight is not None else [])]
    _check_types(pieces, names, used)
    where = Labels(target, list(soft or []), weight, selector._reads, getattr(selector, "missing_label", "auto"))
    if selector._moments is SecondMoments:  # products need all columns of a row at once
        refuse_wide_table(len(names))
        if 8 * len(names) * max(piece.largest for piece in pieces) > _WHOLE_ROWS_BYTES:
            batch_rows = batch_rows or usual_rows(used)
    running = _stream_moments(pieces, names, used, batch_rows, progress, where, selector._moments)
    return selector.fit_moments(running, names, len(names))


def _require_one_target(target: str | None, soft: Sequence[str] | None) -> None:
    if target is not None and soft is not None:
        raise InputError(
            "target", "or soft is needed", "give one column of classes or several columns of probabilities, not both"
        )
    if soft is not None and len(soft) < 2:
        raise InputError("soft", f"={list(soft)!r}", "give one column of probabilities per class, at least two")


def _stream_moments(
    pieces: list[Piece],
    names: list[str],
    used: list[str],
    batch_rows: int | None,
    progress: bool | Callable[[int, int | None], None],
    labels: Labels,
    kind: type[Moments],
) -> RunningMoments[Any]:
    known = [piece.n_rows for piece in pieces]
    total = None if None in known else sum(n for n in known if n is not None)
    running: RunningMoments[Any] | None = None
    with listening(listener_of(progress, of="rows")):
        for block in BATCH_MOMENTS[kind](_batches(pieces, used, batch_rows), names, labels):
            running = block if running is None else running.merge(block)
            advance("rows", running.n_rows, total)
    if running is None:
        raise InputError("source", "has no rows")
    return running


def _batches(pieces: list[Piece], used: list[str], batch_rows: int | None) -> Iterator[Batch]:
    done = 0
    for piece in pieces:
        start = done
        for columns in piece.read(used, batch_rows):
            n_rows = columns.num_rows
            if n_rows == 0:
                continue
            batch = Batch(columns, f"the batch of {piece.name} that starts at row {done - start}", done)
            del columns
            yield batch
            del batch  # before the next one is read, so that fewer batches are in memory
            done += n_rows


def _feature_names(
    piece: Piece,
    target: str | None,
    soft: list[str],
    weight: str | None,
    features: Sequence[str] | None,
    exclude: Sequence[str],
) -> list[str]:
    asked: dict[str, Sequence[str]] = {"target": [target] if target is not None else [], "soft": soft}
    asked |= {"weight": [weight] if weight is not None else [], "features": features or [], "exclude": exclude}
    for role, columns in asked.items():
        for column in columns:
            if column not in piece.types:
                raise _no_such_column(role, column, piece)
    apart = {*asked["target"], *soft, *asked["weight"], *exclude}
    names = [name for name in (features if features is not None else piece.types) if name not in apart]
    if not names:
        raise InputError("source", "has no feature left: every column is a label, a weight or excluded")
    return names


def _no_such_column(role: str, column: str, piece: Piece) -> InputError:
    existing = list(piece.types)
    close = difflib.get_close_matches(column, existing, n=1)
    hint = f"did you mean {close[0]!r}?" if close else ""
    return InputError(
        role,
        f"column {column!r} is not in {piece.name}, which has {counted(len(existing), 'column')} "
        f"({listed(map(repr, existing), 20)})",
        hint,
    )


def _streamed() -> str:
    return ", ".join(map(repr, streamed_methods()))


def _check_types(pieces: list[Piece], names: list[str], used: list[str]) -> None:
    """Check, before any row is read, that features are numbers and that all pieces have the same columns and types."""
    first = pieces[0]
    text = [name for name in names if _sort_of(first.types[name]) != "numbers"]
    if text:
        shown = listed(f"{name!r} ({first.types[name]})" for name in text)
        verb, them = ("is", "it") if len(text) == 1 else ("are", "them")
        raise InputError(
            first.name,
            f"has {counted(len(text), 'column')} that {verb} not numeric: {shown}",
            f"encode {them} as numbers, or name {them} in exclude",
            code="text columns",
        )
    odd = [name for name in used if _sort_of(first.types[name]) not in ("numbers", "text")]
    if odd:
        raise InputError(
            f"column {odd[0]!r} of {first.name}",
            f"holds {first.types[odd[0]]}",
            "labels must be text, whole numbers or booleans",
        )
    require_same_columns(pieces, used)


def require_same_columns(pieces: list[Piece], used: list[str] | None = None) -> None:
    """Raise unless all files have the same columns, and those used have the same types."""
    first = pieces[0]
    used = list(first.types) if used is None else used
    for piece in pieces[1:]:
        missing = [name for name in used if name not in piece.types]
        if missing:
            raise InputError(piece.name, f"lacks {counted(len(missing), 'column')} of {first.name}: {missing[:8]}")
        extra = [name for name in piece.types if name not in first.types]
        if extra:
            raise InputError(piece.name, f"has {counted(len(extra), 'column')} that {first.name} lacks: {extra[:8]}")
        for name in used:
            if _sort_of(piece.types[name]) != _sort_of(first.types[name]):
                raise InputError(
                    f"column {name!r}",
                    f"is {first.types[name]} in {first.name} and {piece.types[name]} in {piece.name}",
                    "write all files with one type",
                )


def _sort_of(arrow_type: Any) -> str:
    import pyarrow as pa

    if is_number(arrow_type):
        return "numbers"
    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    return "text" if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type) else str(arrow_type)

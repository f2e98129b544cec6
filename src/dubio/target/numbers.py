"""A numeric target; some values may be missing."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from dubio.errors import InputError, counted, name_row, quoted
from dubio.table import cells, dates
from dubio.table.rows import group_means
from dubio.target.comparisons import Comparison, Limits
from dubio.target.knowledge import Floats, SummedColumns, Supervision, mean_if_missing

#: Numbers whose squares neither overflow nor vanish.
_LEAST, _MOST = 1e-100, 1e100
#: Least and largest size of a gross error, in standard deviations of the numbers.
_GROSS = (3.0, 10.0)


@dataclass(frozen=True, kw_only=True)
class Numbers(Supervision):
    """One number per labelled row; NaN for a row without a number."""

    kind: ClassVar[str] = "numbers"
    usual_scores: ClassVar[tuple[str, ...]] = ("linear_r2", "supervised_laplacian")
    words: ClassVar[str] = "a numeric target"
    given: ClassVar[str] = "the target is numeric"
    form: ClassVar[str] = "numbers"
    has_neighbors: ClassVar[bool] = True
    reads: ClassVar[Literal["classes", "numbers"]] = "numbers"
    believed: ClassVar[str] = "numbers"
    _by_row: ClassVar[dict[str, Any]] = {"values": np.nan}

    values: Floats = field(repr=False)
    as_read: str = field(default="", repr=False)  # type: ignore[misc]  # for all other kinds it is always ""

    @property
    def row_numbers(self) -> Floats:
        return self.values

    @property
    def one_per_row(self) -> NDArray[Any] | None:
        return self.values

    def as_tested(self) -> Supervision:
        return self

    def on_normal_scores(self) -> Supervision:
        return replace(self, values=normal_scores(self.values))

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        rows = np.flatnonzero(self.labelled)
        return {"": Limits(rows, weights[rows], self.values[rows], self.values[rows])}

    def goals(self) -> list[Floats]:
        return [mean_if_missing(moderate(self.values), self.labelled)]

    def read_truth(self, values: NDArray[Any]) -> Supervision:
        numbers = np.full(self.n_rows, np.nan)
        for row in np.flatnonzero([value is not None for value in values]).tolist():
            try:
                numbers[row] = float(values[row])
            except (TypeError, ValueError):
                found = f"has {quoted(values[row])} in {name_row(row)}, and the target is numeric"
                raise InputError("checked", found, "give a plain number, such as 12.5") from None
            if not np.isfinite(numbers[row]):
                raise InputError("checked", f"is not finite in {name_row(row)}", "give None for undecided rows")
        return Numbers(labelled=~np.isnan(numbers), values=numbers)

    def with_truth(self, truth: Supervision) -> tuple[Floats, Floats]:
        """Normal scores among the given numbers, so that a grossly wrong number has a limited weight."""
        places, scores = np.sort(self.values[self.labelled]), self.on_normal_scores().goals()[0]
        by_place = np.sort(scores[self.labelled])
        distinct, first = np.unique(places, return_index=True)
        found = np.interp(truth.values, distinct, by_place[first])
        return scores[:, None], found[:, None]

    def summed_columns(self, weights: Floats) -> SummedColumns:
        """The numbers, around the first one that counts."""
        first = int(np.argmax(weights > 0))
        origin = self.values[first : first + 1] if weights[first] > 0 else np.zeros(1)

        def columns(rows: slice) -> Floats:
            return np.asarray(np.where(self.labelled[rows], self.values[rows] - origin, 0.0)[:, None])

        with np.errstate(over="ignore", invalid="ignore"):  # such values are refused when their squares are summed
            return SummedColumns(origin, weights @ columns(slice(None)) / (float(weights.sum()) or 1.0), columns)

    def binned(self, n_bins: int) -> NDArray[np.int64]:
        if not self.labelled.any():
            return np.full(self.n_rows, -1)
        values = np.where(self.labelled, moderate(self.values), np.nan)
        edges = np.nanquantile(values, np.linspace(0, 1, n_bins + 1)[1:-1])
        return np.where(self.labelled, np.digitize(values, edges), -1)

    def highest_error_rate(self, flips: str) -> float:
        """More than half of the numbers being grossly wrong is not worth a question."""
        return 0.5

    def with_errors(self, rate: float, flips: str, rng: np.random.Generator) -> Self:
        """That share of the numbers moved by 3 to 10 standard deviations."""
        values = np.array(self.values)
        rows = rng.permutation(np.flatnonzero(self.labelled))[: round(rate * self.n_labelled)]
        spread = values[self.labelled].std()
        values[rows] += spread * rng.uniform(*_GROSS, len(rows)) * rng.choice((-1.0, 1.0), len(rows))
        return replace(self, values=values)

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        return self.values, [], np.empty(0, dtype=np.int64)

    def _in_short(self) -> str:
        return "a number"

    def _counts_of_labels(self) -> dict[str, int]:
        return {"rows with a number": self.n_labelled}

    def _mean_of_groups(self, groups: NDArray[np.int64], weights: Floats | None) -> Supervision:
        values = group_means(self.values[:, None], groups, weights)[:, 0]
        return replace(self, labelled=np.ones(len(values), dtype=bool), values=values)

    def _described(self) -> str:
        return f"{self.words} ({self.as_read})" if self.as_read else self.words

    def require_enough(self) -> None:
        if self.n_labelled < 2:
            found = f"has {counted(self.n_labelled, 'labelled row')} of {self.n_rows} (n_samples={self.n_labelled})"
            raise InputError("y", found, "this method needs at least 2 rows with a number")

    def standardized(self) -> Floats:
        """The numbers with mean 0 and standard deviation 1 over the labelled rows; NaN stays NaN."""
        self.require_two_values("such a target says nothing about the features")
        values = moderate(self.values)
        known = values[self.labelled]
        return np.asarray((values - known.mean()) / known.std())

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        values = moderate(self.values[rows][:, None])  # dividing by a tiny number may warn of an overflow
        return np.asarray(values / (float(np.abs(values).max()) or 1.0))


def moderate(values: Floats) -> Floats:
    """The same numbers, times a power of two if their squares would overflow or vanish: that loses no digit."""
    known = values[~np.isnan(values)]
    largest = float(np.abs(known).max()) if len(known) else 1.0
    return values if _LEAST <= largest <= _MOST else np.asarray(np.ldexp(values, -int(np.frexp(largest)[1])))


def read_numbers(values: NDArray[Any], missing: NDArray[np.bool_], missing_label: Any, as_read: str = "") -> Numbers:
    """A numeric target from its known values and the mask of the missing rows."""
    if values.dtype.kind not in "biuf":
        found = f"holds text, such as {str(values[0])!r}, where numbers are needed"
        raise InputError("y", found, "encode it as numbers")
    numbers = values.astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if len(infinite):
        row = int(np.flatnonzero(~missing)[infinite[0]])
        found = f"contains infinity in {counted(len(infinite), 'row')}, first in {name_row(row)}"
        raise InputError("y", found, "use NaN for unlabelled rows")
    full = np.full(len(missing), np.nan)
    full[~missing] = numbers
    if missing_label is not None and missing_label != "auto":
        full[full == missing_label] = np.nan
    return Numbers(labelled=~np.isnan(full), values=full, as_read=as_read)


def normal_scores(values: Floats) -> Floats:
    r"""Replace numbers by the normal quantiles of their ranks: :math:`\Phi^{-1}((r - 1/2) / n)`. NaN stays NaN.

    >>> import numpy as np
    >>> from dubio.target.numbers import normal_scores
    >>> normal_scores(np.array([1.0, 1000.0, 2.0, np.nan])).round(2)
    array([-0.97,  0.97,  0.  ,   nan])
    """
    known = ~np.isnan(values)
    scores = np.full(len(values), np.nan)
    scores[known] = ndtri((rankdata(values[known]) - 0.5) / known.sum())
    return scores


@dataclass(frozen=True)
class WrittenNumbers:
    """Numbers of a target, and how they were written."""

    #: One number per known value; NaN for text that means "missing", such as "NA".
    values: NDArray[np.float64]
    #: What they were read as, to follow "a numeric target".
    as_read: str
    #: Whether they are dates or times, which are never classes.
    of_time: bool = False
    #: Whether they are text without a unit or a limit ("1", "2"): if there are few, they are names of classes.
    bare: bool = False


def days_since_first(values: NDArray[Any]) -> WrittenNumbers | None:
    """Dates, durations or times of the day as numbers; None if the values are something else."""
    if not len(values):
        return WrittenNumbers(np.empty(0), "")
    is_mixed = values.dtype.kind == "O"
    if is_mixed and all(isinstance(value, datetime.date | np.datetime64) for value in values):
        values = np.array([dates.utc(value) for value in values], dtype="datetime64[us]")
    elif is_mixed and all(isinstance(value, datetime.timedelta | np.timedelta64) for value in values):
        values = np.array([np.timedelta64(value).astype("timedelta64[us]") for value in values])
    if values.dtype.kind == "M":
        days, first = dates.days_since_first(values.astype("datetime64[us]"))
        return WrittenNumbers(days, f"in days since {first}", of_time=True)
    if values.dtype.kind == "m":
        return WrittenNumbers(values.astype("timedelta64[us]").astype(np.int64) / dates.DAY, "in days", of_time=True)
    if values.dtype.kind == "O" and all(isinstance(value, datetime.time) for value in values):
        return WrittenNumbers(dates.read_times([value.isoformat() for value in values]), "in hours", of_time=True)
    return None


def read_written(
    values: NDArray[np.str_], rows: NDArray[np.intp], *, only_numbers: bool, most: int
) -> WrittenNumbers | None:
    """Text as numbers, if all of it is numbers, dates or times; None if it is names of classes.

    ``rows`` names the row of each of the known values. ``only_numbers`` refuses names of classes, of which there are at
    ``most`` so many.

    >>> import numpy as np
    >>> from dubio.target.numbers import read_written
    >>> found = read_written(np.array(["95,1 %", "<0,5 %"]), np.arange(2), only_numbers=False, most=20)
    >>> found.values.tolist(), found.as_read
    ([95.1, 0.5], "in '%'; 1 cell such as '<0,5 %' counted as the limit itself")
    """
    distinct, codes = np.unique(np.char.strip(values), return_inverse=True)
    known = np.array([not cells.is_missing_text(text) for text in distinct.tolist()], dtype=bool)
    if not known.any():
        return None
    texts, counts = distinct[known].tolist(), np.bincount(codes, minlength=len(distinct))[known]
    found = cells.read_texts(texts, counts)
    if found.numbers.converted and len(texts) <= most and not only_numbers:  # doses: 10 mg and 0.5 g
        return None
    if found.kind in ("number", "time", "date"):
        numbers, shown, is_number = found.values, "in hours", found.kind == "number"
        if found.kind == "date":
            is_date = ~np.isnat(found.values)
            numbers, (known_days, first) = np.full(len(texts), np.nan), dates.days_since_first(found.values[is_date])
            numbers[is_date] = known_days
            shown = f"in days since {first}"
        elif is_number:
            unit = found.numbers.unit
            shown = "; ".join([*([f"in {quoted(unit)}"] if unit else []), *map(str, found.notes())])
        full = np.full(len(distinct), np.nan)
        full[known] = numbers
        bare = is_number and not found.numbers.unit and not found.n_limits
        return WrittenNumbers(full[codes], shown, of_time=not is_number, bare=bare)
    if found.problem and found.odd is None and (only_numbers or len(texts) > most):
        problem = f"is unclear: {found.problem} ({name_row(int(rows[0]))})"
        remedy = "write plain numbers such as 1250.5, or dates such as 2024-03-31. If they are names of classes, say "
        raise InputError("y", problem, f"{remedy}target='classes'", code="unclear target")
    place = int(np.argmax(np.isin(codes, np.flatnonzero(known)[np.isnan(found.values)])))
    example = f"{quoted(values[place])} in {name_row(int(rows[place]))}"
    if found.is_mixed or (only_numbers and found.n_numbers):
        remedy = "correct or empty these cells. If they are names of classes, say target='classes'"
        raise InputError("y", f"{found.problem or found.mixture()}, first {example}", remedy, code="mixed target")
    if only_numbers:
        raise InputError("y", f"holds text, such as {example}, where numbers are needed", "encode it as numbers")
    return None

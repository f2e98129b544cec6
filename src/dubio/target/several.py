"""Several targets at once: one kind of knowledge for each, of the same rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dubio.errors import InputError, counted, listed, quoted
from dubio.table.matrix import column_names, some_columns
from dubio.target.comparisons import Comparison
from dubio.target.knowledge import Floats, Supervision
from dubio.target.label_values import GivenByRow, as_array, only_rows, unmasked
from dubio.target.pairs import Pairs


@dataclass(frozen=True, kw_only=True)
class SeveralTargets(Supervision):
    """Two or more targets of the same rows, each of its own kind. A row is labelled if any of them is known."""

    kind: ClassVar[str] = "several"
    words: ClassVar[str] = "several targets"
    given: ClassVar[str] = "several targets are given"
    instead: ClassVar[str] = "one target at a time"
    no_audit: ClassVar[tuple[str, str]] = (Supervision.no_audit[0], "audit each target on its own")
    believed: ClassVar[str] = "several"
    usual_method: ClassVar = ("neighbor_search", "it searches for the features that serve all targets together")

    names: tuple[str, ...]
    parts: tuple[Supervision, ...] = field(repr=False)

    @classmethod
    def of(cls, names: tuple[str, ...], parts: tuple[Supervision, ...], pairs: Pairs | None = None) -> SeveralTargets:
        """The targets with these names."""
        labelled = np.any([part.labelled for part in parts], axis=0)
        return cls(labelled=labelled, names=names, parts=parts, pairs=pairs or Pairs.none())

    def by_row(self) -> list[NDArray[Any]]:
        return [np.column_stack([values.astype(np.float64) for part in self.parts for values in part.by_row()])]

    @property
    def targets(self) -> dict[str, Supervision]:
        return dict(zip(self.names, self.parts, strict=True))

    @property
    def strata(self) -> NDArray[np.int64]:
        """One group for each combination of classes; -1 for rows of which nothing is known."""
        codes = np.unique(np.column_stack([part.strata for part in self.parts]), axis=0, return_inverse=True)[1]
        return np.where(self.labelled, codes.reshape(-1).astype(np.int64), -1)

    def with_parts(self, parts: Iterable[Supervision]) -> SeveralTargets:
        """The same targets with other knowledge of them."""
        parts = tuple(parts)
        if all(new is old for new, old in zip(parts, self.parts, strict=True)):
            return self
        return SeveralTargets.of(self.names, parts, self.pairs)

    def certain(self) -> Supervision:
        return self.with_parts(part.certain() for part in self.parts)

    def as_tested(self) -> Supervision:
        return self.with_parts(part.as_tested() for part in self.parts)

    def on_normal_scores(self) -> Supervision:
        return self.with_parts(part.on_normal_scores() for part in self.parts)

    def comparisons(self, weights: Floats) -> dict[str, Comparison]:
        each = {name: part.comparisons(weights) for name, part in self.targets.items()}
        return {name: one for name, parts in each.items() for one in parts.values()}

    def goals(self) -> list[Floats]:
        return [goal for part in self.parts for goal in part.goals()]

    def column_names(self) -> NDArray[Any]:
        """Numbers of the columns that say something of their own: one per number, of classes one less."""
        return np.arange(sum(max(1, part.n_classes - 1) for part in self.parts))

    def require_block(self) -> None:
        raise InputError("y", "has several targets", "give the whole table to fit, not blocks of it")

    def of_groups(self, groups: NDArray[np.int64], weights: Floats | None) -> Supervision:
        codes = np.unique(groups, return_inverse=True)[1]
        parts = []
        for part in self.parts:
            rows = np.flatnonzero(part.labelled)
            unit = part.rows(rows).of_groups(groups[rows], None if weights is None else weights[rows])
            parts.append(unit.at_rows(np.unique(codes[rows]), int(codes.max()) + 1))
        return self.with_parts(parts)

    def as_drawn(self) -> tuple[Floats, list[str], NDArray[np.int64]]:
        """The first target: a chart shows one at a time."""
        return self.parts[0].as_drawn()

    def require_enough(self) -> None:
        for name, part in zip(self.names, self.parts, strict=True):
            with about_target(name):
                part.require_enough()
                part.require_two_values("leave it out")

    def _described(self) -> str:
        each = [part.described_among(name) for name, part in self.targets.items()]
        return f"{counted(len(self.parts), 'target')}: " + "; ".join(each)

    def _counts_of_labels(self) -> dict[str, int]:
        return {f"rows with {name}": part.n_labelled for name, part in self.targets.items()}

    def _target_columns(self, rows: NDArray[Any]) -> Floats:
        """All targets side by side: each centred, with a mean square of 1 per row; 0 where it is not known."""
        rows = np.flatnonzero(rows) if rows.dtype.kind == "b" else rows
        blocks = []
        for part in self.parts:
            labelled = np.flatnonzero(part.labelled[rows])
            columns = part.target_matrix(rows[labelled]) if len(labelled) else np.zeros((0, 1))
            blocks.append(np.zeros((len(rows), columns.shape[1])))
            blocks[-1][labelled] = columns / np.sqrt(columns.shape[1])
        return np.hstack(blocks)

    def _taken(self, index: NDArray[np.int64], pairs: Pairs) -> Self:
        taken = super()._taken(index, pairs)
        return replace(taken, parts=tuple(part.rows(index) for part in self.parts))


@contextmanager
def about_target(name: str) -> Iterator[None]:
    """Errors about ``y`` inside this block name the target."""
    try:
        yield
    except InputError as error:
        if error.argument != "y":
            raise
        raise InputError(f"target {quoted(name)}", error.found, error.remedy, code=error.code) from error


@dataclass(frozen=True, eq=False)
class SeveralLabels:
    """Several targets of the same rows. Made by :func:`dubio.several_targets`; pass it as ``y``.

    Attributes
    ----------
    targets : dict of str to array or record
        The labels of each target, by its name.
    named : bool
        Whether the names were given; otherwise they are "target 1", "target 2" and so on.
    """

    targets: Mapping[str, Any]
    named: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, as a shape."""
        return (len(self),)

    def __len__(self) -> int:
        return len(next(iter(self.targets.values())))

    def __getitem__(self, rows: Any) -> SeveralLabels:
        """The same targets of some of the rows (a slice, a mask or indices)."""
        rows = only_rows(rows, "SeveralLabels")
        chosen = {name: getattr(values, "iloc", values)[rows] for name, values in self.targets.items()}
        return SeveralLabels(chosen, self.named)


def several_targets(targets: Any) -> SeveralLabels:
    """Say that every row has several targets, which the same features are to serve.

    Parameters
    ----------
    targets : data frame, 2-D array or dict of str to target
        One target per column. In a dict, each may also be one that one array cannot say, such as
        :func:`~dubio.interval_targets`. Cells may be missing (NaN or None), each on its own.

    Returns
    -------
    SeveralLabels
        Pass it as ``y`` to :class:`dubio.FeatureSelector`. One target alone is read as usual.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio import FeatureSelector, several_targets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = several_targets({"sugar": X[:, 1] + 0.5 * rng.normal(size=200), "ill": X[:, 3] + X[:, 1] > 0.5})
    >>> selector = FeatureSelector().fit(X, y)
    >>> selector.supervision_.describe()
    '200 rows with 2 targets: sugar (a number); ill (2 classes)'
    >>> selector.to_ranking().to_frame()[["feature", "serves"]].head(2).values.tolist()
    [['x1', 'sugar, ill'], ['x3', 'ill']]
    """
    if isinstance(targets, SeveralLabels):
        return targets
    if isinstance(targets, Mapping):
        columns, named = {str(name): _column(values, name) for name, values in targets.items()}, True
        if len(columns) < len(targets):
            raise InputError("targets", "has two targets with the same name", "give each its own name")
    else:
        columns, named = _columns(targets)
    if not columns:
        raise InputError("targets", "is empty", "give at least one target")
    (first, length), *others = ((name, len(values)) for name, values in columns.items())
    for name, other in others:
        if other != length:
            found = f"has {length} rows in {quoted(first)} and {other} in {quoted(name)}"
            raise InputError("targets", found, "they must be the same rows")
    return SeveralLabels(columns, named)


def _columns(targets: Any) -> tuple[dict[str, Any], bool]:
    """The columns of a frame or a 2-D array, by name."""
    _refuse_sparse(targets, "")
    names = column_names(targets, name="targets")
    if names is not None and getattr(targets, "ndim", 2) == 2:  # a Dask series has names too
        columns = {str(name): some_columns(targets, j) for j, name in enumerate(names)}
        if len(columns) < len(names):
            raise InputError("targets", f"has columns with the same name: {listed(names)}", "rename them")
        return columns, True
    array = as_array(targets, "targets")
    if array.ndim != 2:
        raise InputError("targets", f"has {array.ndim} dimensions", "give a frame, a 2-D array or a dict of targets")
    return {f"target {place}": array[:, place - 1] for place in range(1, array.shape[1] + 1)}, False


def _column(values: Any, name: Any) -> Any:
    """One target; mere cells become an array, so that rows can be chosen."""
    if isinstance(values, SeveralLabels):
        raise InputError("targets", f"[{name!r}] holds several targets", "give them side by side in one dict")
    values = unmasked(values)
    if not hasattr(values, "__len__") or isinstance(values, str | dict):
        raise InputError("targets", f"[{name!r}] is {values!r}", "give one value per row")
    _refuse_sparse(values, f"[{name!r}] ")
    if isinstance(values, GivenByRow) or hasattr(values, "iloc") or hasattr(values, "categories"):
        return values  # it is more than its cells
    has_cells = hasattr(values, "__array__") or isinstance(values, Collection)
    if column_names(values, name="targets") is not None or not has_cells:
        return values
    array = as_array(values, f"targets[{name!r}]")
    if array.ndim == 0:
        raise InputError("targets", f"[{name!r}] is a {type(values).__name__}", "give one value per row")
    return array


def _refuse_sparse(values: Any, which: str) -> None:
    if sparse.issparse(values):
        raise InputError("targets", f"{which}is sparse", "give a dense array: values.toarray()")


def refuse_shared_names(y: Any, features: list[Any] | None) -> None:
    """Raise if a target is also a feature, by its name."""
    named = y.targets if isinstance(y, SeveralLabels) and y.named else column_names(y, name="y") or ()
    shared = [str(name) for name in features or () if str(name) in {str(target) for target in named}]
    if shared:
        found = f"names {listed(map(quoted, shared))}, which X has too"
        raise InputError("y", found, "a target is no feature: leave it out of X")

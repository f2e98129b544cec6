"""Random targets: classes, memberships, numbers, pairs and weights, valid and not."""

from __future__ import annotations

import enum
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Rng = np.random.Generator


class _Stage(str, enum.Enum):  # noqa: UP042 (a StrEnum shows as its text)
    """Classes that show as something else than their text."""

    ONE = "stage 1a"
    TWO = "stage 2b"
    OTHER = "other"


def codes(rng: Rng, n: int, least: int = 0) -> NDArray[np.int64]:
    """Class codes: two to four classes, some of them rare. The first ``least`` rows show two classes."""
    k = int(rng.choice([2, 3, 4], p=[0.7, 0.2, 0.1]))
    found = rng.integers(k, size=n)
    if rng.random() < 0.15:
        found = (rng.random(n) < 2 / max(n, 1)).astype(np.int64)
    found[:2] = [0, 1][: min(n, 2)]
    return rng.permutation(found)


def good_target(rng: Rng, n: int, kinds: tuple[str, ...]) -> tuple[Any, str]:
    """A target of one of these kinds (``Supervision.kind``), and what it is in words."""
    usable = [kind for kind in kinds if kind in _MAKERS] or ["none"]
    return _MAKERS[str(rng.choice(usable))](rng, n)


def bad_target(rng: Rng, n: int) -> tuple[Any, str]:
    """Something that no method can use, or only some."""
    name = str(rng.choice(list(_ODD)))
    return _ODD[name](rng, n), name


def hidden(rng: Rng, values: Any, nothing: Any) -> Any:
    """The values with some of them missing."""
    values = np.asarray(values, dtype=object if nothing is None else None).copy()
    values[rng.random(len(values)) < rng.choice([0.1, 0.5, 0.9])] = nothing
    return values


def _classes(rng: Rng, n: int) -> tuple[Any, str]:
    y = codes(rng, n)
    name = str(rng.choice(list(_CLASS_FORMS)))
    return _CLASS_FORMS[name](rng, y), f"classes as {name}"


_CLASS_FORMS: dict[str, Callable[[Rng, NDArray[Any]], Any]] = {
    "codes": lambda rng, y: y,
    "list": lambda rng, y: y.tolist(),
    "text": lambda rng, y: np.array(["no", "yes", "a, b", "<b>"])[y],
    "text list": lambda rng, y: [["no", "yes", "perhaps", ""][c] for c in y],
    "bools": lambda rng, y: y == 1,
    "floats": lambda rng, y: y.astype(np.float64),
    "unsigned": lambda rng, y: y.astype(np.uint64) + np.uint64(2**63),
    "int8": lambda rng, y: y.astype(np.int8),
    "with -1": lambda rng, y: hidden(rng, y, -1),
    "with NaN": lambda rng, y: hidden(rng, y.astype(float), np.nan),
    "with None": lambda rng, y: hidden(rng, y, None),
    "series": lambda rng, y: pd.Series(y, index=np.arange(len(y))[::-1]),
    "categorical": lambda rng, y: pd.Series(pd.Categorical(np.array(list("dcba"))[y], categories=list("dcba"))),
    "nullable": lambda rng, y: pd.array(hidden(rng, y, None), dtype="Int64"),
    "read-only": lambda rng, y: _frozen(y),
    "column": lambda rng, y: y[:, None],
}


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values = values.copy()
    values.setflags(write=False)
    return values


def _memberships(rng: Rng, n: int) -> tuple[Any, str]:
    from dubio import soft_labels

    k = int(rng.choice([2, 3]))
    P = rng.dirichlet(np.full(k, rng.choice([0.2, 1.0, 10.0])), size=n)
    if rng.random() < 0.3:
        P = np.eye(k)[rng.integers(k, size=n)]
    form = rng.random()
    if form < 0.3:
        P[rng.random(n) < 0.3] = np.nan
        return P, "memberships with missing rows"
    if form < 0.45:
        return pd.DataFrame(P, columns=["a", "b", "<i>"][:k]), "memberships in a frame"
    if form < 0.6:
        names = np.array(["a", "b", "c"])[:k]
        labels = soft_labels(names[rng.integers(k, size=n)], confidence=rng.random(n), classes=names.tolist())
        return labels, "soft labels"
    return P, "memberships"


def _numbers(rng: Rng, n: int) -> tuple[Any, str]:
    y = rng.normal(size=n)
    form = rng.random()
    if form < 0.2:
        y = np.round(y * 2) / 2 + 0.25
    elif form < 0.3:
        y = y * rng.choice([1e-200, 1e-12, 1e12, 1e200])
    elif form < 0.4:
        y = y + 1e6
    if rng.random() < 0.3:
        y[rng.random(n) < rng.choice([0.2, 0.7])] = np.nan
    return (y.tolist() if rng.random() < 0.2 else y), "numbers"


def _ordered(rng: Rng, n: int) -> tuple[Any, str]:
    from dubio import ordered_classes

    y = codes(rng, n)
    stages = np.array(["I", "II", "III", "<IV>"])
    if rng.random() < 0.5:
        return pd.Series(pd.Categorical(stages[y], categories=stages, ordered=True)), "an ordered categorical"
    return ordered_classes(hidden(rng, stages[y], None), stages.tolist()), "ordered classes"


def _positives(rng: Rng, n: int) -> tuple[Any, str]:
    from dubio import positive_unlabelled

    y = ["ill" if code == 1 else None for code in codes(rng, n)]
    prior = float(rng.uniform(0.01, 0.99)) if rng.random() < 0.3 else None
    if "ill" not in y:
        y[0] = "ill"
    return positive_unlabelled(y, prior=prior), "positives only"


def _intervals(rng: Rng, n: int) -> tuple[Any, str]:
    from dubio import interval_targets

    y = np.exp(rng.normal(size=n)) * rng.choice([1.0, 1e-9, 1e9])
    if rng.random() < 0.5:
        return interval_targets(y, np.where(rng.random(n) < 0.5, np.inf, y)), "censored numbers"
    wide = rng.exponential(size=n) * (rng.random(n) < 0.7)
    low = np.where(rng.random(n) < 0.2, np.nan, y - wide)
    return interval_targets(low, np.where(rng.random(n) < 0.1, np.inf, y + wide)), "intervals"


def _several(rng: Rng, n: int) -> tuple[Any, str]:
    from dubio import several_targets

    numbers = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.3:
        numbers[rng.random(numbers.shape) < 0.2] = np.nan
    targets: dict[str, Any] = {f"t{j}": column for j, column in enumerate(numbers.T)}
    if rng.random() < 0.5:
        targets["<b>"] = np.array(["no", "yes", "perhaps", "other"])[codes(rng, n)]
    return several_targets(targets), f"{len(targets)} targets"


def _nothing(rng: Rng, n: int) -> tuple[Any, str]:
    return None, "no target"


_MAKERS: dict[str, Callable[[Rng, int], tuple[Any, str]]] = {
    "hard": _classes,
    "soft": _memberships,
    "numbers": _numbers,
    "ordered": _ordered,
    "positives": _positives,
    "intervals": _intervals,
    "several": _several,
    "none": _nothing,
}

_ODD: dict[str, Callable[[Rng, int], Any]] = {
    "too short": lambda rng, n: codes(rng, n + 1)[:n][:-1],
    "too long": lambda rng, n: codes(rng, n + 1),
    "one class": lambda rng, n: np.zeros(n, dtype=int),
    "all missing": lambda rng, n: np.full(n, np.nan),
    "all None": lambda rng, n: [None] * n,
    "all -1": lambda rng, n: np.full(n, -1),
    "infinite": lambda rng, n: np.full(n, np.inf),
    "mixed": lambda rng, n: ["a", 1, None, 2.5, True] * n,
    "mixed of the right length": lambda rng, n: (["a", 1, None, 2.5, True] * n)[:n],
    "identifiers": lambda rng, n: [f"id{i}" for i in range(n)],
    "empty": lambda rng, n: [],
    "empty 2-D": lambda rng, n: np.empty((0, 2)),
    "no columns": lambda rng, n: np.empty((n, 0)),
    "3-D": lambda rng, n: np.zeros((n, 2, 2)),
    "scalar": lambda rng, n: 1,
    "text": lambda rng, n: "y",
    "bytes": lambda rng, n: b"y",
    "dict": lambda rng, n: {"a": 1},
    "set": lambda rng, n: {1, 2},
    "sets": lambda rng, n: [{"a"}, {"a", "b"}] * (n // 2),
    "ragged": lambda rng, n: [[1], [1, 2]] * (n // 2),
    "dates": lambda rng, n: np.arange(n).astype("datetime64[D]"),
    "complex": lambda rng, n: np.arange(n) * 1j,
    "objects": lambda rng, n: [object()] * n,
    "sparse": lambda rng, n: sparse.csr_matrix(np.ones((n, 2))),
    "not probabilities": lambda rng, n: rng.normal(size=(n, 3)),
    "rows that sum to 2": lambda rng, n: np.ones((n, 2)),
    "infinite memberships": lambda rng, n: np.full((n, 2), np.inf),
    "text memberships": lambda rng, n: np.full((n, 2), "0.5"),
    "huge whole numbers": lambda rng, n: [2**70 + int(v) for v in codes(rng, n)],
    "huge floats": lambda rng, n: rng.choice([1e300, -1e300], size=n),
    "denormals": lambda rng, n: rng.choice([5e-324, 1e-323], size=n),
    "masked": lambda rng, n: np.ma.masked_array(codes(rng, n), mask=rng.random(n) < 0.3),
    "masked memberships": lambda rng, n: np.ma.masked_array(np.full((n, 2), 0.5), mask=rng.random((n, 2)) < 0.2),
    "members of an Enum": lambda rng, n: [list(_Stage)[code] for code in codes(rng, n) % 3],
    "small floats": lambda rng, n: codes(rng, n).astype(np.float16),
    "small memberships": lambda rng, n: np.eye(2, dtype=np.float16)[codes(rng, n) % 2],
    "large memberships": lambda rng, n: np.eye(2, dtype=np.longdouble)[codes(rng, n) % 2],
    "no dates": lambda rng, n: pd.Series([pd.NaT] * n),
    "bytes by row": lambda rng, n: np.array(["\u00e9".encode(), b"b"])[codes(rng, n) % 2],
    "fractions": lambda rng, n: [Fraction(10**400, 7) if i == 0 else Fraction(i, 7) for i in range(n)],
    "decimals": lambda rng, n: [Decimal("sNaN") if i % 4 == 0 else Decimal(i) for i in range(n)],
    "long digits": lambda rng, n: ["9" * 400 + str(i) for i in range(n)],
    "levels of names": lambda rng, n: pd.DataFrame(
        np.eye(2)[codes(rng, n) % 2], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    ),
    "the largest floats": lambda rng, n: rng.choice([1.7e308, -1.7e308], size=n),
    "function": lambda rng, n: len,
    "one row known": lambda rng, n: np.append(1.0, np.full(max(n - 1, 0), np.nan))[:n],
    "one soft row": lambda rng, n: np.vstack([np.full((1, 2), 0.5), np.full((max(n - 1, 0), 2), np.nan)])[:n],
}


def pairs(rng: Rng, n: int, y: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """Must-link and cannot-link pairs that agree with some classes; rarely nonsense."""
    if rng.random() < 0.12:
        odd: list[Any] = [[[0, 0]], [[0, n]], [[-1, 0]], [[0, 1, 2]], "pairs", [[0.5, 1]], 3, [[0, 1], [2]], [], None]
        odd += [np.array([[0, 1]], dtype=np.uint64), [[1e300, 0]], [["a", "b"]], [[None, 0]]]
        return {"must_link": odd[rng.integers(len(odd))], "cannot_link": odd[rng.integers(len(odd))]}
    classes = codes(rng, n) if y is None else y
    both = rng.integers(n, size=(int(rng.integers(1, 12)), 2)) if n else np.empty((0, 2), dtype=np.int64)
    both = both[both[:, 0] != both[:, 1]]
    same = classes[both[:, 0]] == classes[both[:, 1]]
    return {"must_link": both[same], "cannot_link": both[~same]}


def groups(rng: Rng, n: int) -> Any:
    """Which rows belong together; rarely nonsense."""
    if rng.random() < 0.2:
        odd: list[Any] = [np.zeros(n), np.arange(n + 1), "g", 3, [None] * n, np.full(n, np.nan), np.ones((n, 2)), [[1]]]
        odd += [["a", 1] * n, np.arange(n).astype("datetime64[D]"), [object()] * n, np.arange(n) * 1j]
        return odd[rng.integers(len(odd))]
    found = rng.integers(max(2, n // 3), size=n)
    return found if rng.random() < 0.5 else np.array([f"patient {g}" for g in found])


def weights(rng: Rng, n: int) -> Any:
    """Weights of rows; sometimes extreme, rarely nonsense."""
    form = rng.random()
    if form < 0.15:
        odd: list[Any] = [np.zeros(n), -np.ones(n), np.full(n, np.nan), np.full(n, np.inf), np.ones(n + 1), "w", 2.0]
        odd += [np.ones((n, 2)), [None] * n, np.full(n, 5e-324), np.full(n, "1")]
        return odd[rng.integers(len(odd))]
    w = rng.uniform(0.1, 2.0, size=n)
    if form < 0.3:
        w[rng.random(n) < 0.3] = 0.0
    if form > 0.8:
        w = w * rng.choice([1e-300, 1e-150, 1e150, 1e300])
    return w

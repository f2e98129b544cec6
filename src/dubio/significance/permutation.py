"""p-values of any score by permutation: labels are shuffled among the labelled rows, and the score taken again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dubio._kernels.threads import resolve_threads, run_chunks
from dubio.significance.multiple import benjamini_hochberg
from dubio.supervision import Supervision
from dubio.table import Matrix

#: Features with a screening p-value above this are not permuted: they cannot be kept whatever comes.
SCREEN = 0.3
#: A feature is settled when so many permutations did as well (Besag and Clifford's sequential p-value).
_ENOUGH = 30
#: Permutations between two looks at which features are settled; those of one batch run on threads.
_BATCH = 25
#: Permutations at most (only for scores that are taken feature by feature).
_MOST = 64_000
#: Bound on values touched (rows x features x permutations) beyond the first round.
_WORK = 2e9


#: Called as (permutations done, permutations in all) while p-values are computed; see :func:`watch_permutations`.
_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher of permutations", default=None)


@contextmanager
def watch_permutations(report: Callable[[int, int], None]) -> Iterator[None]:
    """Have ``report`` called with how far permutation tests have come, whichever selector takes them.

    Their number in all may grow on the way, where a wide table asks for more of them.
    """
    token = _watcher.set(report)
    try:
        yield
    finally:
        _watcher.reset(token)


class Null(Protocol):
    """A score of every feature, and the same score when the features have nothing to do with the target."""

    scores: NDArray[np.float64]
    lower_is_better: bool
    features_are_independent: bool
    X: Matrix

    def screen(self) -> NDArray[np.float64] | None:
        """Quick p-values, good enough to set aside features that are surely ordinary; None if there are none."""
        ...

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of those features for one random permutation."""
        ...


class RelabelNull:
    """Any score function of (X, supervision, weights): the target is shuffled among the labelled rows."""

    def __init__(
        self,
        score: Callable[[Matrix, Supervision, NDArray[np.float64] | None], NDArray[np.float64]],
        X: Matrix,
        supervision: Supervision,
        sample_weight: NDArray[np.float64] | None,
        scores: NDArray[np.float64],
        *,
        lower_is_better: bool,
        features_are_independent: bool,
        screen: NDArray[np.float64] | None = None,
    ) -> None:
        self._score = score
        self._supervision = supervision
        self._weights = sample_weight
        self._screen = screen
        self.X = X
        self.scores = scores
        self.lower_is_better = lower_is_better
        self.features_are_independent = features_are_independent

    def screen(self) -> NDArray[np.float64] | None:
        return self._screen

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        supervision, weights = shuffle_supervision(self._supervision, rng, self._weights)
        if self.features_are_independent:
            return self._score(self.X[:, features], supervision, weights)
        return self._score(self.X, supervision, weights)[features]


class OrderNull:
    """A score that is a function of the order in which the rows' labels are dealt out."""

    features_are_independent = False

    def __init__(
        self,
        score: Callable[[NDArray[np.int64]], NDArray[np.float64]],
        X: Matrix,
        scores: NDArray[np.float64],
        *,
        lower_is_better: bool,
    ) -> None:
        self._score = score
        self.X = X
        self.scores = scores
        self.lower_is_better = lower_is_better

    def screen(self) -> None:
        return None

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._score(rng.permutation(self.X.shape[0]))[features]


def permutation_pvalues(
    null: Null,
    *,
    alpha: float = 0.05,
    n_permutations: int = 1000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """p-value of every feature: the share of permutations whose score is at least as good.

    ``n_permutations`` at first, fewer for features that are plainly ordinary. Where no permutation reached
    some features and yet that is too few to keep them by Benjamini-Hochberg at ``alpha`` (wide tables), their number
    is doubled, within a bound on the work. A score of the worst kind (``inf``, constant features) has p-value 1.

    Every permutation has a seed of its own, so that ``n_jobs`` does not matter.
    """
    sign = 1.0 if null.lower_is_better else -1.0
    observed = sign * null.scores
    # equal up to rounding is equal
    bar = observed + 1e-10 * np.maximum(np.abs(np.where(np.isfinite(observed), observed, 0.0)), 1e-300)
    pvalues = np.ones(len(observed))
    active = np.flatnonzero(observed < np.inf)
    quick = null.screen()
    if quick is not None:
        pvalues[active] = quick[active]
        active = active[quick[active] <= SCREEN]
    hits = np.zeros(len(observed), dtype=np.int64)
    threads = resolve_threads(n_jobs)
    report = _watcher.get()
    done, goal, work = 0, n_permutations, 0.0
    while len(active) and done < goal:

        def draws(start: int, stop: int, features: NDArray[np.int64] = active) -> NDArray[np.int64]:
            count = np.zeros(len(features), dtype=np.int64)
            for b in range(start, stop):
                rng = np.random.default_rng([random_state, 2, b])
                count += sign * null.draw(rng, features) <= bar[features]
            return count

        batch = min(_BATCH, goal - done)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what the score warns of was said when it was first taken
            counts = run_chunks(draws, [(b, b + 1) for b in range(done, done + batch)], threads)
        hits[active] += np.sum(counts, axis=0)
        done += batch
        work += float(batch) * len(active) * null.X.shape[0]
        pvalues[active] = (hits[active] + 1) / (done + 1)
        active = active[hits[active] < _ENOUGH]
        if done == goal and null.features_are_independent and goal < _MOST and work < _WORK:
            unreached = (hits == 0) & (observed < np.inf) & (pvalues < SCREEN)
            if (unreached & (benjamini_hochberg(pvalues) > alpha / 2)).any():  # the bar of keep_significant
                goal *= 2
        if report is not None:
            report(done, goal)
    return pvalues


def shuffle_supervision(
    supervision: Supervision, rng: np.random.Generator, sample_weight: NDArray[np.float64] | None = None
) -> tuple[Supervision, NDArray[np.float64] | None]:
    """The same knowledge about the wrong rows: what is known of a row, with its weight, goes to another such row.

    Labels and pairs move together, so that they agree with each other as before.
    """
    in_pairs = np.concatenate([supervision.must_link.ravel(), supervision.cannot_link.ravel()])
    known = np.union1d(np.flatnonzero(supervision.labelled), in_pairs)
    source = np.arange(supervision.n_rows)
    source[known] = known[rng.permutation(len(known))]
    fields = {
        name: value[source]
        for name in ("labelled", "codes", "memberships", "values")
        if (value := getattr(supervision, name)) is not None
    }
    place = np.argsort(source)
    fields["must_link"] = place[supervision.must_link]
    fields["cannot_link"] = place[supervision.cannot_link]
    weights = None if sample_weight is None else sample_weight[source]
    return replace(supervision, **fields), weights

"""p-values of any score by permutation: shuffle the labels among the labelled rows and compute the score again."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from dubio._kernels.threads import resolve_threads, run_chunks
from dubio.problem import Problem
from dubio.progress import advance
from dubio.ranking import Scored
from dubio.tables.matrix import Matrix

#: Features with a screening p-value above this are not permuted: they will not be kept in any case.
SCREEN = 0.3
#: A feature is settled when this many permutations had an equal or better score (Besag and Clifford's sequential test).
_ENOUGH = 30
#: Number of permutations between two checks of which features are settled; those of one batch run on threads.
_BATCH = 25
#: Maximum number of permutations (only for scores that are computed feature by feature).
_MOST = 64_000
#: After the first round, a bound on the values used in total (rows x features x permutations).
_WORK = 2e9


class Null(Protocol):
    """A score of every feature, and random values of that score when features are unrelated to the target."""

    scores: NDArray[np.float64]
    lower_is_better: bool
    features_are_independent: bool
    X: Matrix

    def screen(self) -> NDArray[np.float64] | None:
        """Quick p-values, good enough to drop features that are surely not significant; None if unavailable."""
        ...

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of those features for one random permutation."""
        ...


class RelabelNull:
    """Any score of a problem: what is known of the target is shuffled among the rows about which something is known."""

    def __init__(
        self,
        score: Callable[[Problem], Scored],
        problem: Problem,
        scores: NDArray[np.float64],
        *,
        lower_is_better: bool,
        features_are_independent: bool,
        screen: NDArray[np.float64] | None = None,
    ) -> None:
        self._score = score
        self._problem = problem
        self._screen = screen
        self.X = problem.X
        self.scores = scores
        self.lower_is_better = lower_is_better
        self.features_are_independent = features_are_independent

    def screen(self) -> NDArray[np.float64] | None:
        return self._screen

    def draw(self, rng: np.random.Generator, features: NDArray[np.int64]) -> NDArray[np.float64]:
        shuffled = self._problem.shuffled(rng)
        if self.features_are_independent:
            return self._score(shuffled.features(features)).scores
        return self._score(shuffled).scores[features]


class OrderNull:
    """A score that is a function of the order of the labels."""

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
    """P-value of every feature: the share of permutations whose score is at least as good.

    The first round has ``n_permutations`` permutations, or fewer for features that are clearly not significant. In a
    wide table this may be too few: no permutation reaches some features, and Benjamini-Hochberg at ``alpha`` still
    cannot keep them. Then the number is doubled, within a bound on the work. The worst possible score (``inf``, for
    constant features) has p-value 1.

    Each permutation has its own seed, so that ``n_jobs`` does not change the result.
    """
    sign = 1.0 if null.lower_is_better else -1.0
    observed = sign * null.scores
    # scores that differ only by rounding count as equal
    bar = observed + 1e-10 * np.maximum(np.abs(np.where(np.isfinite(observed), observed, 0.0)), 1e-300)
    pvalues = np.ones(len(observed))
    active = np.flatnonzero(observed < np.inf)
    quick = null.screen()
    if quick is not None:
        pvalues[active] = quick[active]
        active = active[quick[active] <= SCREEN]
    hits = np.zeros(len(observed), dtype=np.int64)
    threads = resolve_threads(n_jobs)
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
            warnings.simplefilter("ignore", UserWarning)  # the score gave its warnings when it was first computed
            counts = run_chunks(draws, [(b, b + 1) for b in range(done, done + batch)], threads)
        hits[active] += np.sum(counts, axis=0)
        done += batch
        work += float(batch) * len(active) * null.X.shape[0]
        pvalues[active] = (hits[active] + 1) / (done + 1)
        active = active[hits[active] < _ENOUGH]
        if done == goal and null.features_are_independent and goal < _MOST and work < _WORK:
            unreached = (hits == 0) & (observed < np.inf) & (pvalues < SCREEN)
            if (unreached & (false_discovery_control(pvalues) > alpha / 2)).any():  # the bar of keep_significant
                goal *= 2
        advance("permutations", done, goal)
    return pvalues

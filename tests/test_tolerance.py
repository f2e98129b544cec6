"""How wrong the labels may be before a feature is no longer kept."""

from __future__ import annotations

import numpy as np
import pytest

from dubio.significance.worst_case import fewest_flips, greedy_flips, smallest_shift
from tests import naive


def small_table(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """A small feature, two classes with two rows or more, and a cut at or below its score."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    codes = (rng.random(n) < rng.uniform(0.3, 0.7)).astype(np.int64)
    codes[:2] = [0, 1]
    f = rng.normal(size=n) + rng.uniform(0, 3) * codes
    if seed % 4 == 0:
        f = np.round(f)  # ties
    if seed % 4 == 1:
        f = np.where(rng.random(n) < 0.3, 20 * f, f) + 1e6  # far-out values and a big offset
    if np.ptp(f) == 0:
        f[0] += 1.0
    cut = naive.explained_by_classes(f, codes) * rng.uniform() ** (1 + 3 * (seed % 3))
    return f, codes, max(cut, 1e-9)


@pytest.mark.parametrize("block", range(8))
def test_worst_case_equals_brute_force(block: int) -> None:
    for seed in range(60 * block, 60 * block + 60):
        f, codes, cut = small_table(seed)
        found = fewest_flips(f, codes == 1, cut)
        assert found == (naive.fewest_changes(f, codes, 2, cut), "exact"), seed


def test_worst_case_equals_brute_force_with_14_rows() -> None:
    rng = np.random.default_rng(5)
    codes = np.arange(14) % 2
    f = rng.normal(size=14) + 2.0 * codes
    cut = 0.4 * naive.explained_by_classes(f, codes)
    squared = (f - f.mean()) ** 2
    best = 14
    for bits in range(2**14):  # the naive version with its formula written for two classes: it is faster
        new = (bits >> np.arange(14)) & 1
        k = int(new.sum())
        r2 = 14 * (f - f.mean())[new == 1].sum() ** 2 / (k * (14 - k)) / squared.sum() if 0 < k < 14 else 0.0
        if r2 < cut:
            best = min(best, int((new != codes).sum()))
    assert fewest_flips(f, codes == 1, cut) == (best, "exact")


@pytest.mark.parametrize("kind", ["float32", "read-only", "strided"])
def test_worst_case_takes_any_array(kind: str) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(20) % 2
    f = np.round(rng.normal(size=20) + codes, 2).astype(np.float32).astype(np.float64)
    expected = fewest_flips(f, codes == 1, 0.1)
    given = {"float32": f.astype(np.float32), "read-only": f.copy(), "strided": np.repeat(f, 2)[::2]}[kind]
    given.setflags(write=False)
    assert fewest_flips(given, codes == 1, 0.1) == expected


def test_feature_that_is_out_already_needs_no_change() -> None:
    codes = np.arange(10) % 2
    assert fewest_flips(np.ones(10), codes == 1, 0.1) == (0, "exact")
    assert fewest_flips(np.arange(10.0), codes == 1, 0.9) == (0, "exact")
    assert greedy_flips(np.ones(10), codes, 2, 0.1) == (0, "exact")


def test_no_flips_below_the_bound_push_a_feature_out() -> None:
    rng = np.random.default_rng(1)
    n_checked = 0
    for _ in range(20):
        n = int(rng.integers(100, 301))
        codes = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(np.int64)
        f = rng.standard_t(3, size=n) + rng.uniform(0.5, 2.0) * codes
        cut = 0.3 * naive.explained_by_classes(f, codes)
        bound = fewest_flips(f, codes == 1, cut).count
        if bound == 1:
            continue
        n_checked += 1
        order = np.argsort(f)
        for trial in range(50):
            size = int(rng.integers(1, bound)) if trial else bound - 1
            new = codes.copy()
            if trial % 2:  # any rows
                rows = rng.permutation(n)[:size]
            else:  # the most telling rows of both classes, in random shares
                ones, zeros = order[codes[order] == 1][::-1], order[codes[order] == 0]
                share = int(rng.integers(0, size + 1))
                rows = np.concatenate([ones[:share], zeros[: size - share]])
            new[rows] = 1 - new[rows]
            assert naive.explained_by_classes(f, new) >= cut
    assert n_checked > 10


def test_greedy_bound_is_never_below_brute_force_and_rarely_above() -> None:
    apart = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(5, 8)), 3
        codes = np.append([0, 1, 2], rng.integers(0, k, n - 3))
        f = rng.normal(size=n) + codes
        cut = naive.explained_by_classes(f, codes) * rng.uniform(0.1, 0.9)
        found = greedy_flips(f, codes, k, cut)
        least = naive.fewest_changes(f, codes, k, cut)
        assert found.count >= least
        apart.append(found.count - least)
    assert np.mean(apart) < 0.5


def test_greedy_bound_is_reached_by_changing_that_many_labels() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, 60)
    f = rng.normal(size=60) + codes
    cut = 0.1
    assert greedy_flips(f, codes, 2, cut).count >= fewest_flips(f, codes == 1, cut).count


def test_smallest_shift_moves_the_correlation_to_the_cut_and_no_further() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    y += x
    x, y = ((v - v.mean()) / v.std() for v in (x, y))
    r, cut = float(x @ y / 50), 0.1
    shift = float(smallest_shift(np.array([r**2]), np.array([cut]))[0])
    for _ in range(500):  # no shift of a smaller size gets there
        step = rng.normal(size=50) - rng.uniform(0, 1) * x
        step *= 0.999 * shift / np.sqrt((step**2).mean())
        assert np.corrcoef(x, y + step)[0, 1] ** 2 >= cut
    rest = y - r * x
    rest /= rest.std()
    goal = np.sqrt(cut) * x + np.sqrt(1 - cut) * rest
    nearest = goal * (y @ goal / 50)
    assert np.sqrt(((y - nearest) ** 2).mean()) == pytest.approx(shift)
    assert np.corrcoef(x, nearest)[0, 1] ** 2 == pytest.approx(cut)

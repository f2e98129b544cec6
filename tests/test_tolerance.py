"""How wrong the labels may be before a feature is no longer kept."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dubio import FeatureSelector, InputError, label_tolerance
from dubio.evidence.relevance import relevance_of
from dubio.problem import read_problem
from dubio.simulate import flip_labels
from dubio.trust.tolerance import problem_tolerance
from dubio.trust.worst_case import fewest_changes, fewest_flips, smallest_shift
from dubio_app.command.run import run
from dubio_app.report import render_report
from dubio_app.report.findings import gather
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
        assert found == naive.fewest_changes(f, codes, 2, cut), seed


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
    assert fewest_flips(f, codes == 1, cut) == best


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
    assert fewest_flips(np.ones(10), codes == 1, 0.1) == 0
    assert fewest_flips(np.arange(10.0), codes == 1, 0.9) == 0
    assert fewest_changes(np.ones(10), codes, 2, 0.1) == 0


def test_no_flips_below_the_bound_push_a_feature_out() -> None:
    rng = np.random.default_rng(1)
    n_checked = 0
    for _ in range(20):
        n = int(rng.integers(100, 301))
        codes = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(np.int64)
        f = rng.standard_t(3, size=n) + rng.uniform(0.5, 2.0) * codes
        cut = 0.3 * naive.explained_by_classes(f, codes)
        bound = fewest_flips(f, codes == 1, cut)
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


def test_the_bound_of_several_classes_is_never_above_brute_force() -> None:
    above = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(5, 8)), 3
        codes = np.append([0, 1, 2], rng.integers(0, k, n - 3))
        f = rng.normal(size=n) + 3 * codes
        cut = naive.explained_by_classes(f, codes) * rng.uniform(0.01, 0.5)
        bound, least = fewest_changes(f, codes, k, cut), naive.fewest_changes(f, codes, k, cut)
        assert bound <= min(least, np.bincount(codes).min())
        above += bound > 0
    assert above > 30


def test_a_cut_may_depend_on_the_number_of_changes() -> None:
    for seed in range(40):
        f, codes, cut = small_table(seed)
        cuts = cut * np.array([1.0, 1.0, 1.2, 1.5])
        best = next(
            m
            for m in range(len(f) + 1)
            if any(
                naive.explained_by_classes(f, np.where(np.isin(np.arange(len(f)), rows), 1 - codes, codes))
                < cuts[min(m, 3)]
                for rows in itertools.combinations(range(len(f)), m)
            )
        )
        assert fewest_flips(f, codes == 1, cuts) == best, seed


def _kept_after(X: np.ndarray, y: np.ndarray, feature: int) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(relevance_of(read_problem(X, y, target="auto")).relevant[feature])


@pytest.mark.parametrize("seed", range(3))
def test_no_single_flip_pushes_a_feature_below_its_bound(seed: int) -> None:
    """Every single flip, with a full refit: the cut needs no help of other features, and follows the class sizes."""
    rng = np.random.default_rng([36, seed])
    n, n_classes = 46, 2 + (seed == 2)
    y = np.arange(n) % n_classes if seed else (np.arange(n) < 12).astype(int)
    X = rng.normal(size=(n, 4))
    X[:, :3] += np.array([1.5, 2.0, 2.5]) * y[:, None]
    X[:, 1] = np.exp(X[:, 1])
    found = label_tolerance(X, y)
    survivors = np.flatnonzero(found.worst > 1)
    assert len(survivors)
    for row in range(n):
        for other in set(range(n_classes)) - {y[row]}:
            flipped = y.copy()
            flipped[row] = other
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kept = relevance_of(read_problem(X, flipped)).relevant
            assert kept[survivors].all(), (row, other)


def test_the_labels_that_hurt_most_do_not_break_the_bound() -> None:
    """As many labels as the bound allows, chosen against each feature, with a full refit."""
    rng = np.random.default_rng(0)
    y = (np.arange(90) < 30).astype(int)
    X = rng.normal(size=(90, 3)) + 2 * y[:, None]
    found = label_tolerance(X, y)
    for j in np.flatnonzero(found.worst > 2):
        size, order = int(found.worst[j]) - 1, np.argsort(X[:, j])
        ones, zeros = order[y[order] == 1][::-1], order[y[order] == 0]
        for share in range(size + 1):
            flipped = y.copy()
            rows = np.concatenate([ones[:share], zeros[: size - share]])
            flipped[rows] = 1 - flipped[rows]
            assert _kept_after(X, flipped, j), (j, share)


def test_no_shift_within_the_bound_pushes_a_feature_out() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 3))
    y = X[:, 0] + 0.6 * rng.normal(size=70)
    found = label_tolerance(X, y)
    size = found.worst[0] * y.std()
    assert 0.05 < found.worst[0] < 1
    column = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    for step in (-column, rng.normal(size=70), -column + rng.normal(size=70), np.eye(70)[int(np.argmax(y))]):
        moved = y + 0.999 * size * step / np.sqrt((step**2).mean())
        assert _kept_after(X, moved, 0)


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


def signals(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """A strong, a weak and three unrelated features; two classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 5))
    X[:, 0] += 2.5 * y
    X[:, 1] += 0.8 * y
    return X, y


def test_tolerance_tells_strong_from_weak_features() -> None:
    X, y = signals()
    found = label_tolerance(X, y)
    assert found.kept[:2].all()
    assert found.random[0] > found.random[1] > 0
    assert found.worst[0] > found.worst[1] > 0
    assert (found.low <= found.high)[found.kept].all()
    assert (found.low[:2] <= found.random[:2]).all() and (found.random[:2] <= found.high[:2]).all()
    assert np.isnan(found.random[~found.kept]).all() and np.isnan(found.worst[~found.kept]).all()
    assert f"survives any {int(found.worst[0]) - 1} wrong labels of 200" in found.in_words(0)
    frame = found.to_frame()
    assert frame["feature"].tolist()[:2] == ["x0", "x1"] and len(frame) == found.kept.sum()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::dubio.errors.NoFeatureStandsOut")
def test_tolerance_outside_its_interval_is_right_on_fresh_flips() -> None:
    X, y = signals(1)
    found = label_tolerance(X, y)
    rng = np.random.default_rng(99)
    below, above = found.low[1], found.high[1]
    assert 0 < below < above < 0.45
    for rate, often in ((below / 2, True), (min(0.45, above + 0.05), False)):
        kept = [
            relevance_of(read_problem(X, flip_labels(y, rate, random_state=int(rng.integers(2**31))))).relevant[1]
            for _ in range(11)
        ]
        assert (np.mean(kept) > 0.75) == often


def test_tolerance_is_the_same_for_the_same_seed_any_row_order_and_any_number_of_threads() -> None:
    X, y = signals(2, 80)
    one, two = label_tolerance(X, y, n_jobs=1), label_tolerance(X, y, n_jobs=2)
    np.testing.assert_array_equal(one.random, two.random)
    np.testing.assert_array_equal(one.worst, label_tolerance(X[::-1], y[::-1]).worst)


def test_tolerance_leaves_the_arrays_alone_and_takes_missing_labels_and_cells() -> None:
    X, y = signals(3, 120)
    labels = np.where(np.arange(120) % 5 == 0, np.nan, y)
    X[3, 2] = np.nan
    X.setflags(write=False)
    labels.setflags(write=False)
    found = label_tolerance(np.asfortranarray(X), labels)
    assert found.n_labelled == 96 and found.kept[0] and found.random[0] > 0.1


@pytest.mark.parametrize("flips", ["one-class", "next"])
def test_tolerance_to_other_flips(flips: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 3))
    X[:, 0] += y
    found = label_tolerance(X, y, flips=flips)
    assert found.flips == flips and found.random[0] > 0.1
    assert found.worst[0] >= 1 and "kept with up to" in found.in_words(0)


def test_tolerance_of_probabilities_and_numbers() -> None:
    X, y = signals(4)
    sure = np.column_stack([1 - y, y]) * 0.9 + 0.05
    soft = label_tolerance(X, sure)
    assert soft.kind == "soft" and 0.2 < soft.random[0] < 1 and np.isnan(soft.worst).all()
    assert "flattened" in soft.in_words(0)
    numbers = label_tolerance(X, X[:, 0] + np.random.default_rng(0).normal(size=200))
    assert numbers.kind == "numbers" and numbers.random[0] > 0.02 and 0 < numbers.worst[0] < 1
    assert "standard deviations" in numbers.in_words(0)


def test_tolerance_of_features_that_matter_only_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    problem = read_problem(X, y)
    alone = problem_tolerance(problem, together=False)
    assert alone.kept[:2].all() and np.isnan(alone.random).all() and alone.in_words(0) == ""


def test_tolerance_refuses_what_it_cannot_use() -> None:
    X, y = signals()
    with pytest.raises(InputError, match="flips='sideways'"):
        label_tolerance(X, y, flips="sideways")
    with pytest.raises(InputError, match="no target is given"):
        label_tolerance(X, None)


def test_tolerance_of_a_selector_becomes_columns_of_its_ranking() -> None:
    X, y = signals(5, 120)
    selector = FeatureSelector().fit(X, y)
    steps = []
    found = selector.tolerance(X, y, progress=lambda what, done, total: steps.append((what, done, total)))
    frame = selector.to_ranking().with_columns(found.columns()).to_frame()
    assert frame["tolerance"][0] == found.random[selector.ranking_ == 1][0] > 0
    assert {"worst_case", "tolerance_low", "tolerance_high"} <= set(frame.columns)
    mine = [(done, total) for what, done, total in steps if what == "label tolerance"]
    assert mine and mine[-1][0] <= mine[-1][1]
    assert [done for done, _ in mine] == sorted(done for done, _ in mine)


def test_tolerance_knows_groups_and_weights() -> None:
    """A feature of the patients, of whom each has six equal rows: without groups it looks far too sure."""
    X, y = signals(7, 30)
    X, y, patients = np.repeat(X, 6, axis=0), np.repeat(y, 6), np.repeat(np.arange(30), 6)
    selector = FeatureSelector().fit(X, y, groups=patients)
    with pytest.raises(InputError, match="groups is missing, but the selector was fitted with it"):
        selector.tolerance(X, y)
    found = selector.tolerance(X, y, groups=patients)
    np.testing.assert_array_equal(found.kept, selector.support_)
    np.testing.assert_array_equal(found.random, label_tolerance(X, y, groups=patients).random)
    assert found.no_worst == "for rows in groups" and not label_tolerance(X, y).no_worst
    weights = np.tile([1.0, 2.0, 0.0], 60)
    with pytest.raises(InputError, match="sample_weight is missing"):
        FeatureSelector("linear_r2").fit(X, y, sample_weight=weights).tolerance(X, y)
    weighed, counted = label_tolerance(X, y, sample_weight=weights), weights > 0
    assert weighed.n_labelled == 120 and weighed.no_worst == "for rows of different weights"
    alone = label_tolerance(X[counted], y[counted], sample_weight=weights[counted])
    np.testing.assert_array_equal(weighed.random, alone.random)


def test_report_has_a_bar_for_each_kept_feature() -> None:
    X, y = signals(6, 120)
    selector = FeatureSelector().fit(X, y)
    found = selector.tolerance(X, y)
    page = render_report(gather(selector, X, y, tolerance=found))
    section = page.split('id="tolerance"')[1].split("</section>")[0]
    wide, narrow = section.split('class="narrow"')  # a drawing for desks, and one for phones
    for role in ("kept", "whisker"):
        assert wide.count(f'class="{role}"') == narrow.count(f'class="{role}"') == found.kept.sum()
    assert found.worst_in_words(int(np.flatnonzero(found.kept)[0])) in section
    assert 'id="tolerance"' not in render_report(gather(selector, X, y))


def test_command_shows_the_tolerance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = signals(7, 100)
    table = pd.DataFrame(X, columns=list("abcde")).assign(kind=np.where(y == 1, "ill", "well"))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "kind", "--tolerance", "--json"]) == 0
    features = json.loads(capsys.readouterr().out)["features"]
    assert features[0]["feature"] == "a" and features[0]["tolerance"] > 0.1 and features[0]["worst_case"] > 3
    assert features[-1]["tolerance"] is None
    assert run(["rank", str(tmp_path / "t.csv"), "-t", "kind", "--tolerance"]) == 0
    assert "with fewer changed labels than this, whichever they are, it is kept" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run(["rank", str(tmp_path / "t.csv"), "--ignore", "kind", "--tolerance"]) == 2
    assert "give one --target with classes or numbers" in capsys.readouterr().err


def test_the_command_and_python_agree_on_groups_and_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = signals(8, 40)
    table = pd.DataFrame(np.repeat(X, 2, axis=0), columns=list("abcde"))
    rows = {"patient": np.repeat(np.arange(40), 2), "weight": np.tile([1.0, 2.0, 0.0, 1.0], 20)}
    kinds = np.repeat(np.where(y == 1, "ill", "well"), 2)
    table.assign(kind=kinds, **rows).to_csv(tmp_path / "t.csv", index=False)
    words = ["-t", "kind", "--groups", "patient", "--weights", "weight", "--tolerance", "--json"]
    assert run(["rank", str(tmp_path / "t.csv"), *words]) == 0
    said = {row["feature"]: row["tolerance"] for row in json.loads(capsys.readouterr().out)["features"]}
    options = {"groups": rows["patient"], "sample_weight": rows["weight"]}
    found = FeatureSelector().fit(table, kinds, **options).tolerance(table, kinds, **options)
    assert found.kept[0]
    np.testing.assert_allclose([np.nan if said[name] is None else said[name] for name in "abcde"], found.random)

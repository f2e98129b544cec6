"""The same numbers and the same subsets on every device: torch's own CPU always, a GPU where there is one."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dubio import (
    FeatureSelector,
    MutualInformationRanking,
    MutualInformationSearch,
    NeighborSearch,
    ReliefFScore,
    SoftReliefScore,
)
from dubio.doubt.noise_model import NoiseTracker
from dubio.errors import InputError
from dubio.kernels import distances_gpu as pair_distances
from dubio.kernels import gpu as devices
from dubio.kernels.distances_gpu import smallest
from dubio.kernels.gpu import Device, Worth, find_device, torch
from dubio.neighbors.distances import DeviceDistances, SubsetDistances
from dubio.neighbors.greedy import ADD, REMOVE
from dubio.neighbors.information import InformationCriterion
from dubio.neighbors.losses import NeighborLoss
from dubio.simulate import flip_labels, hide_labels
from dubio.target.reader import read_supervision
from tests import naive

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_GPU = HAS_TORCH and torch.cuda.is_available()
NO_TORCH = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed: pip install 'dubio[gpu]'")
NO_GPU = pytest.mark.skipif(not HAS_GPU, reason="torch finds no CUDA GPU")

#: Memory for tiles and for what is kept: plenty; nothing kept; tiles of one row.
MEMORY = {"plenty": (10**8, 10**8), "nothing kept": (10**8, 0), "single rows": (1, 10**8)}


@pytest.fixture(params=[pytest.param("cpu", marks=NO_TORCH), pytest.param("cuda", marks=NO_GPU)])
def torch_device(request, monkeypatch):
    """device="cuda" works on this device of torch."""
    monkeypatch.setattr(devices, "TORCH_DEVICE", request.param)
    return request.param


@pytest.fixture(params=MEMORY)
def device(request, torch_device):
    tile_bytes, held_bytes = MEMORY[request.param]
    return Device(torch_device, tile_bytes=tile_bytes, held_bytes=held_bytes)


@pytest.fixture
def few_near_rows(monkeypatch):
    """Neighbours are sought among the near rows of the subset, even in small tables."""
    monkeypatch.setattr(pair_distances, "MANY_ROWS", 10)

    def set_number(n_near):
        monkeypatch.setattr(pair_distances, "NEAR", n_near)

    return set_number


def _table(n=60, d=6, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, d)).astype(float) if whole else rng.normal(size=(n, d))
    codes = (X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1])) + 1 * (X[:, 2] > np.quantile(X[:, 2], 0.7))
    return X, codes


def _soft(codes, seed=0):
    P = np.eye(3)[codes] + np.random.default_rng(seed).uniform(0, 0.5, size=(len(codes), 3))
    return P / P.sum(axis=1, keepdims=True)


@NO_TORCH
@given(st.lists(st.integers(0, 5), min_size=2, max_size=40), st.integers(1, 12))
def test_smallest_takes_the_first_of_equal_numbers(numbers, k):
    k = min(k, len(numbers) - 1)
    rows = np.array([numbers, numbers[::-1], sorted(numbers)], dtype=float)
    places, last = smallest(torch.from_numpy(rows), k)
    for row, found, largest in zip(rows, places.numpy(), last.numpy(), strict=True):
        expected = np.argsort(row, kind="stable")[:k]
        assert sorted(found) == sorted(expected)
        assert largest == row[expected[-1]]


@pytest.mark.parametrize("n_judged", [None, 20])
@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_distances_are_those_of_the_cpu_to_the_last_bit(device, n_judged, groups):
    X, _ = _table()
    X[:, 3] *= 1e6
    ours = SubsetDistances(X, n_judged=n_judged, groups=groups)
    theirs = DeviceDistances(X, device, n_judged=n_judged, groups=groups)
    for step in (
        lambda at: at.start([0, 2, 3]),
        lambda at: at.apply(3, REMOVE),
        lambda at: at.apply(5, ADD),
        lambda at: at.apply(0, REMOVE),
        lambda at: at.start([]),
        lambda at: at.apply(1, ADD),
    ):
        step(ours)
        step(theirs)
        found = theirs.pairs.of(0, theirs.n_judged).cpu().numpy()
        np.testing.assert_array_equal(found, ours.squared)
        np.testing.assert_array_equal(theirs.subset, ours.subset)


@pytest.mark.parametrize("whole", [False, True])  # whole numbers: many ties and duplicate rows
@pytest.mark.parametrize("k", [1, 5, 59])
@pytest.mark.parametrize(("n_judged", "weighted"), [(None, False), (25, False), (None, True), (25, True)])
def test_losses_equal_the_literal_ones(device, whole, k, n_judged, weighted):
    X, codes = _table(whole=whole)
    P, numbers = _soft(codes), X @ [1.0, -2.0, 0.0, 0.0, 1.0, 0.0]
    at = DeviceDistances(X, device, n_judged=n_judged)
    weights = np.random.default_rng(1).uniform(0.2, 1.8, size=len(X)) if weighted else None
    weights = weights / weights.mean() if weighted else None
    options = {"weights": weights, "n_judged": n_judged}
    alone = (
        NeighborLoss(at, [P], balanced=False, weights=weights),
        NeighborLoss(at, [numbers], weights=weights),
    )
    nothing = [criterion.value_of_nothing for criterion in alone]
    for criterion, literal in (
        (
            NeighborLoss(at, [P], n_neighbors=k, weights=weights, balanced=True),
            lambda s: naive.neighbor_cross_entropy(X[:, s], P, k, **options),
        ),
        (
            NeighborLoss(at, [numbers], n_neighbors=k, weights=weights),
            lambda s: naive.neighbor_squared_error(X[:, s], numbers, k, **options),
        ),
        (
            NeighborLoss(at, [P, numbers], n_neighbors=k, weights=weights),
            lambda s: (
                (
                    naive.neighbor_cross_entropy(X[:, s], P, k, balanced=False, **options) / nothing[0]
                    + naive.neighbor_squared_error(X[:, s], numbers, k, **options) / nothing[1]
                )
                / 2
            ),
        ),
    ):
        assert criterion.start(np.array([0, 2, 4])) == pytest.approx(literal([0, 2, 4]), rel=1e-12)
        expected = [literal(s) for s in ([0, 1, 2, 4], [0, 2, 3, 4])]
        np.testing.assert_allclose(criterion.evaluate(np.array([1, 3]), ADD), expected, rtol=1e-12)
        criterion.apply(1, ADD)
        expected = [literal(s) for s in ([1, 2, 4], [0, 1, 2])]
        np.testing.assert_allclose(criterion.evaluate(np.array([0, 4]), REMOVE), expected, rtol=1e-12)
        rows = criterion.unit_values(np.array([1, 5]))
        assert len(rows) == (n_judged or len(X))
        assert rows.sum() == pytest.approx(literal([1, 5]), rel=1e-12)


@pytest.mark.parametrize("n_judged", [None, 25])
def test_judging_some_rows_on_the_cpu_equals_the_literal_loss(n_judged):
    X, codes = _table(whole=True)
    P, numbers = _soft(codes), X @ [1.0, -2.0, 0.0, 0.0, 1.0, 0.0]
    for balanced in (True, False):
        at = SubsetDistances(X, n_judged=n_judged)
        criterion = NeighborLoss(at, [P], n_neighbors=4, balanced=balanced)
        expected = naive.neighbor_cross_entropy(X[:, [0, 1]], P, 4, balanced, n_judged=n_judged)
        assert criterion.start(np.array([0, 1])) == pytest.approx(expected, rel=1e-12)
    criterion = NeighborLoss(SubsetDistances(X, n_judged=n_judged), [numbers], n_neighbors=4)
    expected = naive.neighbor_squared_error(X[:, [0, 1]], numbers, 4, n_judged=n_judged)
    assert criterion.start(np.array([0, 1])) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n_near", [6, 15, 40])
def test_neighbours_among_near_rows_are_the_neighbours(torch_device, few_near_rows, whole, n_near):
    """Also where most neighbours are not among them, and where all near rows are equally far."""
    few_near_rows(n_near)
    X, codes = _table(n=80, whole=whole)
    P = np.eye(3)[codes]
    device = Device(torch_device, tile_bytes=10**6, held_bytes=10**8)
    ours = NeighborLoss(SubsetDistances(X), [P], n_neighbors=5, balanced=True)
    theirs = NeighborLoss(DeviceDistances(X, device), [P], n_neighbors=5, balanced=True)
    for criterion in (ours, theirs):
        criterion.start(np.array([0]))
    assert theirs.distances.pairs.near()[0].shape == (80, n_near)
    for feature in (2, 4):
        rest = np.setdiff1d(np.arange(6), theirs.distances.subset)
        np.testing.assert_allclose(theirs.evaluate(rest, ADD), ours.evaluate(rest, ADD), rtol=1e-12)
        for criterion in (ours, theirs):
            criterion.apply(feature, ADD)
    np.testing.assert_allclose(theirs.evaluate(np.array([0, 2]), REMOVE), ours.evaluate(np.array([0, 2]), REMOVE))


@pytest.mark.parametrize("kind", ["hard", "soft", "one hard class"])
@pytest.mark.parametrize("printed", [False, True])
def test_information_equals_the_literal_one(device, kind, printed):
    X, codes = _table(n=40)
    P = np.eye(3)[codes] if kind == "hard" else _soft(codes)
    if kind == "one hard class":
        P = np.where((codes == 2)[:, None], np.eye(3)[codes], np.column_stack([P[:, 0], 1.0 - P[:, 0], np.zeros(40)]))
    slack = 0.0 if printed else 0.5
    options = {"n_neighbors": 4, "slack": slack, "include_self": printed}
    criterion = InformationCriterion(DeviceDistances(X, device), lambda _: P, **options)

    def literal(subset):
        return naive.noise_tolerant_mutual_information(X[:, subset], P, 4, slack, printed)

    assert criterion.start(np.array([0, 2, 4])) == pytest.approx(literal([0, 2, 4]), abs=1e-11)
    expected = [literal(s) for s in ([0, 1, 2, 4], [0, 2, 3, 4])]
    np.testing.assert_allclose(criterion.evaluate(np.array([1, 3]), ADD), expected, atol=1e-11)
    criterion.apply(1, ADD)
    expected = [literal(s) for s in ([1, 2, 4], [0, 1, 2])]
    np.testing.assert_allclose(criterion.evaluate(np.array([0, 4]), REMOVE), expected, atol=1e-11)
    assert criterion.row_values(np.array([1, 5])).sum() == pytest.approx(literal([1, 5]), abs=1e-11)
    criterion.start(np.array([], dtype=np.int64))
    np.testing.assert_allclose(criterion.evaluate(np.array([3]), ADD), [literal([3])], atol=1e-11)


def test_equal_rows_have_no_logarithm(device):
    X, codes = _table(whole=True)
    criterion = InformationCriterion(DeviceDistances(X, device), lambda _: np.eye(3)[codes], n_neighbors=2)
    with pytest.raises(InputError, match="too many equal rows in features \\[0, 1\\]"):
        criterion.start(np.array([0, 1]))


@pytest.mark.parametrize("labels", ["hard", "some missing", "soft"])
@pytest.mark.parametrize("include_self", [False, True])
def test_noise_model_is_that_of_the_cpu(device, labels, include_self):
    X, codes = _table(n=120)
    y = flip_labels(codes, 0.2, random_state=0)
    if labels == "some missing":
        y = hide_labels(y, 0.3, random_state=0)
    if labels == "soft":
        y = _soft(codes)
        y[:90] = np.nan
    models = []
    for distances in (SubsetDistances(X), DeviceDistances(X, device)):
        tracker = NoiseTracker(
            read_supervision(y, len(X)),
            n_neighbors=3,
            include_self=include_self,
            n_init=3,
            max_iter=20,
            tol=1e-3,
            random_state=np.random.RandomState(0),
        )
        distances.start([0, 1, 2])
        models.append(tracker.fit(distances))
        distances.apply(2, REMOVE)
        models.append(tracker.fit(distances))
    for ours, theirs in zip(models[:2], models[2:], strict=True):
        np.testing.assert_allclose(theirs.memberships, ours.memberships, atol=1e-9)
        assert [len(o) for o in theirs.objectives] == [len(o) for o in ours.objectives]
        assert theirs.best_restart == ours.best_restart
        assert theirs.objective == pytest.approx(ours.objective, rel=1e-10)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("k", [3, 10, 50])
def test_relief_equals_the_literal_scores(device, monkeypatch, whole, k):
    monkeypatch.setattr("dubio.scores.relief.find_device", lambda *_: device)
    X, codes = _table(whole=whole)
    codes[:2], codes[2:4] = 3, 4  # two classes of two rows
    ours = ReliefFScore(n_neighbors=k, device="cuda").scores_of(X, codes)
    np.testing.assert_allclose(ours, naive.relieff_score(X, codes, k), atol=1e-12)
    P = np.eye(5)[codes] * 0.8 + 0.04
    ours = SoftReliefScore(n_neighbors=k, device="cuda").scores_of(X, P)
    np.testing.assert_allclose(ours, naive.soft_relief_score(X, P, k), atol=1e-12)


def _same_search(ours, theirs, rel=1e-10):
    assert {s: f.tolist() for s, f in theirs.subsets_.items()} == {s: f.tolist() for s, f in ours.subsets_.items()}
    assert theirs.values_ == pytest.approx(ours.values_, rel=rel)
    np.testing.assert_array_equal(theirs.ranking_, ours.ranking_)
    np.testing.assert_array_equal(theirs.support_, ours.support_)
    assert all(isinstance(f, np.ndarray) for f in theirs.subsets_.values())


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("target", ["classes", "memberships", "numbers"])
@pytest.mark.parametrize("reference_rows", ["sample", "all"])
def test_neighbor_search_finds_the_same_subsets(torch_device, whole, target, reference_rows):
    X, codes = _table(n=150, d=7, whole=whole)
    y = {"classes": codes, "memberships": _soft(codes), "numbers": X @ np.arange(7.0)}[target]
    options = {"direction": "both", "max_rows": 60, "clean": None, "reference_rows": reference_rows}
    ours = NeighborSearch(**options).fit(X, y)
    theirs = NeighborSearch(**options, device="cuda").fit(X, y)
    _same_search(ours, theirs)
    assert len(ours.used_rows_) == 60
    if target == "classes" and reference_rows == "all":
        assert "judged a sample of 60 rows by their neighbours among all rows" in ". ".join(ours.notes_)


def test_neighbor_search_with_duplicate_features_and_tests(torch_device):
    X, codes = _table(n=200, d=5)
    X = np.column_stack([X, X[:, [1, 0]], np.ones(200)])
    for n_features in (3, "auto", "sufficient"):
        ours = NeighborSearch(n_features_to_select=n_features).fit(X, codes)
        theirs = NeighborSearch(n_features_to_select=n_features, device="cuda").fit(X, codes)
        _same_search(ours, theirs)


@pytest.mark.parametrize("reference_rows", ["sample", "all"])
def test_neighbor_search_of_rows_that_belong_together(torch_device, reference_rows):
    X, codes = _table(n=150, d=7, whole=True)
    groups = np.arange(150) // 3
    options = {"direction": "both", "max_rows": 60, "clean": None, "reference_rows": reference_rows}
    ours = NeighborSearch(**options).fit(X, codes, groups=groups)
    theirs = NeighborSearch(**options, device="cuda").fit(X, codes, groups=groups)
    _same_search(ours, theirs)
    assert ours.values_ != NeighborSearch(**options).fit(X, codes).values_


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_neighbor_search_with_weights(torch_device, target):
    X, codes = _table(n=150, d=7)
    y = {"classes": codes, "numbers": X @ np.arange(7.0)}[target]
    weights = np.random.default_rng(1).integers(0, 4, size=150)
    options = {"max_rows": 60, "clean": None, "reference_rows": "all"}
    ours = NeighborSearch(**options).fit(X, y, sample_weight=weights)
    theirs = NeighborSearch(**options, device="cuda").fit(X, y, sample_weight=weights)
    _same_search(ours, theirs)


def test_reference_rows_matter_and_are_the_same_as_all_rows_when_nothing_is_sampled():
    X, codes = _table(n=150, d=7)
    few = NeighborSearch(max_rows=60, clean=None).fit(X, codes)
    many = NeighborSearch(max_rows=60, clean=None, reference_rows="all").fit(X, codes)
    assert few.values_ != many.values_
    np.testing.assert_array_equal(few.used_rows_, many.used_rows_)
    whole = [NeighborSearch(max_rows=150, clean=None, reference_rows=r).fit(X, codes) for r in ("sample", "all")]
    assert whole[0].values_ == whole[1].values_


@pytest.mark.parametrize(
    "options",
    [
        {"label_noise": False},
        {"label_noise": False, "direction": "forward"},
        {"n_init": 2},
        {"n_init": 2, "reestimate": "once", "prescreen": 4},
        {"n_init": 1, "n_features_to_select": "sufficient"},
    ],
)
def test_information_search_finds_the_same_subsets(torch_device, options):
    X, codes = _table(n=150, d=6)
    y = flip_labels(codes, 0.2, random_state=0)
    ours = MutualInformationSearch(**options).fit(X, y)
    theirs = MutualInformationSearch(**options, device="cuda").fit(X, y)
    _same_search(ours, theirs, rel=1e-8)
    if options.get("label_noise", True):
        np.testing.assert_allclose(theirs.noise_model_.memberships, ours.noise_model_.memberships, atol=1e-8)


def test_information_ranking_is_that_of_the_cpu(torch_device):
    X, codes = _table(n=150, d=6)
    y = flip_labels(codes, 0.2, random_state=0)
    ours, theirs = (MutualInformationRanking(device=device).fit(X, y) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(theirs.scores_, ours.scores_, atol=1e-9)
    np.testing.assert_array_equal(theirs.ranking_, ours.ranking_)


def test_feature_selector_passes_the_device_on(torch_device):
    X, codes = _table(n=150, d=6)
    ours, theirs = (FeatureSelector(n_features_to_select=3, device=device).fit(X, codes) for device in ("cpu", "cuda"))
    assert theirs.selector_.device == "cuda"
    np.testing.assert_array_equal(theirs.ranking_, ours.ranking_)


def test_a_method_without_gpu_says_so():
    X, codes = _table()
    with pytest.raises(InputError, match="device='cuda', but the method fisher works on the CPU only"):
        FeatureSelector("fisher", device="cuda").fit(X, codes)
    FeatureSelector("fisher", device="auto", n_features_to_select=2).fit(X, codes)


def test_auto_takes_the_cpu_for_small_work_and_where_there_is_no_gpu(monkeypatch):
    asked = []
    monkeypatch.setattr(devices, "_what_is_missing", lambda: asked.append(1) or ("torch is not installed", "get it"))
    monkeypatch.setattr(devices, "_is_started", lambda: False)
    worth = Worth(again=10.0, first=100.0)
    assert find_device("auto", 99.0, worth) is None and not asked, "torch is not looked for if the work is small"
    assert find_device("auto", 100.0, worth) is None and len(asked) == 1
    monkeypatch.setattr(devices, "_is_started", lambda: True)
    assert find_device("auto", 9.0, worth) is None and len(asked) == 1
    assert find_device("auto", 10.0, worth) is None and len(asked) == 2
    assert find_device("cpu", 1e20, worth) is None and len(asked) == 2
    X, codes = _table()
    NeighborSearch(device="auto").fit(X, codes)


def test_auto_takes_the_gpu_for_much_work(torch_device):
    assert find_device("auto", 1e20, Worth(1.0, 1.0)).name == torch_device


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(devices.importlib.util, "find_spec", lambda name: None)
    X, codes = _table()
    for method in (NeighborSearch, MutualInformationSearch, ReliefFScore, SoftReliefScore):
        with pytest.raises(InputError, match="device='cuda', but torch is not installed: pip install 'dubio\\[gpu\\]'"):
            method(device="cuda").fit(X, codes)


@pytest.mark.skipif(not HAS_TORCH or HAS_GPU, reason="needs torch, and no GPU")
def test_without_a_gpu_the_error_says_so():
    X, codes = _table()
    with pytest.raises(InputError, match=r"device='cuda', but torch .*: .*use device='cpu'"):
        NeighborSearch(device="cuda").fit(X, codes)
    NeighborSearch(device="auto").fit(X, codes)


@NO_TORCH
def test_out_of_memory_means_smaller_tiles(monkeypatch):
    X, codes = _table(n=150)
    monkeypatch.setattr(devices, "TORCH_DEVICE", "cpu")
    ours = NeighborSearch(clean=None).fit(X, codes)
    sizes = []
    changed = pair_distances.PairDistances.changed

    def scarce(self, current, *rest):
        sizes.append(len(current))
        if len(current) > 20:
            raise torch.cuda.OutOfMemoryError("no memory left")
        return changed(self, current, *rest)

    monkeypatch.setattr(pair_distances.PairDistances, "changed", scarce)
    theirs = NeighborSearch(clean=None, device="cuda").fit(X, codes)
    assert max(sizes) > 20 and sizes[-1] <= 20
    _same_search(ours, theirs)


@NO_TORCH
def test_no_memory_for_a_single_row_is_an_error():
    def work(start, stop):
        raise torch.cuda.OutOfMemoryError("no memory left")

    with pytest.raises(InputError, match="too little free memory"):
        Device("cpu").in_tiles(5, 10.0, work)


@NO_TORCH
def test_a_device_that_stops_is_a_clear_error_and_other_errors_stay():
    def lost(start, stop):
        raise RuntimeError("CUDA error: unspecified launch failure\nmore lines")

    with pytest.raises(InputError, match="='cuda' stopped working \\(CUDA error: unspecified launch failure\\)"):
        Device("cpu").in_tiles(5, 10.0, lost)

    def wrong(start, stop):
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes do not fit"):
        Device("cpu").in_tiles(5, 10.0, wrong)


def test_command_without_a_gpu(tmp_path, capsys, monkeypatch):
    pd = pytest.importorskip("pandas")
    from dubio_app.command.run import run

    monkeypatch.setattr(devices, "_what_is_missing", lambda: ("torch is not installed", "pip install 'dubio[gpu]'"))
    X, codes = _table()
    path = tmp_path / "table.csv"
    pd.DataFrame(X).add_prefix("x").assign(y=codes).to_csv(path, index=False)
    assert run(["rank", str(path), "-t", "y", "--device", "cuda"]) == 2
    assert "--device 'cuda', but torch is not installed: install what is missing" in capsys.readouterr().err
    assert run(["rank", str(path), "-t", "y", "--device", "auto", "--quiet"]) == 0

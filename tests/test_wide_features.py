"""Features of several columns: one score, one p-value, one rank and one name, for every method that takes them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone

from dubio import METHODS, FeatureSelector, InputError, audit_labels, stability
from dubio.evidence.evidence import Evidence
from dubio.evidence.permutation import feature_moments, permutation_moments
from dubio.evidence.relations import SmoothNull, linear_pvalues, linear_r2, smooth_r2
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.greedy import ADD, REMOVE, greedy_search
from dubio.neighbors.losses import NeighborLoss
from dubio.neighbors.quadratic import laplacian_ratio
from dubio.problem import Problem, read_problem
from dubio.scores.consensus import likenesses
from dubio.scores.relief import ReliefFScore, for_neighbors, scale_to_range
from dubio.scores.weighted import FisherScore, WeightedLaplacianScore
from dubio.searches.linear_search import ridge_elimination
from dubio.table.matrix import columns_of_sizes
from tests import naive

PARTS = [[0], [1, 2, 3], [4], [5, 6]]
SIZES = [1, 3, 1, 2]


def wide_problem(n=40, seed=0, target="classes"):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 7)), 1)  # with ties
    X[:, 6] = 3.0  # a constant column in a feature that varies
    y = rng.integers(0, 3, n) if target == "classes" else rng.normal(size=n)
    read = read_problem(X, y, target=target)
    return Problem(X, read.supervision, columns=columns_of_sizes(SIZES)), X, y


def nominal_table(n_levels, n=300, seed=0, relevant=True, target="classes", n_noise=4):
    """A column of categories among columns of noise; the target depends on it, or on nothing."""
    rng = np.random.default_rng([seed, n_levels])
    codes = rng.integers(0, n_levels, n)
    effect = rng.permutation(n_levels)[codes] if relevant else rng.integers(0, n_levels, n)
    X = pd.DataFrame(rng.normal(size=(n, n_noise)), columns=[f"noise {j}" for j in range(n_noise)])
    X.insert(n_noise // 2, "colour", [f"level {code:02d}" for code in codes])
    noise = rng.normal(size=n)
    y = effect / n_levels + 0.1 * noise
    return X, (y > 0.45).astype(int) if target == "classes" else y


class TestLiteral:
    def test_linear_r2(self):
        for target in ("classes", "numbers"):
            problem, X, y = wide_problem(target=target)
            T = np.eye(3)[y] if target == "classes" else y[:, None]
            np.testing.assert_allclose(linear_r2(Evidence.of(problem))[0], naive.wide_linear_r2(X, T, PARTS), rtol=1e-9)

    def test_laplacian_ratio(self):
        problem, X, _ = wide_problem(n=15)
        S = np.triu(np.random.default_rng(1).random((15, 15)), 1)
        S = np.where(S > 0.5, S, 0.0)
        S += S.T
        got = laplacian_ratio(sparse.csr_array(S), X, problem.columns)
        np.testing.assert_allclose(got, naive.wide_laplacian_ratio(S, X, PARTS), rtol=1e-9)

    def test_scores_from_class_moments(self):
        problem, X, y = wide_problem()
        fisher = FisherScore()._score(problem).scores
        np.testing.assert_allclose(fisher, naive.wide_fisher_score(X, y, PARTS), rtol=1e-9)
        weighted = WeightedLaplacianScore()._score(problem).scores
        P = np.eye(3)[y]
        similar = P @ P.T
        for f, part in enumerate(PARTS):
            gaps = ((X[:, None, part] - X[None, :, part]) ** 2).sum(axis=2)
            np.testing.assert_allclose(weighted[f], (similar * gaps).sum() / ((1 - similar) * gaps).sum(), rtol=1e-9)

    def test_relieff(self):
        problem, _, y = wide_problem()
        table, varies = scale_to_range(problem)
        assert varies.all()
        np.testing.assert_allclose([np.ptp(table[:, part], axis=0).sum() for part in PARTS], 1.0)
        expected = naive.wide_relieff_score(table, y, 3, PARTS)
        np.testing.assert_allclose(ReliefFScore(n_neighbors=3)._score(problem).scores, expected, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("target", ["classes", "numbers"])
    def test_smooth_r2_of_categories(self, target):
        X, y = nominal_table(8, n=60, target=target)
        X.loc[:3, "colour"] = None
        X["colour"] = X["colour"].astype("category")
        problem = read_problem(X, y, target=target, any_type=True).filled
        codes = pd.factorize(X["colour"].astype(object).fillna("missing"))[0]
        T = np.eye(2)[y] if target == "classes" else y[:, None]
        np.testing.assert_allclose(smooth_r2(Evidence.of(problem))[2], naive.level_smooth_r2(codes, T), rtol=1e-9)

    def test_moments_over_all_permutations(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(6, 3))
        X -= X.mean(axis=0)
        B = rng.normal(size=(6, 2))
        B -= B.mean(axis=0)
        M = B @ B.T
        mean, variance = naive.wide_permutation_variance(X, M)
        second, fourth, gram = feature_moments(X, columns_of_sizes([3]))
        unit = np.abs(X).max() ** 2
        got = permutation_moments(second, fourth, 6, np.trace(M), (np.diag(M) ** 2).sum(), (M**2).sum(), gram)
        np.testing.assert_allclose(got[0] * unit, mean, rtol=1e-9)
        np.testing.assert_allclose(got[1] * unit**2, variance, rtol=1e-9)

    def test_distances_of_a_search(self):
        _, X, y = wide_problem(n=25)
        at = SubsetDistances(X, features=columns_of_sizes(SIZES))
        loss = NeighborLoss(at, [np.eye(3)[y]], n_neighbors=3, balanced=True)
        for subset, change in (([0, 1], ADD), ([0, 1, 3], REMOVE)):
            loss.start(np.array(subset))
            outside = [f for f in range(4) if f not in subset]
            candidates = np.array(outside if change == ADD else subset)
            values = loss.evaluate(candidates, change)
            for candidate, value in zip(candidates, values, strict=True):
                now = [*subset, candidate] if change == ADD else [f for f in subset if f != candidate]
                columns = [c for f in now for c in PARTS[f]]
                np.testing.assert_allclose(value, naive.neighbor_cross_entropy(X[:, columns], np.eye(3)[y], 3))
        loss.start(np.array([0, 2]))
        loss.apply(1, ADD)
        expected = naive.wide_squared_distances(X, PARTS, [0, 1, 2])
        off = ~np.eye(25, dtype=bool)
        np.testing.assert_allclose(at.squared[off], expected[off], atol=1e-12)

    def test_backward_search_drops_whole_features(self):
        _, X, y = wide_problem(n=30)
        X = X + np.random.default_rng(1).normal(scale=0.01, size=X.shape)  # rounding must not decide between ties
        loss = NeighborLoss(
            SubsetDistances(X, features=columns_of_sizes(SIZES)), [np.eye(3)[y]], n_neighbors=3, balanced=True
        )
        path = greedy_search(loss, np.arange(4), direction="backward")
        for size, subset in path.subsets.items():
            columns = [c for f in subset for c in PARTS[f]]
            expected = naive.neighbor_cross_entropy(X[:, columns], np.eye(3)[y], 3)
            np.testing.assert_allclose(path.values[size], expected)

    def test_ridge_elimination(self):
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(50, 7))
        Z -= Z.mean(axis=0)
        T = Z[:, [1, 4]] + rng.normal(size=(50, 2))
        T -= T.mean(axis=0)
        total, ridge = (T**2).sum() / 50, 0.1
        found = ridge_elimination(Z.T @ Z / 50, Z.T @ T / 50, total, ridge, np.array([0, 1, 4, 5]))
        left = list(range(4))
        for dropped, cost in zip(found.dropped, found.costs, strict=True):
            costs = naive.wide_ridge_costs(Z, T, ridge, [np.array(PARTS[f]) for f in left])
            assert left[int(costs.argmin())] == dropped
            np.testing.assert_allclose(cost, costs.min(), rtol=1e-8)
            left.remove(int(dropped))

    def test_likeness_is_the_correlation_of_single_columns(self):
        problem, X, _ = wide_problem()
        alike = likenesses(problem)
        np.testing.assert_allclose(alike[0, 2], np.corrcoef(X[:, 0], X[:, 4])[0, 1])
        np.testing.assert_allclose(np.diag(alike), 1.0)
        assert (np.abs(alike) <= 1 + 1e-12).all()


@pytest.mark.parametrize("method", sorted(METHODS))
def test_one_column_per_feature_changes_nothing(method):
    """A table said to have one column per feature gives the same numbers, to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 1] + 0.3 * rng.normal(size=60)
    estimator = METHODS[method].estimator
    y = y if "hard" not in estimator._takes else (y > 0).astype(int)
    keep = 2 if method != "fuzzy_rough_search" else "reduct"
    selector = METHODS[method].make(n_features_to_select=keep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = selector.read_problem(X, y)
        plain = clone(selector).fit_problem(problem)
        said = Problem(X, problem.supervision, nominal=problem.nominal, columns=columns_of_sizes([1] * 4))
        again = clone(selector).fit_problem(said)
    np.testing.assert_array_equal(plain.to_ranking().scores, again.to_ranking().scores)
    np.testing.assert_array_equal(plain.ranking_, again.ranking_)


#: Methods with which a fit on three hundred rows takes more than some seconds if it also tests.
SLOW = ("constrained_laplacian", "mutual_information", "semi_supervised_laplacian")

#: Methods whose published formula cannot see the column, and why; see docs/tables.md.
_NOISE_MODEL = "with so many categories, near rows do not share one, so the noise model takes the labels for noise"
_KERNEL = "its weights favour near rows; those differ little in numbers, but as much as any others in a category"
CANNOT_SEE = {
    ("constrained_laplacian", 8): _KERNEL,
    ("constrained_laplacian", 30): _KERNEL,
    ("mutual_information", 30): _NOISE_MODEL,
}


@pytest.mark.thorough
@pytest.mark.parametrize("n_levels", [3, 8, 30])
@pytest.mark.parametrize("method", sorted({name for name, one in METHODS.items() if not one.printed} - {"laplacian"}))
def test_a_relevant_column_of_categories_is_first(request, method, n_levels):
    if (method, n_levels) in CANNOT_SEE:
        request.applymarker(pytest.mark.xfail(reason=CANNOT_SEE[method, n_levels], strict=True))
    takes = METHODS[method].takes
    X, y = nominal_table(n_levels, n=150 if method in SLOW else 300, target="classes" if "hard" in takes else "numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = FeatureSelector(method, n_features_to_select=1 if method in SLOW else "auto").fit(X, y)
    assert selector.to_ranking().names[selector.ranking_ == 1] == ["colour"]
    assert list(X.columns) == list(selector.to_ranking().names)


def test_the_noise_model_and_not_the_estimate_misses_thirty_categories():
    X, y = nominal_table(30, n=150)
    sure = FeatureSelector("mutual_information", n_features_to_select=1, method_params={"label_noise": False}).fit(X, y)
    assert sure.to_ranking().names[sure.ranking_ == 1] == ["colour"]


def test_neighbours_of_soft_relief_see_other_categories():
    """Two random rows differ as much in a feature of categories as in the median number; plain tables do not change."""
    X, y = nominal_table(3, n=60)
    problem = read_problem(X, y, any_type=True)
    table, _ = scale_to_range(problem)
    found = for_neighbors(problem, table)
    feature_of = problem.columns.feature_of
    pairs = np.abs(found[:, None] - found[None]).sum(axis=(0, 1)) / (60 * 59)
    means = np.array([pairs[feature_of == j].sum() for j in range(5)])
    np.testing.assert_allclose(means[2], np.median(means[[0, 1, 3, 4]]), rtol=1e-12)
    np.testing.assert_array_equal(found[:, feature_of != 2], table[:, feature_of != 2])
    plain = read_problem(X.drop(columns="colour"), y, any_type=True)
    numbers = scale_to_range(plain)[0]
    assert for_neighbors(plain, numbers) is numbers


@pytest.mark.thorough
@pytest.mark.parametrize("n_levels", [3, 8, 30])
def test_the_p_value_of_shuffled_categories_is_uniform(n_levels):
    tests = {"linear": linear_pvalues, "smooth": lambda evidence: SmoothNull(evidence).pvalues()}
    for target in ("classes", "numbers"):
        found = {name: [] for name in tests}
        for seed in range(60):
            X, y = nominal_table(n_levels, n=150, seed=seed, relevant=False, target=target, n_noise=0)
            evidence = Evidence.of(read_problem(X, y, target=target, any_type=True))
            for name, test in tests.items():
                found[name].append(float(test(evidence)[0]))
        for name, pvalues in found.items():
            assert stats.kstest(pvalues, "uniform").pvalue > 0.001, (name, target)
            assert np.mean(np.array(pvalues) <= 0.05) < 0.15, (name, target)


def test_gaps_that_say_something_are_found():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 4))
    X[(y == 1) & (rng.random(200) < 0.4), 2] = np.nan
    selector = FeatureSelector().fit(X, y)
    assert selector.get_support().tolist() == [False, False, True, False]
    assert selector.transform(X).shape == (200, 1)


def test_dates_are_used():
    rng = np.random.default_rng(0)
    day = pd.to_datetime("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, 200), unit="D")
    X = pd.DataFrame({"noise": rng.normal(size=200), "seen": day})
    late = FeatureSelector().fit(X, np.asarray(day > "2022-02-01").astype(int))
    assert list(late.get_feature_names_out()) == ["seen"]
    winter = FeatureSelector().fit(X, np.isin(day.month, (11, 12, 1, 2)).astype(int))
    assert list(winter.get_feature_names_out()) == ["seen"]


class TestGroupsOfColumns:
    def table(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(150, 6)), columns=list("abcdef"))
        return X, (X["b"] + X["d"] + X["e"] > 0).astype(int)

    def test_they_are_ranked_and_kept_together(self):
        X, y = self.table()
        selector = FeatureSelector(feature_groups={"bde": ["b", "d", "e"]}).fit(X, y)
        assert selector.to_ranking().names.tolist() == ["a", "bde", "c", "f"]
        assert selector.ranking_.tolist()[1] == 1 and len(selector.pvalues_) == 4
        assert list(selector.get_feature_names_out()) == ["b", "d", "e"]
        assert selector.set_output(transform="pandas").transform(X).columns.tolist() == ["b", "d", "e"]

    def test_other_columns_stay_as_they_are(self):
        X, y = self.table()
        plain = FeatureSelector("linear_r2", n_features_to_select=2).fit(X, y)
        grouped = FeatureSelector("linear_r2", n_features_to_select=2, feature_groups={"ef": ["e", "f"]}).fit(X, y)
        np.testing.assert_array_equal(grouped.scores_[:4], plain.scores_[:4])

    def test_a_fuzzy_rough_search_refuses_them_by_name(self):
        X, y = self.table()
        with pytest.raises(InputError, match="feature_groups puts several columns into 'ef'"):
            FeatureSelector("fuzzy_rough_search", feature_groups={"ef": ["e", "f"]}).fit(X, y)


def penguins(n=120, seed=0):
    """Like the penguins of Palmer station: three islands, gaps, sexes that are missing, years as numbers."""
    rng = np.random.default_rng(seed)
    species = rng.choice(["Adelie", "Chinstrap", "Gentoo"], n)
    bill = rng.normal(40, 3, n) + 8 * (species != "Adelie")
    table = pd.DataFrame(
        {
            "island": np.where(species == "Gentoo", "Biscoe", rng.choice(["Dream", "Torgersen"], n)),
            "bill_length_mm": np.where(rng.random(n) < 0.03, np.nan, bill),
            "body_mass_g": [f"{v:,.0f}" for v in rng.normal(4200, 700, n)],
            "sex": rng.choice(["male", "female", None, "NA"], n, p=[0.45, 0.45, 0.05, 0.05]),
            "date_egg": pd.date_range("2007-11-01", periods=n, freq="3D").strftime("%d/%m/%Y"),
            "comments": [None if rng.random() < 0.8 else f"Nest {i} never observed." for i in range(n)],
        }
    )
    return table, species


def titanic(n=150, seed=0):
    """Like the passengers of the Titanic: names, tickets that are half numbers, cabins that are mostly missing."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["male", "female"], n)
    survived = ((sex == "female") ^ (rng.random(n) < 0.2)).astype(int)
    table = pd.DataFrame(
        {
            "Pclass": rng.integers(1, 4, n),
            "Name": [f"Doe, Mr. John the {i}th" for i in range(n)],
            "Sex": sex,
            "Age": np.where(rng.random(n) < 0.2, np.nan, rng.normal(30, 12, n).round(1)),
            "Ticket": [str(100_000 + i) if rng.random() < 0.7 else f"PC {17_000 + i}" for i in range(n)],
            "Fare": [f"{v:.2f}".replace(".", ",") for v in rng.gamma(2, 15, n)],
            "Cabin": [None if rng.random() < 0.77 else f"C{i}" for i in range(n)],
            "Embarked": rng.choice(["S", "C", "Q"], n),
        }
    )
    return table, survived


def cars(n=150, seed=0):
    """Like the car tables: question marks for gaps, counts in words, a target of prices with a currency."""
    rng = np.random.default_rng(seed)
    power = rng.normal(100, 30, n).round()
    table = pd.DataFrame(
        {
            "make": rng.choice(["audi", "bmw", "dodge", "honda", "mazda", "volvo"], n),
            "doors": rng.choice(["two", "four", "?"], n, p=[0.45, 0.5, 0.05]),
            "horsepower": [str(int(v)) if rng.random() > 0.04 else "?" for v in power],
            "economy": [f"{v:.1f} mpg" for v in rng.normal(25, 5, n)],
            "automatic": rng.random(n) > 0.5,
        }
    )
    return table, 100 * power + rng.normal(0, 400, n)


@pytest.mark.parametrize("make, best, left_out", [
    (penguins, {"bill_length_mm", "island"}, ["comments"]),
    (titanic, {"Sex"}, ["Name", "Ticket", "Cabin"]),
    (cars, {"horsepower"}, []),
])  # fmt: skip
def test_tables_as_people_have_them(make, best, left_out):
    table, y = make()
    selector = FeatureSelector().fit(table, y)
    ranking = selector.to_ranking()
    assert ranking.names.tolist() == table.columns.tolist()  # no feature named after a level, and none lost
    assert sorted(ranking.ranking.tolist()) == list(range(1, len(table.columns) + 1))
    assert set(ranking.names[ranking.order[: len(best)]]) == best
    for name in left_out:
        reason = ranking.left_out[name]
        assert "text" in reason and f"'{name}' ({reason})" in selector.explanation_
        assert ranking.ranking[ranking.names.tolist().index(name)] > len(table.columns) - len(left_out)
    kept = table[ranking.names[ranking.support].tolist()]
    pd.testing.assert_frame_equal(selector.set_output(transform="pandas").transform(table), kept)


def test_the_audit_and_the_stability_take_such_tables():
    table, survived = titanic()
    flipped = survived.copy()
    rows = np.flatnonzero(table["Sex"] == "male")[:4]
    flipped[rows] = 1 - flipped[rows]
    assert audit_labels(table, flipped).judged
    found = stability(FeatureSelector("linear_r2", n_features_to_select=2), table, survived, n_draws=4)
    assert found.names.tolist() == table.columns.tolist() and found.rankings.shape == (4, 8)

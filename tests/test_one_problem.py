"""One problem flows through the house: what is read once, computed once, and stored in one place."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest

import dubio
from dubio.doubt import experts
from dubio.errors import InputError, InputWarning
from dubio.problem import read_problem
from dubio.progress import advance, listener_of, listening
from dubio.simulate import flip_labels
from dubio.table.matrix import read_matrix
from dubio.target.reader import read_supervision
from dubio_app.command.run import run


@pytest.fixture
def reads(monkeypatch):
    """How often the table and the labels are read, wherever that is called from."""
    counts = {"table": 0, "labels": 0}
    for key, function in (("table", read_matrix), ("labels", read_supervision)):

        def counting(*arguments, key=key, function=function, **options):
            counts[key] += 1
            return function(*arguments, **options)

        for name, module in list(sys.modules.items()):
            if name.startswith("dubio") and getattr(module, function.__name__, None) is function:
                monkeypatch.setattr(module, function.__name__, counting)
    return counts


def wine(n_features=6):
    X, y = load_wine(return_X_y=True)
    return X[::2, :n_features], np.asarray(["red", "rosé", "white"])[y[::2]]


def target_for(takes, n_rows):
    """What a method takes: classes, numbers or nothing."""
    if "hard" in takes:
        return wine()[1]
    return np.linspace(0, 1, n_rows) ** 2 if "numbers" in takes else None


@pytest.mark.parametrize("name", dubio.METHODS)
def test_every_method_reads_the_table_and_the_labels_once(name, reads):
    X, _ = wine()
    method = dubio.METHODS[name]
    selector = method.make(n_features_to_select=2, n_init=1, clean=None)
    selector.fit(X, target_for(method.takes, len(X)))
    assert reads == {"table": 1, "labels": 1}


@pytest.mark.parametrize(
    "selector",
    [
        dubio.FeatureSelector(),
        dubio.FeatureSelector("fisher"),
        dubio.FeatureSelector("mean_rank", n_features_to_select=2),
        dubio.MeanRankScore(n_features_to_select="auto"),
        dubio.CleanedSelector(dubio.FisherScore(n_features_to_select="auto")),
        dubio.CleanedSelector(SelectKBest(k=2)),
    ],
    ids=repr,
)
def test_selectors_over_others_read_once(selector, reads):
    X, y = wine()
    selector.fit(X, y)
    assert reads == {"table": 1, "labels": 1}


def test_missing_cells_and_probabilities_are_read_once_too(reads):
    X, y = wine()
    X = X.copy()
    X[3, 1] = np.nan
    dubio.FeatureSelector().fit(pd.DataFrame(X), np.eye(3)[np.unique(y, return_inverse=True)[1]])
    assert reads == {"table": 1, "labels": 1}


@pytest.mark.parametrize("engine", ["pooled", "confident", "lnt"])
def test_an_audit_reads_once(engine, reads):
    dubio.audit_labels(*wine(), engine=engine)
    assert reads == {"table": 1, "labels": 1}


def test_functions_and_stability_read_once(reads):
    X, y = wine()
    for call in (
        lambda: dubio.fisher_score(X, y),
        lambda: dubio.laplacian_score(X),
        lambda: dubio.relieff_score(X, y),
        lambda: dubio.estimate_memberships(X, y, n_init=1),
        lambda: dubio.select_features(X, y, method="fisher"),
        lambda: dubio.stability(dubio.FeatureSelector("fisher"), X, y, n_draws=5),
    ):
        reads.update(table=0, labels=0)
        call()
        assert reads == {"table": 1, "labels": 1}


@pytest.fixture
def trainings(monkeypatch):
    """How many rows the experts were trained on, each time they were."""
    found = []
    train = experts.out_of_fold_probabilities

    def counting(X, *arguments, **options):
        found.append(len(X))
        return train(X, *arguments, **options)

    monkeypatch.setattr(experts, "out_of_fold_probabilities", counting)
    return found


def test_a_report_trains_the_experts_on_the_whole_table_once(trainings, reads, tmp_path):
    X, y = wine()
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(grape=flip_labels(y, 0.1))
    table.to_csv(tmp_path / "wine.csv", index=False)
    paths = [str(tmp_path / "wine.csv"), "--report", str(tmp_path / "wine.html")]
    assert run(["rank", *paths, "--target", "grape", "--stability", "3", "--quiet"]) == 0
    assert trainings.count(len(X)) == 1
    assert len(trainings) == 4 and max(n for n in trainings if n != len(X)) < len(X)
    assert reads == {"table": 1, "labels": 1}
    assert "Labels in doubt" in (tmp_path / "wine.html").read_text()


def test_every_voice_hears_the_same_experts(trainings):
    X, y = wine()
    problem = read_problem(X, y)
    search = dubio.NeighborSearch().fit_problem(problem)
    cleaned = dubio.CleanedSelector(dubio.FisherScore(), clean="pooled").fit_problem(problem)
    dubio.doubt.audit.audit_problem(problem, "pooled")
    assert len(trainings) == 1
    assert (search.audit_.rank == dubio.audit_labels(X, y, engine="confident").rank).all()
    assert (cleaned.audit_.rank == dubio.audit_labels(X, y, engine="pooled").rank).all()


# What was stored by a method and overwritten by its own permutations.


def anchored(count):
    return dubio.SemiSupervisedLaplacianScore(
        n_neighbors=5, neighbors="anchors", n_anchors=80, n_features_to_select=count
    )


def test_standard_errors_are_those_of_the_scores_shown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    y[60:] = np.nan
    tested, plain = anchored("auto").fit(X, y), anchored(2).fit(X, y)
    np.testing.assert_array_equal(tested.scores_std_error_, plain.scores_std_error_)
    np.testing.assert_array_equal(tested.to_ranking().extras["std_error"], plain.scores_std_error_)


def test_the_noise_model_is_that_of_the_labels_given():
    X, y = wine(4)
    tested, plain = (
        dubio.MutualInformationRanking(n_init=1, n_features_to_select=count).fit(X, flip_labels(y, 0.2))
        for count in ("auto", 2)
    )
    np.testing.assert_array_equal(tested.noise_model_.memberships, plain.noise_model_.memberships)


def test_pairs_are_counted_for_the_labels_given():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    together, apart = [(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 5), (6, 7)]
    X[:8, 0] = [0, 0.1, 5, 5.1, 9, 9.1, 1, 7]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tested, plain = (
            dubio.ConstrainedLaplacianScore(selection="soft", n_features_to_select=count).fit(
                X, must_link=together, cannot_link=apart
            )
            for count in ("auto", 2)
        )
    for name in ("n_must_link_kept_", "n_cannot_link_kept_", "n_must_link_", "n_cannot_link_"):
        assert getattr(tested, name) == getattr(plain, name)


def test_the_front_door_keeps_the_columns_of_the_method():
    X, y = wine()
    selector = dubio.FeatureSelector(
        "laplacian", n_features_to_select=2, method_params={"neighbors": "anchors", "n_anchors": 50}
    ).fit(X, y)
    assert "std_error" in selector.to_ranking().to_frame().columns


def test_nothing_of_an_earlier_fit_is_left():
    X, y = wine()
    selector = dubio.FeatureSelector().fit(X, y)
    assert hasattr(selector, "n_sufficient_") and hasattr(selector, "classes_")
    selector.set_params(method="laplacian", n_features_to_select=2).fit(X)
    for name in ("n_sufficient_", "n_relevant_", "at_the_line_", "pvalues_", "qvalues_", "classes_"):
        assert not hasattr(selector, name)


def test_odd_class_names_are_told_once():
    X, _ = wine()
    y = np.where(np.arange(len(X)) % 2, "yes", "Yes ")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dubio.FeatureSelector("fisher").fit(X, y)
    assert sum("case or spaces" in str(warning.message) for warning in caught) == 1


def test_a_function_and_its_estimator_differ_only_in_the_default_of_standardize():
    X, _ = wine()
    y = X[:, 0] ** 2
    for function, Estimator, arguments in (
        (dubio.laplacian_score, dubio.LaplacianScore, (X,)),
        (dubio.supervised_laplacian_score, dubio.SupervisedLaplacianScore, (X, y)),
        (dubio.semi_supervised_laplacian_score, dubio.SemiSupervisedLaplacianScore, (X, y)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # of a kernel that is too narrow for X as it is
            for scaled in (False, True):
                scores = Estimator(standardize=scaled).fit(*arguments).scores_
                np.testing.assert_array_equal(function(*arguments, standardize=scaled), scores)
            np.testing.assert_array_equal(function(*arguments), function(*arguments, standardize=False))
            np.testing.assert_array_equal(Estimator().fit(*arguments).scores_, function(*arguments, standardize=True))
        for thing in (function, Estimator):
            assert "by default" in thing.__doc__.split("standardize : bool")[1][:400]


MANY = [
    (dubio.LaplacianScore, "n_neighbors"),
    (dubio.SupervisedLaplacianScore, "n_neighbors"),
    (dubio.SemiSupervisedLaplacianScore, "n_neighbors"),
    (dubio.SoftReliefScore, "n_neighbors"),
    (dubio.ReliefFScore, "n_neighbors"),
    (dubio.NeighborSearch, "n_neighbors"),
    (dubio.MutualInformationRanking, "n_neighbors"),
    (dubio.MutualInformationSearch, "n_neighbors"),
    (dubio.MutualInformationSearch, "n_neighbors_noise"),
]


@pytest.mark.parametrize(("Estimator", "name"), MANY, ids=lambda value: getattr(value, "__name__", value))
def test_too_many_neighbors_are_cut_with_the_same_words_everywhere(Estimator, name):
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.arange(20) % 2 if "hard" in Estimator._takes else X[:, 0]
    with pytest.warns(InputWarning, match=rf"^{name}=500, but there are only 19 other (labelled )?rows: using 19\.$"):
        cut = Estimator(**{name: 500, **({"clean": None} if Estimator is dubio.NeighborSearch else {})}).fit(X, y)
    fewer = clone(cut).set_params(**{name: 19}).fit(X, y)
    np.testing.assert_array_equal(cut.ranking_, fewer.ranking_)


def test_an_error_carries_its_parts():
    X, y = wine()
    with pytest.raises(InputError) as caught:
        dubio.FisherScore(n_features_to_select=50).fit(X, y)
    error = caught.value
    assert (error.argument, error.found) == ("n_features_to_select", "=50, but the table has 6 features")
    assert str(error) == f"{error.argument}{error.found}: {error.remedy}."
    assert isinstance(error, ValueError)


# What a selector over others must not lose.


def test_a_parameter_of_reading_reaches_the_problem():
    X, y = wine()
    k = np.arange(len(X)) % 10
    table = np.column_stack([k, X[:, :2]])
    through = dubio.FeatureSelector("fuzzy_rough_search", method_params={"nominal": [0]}).fit(table, k % 2)
    direct = dubio.FuzzyRoughSearch(nominal=[0]).fit(table, k % 2)
    np.testing.assert_array_equal(through.selector_.dependencies_, direct.dependencies_)
    with pytest.raises(InputError, match="nominal holds 77"):
        dubio.FeatureSelector("fuzzy_rough_search", method_params={"nominal": [77]}).fit(table, k % 2)
    hidden = dubio.FeatureSelector("fisher", method_params={"missing_label": "red"}).fit(X, y)
    assert hidden.classes_.tolist() == ["rosé", "white"]


def test_pairs_are_refused_by_methods_that_take_none():
    X, y = wine()
    with pytest.raises(InputError, match="must_link and cannot_link cannot be used: FisherScore takes no pairs"):
        dubio.stability(dubio.FisherScore(), X, y, n_draws=2, must_link=[(0, 1)], cannot_link=[(0, 60)])


def test_filled_tables_are_in_row_order_and_hold_no_cycle():
    X, y = wine()
    missing = np.asfortranarray(X)
    missing[3, 1] = np.nan
    problem = read_problem(missing, y, allow_nan=True)
    assert problem.filled.X.flags.c_contiguous and problem.n_missing == 1
    complete = read_problem(X, y)
    assert complete.filled is complete
    assert all(value is not complete for entry in complete._known.values() for value in np.atleast_1d([entry]).ravel())


def test_blocks_keep_the_names_of_the_first():
    X, y = wine()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = dubio.FisherScore(n_features_to_select=2).partial_fit(frame[:60], y[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.partial_fit(X[60:], y[60:])
    assert set(selector.get_feature_names_out()) <= set("abcdef")


def test_a_report_of_a_few_rows(tmp_path, capsys):
    (tmp_path / "five.csv").write_text("a,b,y\n1,5,p\n2,3,p\n3,8,p\n8,1,q\n9,4,q\n")
    page = tmp_path / "five.html"
    assert run(["rank", str(tmp_path / "five.csv"), "-t", "y", "-k", "1", "--report", str(page)]) == 0
    assert page.exists()
    assert "five.html" in capsys.readouterr().err


def test_the_lnt_model_judges_a_class_of_one_row():
    X, y = wine()
    y = np.where(np.arange(len(y)) == 5, "alone", y.astype(object))
    assert "alone" in dubio.audit_labels(X, y, engine="lnt").classes
    with pytest.raises(ValueError, match="only one labelled row of class"):
        dubio.audit_labels(X, y)


def test_stability_takes_dask_tables():
    da = pytest.importorskip("dask.array")
    X, y = wine()
    here = dubio.stability(dubio.FisherScore(), X, y, n_draws=3)
    there = dubio.stability(dubio.FisherScore(), da.from_array(X, chunks=(50, 6)), y, n_draws=3)
    np.testing.assert_array_equal(here.rankings, there.rankings)


def test_progress_reports_only_the_work_asked_for(capsys):
    with listening(listener_of(True, of="resamples")):
        advance("experts", 1, 2)
        advance("resamples", 1, 2)
    err = capsys.readouterr().err
    assert "resamples" in err and "experts" not in err

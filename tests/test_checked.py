"""Checked rows: what they say about the truth, and which of them are refused."""

import os
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dubio import (
    FeatureSelector,
    InputError,
    InputWarning,
    LinearR2Score,
    audit_labels,
    checked_rows,
    interval_targets,
    ordered_classes,
    positive_unlabelled,
    several_targets,
    soft_labels,
    votes,
)
from dubio.doubt.audit_record import in_order
from dubio.doubt.checked_anchor import CheckedAnchor
from dubio.evidence.truth import (
    TruthEvidence,
    combined_proxies,
    compare_with_label,
    effects,
    means,
    share_interval,
    truth_of,
    truth_pvalues,
)
from dubio.pipelines import evaluate_selection
from dubio.pipelines.truth_scores import truth_scores
from dubio.problem import read_problem
from dubio.target.checked import join_checks
from tests import naive


def made_up(seed, n=300, m=60, d=4, q=1):
    """Columns of which the first is related to the truth, two proxies, and some checked rows."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, d))
    truth = columns[:, :1] + rng.normal(size=(n, q))
    proxies = np.stack([truth + rng.normal(size=(n, q)), rng.normal(size=(n, q))])
    checked = np.sort(rng.permutation(n)[:m])
    return columns, truth, proxies, checked


def evidence(columns, truth, proxies, checked, chance=None, weights=None, groups=None):
    n = len(columns)
    chance = np.full(len(checked), len(checked) / n) if chance is None else chance
    weights, groups = (np.ones(n) if weights is None else weights), (np.arange(n) if groups is None else groups)
    return TruthEvidence(columns, proxies, checked, truth[checked], chance, weights, groups)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("uneven", [False, True])
def test_the_formula_is_the_literal_one(offset, uneven):
    columns, truth, proxies, checked = made_up(0, n=40, m=12)
    columns[:, 1] = columns[:, 0] > 0  # ties
    columns[:, 2] = 3.0  # a constant column
    proxies[1] = 1.0  # a constant proxy
    chance = np.linspace(0.2, 0.9, 12) if uneven else np.full(12, 0.3)
    found = effects(evidence(columns + offset, truth, proxies, checked, chance))
    every = np.full(40, np.nan)
    every[checked] = chance
    for j in range(4):
        estimate, variance = naive.truth_effect(columns[:, j], truth[:, 0], proxies[:, :, 0], checked.tolist(), every)
        assert found.estimates[j, 0] == pytest.approx(estimate, abs=1e-9)
        assert (found.roots[:, j, 0] ** 2).sum() == pytest.approx(variance, abs=1e-9)


def test_rows_that_all_have_the_truth_leave_nothing_to_the_draw():
    columns, truth, proxies, _ = made_up(1, n=50)
    found = effects(evidence(columns, truth, proxies, np.arange(50)))
    centred = columns - columns.mean(axis=0)
    assert found.estimates[:, 0] == pytest.approx((centred * truth).mean(axis=0), abs=1e-9)
    assert not found.roots[:50].any()


def test_no_checked_row_plays_a_part_in_its_own_prediction():
    columns, truth, proxies, checked = made_up(2)
    before = combined_proxies(evidence(columns, truth, proxies, checked))
    changed = truth.copy()
    changed[checked[5]] += 100.0
    after = combined_proxies(evidence(columns, changed, proxies, checked))
    assert after[checked[5]] == pytest.approx(before[checked[5]], abs=1e-12)
    assert not np.allclose(after[checked[6]], before[checked[6]])


def test_groups_are_sums_and_weights_count_as_copies_of_rows():
    columns, truth, proxies, checked = made_up(3, n=60, m=20)
    once = effects(evidence(columns, truth, proxies, checked))
    pairs = np.repeat(np.arange(60), 2)
    both = np.flatnonzero(np.isin(pairs, checked))
    chance = np.full(len(both), 20 / 60)
    twice = effects(evidence(columns[pairs], truth[pairs], proxies[:, pairs], both, chance, groups=pairs))
    assert twice.estimates == pytest.approx(once.estimates)
    assert (twice.roots**2).sum(axis=0) == pytest.approx((once.roots**2).sum(axis=0))
    assert twice.freedom == pytest.approx(once.freedom) == pytest.approx(19)
    heavy = effects(evidence(columns, truth, proxies, checked, weights=np.full(60, 7.0)))
    assert heavy.estimates == pytest.approx(once.estimates)
    assert (heavy.roots**2).sum(axis=0) == pytest.approx((once.roots**2).sum(axis=0))


def test_the_tests_of_several_classes_are_right_without_a_relation():
    """Two columns per feature, three columns of the truth, a proxy that depends on the columns: 5 % are below 0.05."""
    below = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        columns, truth = rng.normal(size=(200, 6)), np.eye(3)[rng.integers(3, size=200)]
        proxies = np.stack([truth + columns[:, :3], np.eye(3)[rng.integers(3, size=200)]])
        one = evidence(columns, truth, proxies, rng.permutation(200)[:50])
        below.append(truth_pvalues(one, effects(one)) < 0.05)
    assert 0.03 < np.mean(below) < 0.07  # 900 tests: standard error 0.007


@pytest.mark.parametrize("wrong", [0.0, 0.2])
def test_rare_values_that_no_checked_row_has_are_no_evidence(wrong):
    """Columns that are 1 in 10 of 330 rows, 60 of them checked: in the checked rows alone, hardly anything varies."""
    below = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns = np.array([rng.permutation(330) < 10 for _ in range(20)]).T.astype(float)
        truth = rng.integers(2, size=(330, 1)).astype(float)
        label = np.where(rng.random((330, 1)) < wrong, 1 - truth, truth)
        one = evidence(columns, truth, label[None], rng.permutation(330)[:60])
        below.append(truth_pvalues(one, effects(one)) < 0.01)
    assert np.mean(below) < 0.02  # 1,200 tests: standard error 0.003


def test_few_checked_rows_without_an_error_are_no_proof_that_there_is_none():
    """One label in ten is wrong, where a column is high. In those draws of 20 rows that show none, nothing else says
    that the column is not related to the truth: 300 draws, of which about 30 show none."""
    kept = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        columns = rng.normal(size=(600, 1))
        truth = rng.integers(2, size=(600, 1)).astype(float)
        label = np.where((columns > 0.3) & (rng.random((600, 1)) < 0.55), 0.0, truth)
        drawn = rng.permutation(600)[:20]
        if (truth == label)[drawn].all() and 0 < truth[drawn].sum() < 20:
            one = evidence(columns, truth, label[None], drawn)
            kept.append(truth_pvalues(one, effects(one))[0] <= 0.001)
    assert len(kept) > 20
    assert np.mean(kept) < 0.5


def test_a_good_proxy_narrows_and_a_bad_one_costs_nothing():
    def error(proxies):
        found = effects(evidence(columns, truth, proxies, checked))
        return np.sqrt((found.roots[:, 1:] ** 2).sum(axis=0)).mean()

    columns, truth, proxies, checked = made_up(4, n=600, d=40)
    alone, good, bad = error(np.zeros((1, 600, 1))), error(truth[None] + 0.1 * proxies[:1]), error(proxies[1:])
    assert good < 0.6 * alone
    assert bad < 1.05 * alone


def driven(seed, n=600, m=120):
    """Labels of which 60 % of the cases are missed where column 5 is high; a random sample was checked."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.normal(size=(n, 8))
    X[:, :3] += truth[:, None] * np.array([0.9, 0.8, 0.7])
    y = np.where((truth == 1) & (X[:, 5] > 0.3) & (rng.random(n) < 0.6), 0, truth)
    values = np.full(n, None, dtype=object)
    rows = rng.permutation(n)[:m]
    values[rows] = truth[rows]
    return X, y, truth, values


def test_the_column_that_drives_the_errors_is_not_kept():
    X, y, _, values = driven(0)
    ranking = FeatureSelector().fit(X, y).to_ranking()
    assert ranking.support[5]
    selector = FeatureSelector().fit(X, y, checked=checked_rows(values, chance="random"))
    ranking = selector.to_ranking()
    verdict = ranking.extras["verdict"]
    assert verdict[5] == "related only to how rows were labelled"
    assert list(verdict[:3]) == ["related to the truth"] * 3
    assert not ranking.support[5] and ranking.support[:3].all()
    assert sorted(ranking.order[:3]) == [0, 1, 2]
    assert selector.n_relevant_ == ranking.support.sum()
    assert ranking.extras["p_truth"][5] > 0.05 > ranking.extras["q_truth"][0]
    assert "120 rows were checked: 3 features are related to the truth ('x0', 'x1', 'x2')" in selector.explanation_
    assert "'x5' is related only to how rows were labelled" in ranking.headline()
    assert {"p_truth", "q_truth", "verdict"} <= set(ranking.to_frame().columns)


def test_with_few_checks_a_true_column_is_not_settled_rather_than_an_artefact():
    said = []
    for seed in range(8):
        X, y, _, values = driven(seed)
        rows = np.flatnonzero([value is not None for value in values])
        values[rows[30:]] = None
        problem = read_problem(X, y, checked=checked_rows(values, chance=0.05), any_type=True)
        said.append(truth_of(problem, np.arange(8) < 3, 0.05))
    verdicts = np.array([one.verdicts[:3] for one in said])
    assert (verdicts == "labels").mean() <= 0.05
    unsettled = np.concatenate([one.further[one.verdicts == "open"] for one in said])
    assert len(unsettled) and (unsettled % 10 == 0).all() and (unsettled > 0).all()


def test_the_difference_is_that_of_the_two_effects():
    columns, truth, proxies, checked = made_up(5)
    one = evidence(columns, truth, proxies, checked)
    compared = compare_with_label(one, proxies[0], np.arange(4))
    centred = columns - columns.mean(axis=0)
    assert compared.label == pytest.approx(np.abs((centred * proxies[0]).mean(axis=0)))
    both = np.sign((centred * proxies[0]).mean(axis=0))
    assert compared.truth == pytest.approx(both * effects(one).estimates[:, 0])
    everything = compare_with_label(evidence(columns, proxies[0], proxies, np.arange(300)), proxies[0], np.arange(4))
    assert everything.truth == pytest.approx(everything.label)


def kinds():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 5))
    truth = X[:, 0] + 0.7 * rng.normal(size=300)
    grades = np.array(["I", "II", "III"])[np.digitize(truth, [-0.6, 0.6])]
    wrong = rng.random(300) < 0.15
    said = np.where(wrong, rng.permutation(grades), grades)
    P = 0.7 * (said[:, None] == np.array(["I", "II", "III"])) + 0.1
    numbers = np.where(wrong, truth + 10 * rng.normal(size=300), truth)
    unlabelled = said.astype(object)
    unlabelled[:50] = None
    return X, {
        "classes": (said, grades),
        "with unlabelled rows": (unlabelled, grades),
        "ordered": (ordered_classes(said, ["I", "II", "III"]), grades),
        "probabilities": (soft_labels(P, classes=["I", "II", "III"]), grades),
        "numbers": (numbers, truth),
        "votes": (votes({"ann": said, "bob": grades}, order=["I", "II", "III"]), grades),
        "votes of numbers": (votes({"ann": numbers, "bob": truth + rng.normal(size=300)}), truth),
    }


@pytest.mark.parametrize("kind", kinds()[1])
def test_every_kind_of_target_with_one_truth_per_row(kind):
    X, targets = kinds()
    y, truth = targets[kind]
    values = np.full(300, None, dtype=object)
    values[::4] = truth[::4]
    selector = FeatureSelector(random_state=0).fit(X, y, checked=checked_rows(values, chance=0.25))
    assert selector.to_ranking().extras["verdict"][0] == "related to the truth"
    assert selector.get_support(indices=True).tolist() == [0]


def test_columns_of_any_type_groups_and_weights_go_with_checked_rows():
    pd = pytest.importorskip("pandas")
    X, y, truth, values = driven(7)
    frame = pd.DataFrame(X[:, [0, 1, 5]], columns=["age", "dose", "scanner"])
    frame["ward"] = np.where(X[:, 2] > 0.5, "a", np.where(X[:, 2] < -0.5, "b", "c"))
    frame.loc[::9, "age"] = np.nan
    groups = np.repeat(np.arange(300), 2)
    drawn = np.isin(groups, np.arange(0, 300, 4))
    values = np.where(drawn, truth.astype(object), None)
    found = FeatureSelector().fit(
        frame, y, groups=groups, sample_weight=np.linspace(1, 2, 600), checked=checked_rows(values, chance=0.25)
    )
    verdict = dict(zip(frame.columns, found.to_ranking().extras["verdict"], strict=True))
    assert verdict["dose"] == verdict["ward"] == "related to the truth"
    assert verdict["scanner"] == "related only to how rows were labelled"


def test_with_given_columns_the_others_are_judged_by_what_they_add():
    """A column that only stands for age is related to the truth, but not once age is given."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=600)
    truth = (age + 0.8 * rng.normal(size=600) > 0).astype(int)
    X = np.column_stack([age + 0.5 * rng.normal(size=600), rng.normal(size=600) + truth, rng.normal(size=(600, 3))])
    y = np.where(rng.random(600) < 0.15, 1 - truth, truth)
    values = np.full(600, None, dtype=object)
    values[::5] = truth[::5]
    checked = checked_rows(values, chance=0.2)
    alone = FeatureSelector().fit(X, y, checked=checked).to_ranking()
    assert list(alone.extras["verdict"][:2]) == ["related to the truth"] * 2
    given = FeatureSelector().fit(X, y, given=age[:, None], checked=checked).to_ranking()
    assert given.extras["verdict"][0] != "related to the truth" == given.extras["verdict"][1]


def test_the_answer_depends_neither_on_the_order_of_rows_nor_on_units():
    X, y, _, values = driven(8)
    problem = read_problem(X, y, checked=checked_rows(values, chance="random"), any_type=True)
    order = np.random.default_rng(0).permutation(600)
    one, other = truth_of(problem, np.ones(8, bool), 0.05), truth_of(problem.rows(order), np.ones(8, bool), 0.05)
    assert other.pvalues == pytest.approx(one.pvalues, rel=1e-9)
    scaled = read_problem(1e6 + 1e3 * X, y, checked=checked_rows(values, chance="random"), any_type=True)
    assert truth_of(scaled, np.ones(8, bool), 0.05).pvalues == pytest.approx(one.pvalues, rel=1e-6)


@pytest.mark.parametrize("method", ["neighbor_search", "mutual_information_search", "fisher"])
def test_what_is_related_to_the_truth_comes_first_and_is_counted_from_there(method):
    """The driver is the first of the given labels, and the last of the true ones is weak: it is kept all the same."""
    X, y, _, values = driven(3)
    chosen = {"method": method, "n_features_to_select": "sufficient"}
    selector = FeatureSelector(**chosen).fit(X, y, checked=checked_rows(values, chance=0.2))
    ranking = selector.to_ranking()
    verdict = ranking.extras["verdict"][ranking.order]
    n_true = int((verdict == "related to the truth").sum())
    assert n_true >= 2 and (verdict[:n_true] == "related to the truth").all()
    assert 0 < selector.n_sufficient_ <= selector.n_relevant_
    assert ranking.support[ranking.order[: selector.n_sufficient_]].all()
    assert not ranking.support[5]


def test_truths_say_how_good_annotators_are():
    """Two of three annotators miss cases together: without truths, the third seems to be the bad one."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    miss = np.where(rng.random(400) < 0.6, 0, truth)
    said = {"ann": miss, "bob": miss, "eve": truth}
    values = np.full(400, None, dtype=object)
    values[::4] = truth[::4]
    X = rng.normal(size=(400, 3))
    checked = checked_rows(values, chance=0.25)
    alone, anchored = audit_labels(X, votes(said)), audit_labels(X, votes(said), checked=checked)
    assert anchored.quality[2] > alone.quality[2] + 0.05 and anchored.quality[0] < alone.quality[0] - 0.05
    assert (anchored.likely[::4] == truth[::4]).all()
    assert anchored.likely.tolist() == audit_labels(X, votes(said, truth=values)).likely.tolist()


def test_the_rows_to_look_at_first_are_those_most_likely_wrong():
    X, y, _, values = driven(4)
    audit = audit_labels(X, y, checked=checked_rows(values, chance="random"))
    first = np.argsort(audit.rank)
    assert (np.diff(audit.wrong[first]) <= 0).all()
    others = (y == 1) & np.array([value is None for value in values])
    assert 0 < audit.wrong[others].mean() < 0.03  # no wrong label of this class was found


def test_intervals_with_groups_count_groups():
    """Three rows of each of 100 patients, 20 of them checked: as sure as 20 rows, not 60. 100 draws."""
    held = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(100), 3)
        wrong = (rng.random(100) < 0.15).astype(float)[groups]
        rows = np.flatnonzero(np.isin(groups, rng.permutation(100)[:20]))
        one = evidence(np.zeros((300, 1)), wrong[:, None], np.zeros((1, 300, 1)), rows, np.full(60, 0.2), groups=groups)
        found = means(one)
        low, high = share_interval(found.estimates[0, 0], (found.roots**2).sum(), one.n_drawn)
        held.append(low <= wrong.mean() <= high)
    assert one.n_drawn == 20
    assert np.mean(held) >= 0.93


def test_checked_rows_can_be_sliced():
    rows = checked_rows(["a", None, "b", None], chance=[0.5, 0.5, 0.25, np.nan])
    part = rows[np.array([2, 3])]
    assert part.values.tolist() == ["b", None] and part.chance[0] == 0.25
    assert rows.n_checked == 2 and rows.n_undecided == 1


@pytest.mark.parametrize(
    ("values", "chance", "match"),
    [
        (["a", None], [0.0, 0.5], "chance is 0 in row 0"),
        (["a", None], [1.5, 0.5], "chance is 1.5 in row 0"),
        (["a", None], [np.nan, 0.5], "chance is missing for row 0"),
        (["a", None], [0.5], "chance has 1 value, and there are 2 rows"),
        (["a", None], "picked", "chance='picked'"),
        (["a", None], ["x", "y"], "chance cannot be read"),
        ("ab", 0.5, "checked is a str"),
    ],
)
def test_bad_records_are_refused(values, chance, match):
    with pytest.raises(InputError, match=match):
        checked_rows(values, chance=chance)


def test_what_does_not_go_with_the_table_is_refused_and_named():
    X, y, _, values = driven(9)

    def fit(checked, target=y, **more):
        return FeatureSelector(**more).fit(X, target, checked=checked)

    with pytest.raises(InputError, match="checked is a list: say with which chance"):
        fit([None] * 600)
    with pytest.raises(InputError, match="checked has 5 entries, and X has 600 rows"):
        fit(checked_rows([1] * 5, chance=0.5))
    wrong = values.copy()
    wrong[3] = "maybe"
    with pytest.raises(InputError, match="has 'maybe' in row 3, and the target has no such class"):
        fit(checked_rows(wrong, chance=0.2))
    few = np.full(600, None, dtype=object)
    few[:9] = 1
    with pytest.raises(InputError, match="has only 9 rows with a value: check at least 30"):
        fit(checked_rows(few, chance=0.2))
    few[:20] = [0, 1] * 10
    with pytest.warns(InputWarning, match="has only 20 rows"):
        fit(checked_rows(few, chance=0.2))
    undecided = np.where(np.arange(600) < 100, 0.2, np.nan)
    half = np.full(600, None, dtype=object)
    half[:70] = [0, 1] * 35
    with pytest.raises(InputError, match="30 undecided of 100 drawn rows, first row 70"):
        fit(checked_rows(half, chance=undecided))
    good = checked_rows(values, chance=0.2)
    with pytest.raises(InputError, match="checked cannot be used: features are not tested with 3"):
        fit(good, n_features_to_select=3)
    with pytest.raises(InputError, match="not tested by linear_search"):
        fit(good, method="linear_search")
    others = (several_targets({"a": y, "b": y[::-1]}), interval_targets(X[:, 0], X[:, 0] + 1))
    for refused in (*others, positive_unlabelled(y, positive=1)):
        with pytest.raises(InputError, match="checked cannot be used: "):
            fit(good, refused)
    with pytest.raises(InputError, match="checked is given together with the truth of the votes"):
        fit(good, votes({"ann": y, "bob": y}, truth=values))
    with pytest.raises(InputError, match="checked cannot be used: no target is given"):
        fit(good, None)
    numbers = X[:, 0] + 0.1
    with pytest.raises(InputError, match="has 'high' in row 0, and the target is numeric"):
        fit(checked_rows(["high", *[1.0] * 599], chance=1.0), numbers)


def test_files_are_joined_and_two_checkers_compared(tmp_path):
    drawn = [{"row": row, "chance": 0.5} for row in (1, 2, 3, 4)]
    ann = [{"row": 1, "value": "a"}, {"row": 2, "value": "b"}, {"row": 3, "value": ""}, {"row": 4, "value": "b"}]
    eve = [{"row": 1, "value": "a"}, {"row": 2, "value": "a"}]
    found = join_checks([drawn, ann, eve], 5)
    assert found.values.tolist() == ["a", None, None, "b", None]
    assert (found.n_checked, found.n_undecided, found.n_checked_twice, found.n_disagreements) == (2, 2, 2, 1)
    assert "they disagree in 1 of 2 rows" in str(found)
    path = tmp_path / "checked.csv"
    path.write_text("row;id;value;chance\n;p7;a;0,5\n;p9;;0.5\n")
    assert join_checks([path], 3, ids=["p9", "p8", "p7"]).values.tolist() == [None, None, "a"]
    if os.name == "posix":
        reading, writing = os.pipe()
        os.write(writing, path.read_bytes())
        os.close(writing)
        with pytest.raises(InputError, match="which is a pipe: save it, and give the file"):
            join_checks([f"/dev/fd/{reading}"], 3)
        os.close(reading)


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        (
            [{"row": 9, "value": "a", "chance": 0.5}],
            r"checked\[entry 1\] has the row '9': rows are counted from 1 to 4",
        ),
        ([{"row": 1, "value": "a"}], "has no chance for row 0: give the file of the draw too"),
        ([{"row": 1, "value": "a", "chance": 0}], "has the chance '0'"),
        (
            [{"row": 2, "value": "a", "chance": 0.5}, {"row": 2, "value": "b", "chance": 0.5}],
            r"\[entry 2\] gives row 1 the value 'b', and before 'a'",
        ),
        ([{"row": 2, "chance": 0.5}, {"row": 2, "chance": 0.4}], "another chance"),
        ([{"row": 2, "value": "a", "chance": 0.5}] * 2, r"\[entry 2\] is the second one about row 1"),
        (
            [{"row": 2, "value": "a", "chance": 0.5, "checker": who} for who in ("ann", "bob", "eve")],
            "third opinion about row 1",
        ),
    ],
)
def test_bad_files_name_the_entry_and_the_row(entries, match):
    with pytest.raises(InputError, match=match):
        join_checks([entries], 4)


def test_a_file_with_an_unknown_id_is_refused():
    with pytest.raises(InputError, match="has the id 'p3', which no row has"):
        join_checks([[{"id": "p3", "value": "a", "chance": 1}]], 2, ids=["p1", "p2"])


def test_an_audit_is_anchored_by_the_checked_rows():
    X, y, truth, values = driven(10)
    audit = audit_labels(X, y, checked=checked_rows(values, chance="random"))
    wrong = truth != y
    looked_at = np.array([value is not None for value in values])
    assert audit.anchored and audit.anchor.source == "checked" and audit.anchor.n_checked == 120
    assert audit.share_low <= wrong.mean() <= audit.share_high
    assert audit.anchor.by_class[:, 0].sum() > 0
    for code in (0, 1):
        share, low, high = audit.anchor.by_class[code]
        assert low <= wrong[y == code].mean() <= high
        assert audit.error_rates[code] == pytest.approx(share, abs=0.01)
    assert audit.wrong[looked_at].tolist() == wrong[looked_at].tolist()
    assert "x5" in audit.anchor.along
    assert "How often labels are wrong depends on" in str(audit)
    assert {"error rate", "from", "to"} <= set(audit.classes_frame().columns)
    plain = audit_labels(X, y, share=float(wrong.mean()))
    rest = ~looked_at
    assert ((audit.wrong - wrong)[rest] ** 2).mean() < ((plain.wrong - wrong)[rest] ** 2).mean()


def _checked_audits():
    """An audit without checked rows and one with them, the truth where a row was checked, and the rows."""
    X, y, _, values = driven(10, n=240, m=60)
    model = {"experts": LogisticRegression()}
    return audit_labels(X, y, **model), audit_labels(X, y, checked=checked_rows(values, chance=0.25), **model), values


def test_labels_that_were_checked_are_doubtful_if_they_are_wrong_and_the_others_by_their_probability():
    plain, audit, values = _checked_audits()
    seen = np.array([value is not None for value in values])
    right = seen & (values == audit.given)
    assert (seen & ~right).any() and (plain.doubtful & right).any() and (~plain.doubtful & seen & ~right).any()
    assert audit.suggested[seen].tolist() == values[seen].tolist()
    assert audit.doubtful[seen & ~right].all() and not audit.doubtful[right].any()
    n = int(audit.doubtful.sum())
    assert n == round(audit.wrong.sum())  # as many as are expected to be wrong, and they come first
    assert sorted(audit.rank[audit.doubtful]) == list(range(1, n + 1))
    assert audit.wrong[audit.doubtful].min() >= audit.wrong[~audit.doubtful].max()
    by_class = audit.classes_frame()
    assert by_class["doubtful"].sum() == n
    assert audit.joint.sum(axis=1) == pytest.approx(by_class["rows"].to_numpy())


def test_checked_rows_keep_their_say_where_the_columns_tell_nothing_or_rows_contradict_each_other():
    plain, audit, values = _checked_audits()
    seen = np.array([value is not None for value in values])
    differs = seen & (values != audit.given)
    held = replace(plain, held_back=True, doubtful=np.zeros(240, dtype=bool)).with_anchor(audit.anchor)
    blind = replace(plain, judged=False, doubtful=np.zeros(240, dtype=bool)).with_anchor(audit.anchor)
    assert held.doubtful.tolist() == blind.doubtful.tolist() == differs.tolist()
    assert "only labels that were checked and are wrong are listed" in str(blind)
    every = replace(plain, contradicts=np.ones(240, dtype=bool)).with_anchor(audit.anchor)
    assert every.doubtful.tolist() == every.contradicts.tolist() == (differs | ~seen).tolist()
    steps = in_order(plain).with_anchor(audit.anchor)  # a label that is the median is not doubtful
    assert steps.doubtful.tolist() == (audit.doubtful & (audit.wrong > 0.5)).tolist()
    assert steps.doubtful[differs].all() and steps.suggested[seen].tolist() == values[seen].tolist()


def test_labels_that_nobody_checked_are_wrong_as_often_as_is_said():
    """Where the usual map from disagreement to P(wrong) is right, rows that were checked leave it as it is."""
    rng = np.random.default_rng(0)
    right = expit(rng.normal(-2, 2, size=20_000))
    wrong = (rng.random(20_000) < right).astype(float)
    outcomes = np.where(rng.random(20_000) < 0.1, wrong, np.nan)
    share, unseen = wrong.mean(), np.isnan(outcomes)
    anchor = CheckedAnchor(
        *(share, 0.0, 1.0, "checked"),
        outcomes=outcomes,
        weights=np.ones(20_000),
        by_class=np.array([[share, 0.0, 1.0]]),
        codes=np.zeros(20_000, dtype=np.int64),
        n_checked=int((~unseen).sum()),
    )
    said = anchor.wrong(expit(logit(right) / 2))  # log odds of P(wrong) are twice those of the disagreement
    assert said[~unseen].tolist() == outcomes[~unseen].tolist()
    assert said.sum() == pytest.approx(wrong.sum(), rel=0.01)
    assert np.abs(said - right)[unseen].max() < 0.05
    few = said > 0.5
    assert said[few & unseen].mean() == pytest.approx(wrong[few & unseen].mean(), abs=0.03)


def test_intervals_of_shares_hold_and_none_wrong_is_no_proof_of_none():
    low, high = share_interval(0.0, 0.0, 60)
    assert low == 0.0 and high == pytest.approx(stats.beta.ppf(0.975, 1, 60), rel=0.02)
    held = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        wrong = (rng.random(1000) < 0.15).astype(float)
        proxy = np.clip(0.3 * wrong + 0.5 * rng.random(1000), 0, 1)
        one = evidence(np.zeros((1000, 1)), wrong[:, None], proxy[None, :, None], rng.permutation(1000)[:80])
        found = means(one)
        low, high = share_interval(found.estimates[0, 0], (found.roots**2).sum(), 80)
        held.append(low <= wrong.mean() <= high)
    assert np.mean(held) > 0.93


def test_what_cannot_be_anchored_by_checked_rows_is_refused():
    X, y, _, values = driven(11)
    checked = checked_rows(values, chance="random")
    with pytest.raises(InputError, match="checked is given together with share"):
        audit_labels(X, y, checked=checked, share=0.1)
    with pytest.raises(InputError, match="checked cannot anchor this audit: the target is numeric"):
        audit_labels(X, X[:, 0] + 0.5, checked=checked)


def test_accuracy_against_the_truth_has_intervals_that_hold():
    """A fixed model, 60 checks of 600 rows of which a quarter is labelled wrongly: 200 draws."""
    held, off = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth, score = rng.integers(2, size=600), rng.normal(size=600)
        score += truth
        y = np.where(rng.random(600) < 0.25, 1 - truth, truth)
        values = np.full(600, None, dtype=object)
        rows = rng.permutation(600)[:60]
        values[rows] = truth[rows]
        problem = read_problem(score[:, None], y, checked=checked_rows(values, chance=0.1))
        named = np.eye(2)[(score > 0.5).astype(int)]
        found = truth_scores(problem.checks, problem.supervision, named, score, None, None)
        true = (named.argmax(axis=1) == truth).mean(), roc_auc_score(truth, score)
        scores = (found.accuracy, found.auc)
        held.append([one.low <= value <= one.high for one, value in zip(scores, true, strict=True)])
        off.append([one.mean - value for one, value in zip(scores, true, strict=True)])
    assert np.mean(held, axis=0).min() >= 0.93
    assert np.abs(np.mean(off, axis=0)).max() < 0.015  # standard error 0.004


def test_an_evaluation_says_how_good_the_model_is_against_the_truth():
    X, y, truth, values = driven(12)
    checked = checked_rows(values, chance="random")
    selector, model = LinearR2Score(n_features_to_select=3), LogisticRegression()
    found = evaluate_selection(selector, model, X, y, checked=checked, n_repeats=1, sizes=[3])
    true = evaluate_selection(selector, model, X, np.where(truth, "b", "a"), n_repeats=1, sizes=[3])
    assert found.truth.accuracy.low <= true.selected.mean() <= found.truth.accuracy.high + 0.1
    assert found.truth.n_checked == 120
    assert "Against the truth of 120 checked rows: accuracy 0." in found.headline()
    assert found.record()["truth"]["auc"]["low"] > 0.5
    assert true.truth is None
    selector = FeatureSelector(n_features_to_select="relevant")
    nested = evaluate_selection(selector, LogisticRegression(), X, y, checked=checked, n_repeats=1, sizes=[3])
    assert nested.truth.auc.high > 0.6

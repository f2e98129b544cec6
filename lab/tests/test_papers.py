"""The laboratory: results survive a kill, tables do not depend on how they were run, pages say what the numbers do."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.small_experiment import CELLS, SMALL, tables
from typer.testing import CliRunner

from dubio import constrained_laplacian_score
from dubio_papers.claim_charts import claim_charts
from dubio_papers.command import app
from dubio_papers.data_files import as_csv
from dubio_papers.datasets.load import load
from dubio_papers.datasets.raw_tables import DatasetUnavailable
from dubio_papers.experiment import PAPERS, Cell, Experiment, Finding, Point, Table, grid
from dubio_papers.experiments.ssfrfs_tables import signed_ranks
from dubio_papers.judges import NEIGHBOR_GRID, best_first, nearest_accuracy, nearest_rmse, tuned_balanced_error
from dubio_papers.line_charts import Line, line_chart
from dubio_papers.pages import holds_words, write_report
from dubio_papers.pair_protocol import (
    SOURCES,
    SPLITS,
    cfld_axes,
    csfs_variant,
    draw_pairs,
    half_of_each_class,
    quarter_of_each_class,
    set_scene,
    ssdr_axes,
)
from dubio_papers.registry import all_experiments, choose
from dubio_papers.run_progress import Progress
from dubio_papers.runner import run_experiments, run_repetition, seed
from dubio_papers.store import ResultFile
from dubio_papers.summary import band, from_json, summarize, to_json
from dubio_papers.what_happened import numbers_inside, what_happened

ROOT = Path(__file__).parents[2]


# --- store ---------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_ignored_and_cut(tmp_path):
    results = ResultFile(tmp_path, "x")
    with results.append() as add:
        add({"cell": "a", "repetition": 0, "measures": {"m": 0.1}})
    with open(results.path, "ab") as file:
        file.write(b'{"cell": "a", "repetition": 1, "meas')
    assert list(results.read()) == [("a", 0)]
    with results.append() as add:
        add({"cell": "a", "repetition": 2, "measures": {"m": 0.2}})
    assert list(results.read()) == [("a", 0), ("a", 2)]
    assert len(results.path.read_bytes().splitlines()) == 2


def test_a_changed_file_is_an_error_with_its_line(tmp_path):
    results = ResultFile(tmp_path, "x")
    results.path.write_text('{"cell": "a", "repetition": 0}\nrubbish\n')
    with pytest.raises(ValueError, match="line 2, is not a result"):
        results.read()


def test_two_runs_do_not_write_into_one_file(tmp_path):
    results = ResultFile(tmp_path, "x")
    with results.append(), pytest.raises(RuntimeError, match="another run is writing"), results.append():
        pass


def test_numbers_survive_storage_bit_by_bit(tmp_path):
    results, value = ResultFile(tmp_path, "x"), 0.1 + 0.2
    with results.append() as add:
        add({"cell": "a", "repetition": 0, "measures": {"m": value}})
    assert results.read()["a", 0]["measures"]["m"] == value


# --- runner --------------------------------------------------------------------------------------------------------


def test_seeds_are_the_same_everywhere_and_differ():
    states = {seed(e, c, r).generate_state(2).tobytes() for e in "ab" for c in "xy" for r in range(3)}
    assert len(states) == 12
    assert seed("wls-table-1", "mu=0.3", 0).generate_state(1)[0] == 663970799


def test_tables_depend_neither_on_jobs_nor_on_the_order(tmp_path):
    run_experiments([SMALL], tmp_path / "one")
    run_experiments([SMALL], tmp_path / "two", n_jobs=2)
    backwards = replace(SMALL, cells=SMALL.cells[::-1])
    run_experiments([backwards], tmp_path / "three")
    with joblib.parallel_config("multiprocessing", n_jobs=2):  # a backend that cannot hand back results one by one
        run_experiments([SMALL], tmp_path / "four")
    with joblib.parallel_config("threading", n_jobs=2):
        run_experiments([SMALL], tmp_path / "five")
    expected = tables(tmp_path / "one")
    assert all(tables(tmp_path / other) == expected for other in ("two", "three", "four", "five"))


def test_a_full_run_goes_on_from_a_quick_one(tmp_path):
    said = []
    run_experiments([SMALL], tmp_path, cells=f"{CELLS[0].key}")
    quick = ResultFile(tmp_path, "small").read()
    assert sorted(quick) == [(CELLS[0].key, r) for r in range(4)]
    run_experiments([SMALL], tmp_path, full=True, cells=CELLS[0].key, say=said.append)
    both = ResultFile(tmp_path, "small").read()
    assert len(both) == 40
    assert all(both[key] == record for key, record in quick.items())
    assert said[0].startswith("small: 36 repetitions to do")


def test_five_kills_leave_the_tables_as_they_are(tmp_path):
    """kill -9 at random moments, with one process and with two, then a last run to the end."""
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    run_experiments([SMALL], undisturbed, full=True)
    command = [sys.executable, "-m", "tests.small_experiment", str(killed)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    random = np.random.default_rng(0)
    lengths = [0]
    for n_jobs in "12112":
        process = subprocess.Popen([*command, n_jobs], cwd=ROOT, env=environment, start_new_session=True)
        file = killed / "small.jsonl"
        while process.poll() is None and (not file.exists() or len(file.read_bytes()) <= lengths[-1]):
            time.sleep(0.005)
        time.sleep(random.uniform(0.0, 0.3))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        lengths.append(len(file.read_bytes()))
    assert lengths == sorted(set(lengths)), "every run must get some repetitions done before it is killed"
    assert len(ResultFile(killed, "small").read()) < 120, "the kills came too late to disturb anything"
    subprocess.run([*command, "1"], cwd=ROOT, env=environment, check=True)
    assert len(ResultFile(killed, "small").read()) == 120
    assert tables(killed) == tables(undisturbed)


def test_a_table_that_cannot_be_had_is_skipped_and_said(tmp_path):
    missing = Experiment(
        "missing",
        "ssls",
        "t",
        "a",
        grid(full=1, quick=1, dataset=("orange_juice",)),
        (),
        protocol=lambda p, r: {"m": 1},
    )
    said = []
    run_experiments([missing], tmp_path, say=said.append)
    assert len(said) == 1
    assert said[0].startswith("missing: skipped, dataset 'orange_juice' is unavailable: 218 near-infrared spectra")


def test_time_left_is_learned_from_what_was_measured():
    cheap, dear = (Cell({"c": c}, 10, 10, seconds) for c, seconds in (("cheap", 1.0), ("dear", 5.0)))
    progress = Progress("x", [cheap] * 10 + [dear] * 10, 2, lambda line: None)
    assert progress.seconds_left() == 30
    progress.one_done(cheap.key, 2.0)  # twice as long as expected: so will be the others
    assert progress.seconds_left() == (9 * 2.0 + 10 * 10.0) / 2


# --- summary and pages ---------------------------------------------------------------------------------------------


def test_band_holds_what_means_of_so_many_repetitions_can_be():
    table = Table("t", ("m",), printed_repetitions=25, printed_digits=2)
    sample = np.random.default_rng(0).normal(10.0, 2.0, size=1000)
    low, high = band("e", "c", "m", sample, table)
    half = 3 * 2.0 / 5 + 3 * 2.0 / np.sqrt(1000) + 0.005
    assert low == pytest.approx(10 - half, abs=0.2)
    assert high == pytest.approx(10 + half, abs=0.2)
    assert band("e", "c", "m", sample[:20], table) == (None, None)
    fact = Table("t", ("m",), printed_repetitions=0, printed_digits=0)
    assert band("e", "c", "m", np.array([1299.0]), fact) == pytest.approx((1298.5, 1299.5))


@pytest.fixture(scope="module")
def small_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    run_experiments([SMALL], folder, full=True, n_jobs=2)
    return folder


def test_summary_says_what_is_inside_and_what_is_not(small_results):
    (summary,) = summarize([SMALL], small_results)
    rows = summary.displays[0].rows
    assert [rows[cell.key]["mean"].inside for cell in CELLS] == [True, True, False]
    values = [
        r["measures"]["mean"] for (c, _), r in ResultFile(small_results, "small").read().items() if c == CELLS[0].key
    ]
    assert summary.mean(CELLS[0].key, "mean") == pytest.approx(np.mean(values))
    assert summary.error(CELLS[0].key, "mean") == pytest.approx(np.std(values, ddof=1) / np.sqrt(40))
    assert summary.is_complete
    assert summary.verdict.startswith("2 of 3 printed numbers lie inside their band")
    assert "1 of 1 claims hold" in summary.verdict
    assert to_json(from_json(to_json([summary]))) == to_json([summary])


def test_only_complete_cells_are_shown_on_wish(tmp_path):
    run_experiments([SMALL], tmp_path, full=True, cells=CELLS[0].key)
    run_experiments([SMALL], tmp_path, cells=CELLS[1].key)
    assert [cell.repetitions for cell in summarize([SMALL], tmp_path)[0].cells] == [40, 4, 0]
    (summary,) = summarize([SMALL], tmp_path, complete_only=True)
    assert [cell.repetitions for cell in summary.cells] == [40, 0, 0]
    assert summary.mean(CELLS[1].key, "mean") is None
    assert "Not all repetitions" in summary.verdict


def test_pages(small_results, tmp_path, monkeypatch):
    monkeypatch.setattr("dubio_papers.pages.all_experiments", lambda: {"small": SMALL})
    html, markdown = write_report(small_results, tmp_path / "pages")
    page, text = html.read_text(), markdown.read_text()
    assert page.count("<svg") == 5  # a claim, a legend and three panels
    assert page.count("<desc>") == 5, "every figure has a description"
    assert "&lt;b&gt;" in page
    links = set(re.findall(r'(?:src|href)="(?!#)([^"]+)"', page))
    cards = {"score_card.md", "score_card.csv"}
    assert links == {"results.json", "data/small.csv", *cards}, "what the page shows must be whole by itself"
    assert all((tmp_path / "pages" / link).exists() for link in links)
    (summary,) = summarize([SMALL], small_results)
    ours = summary.mean(CELLS[2].key, "mean")
    assert f"{ours:.3f}" in page
    assert re.search(rf"mean 2\.0 \| {ours:.3f} ± 0\.\d{{4}} \\\| 7\.00 ✗", text)
    assert (tmp_path / "pages/figures/small-1-0.svg").read_text().startswith("<svg")
    assert text.index("| paper |") < 600, "the summary comes first"
    assert all(len(alt) > 40 for alt in re.findall(r"!\[([^]]*)\]", text)), "every image has an alternative text"
    before = {path.name: path.read_bytes() for path in (tmp_path / "pages").rglob("*.*")}
    write_report(tmp_path / "pages")  # from results.json alone
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "pages").rglob("*.*")}


def test_data_hold_the_numbers_of_the_pages(small_results):
    (summary,) = summarize([SMALL], small_results)
    lines = list(csv.DictReader(io.StringIO(as_csv(summary))))
    assert len(lines) == 3 * (2 + 5)  # two numbers and a curve of five points in each of three cells
    first = lines[0]
    assert (first["cell"], first["measure"], first["printed"]) == ("mean 0.0", "mean", "0")
    assert float(first["mean"]) == summary.mean(CELLS[0].key, "mean")
    assert float(first["band_low"]) < 0 < float(first["band_high"])
    assert [line["x"] for line in lines if line["measure"] == "curve"][:5] == ["1", "2", "3", "4", "5"]


def test_new_repetitions_replace_a_cell_and_leave_the_others(small_results, tmp_path, monkeypatch):
    """What was not run again keeps its numbers and bands; words and verdicts are made again."""
    monkeypatch.setattr("dubio_papers.pages.all_experiments", lambda: {"small": SMALL})
    write_report(small_results, tmp_path / "pages")
    (before,) = from_json((tmp_path / "pages/results.json").read_text())
    run_experiments([SMALL], tmp_path / "again", cells=CELLS[1].key)
    reworded = replace(SMALL, about="Reworded.")
    monkeypatch.setattr("dubio_papers.pages.all_experiments", lambda: {"small": reworded})
    write_report(tmp_path / "again", onto=tmp_path / "pages")
    (after,) = from_json((tmp_path / "pages/results.json").read_text())
    assert after.about == "Reworded."
    assert [cell.repetitions for cell in after.cells] == [40, 4, 40]
    assert after.cells[1].measures != before.cells[1].measures
    for place in (0, 2):
        assert after.cells[place] == before.cells[place]
        key = CELLS[place].key
        assert after.displays[0].rows[key] == before.displays[0].rows[key]
    assert after.verdict.endswith("Not all repetitions of a full run are done: mean 1.0 4 of 40.")


def test_verdict_counts_claims_by_group_and_marks_what_cannot_hold(tmp_path):
    findings = [
        Finding("a.", True, "", group="one"),
        Finding("b.", False, "", group="one", cannot_hold=True),
        Finding("c.", None, "", group="two"),
        Finding("d.", False, "", group="two"),
    ]
    run_experiments([SMALL], tmp_path, full=True, cells=CELLS[0].key)
    (summary,) = summarize([replace(SMALL, findings=lambda summary: findings, displays=())], tmp_path)
    assert "One: 1 of 2 claims hold in our numbers (1 cannot hold). Two: 0 of 1 claims hold" in summary.verdict
    assert [holds_words(finding) for finding in findings] == ["Holds", "Cannot hold", "Undecided", "Does not hold"]


def test_claims_share_a_chart_if_they_share_a_scale():
    findings = [
        Finding("<a>.", True, "", (Point("", 1.0, 0.25),), scale="points"),
        Finding("b.", False, "", (Point("", -1.0, 0.25),), scale="points"),
        Finding("c.", None, "", (Point("x", 0.1), Point("y", 0.2)), against=0.05, scale="p"),
        Finding("no number.", None, ""),
    ]
    together, alone = claim_charts(findings)
    assert [row.label for row in together.rows] == ["<a>", "b"]
    assert (alone.title, alone.against, len(alone.rows)) == ("c", 0.05, 2)
    svg = together.svg()
    assert "&lt;a&gt;" in svg
    assert "<a>" not in svg
    centres = [float(x) for x in re.findall(r'circle cx="([\d.]+)"', svg)]
    begin, end = map(float, re.search(r'd="M([\d.]+) [\d.]+H([\d.]+)" stroke="#25703a"', svg).groups())
    assert centres[0] == pytest.approx((begin + end) / 2, abs=0.11)
    assert (end - begin) / (centres[0] - centres[1]) == pytest.approx(4 * 0.25 / 2, abs=0.01)


def published():
    return {summary.name: summary for summary in from_json((ROOT / "docs/papers/results.json").read_text())}


def test_every_claim_has_a_figure():
    for name, summary in published().items():
        for finding in summary.findings:
            assert finding.points or finding.numbers == "Not run.", f"{name}: {finding.claim}"


def test_what_happened_is_said_for_every_paper_and_only_if_it_was_run():
    summaries = published()
    for paper in PAPERS:
        assert len(what_happened(paper, summaries)) > 200
        assert what_happened(paper, {}) == ""
    assert "48 of 48" in what_happened("wls", summaries)  # as test_paper_numbers has it


def test_what_the_csfs_papers_printed_numbers_pin():
    """Sides of the maps with labels from all rows (two are exchanged), and Table 2's baselines on random halves."""
    summaries = published()
    sides, all_sides = numbers_inside([summaries["csfs-table-1"]], "Sides of the map")
    assert (sides, all_sides) == (10, 16)
    maps = {
        cell.dataset: cell.measures["draws with the printed map (%)"].mean for cell in summaries["csfs-table-1"].cells
    }
    assert [name for name, share in maps.items() if share < 50] == ["colon"]
    baselines, all_baselines = numbers_inside([summaries["csfs-figure-9"]], "Table 2, random halves")
    assert (baselines >= 7, all_baselines) == (True, 8)
    impossible = [f.claim for f in summaries["csfs-figure-6"].findings if f.cannot_hold]
    assert impossible
    assert all(claim.startswith("iris") and "Laplacian" in claim for claim in impossible)


def test_guide_to_mutual_information_quotes_the_results():
    """The numbers in its tables are those of the laboratory, rounded."""
    summaries, guide = published(), (ROOT / "docs/mutual_information.md").read_text()
    helps, harms = guide.index("## How much it helps"), guide.index("## When not to use the noise model")
    tables = {
        "lnt-figures-4-6": (guide[helps:harms], "{}, 20% flipped", ("mean BW-C", "mean BW-N", "mean LNT-BW"), "gain"),
        "lnt-irrelevant-columns": (
            guide[harms:],
            "{}",
            ("mean LNT-BW", "mean BW-N", "mean NeighborSearch", "mean random order"),
            "LNT-BW over BW-N",
        ),
    }
    for name, (part, title, measures, gain) in tables.items():
        cells = {cell.title: cell for cell in summaries[name].cells}
        rows = [[word.strip() for word in line.strip("|").split("|")] for line in part.splitlines() if "±" in line]
        rows = [row for row in rows if len(row) == len(measures) + 2]
        assert len(rows) == len(cells) // (2 if name == "lnt-figures-4-6" else 1)
        for first, *numbers, last in rows:
            cell = cells[title.format(first)]
            assert numbers == [f"{cell.measures[measure].mean:.1f}" for measure in measures], (name, first)
            assert last == f"{cell.measures[gain].mean:.1f} ± {cell.measures[gain].error:.1f}", (name, first)
    for cell in summaries["lnt-readings"].cells:  # a standard deviation of single draws
        value = cell.measures["noise-tolerant"]
        assert f"| {value.mean:.3f} ± {value.error * cell.repetitions**0.5:.3f} | 0.61 |" in guide
    for cell in summaries["lnt-printed-form"].cells:  # a gain in error is a loss of the printed form
        value = cell.measures["default over printed"]
        assert f"{round(-value.mean, 1) + 0.0:.1f} ± {value.error:.1f} on {cell.title}" in " ".join(guide.split())


def test_published_pages_are_what_their_results_say(tmp_path):
    """Nothing in docs/papers was typed by hand: the pages follow from results.json."""
    pages = ROOT / "docs/papers"
    (tmp_path / "results.json").write_bytes((pages / "results.json").read_bytes())
    write_report(tmp_path)
    for name in ("index.html", "README.md"):
        assert (tmp_path / name).read_text() == (pages / name).read_text(), (
            f"run: dubio papers report docs/papers ({name})"
        )
    assert (tmp_path / "results.json").read_bytes() == (pages / "results.json").read_bytes()
    for folder in ("figures", "data"):
        files = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        assert files == {path.name: path.read_bytes() for path in (pages / folder).iterdir()}


def test_no_results_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="holds no results"):
        write_report(tmp_path)


def test_chart_places_points_on_its_scales():
    svg = line_chart("a < b", [1, 2, 3], [Line("l", [0.0, 1.0, 2.0], [0.1, 0.1, 0.1])], "x", "y")
    points = [tuple(map(float, p.split(","))) for p in re.search(r'polyline points="([^"]+)"', svg)[1].split()]
    assert points[0][0] < points[1][0] < points[2][0]
    assert points[0][1] - points[1][1] == pytest.approx(points[1][1] - points[2][1], abs=0.2)
    assert "a &lt; b" in svg


# --- judges --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged():
    random = np.random.default_rng(0)
    X, test = random.normal(size=(90, 12)), random.normal(size=(40, 12))
    y = (X[:, 0] + 0.5 * random.normal(size=90) > 0).astype(np.int64) + (X[:, 1] > 1)
    y_test = (test[:, 0] > 0).astype(np.int64) + (test[:, 1] > 1)
    return X, y, test, y_test, random.permutation(12)


def test_nearest_accuracy_and_rmse_are_scikit_learns(judged):
    X, y, test, y_test, order = judged
    sizes = [1, 3, 12]
    accuracy = nearest_accuracy(X, y, test, y_test, order, sizes)
    error = nearest_rmse(X, y.astype(float), test, y_test.astype(float), order, sizes)
    for place, size in enumerate(sizes):
        A, B = X[:, order[:size]], test[:, order[:size]]
        assert accuracy[place] == pytest.approx(100 * KNeighborsClassifier(1).fit(A, y).score(B, y_test))
        predicted = KNeighborsRegressor(5).fit(A, y).predict(B)
        assert error[place] == pytest.approx(np.sqrt(np.mean((predicted - y_test) ** 2)))


def test_tuned_balanced_error_is_the_literal_cross_validation(judged):
    X, y, test, y_test, order = judged
    folds = np.arange(90) % 10
    ours = tuned_balanced_error(X, y, test, y_test, order, folds)
    for size in (7,):
        A, B = X[:, order[:size]], test[:, order[:size]]
        validation = []
        for k in NEIGHBOR_GRID:
            predicted = np.empty(90, dtype=int)
            for fold in range(10):
                model = KNeighborsClassifier(k).fit(A[folds != fold], y[folds != fold])
                predicted[folds == fold] = model.predict(A[folds == fold])
            validation.append(1 - balanced_accuracy_score(y, predicted))
        model = KNeighborsClassifier(NEIGHBOR_GRID[int(np.argmin(np.round(validation, 12)))]).fit(A, y)
        assert ours[size - 1] == pytest.approx(100 * (1 - balanced_accuracy_score(y_test, model.predict(B))))


def test_best_first_breaks_ties_by_index():
    assert best_first([1.0, 0.0, 1.0, np.inf], low_is_good=True).tolist() == [1, 0, 2, 3]
    assert best_first([1.0, 0.0, 1.0, -np.inf], low_is_good=False).tolist() == [0, 2, 1, 3]


def test_labels_of_the_clean_protocol_come_from_training_rows():
    clean, leaking = (set_scene("iris", source, np.random.default_rng(0)) for source in SOURCES)
    assert len(clean.X) == len(clean.train) == 75
    assert len(leaking.X) == 150
    assert {label: int(clean.labelled[clean.y == label].sum()) for label in set(clean.y)} == dict.fromkeys(
        set(clean.y), 6
    )
    pairs = draw_pairs(clean, 16, np.random.default_rng(1))
    assert (clean.y[pairs.must_link[:, 0]] == clean.y[pairs.must_link[:, 1]]).all()
    assert (clean.y[pairs.cannot_link[:, 0]] != clean.y[pairs.cannot_link[:, 1]]).all()
    assert clean.labelled[np.concatenate([pairs.must_link, pairs.cannot_link])].all()


def test_a_quarter_is_rounded_half_up():
    y = np.repeat([0, 1, 2, 3, 4], [3, 10, 21, 22, 40])
    labelled = quarter_of_each_class(y, np.random.default_rng(0))
    assert np.bincount(y[labelled]).tolist() == [2, 3, 5, 6, 10]


def test_halves_are_stated_or_random():
    y = np.repeat(["a", "b"], [5, 4])
    stated, drawn = (half_of_each_class(y, split, np.random.default_rng(1)) for split in SPLITS)
    assert np.flatnonzero(stated).tolist() == [0, 1, 2, 5, 6]
    assert drawn[y == "a"].sum() == 3
    assert drawn[y == "b"].sum() == 2
    assert not np.array_equal(stated, drawn)


def test_variant_uses_all_rows_and_as_many_clusters_as_classes():
    scene = set_scene("iris", SOURCES[0], np.random.default_rng(0))
    tree = linkage(scene.X, method="ward")
    cluster = fcluster(tree, 3, criterion="maxclust")
    rows = np.flatnonzero(scene.labelled)
    pairs = [(i, j) for i in rows for j in rows if i < j]
    must = [(i, j) for i, j in pairs if scene.y[i] == scene.y[j]]
    cannot = [(i, j) for i, j in pairs if scene.y[i] != scene.y[j]]
    scores = constrained_laplacian_score(scene.X, cluster, must, cannot, lam=0.1, scale="mean")
    assert csfs_variant(scene).tolist() == np.argsort(scores, kind="stable").tolist()


def test_projections_from_pairs_are_what_they_maximise():
    """SSDR's objective as the sum over pairs it is defined by."""
    scene = set_scene("iris", SOURCES[0], np.random.default_rng(0))
    pairs = draw_pairs(scene, 16, np.random.default_rng(1))
    X, n = scene.X, len(scene.X)

    def objective(w):
        z = X @ w
        everything = ((z[:, None] - z[None, :]) ** 2).sum() / (2 * n**2)
        apart, together = (((z[p[:, 0]] - z[p[:, 1]]) ** 2).mean() / 2 for p in (pairs.cannot_link, pairs.must_link))
        return everything + apart - 20 * together

    best = objective(ssdr_axes(X, pairs, 2)[:, 0])
    for direction in np.random.default_rng(2).normal(size=(200, X.shape[1])):
        assert objective(direction / np.linalg.norm(direction)) <= best + 1e-9
    assert cfld_axes(X, pairs, 2).shape == (4, 2)


def test_signed_ranks_share_zeros():
    plus, minus, p = signed_ranks(np.array([3.0, 1.0, 5.0, 2.0]), np.array([1.0, 2.0, 5.0, -1.0]))
    assert (plus, minus) == (7.5, 2.5)  # gaps 2, -1, 0, 3 have ranks 3, 2, 1, 4
    assert 0 < p < 1


# --- the experiments themselves ------------------------------------------------------------------------------------


def test_printed_numbers_belong_to_cells_and_measures():
    for experiment in all_experiments().values():
        keys = {cell.key for cell in experiment.cells}
        for display in experiment.displays:
            if isinstance(display, Table):
                assert set(display.printed) <= keys, experiment.name
                assert all(set(row) <= set(display.measures) for row in display.printed.values()), experiment.name


def test_choosing_by_paper_pattern_and_source():
    assert {e.paper for e in choose(["ssls"])} == {"ssls"}
    assert [e.name for e in choose(["lnt-figure-1"])] == ["lnt-figure-1", "lnt-figures-4-6"]
    assert len(choose([])) == len(all_experiments())
    with pytest.raises(ValueError, match="there is no experiment 'nonsense'"):
        choose(["nonsense"])


@pytest.mark.parametrize("name", [name for name, e in all_experiments().items() if e.protocol])
def test_every_protocol_runs_and_repeats_itself(name):
    """The cheapest cell whose data are here, twice: machinery, not science."""
    experiment = all_experiments()[name]
    for cell in sorted(experiment.cells, key=lambda cell: cell.seconds):
        try:
            if cell.dataset:
                load(cell.dataset, paper=experiment.paper, download=False)
        except DatasetUnavailable:
            continue
        first, second = (
            run_repetition(name, experiment.protocol, cell.parameters, cell.key, 0)["measures"] for _ in range(2)
        )
        assert first == second
        shown = {measure for display in experiment.displays for measure in display.measures}
        assert set(first) & shown, "nothing of what is measured is shown"
        assert json.loads(json.dumps(first, allow_nan=False)) == first
        return
    pytest.skip("none of its datasets is here: set DUBIO_DATA to their folder")


def test_command(tmp_path):
    command = CliRunner()
    listed = command.invoke(app, ["list"])
    assert listed.exit_code == 0
    for name in all_experiments():
        assert name in listed.stdout
    assert "orange_juice (unavailable)" in listed.stdout
    out = str(tmp_path / "results")
    ran = command.invoke(app, ["run", "wls-table-2", "--quick", "--cells", "mu=0.5", "--out", out])
    assert ran.exit_code == 0, ran.output
    reported = command.invoke(app, ["report", out])
    assert reported.exit_code == 0, reported.output
    assert "81.00" in (tmp_path / "results/README.md").read_text()  # what the paper prints for y_max
    wrong = command.invoke(app, ["run", "nonsense", "--out", out])
    assert wrong.exit_code == 2
    assert "there is no experiment" in wrong.output

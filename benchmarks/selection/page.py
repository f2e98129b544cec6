"""The page of the comparison, written from the stored results only."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import numpy as np

from benchmarks.selection import judges, tables
from benchmarks.selection.run import PATIENCE, VERSIONS
from benchmarks.selection.selectors import AUTO, PREVIOUS, RANDOM, selectors
from benchmarks.selection.summary import Difference, Results, read


def page(folder: Path) -> str:
    """The whole page."""
    found = read(folder)
    if not found:
        return "# Comparison\n\nNo results are stored yet. `python -m benchmarks.selection` measures them.\n"
    parts = [
        HEAD,
        _overall(found),
        _behind(found),
        _everywhere(found),
        _by_judge(found),
        _culprit(found),
        "## Every selector, by what is known\n",
        COLUMNS,
        *(_regime(results) for results in found),
        _method(found),
        _tables(found),
        _selectors(found),
        _gaps(found),
        _versions(folder, found),
    ]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


HEAD = """# Comparison

How good is the order of the features that `FeatureSelector()` gives, and how good are the orders of other libraries?
This page compares them on the same rows and the same labels, for many kinds of doubt. `python -m benchmarks.selection
--write` writes every number and every verdict on it from the stored results.

"Area" is the mean accuracy, in percent, of three models that see only the first features of an order (for numbers:
100 R²). More is better. A difference is a selector minus `auto`, so **a plus means that `auto` is behind**. ± is one
standard error over tables. A difference of more than two standard errors is called clear.
"""

COLUMNS = """In these tables, "ahead / behind" counts the tables on which the selector is ahead of `auto` and
behind it. "Balanced" is the same difference in balanced accuracy. Names in `code` are methods of dubio. "Seconds" is
the time of one selection on one core: the median over the draws of a table, averaged over tables.
"""


def _label(results: Results, name: str) -> str:
    return f"`{name}`" if results.known[name].family == "dubio" else name


def _overall(found: list[Results]) -> str:
    before = any(PREVIOUS in results.names for results in found)
    lines = [
        "## In short\n",
        "| what is known | tables | draws | `auto` | best peer | best peer − `auto` |"
        + (" previous `auto` − `auto` |" if before else "")
        + " random order − `auto` |",
        "|---|---:|---:|---:|---|---:|" + ("---:|" if before else "") + "---:|",
    ]
    for results in found:
        best = results.best_peer()
        cells = [
            results.regime.title,
            str(len(results.tables)),
            f"{results.draws:.3g}",
            f"{results.mean(AUTO):.2f}",
            best[0] if best else "",
            str(best[1]) if best else "",
            *([_maybe(results, PREVIOUS)] if before else []),
            _maybe(results, RANDOM),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "The best peer is picked after the fact, in each line anew, from all peers. That favours it: `auto` is one and",
        "the same everywhere.",
    ]
    return "\n".join(lines) + "\n"


def _maybe(results: Results, name: str) -> str:
    difference = results.difference(name) if name in results.names else None
    return str(difference) if difference else ""


def _behind(found: list[Results]) -> str:
    """Where auto is behind, and where it is ahead, in sentences made from the numbers."""
    lines = ["## Where `auto` is behind\n"]
    level = []
    for results in found:
        better = [(name, d) for name, d in results.ordered() if d.mean > 0 and results.known[name].family != "control"]
        if not better:
            level.append(results.regime.title)
            continue
        clear = [pair for pair in better if pair[1].clear]
        other = [pair for pair in better if not pair[1].clear]
        said = f"* **{results.regime.title}.** "
        if clear:
            said += f"Clearly behind {_named(results, clear)}. "
        if other:
            said += (
                f"{'Also behind' if clear else 'Behind'} {_named(results, other)}, by less than two standard errors."
            )
        worst = _worst_table(results)
        lines.append(said.rstrip() + (f" {worst}" if worst else ""))
    if level:
        lines.append(f"* Behind nobody: {'; '.join(level)}.")
    clearly_ahead = []
    for results in found:
        peers = results.ordered("peer")
        ahead = [name for name, d in peers if d.mean < 0 and d.clear]
        if peers:
            clearly_ahead.append(f"{results.regime.title}: {len(ahead)} of {len(peers)}")
    lines += ["", textwrap.fill(f"Peers that `auto` is clearly ahead of: {'; '.join(clearly_ahead)}.", 120)]
    return "\n".join(lines) + "\n"


def _wrapped(point: str) -> str:
    return textwrap.fill(point.rstrip(), 120, subsequent_indent="  ", break_on_hyphens=False)


def _everywhere(found: list[Results]) -> str:
    """One and the same selector for every regime."""
    lines = [
        "## One selector for everything\n",
        "Differences to `auto`, averaged over all kinds of doubt, for the selectors that were run in all of them.\n",
        "| selector | mean minus `auto` | worst | best | clearly ahead / behind |",
        "|---|---:|---:|---:|---:|",
    ]
    rows = []
    for name in selectors():
        differences = [results.difference(name) for results in found if name in results.names]
        known = [d for d in differences if d is not None]
        if name != AUTO and len(known) == len(found):
            means = [d.mean for d in known]
            ahead, behind = (sum(d.clear and sign * d.mean > 0 for d in known) for sign in (1, -1))
            values = f"{np.mean(means):+.2f} | {min(means):+.2f} | {max(means):+.2f} | {ahead} / {behind}"
            rows.append((float(np.mean(means)), f"| {_label(found[0], name)} | {values} |"))
    lines += [row for _, row in sorted(rows, key=lambda pair: -pair[0])]
    return "\n".join(lines) + "\n" if rows else ""


def _named(results: Results, pairs: list[tuple[str, Difference]]) -> str:
    shown = [f"{_label(results, name)} ({d})" for name, d in pairs[:5]]
    return ", ".join(shown) + (f" and {len(pairs) - 5} more" if len(pairs) > 5 else "")


def _worst_table(results: Results) -> str:
    best = results.best_peer()
    if best is None:
        return ""
    table, gap = max(results.table_differences(best[0]).items(), key=lambda pair: pair[1])
    if gap <= 0:
        return ""
    return f"The largest gap to {best[0]}, the best peer, is on {table.partition('/')[2]}: {gap:.1f} points."


def _by_judge(found: list[Results]) -> str:
    """Does a model that resembles a selector favour it?"""
    lines = [
        "## By judge\n",
        "Best peer minus `auto` under each of the three models. A selector may please the model that it resembles: a",
        "search that looks at near rows may please k-NN, and the importance in a forest may please a forest.\n",
        "| what is known | best peer | k-NN | SVM, ridge | forest |",
        "|---|---|---:|---:|---:|",
    ]
    for results in found:
        best = results.best_peer()
        if best is None:
            continue
        middle = "ridge" if results.regime.tables == "numbers" else "SVM"
        cells = [str(results.difference(best[0], judge=judge)) for judge in ("k-NN", middle, "forest")]
        lines.append(f"| {results.regime.title} | {best[0]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _culprit(found: list[Results]) -> str:
    """The irrelevant column that causes flips."""
    results = next((r for r in found if r.regime.name == "column"), None)
    if results is None:
        return ""
    rank, share, columns = results.culprit(AUTO)
    lines = [
        "## The irrelevant column that causes flips\n",
        "In one regime a column of noise decides which labels are wrong. It says nothing about the true class, but it",
        "does say something about the given one, so a selector can fall for it. `auto` puts it at rank",
        f"{rank:.1f} of {columns:.1f} on average. It is among the first five in {share:.0f} % of the draws.\n",
        "| selector | mean rank of the column | among the first five |",
        "|---|---:|---:|",
    ]
    for name in sorted(results.names, key=lambda name: -results.culprit(name)[0]):
        rank, share, _ = results.culprit(name)
        lines.append(f"| {_label(results, name)} | {rank:.1f} | {share:.0f} % |")
    return "\n".join(lines) + "\n"


def _regime(results: Results) -> str:
    numbers = results.regime.tables == "numbers"
    lines = [
        f"### {results.regime.title}\n",
        f"How: {results.regime.how}.\n",
        "| selector | tables | area | minus `auto` |"
        + ("" if numbers else " balanced |")
        + " ahead / behind | seconds |",
        "|---|---:|---:|---:|" + ("" if numbers else "---:|") + "---:|---:|",
    ]
    rows: list[tuple[str, Difference | None]] = [*results.ordered(), (AUTO, None)]
    rows.sort(key=lambda pair: -(pair[1].mean if pair[1] else 0.0))
    for name, difference in rows:
        cells = [
            "**`auto`**" if name == AUTO else _label(results, name),
            str(difference.tables if difference else len(results.tables)),
            f"{results.mean(name):.2f}",
            str(difference or ""),
            *([] if numbers else [str(results.difference(name, "balanced")) if difference else ""]),
            f"{difference.better} / {difference.worse}" if difference else "",
            f"{results.seconds(name):.2g}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _method(found: list[Results]) -> str:
    sizes = ", ".join(map(str, judges.SIZES))
    return f"""## How it was measured

* A draw takes at most {tables.TRAINING_ROWS} rows of a table for training (small tables: 60 % of them) and at most
  {tables.TEST_ROWS} others for testing. Classes with fewer than {tables.CLASS_ROWS} rows are left out. Missing cells
  get the median of the training rows. Columns are standardised on the training rows and put in random order. Test
  values outside the range of the training rows are moved to its end: without this, the one row farthest out would
  decide how good a straight line is. About half of the real tables get shuffled copies of up to {tables.COPIES} of
  their columns, which say nothing.
* Then the labels of the training rows are made doubtful, and every selector orders the features. Selectors of dubio get
  what is known as it is. Peers know no doubt: with few labels they get the labelled rows, and with probabilities the
  likeliest class (fastcan, which takes a matrix, gets the probabilities).
* The order is judged on right labels, so that only the selection suffers from the doubt: the first {sizes} features
  (fewer than all) are given to k-NN (k = {judges.NEIGHBORS}), an SVM (for numbers: ridge regression) and a forest of
  {judges.TREES} trees, trained on the right labels of all training rows and tested on the other rows. The area is the
  mean over sizes and models. R² is never counted below {judges.FLOOR / 100:.0f}.
* All selectors of a draw have the same rows and labels. Differences are averaged over the draws of a table, then over
  tables; the standard error is that of the mean over tables.
* A selector that passes the time limit on the first draw of a table is left out on that table (see "Not measured").
  `auto` has {PATIENCE} times that limit, because everything is compared with it.
* Some of these tables were used to choose the defaults of dubio, so `auto` may look a little better here than on a new
  table. scikit-learn's digits, breast_cancer and diabetes were not used.
* Every selector has one setting, given below. Peers might do better with settings tuned to each table, and so might
  the methods of dubio.
"""


def _tables(found: list[Results]) -> str:
    used = set().union(*(results.tables for results in found))
    lines = ["## Tables\n", "| table | used for | shuffled copies | why |", "|---|---|---|---|"]
    for key, table in tables.BY_NAME.items():
        if key in used:
            lines.append(f"| {table.name} | {table.kind} | {'yes' if table.copies else 'no'} | {table.why} |")
    return "\n".join(lines) + "\n"


def _selectors(found: list[Results]) -> str:
    used = set().union(*(results.names for results in found))
    lines = ["## Selectors\n", "| selector | what it is |", "|---|---|"]
    for name, selector in selectors().items():
        if name in used:
            lines.append(f"| {f'`{name}`' if selector.family == 'dubio' else name} | {selector.note} |")
    return "\n".join(lines) + "\n"


def _gaps(found: list[Results]) -> str:
    """What was not measured, and why."""
    used = set().union(*(set(results.names) | set(results.slow) | set(results.failed) for results in found))
    lines = []
    for name, selector in selectors().items():
        if name not in used and selector.family == "peer":
            lines.append(f"* {name}: not run. {selector.reason_missing or 'No results are stored'}.")
    for results in found:
        for name, slow in sorted(results.slow.items()):
            where = ", ".join(sorted(table.partition("/")[2] for table in slow))
            seconds = f"{max(slow.values()):g} s"
            lines.append(f"* {_label(results, name)}, {results.regime.title}: took longer than {seconds} on {where}.")
        for name, failed in sorted(results.failed.items()):
            where = ", ".join(sorted(table.partition("/")[2] for table in failed))
            reason = next(iter(failed.values())).replace("\n", " ").replace("|", "/")
            lines.append(f"* {_label(results, name)}, {results.regime.title}: failed on {where} ({reason}).")
    return "\n".join(["## Not measured\n", *(map(_wrapped, lines) if lines else ["Nothing was left out."])]) + "\n"


def _versions(folder: Path, found: list[Results]) -> str:
    file = folder / VERSIONS
    versions = json.loads(file.read_text()) if file.exists() else {}
    sources = {
        record["source"]
        for results in found
        for name in results.names
        if name != PREVIOUS
        for record in results.records[name].values()
        if "source" in record
    }
    several = f" dubio's results come from {len(sources)} versions of its code." if len(sources) > 1 else ""
    listed = ", ".join(f"{package} {number}" for package, number in versions.items()) or "They were not stored"
    return f"## Versions\n\n{_wrapped(listed + '.' + several).replace(chr(10) + '  ', chr(10))}\n"

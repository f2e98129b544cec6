"""The page of the comparison, written from the stored summaries only."""

from __future__ import annotations

import textwrap

import numpy as np

from benchmarks.selection import judges, tables
from benchmarks.selection.run import PATIENCE
from benchmarks.selection.selectors import AUTO, PREVIOUS, RANDOM, selectors
from benchmarks.selection.stored import Versions
from benchmarks.selection.summary import Difference, Summary


def page(found: list[Summary], versions: Versions) -> str:
    """The whole page."""
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
        *(_regime(summary) for summary in found),
        _method(),
        _tables(found),
        _selectors(found),
        _gaps(found),
        _versions(found, versions),
    ]
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


HEAD = """# Comparison

How good is the order of the features that `FeatureSelector()` gives, and how good are the orders of other libraries?
This page compares them on the same rows and the same labels, for many kinds of doubt. `python -m benchmarks.selection
--write` writes every number and every verdict on it from the stored summaries.

"Area" is the mean accuracy, in percent, of three models that see only the first features of an order (for numbers:
100 R²). More is better. A difference is a selector minus `auto`, so **a plus means that `auto` is behind**. ± is one
standard error over tables. A difference of more than two standard errors is called clear. Not every selector was run
on as many tables, or with as many draws, as `auto`: both numbers are in its line, in the tables by what is known. It is
compared with `auto` on the tables that both have.
"""

COLUMNS = """In these tables, "ahead / behind" counts the tables on which the selector is ahead of `auto` and
behind it. "Balanced" is the same difference in balanced accuracy. Names in `code` are methods of dubio. "Seconds" is
the time of one selection on one core: the median over the draws of a table, averaged over tables. "Draws" is the mean
number of draws of a table.
"""


def _label(name: str) -> str:
    return f"`{name}`" if selectors()[name].family == "dubio" else name


def _draws(draws: float) -> str:
    return f"{draws:.3g}"


def _ahead_behind(difference: Difference | None) -> str:
    if difference is None or difference.better is None:
        return ""
    return f"{difference.better} / {difference.worse}"


def _said(difference: Difference | None) -> str:
    return "" if difference is None else str(difference)


def _overall(found: list[Summary]) -> str:
    before = any(PREVIOUS in summary.selectors for summary in found)
    lines = [
        "## In short\n",
        "| what is known | tables | draws | `auto` | best peer | best peer − `auto` |"
        + (" previous `auto` − `auto` |" if before else "")
        + " random order − `auto` |",
        "|---|---:|---:|---:|---|---:|" + ("---:|" if before else "") + "---:|",
    ]
    for summary in found:
        best = summary.best_peer()
        cells = [
            summary.regime.title,
            str(summary.auto.tables),
            _draws(summary.auto.draws),
            f"{summary.auto.area:.2f}",
            best[0] if best else "",
            str(best[1]) if best else "",
            *([_said(summary.difference(PREVIOUS))] if before else []),
            _said(summary.difference(RANDOM)),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "The best peer is picked after the fact, in each line anew, from all peers. That favours it: `auto` is one and",
        "the same everywhere.",
    ]
    return "\n".join(lines) + "\n"


def _behind(found: list[Summary]) -> str:
    """Where auto is behind, and where it is ahead, in sentences made from the numbers."""
    known = selectors()
    lines = ["## Where `auto` is behind\n"]
    level = []
    for summary in found:
        better = [(name, d) for name, d in summary.ordered() if d.mean > 0 and known[name].family != "control"]
        if not better:
            level.append(summary.regime.title)
            continue
        clear = [pair for pair in better if pair[1].clear]
        other = [pair for pair in better if not pair[1].clear]
        said = f"* **{summary.regime.title}.** "
        if clear:
            said += f"Clearly behind {_named(clear)}. "
        if other:
            said += f"{'Also behind' if clear else 'Behind'} {_named(other)}, by less than two standard errors."
        worst = _worst_table(summary)
        lines.append(said.rstrip() + (f" {worst}" if worst else ""))
    if level:
        lines.append(f"* Behind nobody: {'; '.join(level)}.")
    clearly_ahead = []
    for summary in found:
        peers = summary.ordered("peer")
        ahead = [name for name, d in peers if d.mean < 0 and d.clear]
        if peers:
            clearly_ahead.append(f"{summary.regime.title}: {len(ahead)} of {len(peers)}")
    lines += ["", textwrap.fill(f"Peers that `auto` is clearly ahead of: {'; '.join(clearly_ahead)}.", 120)]
    return "\n".join(lines) + "\n"


def _wrapped(point: str) -> str:
    return textwrap.fill(point.rstrip(), 120, subsequent_indent="  ", break_on_hyphens=False)


def _everywhere(found: list[Summary]) -> str:
    """One and the same selector for every regime."""
    lines = [
        "## One selector for everything\n",
        "Differences to `auto`, averaged over all kinds of doubt, for the selectors that were run in all of them.\n",
        "| selector | mean minus `auto` | worst | best | clearly ahead / behind |",
        "|---|---:|---:|---:|---:|",
    ]
    rows = []
    for name in selectors():
        known = [d for summary in found if (d := summary.difference(name)) is not None]
        if len(known) == len(found):
            means = [d.mean for d in known]
            ahead, behind = (sum(d.clear and sign * d.mean > 0 for d in known) for sign in (1, -1))
            values = f"{np.mean(means):+.2f} | {min(means):+.2f} | {max(means):+.2f} | {ahead} / {behind}"
            rows.append((float(np.mean(means)), f"| {_label(name)} | {values} |"))
    lines += [row for _, row in sorted(rows, key=lambda pair: -pair[0])]
    return "\n".join(lines) + "\n" if rows else ""


def _named(pairs: list[tuple[str, Difference]]) -> str:
    shown = [f"{_label(name)} ({d})" for name, d in pairs[:5]]
    return ", ".join(shown) + (f" and {len(pairs) - 5} more" if len(pairs) > 5 else "")


def _worst_table(summary: Summary) -> str:
    best = summary.best_peer()
    if best is None:
        return ""
    gap = summary.selectors[best[0]].gap
    if gap is None or gap.points <= 0:
        return ""
    return f"The largest gap to {best[0]}, the best peer, is on {_short(gap.table)}: {gap.points:.1f} points."


def _short(table: str) -> str:
    """The name of a table without its kind."""
    return table.partition("/")[2]


def _by_judge(found: list[Summary]) -> str:
    """Does a model that resembles a selector favour it?"""
    lines = [
        "## By judge\n",
        "Best peer minus `auto` under each of the three models. A selector may please the model that it resembles: a",
        "search that looks at near rows may please k-NN, and the importance in a forest may please a forest.\n",
        "| what is known | best peer | k-NN | SVM, ridge | forest |",
        "|---|---|---:|---:|---:|",
    ]
    for summary in found:
        best = summary.best_peer()
        by_judge = summary.selectors[best[0]].judges if best else None
        if best is None or by_judge is None:
            continue
        middle = "ridge" if summary.regime.tables == "numbers" else "SVM"
        cells = [str(by_judge[judge]) for judge in ("k-NN", middle, "forest")]
        lines.append(f"| {summary.regime.title} | {best[0]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _culprit(found: list[Summary]) -> str:
    """The irrelevant column that causes flips."""
    summary = next((s for s in found if s.name == "column"), None)
    if summary is None or (auto := summary.auto.culprit) is None:
        return ""
    of_columns = "" if auto.columns is None else f" of {auto.columns:.1f}"
    lines = [
        "## The irrelevant column that causes flips\n",
        "In one regime a column of noise decides which labels are wrong. It says nothing about the true class, but it",
        "does say something about the given one, so a selector can fall for it. `auto` puts it at rank",
        f"{auto.rank:.1f}{of_columns} on average. It is among the first five in {auto.share:.0f} % of the draws.\n",
        "| selector | mean rank of the column | among the first five |",
        "|---|---:|---:|",
    ]
    ranked = [(name, measured.culprit) for name, measured in summary.selectors.items() if measured.culprit is not None]
    for name, culprit in sorted(ranked, key=lambda pair: -pair[1].rank):
        lines.append(f"| {_label(name)} | {culprit.rank:.1f} | {culprit.share:.0f} % |")
    return "\n".join(lines) + "\n"


def _regime(summary: Summary) -> str:
    numbers = summary.regime.tables == "numbers"
    lines = [
        f"### {summary.regime.title}\n",
        f"How: {summary.regime.how}.\n",
        "| selector | tables | draws | area | minus `auto` |"
        + ("" if numbers else " balanced |")
        + " ahead / behind | seconds |",
        "|---|---:|---:|---:|---:|" + ("" if numbers else "---:|") + "---:|---:|",
    ]
    for name, measured in summary.selectors.items():
        difference = measured.difference
        cells = [
            "**`auto`**" if name == AUTO else _label(name),
            str(measured.tables),
            _draws(measured.draws),
            f"{measured.area:.2f}",
            _said(difference),
            *([] if numbers else [_said(measured.balanced)]),
            _ahead_behind(difference),
            f"{measured.seconds:.2g}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _method() -> str:
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


def _tables(found: list[Summary]) -> str:
    used = set().union(*(summary.tables for summary in found))
    lines = ["## Tables\n", "| table | used for | shuffled copies | why |", "|---|---|---|---|"]
    for key, table in tables.BY_NAME.items():
        if key in used:
            lines.append(f"| {table.name} | {table.kind} | {'yes' if table.copies else 'no'} | {table.why} |")
    return "\n".join(lines) + "\n"


def _selectors(found: list[Summary]) -> str:
    used = set().union(*(summary.selectors for summary in found))
    lines = ["## Selectors\n", "| selector | what it is |", "|---|---|"]
    for name, selector in selectors().items():
        if name in used:
            lines.append(f"| {_label(name)} | {selector.note} |")
    return "\n".join(lines) + "\n"


def _gaps(found: list[Summary]) -> str:
    """What was not measured, and why."""
    used = set().union(*({*summary.selectors, *summary.slow, *summary.failed} for summary in found))
    lines = []
    for name, selector in selectors().items():
        if name not in used and selector.family == "peer":
            lines.append(f"* {name}: not run. No results are stored.")
    for summary in found:
        title = summary.regime.title
        for name, slow in sorted(summary.slow.items()):
            limit = f"left out where it took longer than {max(slow.values()):g} s"
            lines.append(f"* {_label(name)}, {title}: {limit}: {', '.join(sorted(map(_short, slow)))}.")
        for name, failed in sorted(summary.failed.items()):
            reason = next(iter(failed.values())).replace("\n", " ").replace("|", "/")
            lines.append(f"* {_label(name)}, {title}: failed on {', '.join(sorted(map(_short, failed)))} ({reason}).")
    return "\n".join(["## Not measured\n", *(map(_wrapped, lines) if lines else ["Nothing was left out."])]) + "\n"


def _versions(found: list[Summary], versions: Versions) -> str:
    count = versions.of_dubio(found)
    several = f" dubio's results come from {count} versions of its code." if count > 1 else ""
    listed = ", ".join(f"{package} {number}" for package, number in versions.packages.items())
    said = (listed or "They were not stored") + "." + several
    return f"## Versions\n\n{_wrapped(said).replace(chr(10) + '  ', chr(10))}\n"

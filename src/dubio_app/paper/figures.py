"""The figures of the paper kit as SVG and PDF: the charts of the report, and the flow of rows."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

from dubio import charts
from dubio.charts import Chart
from dubio.errors import counted
from dubio.plots import COLOURS, draw
from dubio_app.command.trust import Run
from dubio_app.paper.account import Account
from dubio_app.report.svg import printable

#: Most features in a chart.
_SHOWN = 30


def figures_of(run: Run, account: Account) -> Iterator[tuple[str, bytes]]:
    """Each figure twice, as SVG and as PDF, with the name of its file."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "dubio", "svg.fonttype": "none", "pdf.fonttype": 42}):
        yield from _files("flow", _flow(account))
        for name, chart in _charts(run, account).items():
            yield from _files(name, draw(chart)[0].figure)


def _charts(run: Run, account: Account) -> dict[str, Chart]:
    ranking = account.ranking
    found = {"ranking": charts.ranking_chart(ranking, ranking.order[:_SHOWN], None)}
    if "pvalue" in ranking.extras:
        found["pvalues"] = charts.chance_chart(ranking.extras["pvalue"], ranking.support)
    if run.stability is not None:
        full = run.findings.ranking
        shown = full.order[: min(_SHOWN, full.n_ranked)]
        found["stability"] = charts.rank_heat(run.stability, shown, full.n_ranked)
    if run.evaluation is not None:
        found["evaluation"] = charts.evaluation_chart(run.evaluation)
    return {name: chart for name, chart in found.items() if chart.panels}


def _files(name: str, figure: Any) -> Iterator[tuple[str, bytes]]:
    import matplotlib.pyplot as plt

    for kind, metadata in (("svg", {"Date": None}), ("pdf", {"CreationDate": None, "ModDate": None})):
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the font may lack some letters
            figure.savefig(buffer, format=kind, bbox_inches="tight", metadata=metadata)
        content = buffer.getvalue()
        yield f"{name}.{kind}", printable(content.decode()).encode() if kind == "svg" else content
    plt.close(figure)


def steps_of_flow(account: Account) -> list[tuple[str, str]]:
    """The boxes of the flow of rows from above, each with what left before it ("" if nothing did)."""
    facts, holds = account.facts, account.holds
    steps = [(f"{counted(facts['rows'], 'row')} in the table", "")]
    if "target" in holds:
        gone = facts["unlabelled"]
        steps.append((f"{counted(facts['labelled'], 'row')} with a known target", _gone(gone, "without a label")))
    if "sampled" in holds:
        steps.append((f"{counted(facts['used'], 'row')} analysed", _gone(facts["rows"] - facts["used"], "not drawn")))
    for name, count in account.classes:
        steps[-1] = (f"{steps[-1][0]}\n{name}: {charts.tick_name(count)}", steps[-1][1])
    return steps


def _gone(count: int, why: str) -> str:
    return f"{counted(count, 'row')} {why}" if count else ""


def _flow(account: Account) -> Any:
    """The flow of rows, from the table to the analysis, as STARD draws it."""
    import matplotlib.pyplot as plt

    steps = steps_of_flow(account)
    heights = [1.0 + 0.35 * box.count("\n") for box, _ in steps]
    figure, ax = plt.subplots(figsize=(7, 1.2 * sum(heights)))
    ax.set(xlim=(0, 10), ylim=(-2 * sum(heights), 0.3))
    ax.axis("off")
    style = {"boxstyle": "square,pad=0.5", "facecolor": "white", "edgecolor": COLOURS["chosen"]}
    arrow = {"arrowstyle": "-|>", "color": COLOURS["chosen"]}
    top = 0.0
    for place, ((box, gone), height) in enumerate(zip(steps, heights, strict=True)):
        middle = top - height
        if place:
            ax.annotate("", (3, middle + height / 2), (3, top + 0.5), arrowprops=arrow)
        if gone:
            ax.annotate("", (5.8, top + 0.1), (3, top + 0.1), arrowprops=arrow)
            ax.text(5.9, top + 0.1, _plain(gone), va="center", ha="left", bbox=style)
        ax.text(3, middle, _plain(box), ha="center", va="center", bbox=style)
        top -= 2 * height
    return figure


def _plain(text: str) -> str:
    return text.replace("$", r"\$")

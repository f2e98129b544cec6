"""The pages: printed numbers next to ours, figures drawn again, verdicts; as HTML, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dubio.whole_files import write_whole
from dubio_papers.experiment import PAPERS
from dubio_papers.line_charts import Line, legend, line_chart
from dubio_papers.registry import all_experiments
from dubio_papers.summary import Entry, ExperimentSummary, Shown, from_json, summarize, to_json

_RESULTS = "results.json"


@dataclass(frozen=True)
class Panel:
    """A chart and the name of its file."""

    file: str
    svg: str


def write_report(folder: Path, out: Path | None = None, *, complete_only: bool = False) -> tuple[Path, Path]:
    """Write ``index.html``, ``README.md``, ``results.json`` and the figures for a folder of results.

    If the folder has ``results.json`` but no repetitions, the pages are made from that file. With ``complete_only``,
    cells without all repetitions of a full run are shown as not run.

    Returns
    -------
    The paths of the HTML and of the Markdown page.
    """
    folder = Path(folder)
    out = folder if out is None else Path(out)
    summaries = summarize(all_experiments().values(), folder, complete_only=complete_only)
    if summaries:
        content = to_json(summaries)
    elif (folder / _RESULTS).exists():
        content = (folder / _RESULTS).read_text(encoding="utf-8")
    else:
        raise ValueError(f"{folder} holds no results: make some with `dubio papers run --out {folder}`.")
    summaries = from_json(content)  # the pages show only what the JSON holds
    out.mkdir(parents=True, exist_ok=True)
    (out / "figures").mkdir(exist_ok=True)
    for summary in summaries:
        for shown in summary.displays:
            for panel in panels(summary, shown):
                write_whole(out / "figures" / panel.file, panel.svg + "\n")
    write_whole(out / _RESULTS, content)
    html, markdown = out / "index.html", out / "README.md"
    write_whole(html, render("page.html.j2", summaries, autoescape=True))
    write_whole(markdown, render("page.md.j2", summaries, autoescape=False))
    return html, markdown


def render(template: str, summaries: Sequence[ExperimentSummary], *, autoescape: bool) -> str:
    """Make a page from its template."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dubio_papers", "."), autoescape=autoescape, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    environment.globals.update(panels=panels, legend=legend, entry_words=entry_words)
    by_paper = {paper: [s for s in summaries if s.paper == paper] for paper in PAPERS}
    days = sorted({day for summary in summaries for day in summary.days})
    return environment.get_template(template).render(
        papers={key: (PAPERS[key], own) for key, own in by_paper.items() if own},
        versions=sorted({version for summary in summaries for version in summary.versions}),
        days=(days[0], days[-1]) if days else ("", ""),
    )


def panels(summary: ExperimentSummary, shown: Shown) -> list[Panel]:
    """The charts of a display, one for each cell that was run."""
    if shown.kind != "curves":
        return []
    charts = []
    for place, cell in enumerate(summary.cells):
        names = [name for name in shown.measures if name in cell.measures]
        if not names:
            continue
        length = len(cell.measures[names[0]].mean)
        x = cell.measures["x"].mean if "x" in cell.measures else list(range(1, length + 1))
        lines = [Line(name, cell.measures[name].mean, _bars(cell.measures[name].error)) for name in names]
        title = f"{cell.title} ({cell.repetitions})"
        svg = line_chart(title, x, lines, shown.options["x_label"], shown.options["y_label"])
        charts.append(Panel(f"{summary.name}-{summary.displays.index(shown)}-{place}.svg", svg))
    return charts


def _bars(errors: Sequence[float] | None) -> list[float] | None:
    """95 % intervals."""
    return None if errors is None else [1.96 * error for error in errors]


def number(value: Any, digits: int) -> str:
    """A number with ``digits`` decimals, a dash for None.

    >>> number(None, 1), number(-0.04, 1), number(3.25, 1)
    ('–', '0.0', '3.2')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def entry_words(entry: Entry, digits: int, printed_digits: int) -> str:
    """One cell of a table: our number, its error, the printed number, and whether that is inside the band."""
    if entry.ours is None:
        return "–" if entry.printed is None else f"– (printed {number(entry.printed, printed_digits)})"
    words = number(entry.ours, digits)
    if entry.error is not None:
        words += f" ± {number(entry.error, digits + 1)}"
    if entry.printed is not None:
        words += f" | {number(entry.printed, printed_digits)}"
        words += {True: " ✓", False: " ✗", None: ""}[entry.inside]
    return words

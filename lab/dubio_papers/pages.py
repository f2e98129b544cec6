"""The pages: printed numbers next to ours, figures drawn again, verdicts; as HTML, Markdown, JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dubio_app.whole_files import write_whole
from dubio_papers.claim_charts import claim_charts
from dubio_papers.data_files import as_csv
from dubio_papers.experiment import PAPERS, Finding
from dubio_papers.line_charts import Line, legend, line_chart
from dubio_papers.registry import all_experiments
from dubio_papers.score_card import Count, as_markdown, count, score_card
from dubio_papers.score_card import as_csv as card_as_csv
from dubio_papers.sentences import SENTENCES
from dubio_papers.summary import Entry, ExperimentSummary, Shown, from_json, summarize, to_json
from dubio_papers.what_happened import what_happened

_RESULTS = "results.json"


@dataclass(frozen=True)
class Panel:
    """A chart, the name of its file, and what it shows in words."""

    file: str
    svg: str
    alt: str


def write_report(
    folder: Path, out: Path | None = None, *, complete_only: bool = False, onto: Path | None = None
) -> tuple[Path, Path]:
    """Write ``index.html``, ``README.md``, ``results.json``, the figures and the data for a folder of results.

    If the folder has ``results.json`` but no repetitions, the pages are made from that file. With ``complete_only``,
    cells without all repetitions of a full run are shown as not run. ``onto`` is a folder of earlier pages: cells
    without repetitions in ``folder`` keep the numbers of these pages, and the new pages replace them.

    Returns
    -------
    The paths of the HTML and of the Markdown page.
    """
    folder = Path(folder)
    out = Path(onto or folder) if out is None else Path(out)
    experiments = list(all_experiments().values())
    earlier = _earlier(Path(onto)) if onto is not None else []
    summaries = summarize(experiments, folder, complete_only=complete_only, stored=earlier)
    if not summaries:
        summaries = summarize(experiments, folder, stored=_earlier(folder))
    if not summaries:
        raise ValueError(f"{folder} holds no results: make some with `dubio papers run --out {folder}`.")
    content = to_json(summaries)
    summaries = from_json(content)  # the pages show only what the JSON holds
    for name in ("figures", "data"):
        (out / name).mkdir(parents=True, exist_ok=True)
    for summary in summaries:
        for panel in every_panel(summary):
            write_whole(out / "figures" / panel.file, panel.svg + "\n")
        write_whole(out / "data" / f"{summary.name}.csv", as_csv(summary))
    write_whole(out / _RESULTS, content)
    lines = score_card(summaries, SENTENCES)
    write_whole(out / "score_card.csv", card_as_csv(lines))
    write_whole(out / "score_card.md", as_markdown(lines))
    html, markdown = out / "index.html", out / "README.md"
    write_whole(html, render("page.html.j2", summaries, autoescape=True))
    write_whole(markdown, render("page.md.j2", summaries, autoescape=False))
    return html, markdown


def _earlier(folder: Path) -> list[ExperimentSummary]:
    """The summaries of the pages in a folder, if it has any."""
    path = folder / _RESULTS
    return from_json(path.read_text(encoding="utf-8")) if path.exists() else []


def render(template: str, summaries: Sequence[ExperimentSummary], *, autoescape: bool) -> str:
    """Make a page from its template."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dubio_papers", "."), autoescape=autoescape, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    environment.globals.update(
        panels=panels, claim_panels=claim_panels, legend=legend, entry_words=entry_words, holds_words=holds_words
    )
    by_name = {summary.name: summary for summary in summaries}
    lines = score_card(summaries, SENTENCES)
    sections = [
        Section(
            key,
            PAPERS[key],
            [s for s in summaries if s.paper == key],
            count(lines, key, "number"),
            count(lines, key, "sentence"),
        )
        for key in PAPERS
    ]
    days = sorted({day for summary in summaries for day in summary.days})
    return environment.get_template(template).render(
        papers=[section for section in sections if section.summaries],
        happened={key: what_happened(key, by_name) for key in PAPERS},
        versions=sorted({version for summary in summaries for version in summary.versions}),
        days=(days[0], days[-1]) if days else ("", ""),
    )


@dataclass(frozen=True)
class Section:
    """A paper and its experiments."""

    key: str
    reference: str
    summaries: list[ExperimentSummary]
    numbers: Count
    sentences: Count

    @property
    def short(self) -> str:
        """Authors and year."""
        return self.reference.split("),")[0] + ")"

    @property
    def unavailable(self) -> list[str]:
        """The tables that could not be had."""
        names = {cell.dataset for s in self.summaries for cell in s.cells if cell.skipped and cell.dataset}
        return sorted(name.replace("_", " ") for name in names)


def every_panel(summary: ExperimentSummary) -> list[Panel]:
    """All charts of an experiment."""
    return claim_panels(summary) + [panel for shown in summary.displays for panel in panels(summary, shown)]


def claim_panels(summary: ExperimentSummary) -> list[Panel]:
    """The figures of the claims."""
    return [
        Panel(f"{summary.name}-claims-{number}.svg", chart.svg(), chart.description)
        for number, chart in enumerate(claim_charts(summary.findings))
    ]


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
        x_label, y_label = shown.options["x_label"], shown.options["y_label"]
        ends = "; ".join(f"{line.name}: {line.y[0]:.3g} to {line.y[-1]:.3g}" for line in lines)
        alt = f"{cell.title}: {y_label} by {x_label}, from {x[0]:g} to {x[-1]:g}. {ends}."
        svg = line_chart(title, x, lines, x_label, y_label, alt)
        charts.append(Panel(f"{summary.name}-{summary.displays.index(shown)}-{place}.svg", svg, alt))
    return charts


def _bars(errors: Sequence[float] | None) -> list[float] | None:
    """95 % intervals."""
    return None if errors is None else [1.96 * error for error in errors]


def holds_words(finding: Finding) -> str:
    """The verdict on a claim."""
    if finding.cannot_hold:
        return "Cannot hold"
    return {True: "Holds", False: "Does not hold", None: "Undecided"}[finding.holds]


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

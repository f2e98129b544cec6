"""The numbers of ``docs/comparison.md`` that ``docs/alternatives.md`` quotes, so that the two pages cannot differ."""

from __future__ import annotations

import re

BEGIN, END = "<!-- numbers of the comparison -->", "<!-- end of the numbers -->"
#: Kinds of doubt that are quoted, with the head of their column.
KINDS = {
    "All classes right": "all right",
    "20 % of the classes wrong": "20 % wrong",
    "30 % moved to the next class": "30 % moved to the next class",
    "10 % of the classes known": "10 % known",
    "Probabilities: an unsure expert": "probabilities",
}
#: Names in the comparison, and how the page calls them.
PEERS = {
    "F-test": "scikit-learn, F-test",
    "mutual information": "scikit-learn, mutual information",
    "RFE": "scikit-learn, RFE with logistic regression",
    "random forest": "scikit-learn, importance in a forest",
    "mRMR, quotient": "mRMR (the published formula)",
    "fastcan": "fastcan",
    "cleanlab + forest": "cleanlab, then a forest",
    "ReliefF (skrebate)": "scikit-rebate, ReliefF",
    "`relieff`": "ReliefF of dubio",
    "Boruta": "Boruta",
    "SHAP on boosting": "SHAP on boosting",
}


def rows_of(comparison: str, title: str) -> dict[str, dict[str, str]]:
    """The table of one kind of doubt: for each selector its cells by the head of their column."""
    section = comparison.partition(f"\n### {title}\n")[2].partition("\n### ")[0]
    lines = [re.split(r" *\| *", line.strip("| \n")) for line in section.splitlines() if line.startswith("|")]
    return {line[0]: dict(zip(lines[0], line, strict=False)) for line in lines[2:]}


def quoted(comparison: str) -> str:
    """The table of ``docs/alternatives.md``."""
    tables = {title: rows_of(comparison, title) for title in KINDS}
    head = ["in place of `FeatureSelector()`", *KINDS.values(), "seconds"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, called in PEERS.items():
        found = [rows.get(name, {}).get("minus `auto`", "") for rows in tables.values()]
        first = tables["All classes right"].get(name, {})
        if any(found):
            lines.append([called, *(cell or "not run" for cell in found), first.get("seconds", "")])
        else:
            lines.append([called, *["not run"] * len(KINDS), ""])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    time = next(cells["seconds"] for name, cells in tables["All classes right"].items() if "**" in name)
    return f"{table}\n\n`FeatureSelector()` itself takes {time} seconds on these tables."


def renewed(page: str, comparison: str) -> str:
    """The page with the numbers of the comparison between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{quoted(comparison)}\n\n{END}{after}"

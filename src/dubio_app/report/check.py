"""The page on which drawn rows are judged by a person who does not see their labels."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from dubio_app.report import read_part, template
from dubio_app.report.tables import as_json


@dataclass(frozen=True)
class Card:
    """One row, or the rows of one group, to be judged together."""

    #: Numbers of the rows from 1, their names, and their cells: name and text.
    rows: list[int]
    names: list[str]
    cells: list[list[tuple[str, str]]]


def render_check(
    cards: list[Card],
    classes: list[str],
    asked: str,
    table: str,
    draw: str,
    *,
    chance: float | None,
    judged: str,
    files: str,
) -> str:
    """The page as text. It does not know the given labels.

    ``classes`` is empty if numbers are asked for. ``chance`` is that of all rows; None if rows have different ones,
    which may depend on their labels: then they stand only in the file of the draw. ``judged`` is the name of the file
    that it writes, ``files`` what to add to the command. All text is escaped; the page asks nothing of the network.
    """
    from markupsafe import Markup

    from dubio import __version__

    content: dict[str, Any] = {"cards": [asdict(card) for card in cards], "classes": classes}
    content |= {"chance": "" if chance is None else repr(chance), "judged": judged}
    content["key"] = hashlib.sha256(json.dumps([content, table, draw], sort_keys=True).encode()).hexdigest()[:32]
    script = read_part("check.js")
    return template("check.html.j2").render(
        title=f"Which {asked}?",
        asked=asked,
        table=table,
        draw=draw,
        files=files,
        judged=judged,
        numbers=not classes,
        style=Markup(read_part("page.css")),
        script=Markup(script),
        data=Markup(as_json(content)),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
    )

"""The report: one self-contained HTML page that needs no network and no other files."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib import resources
from typing import Any

from dubio_app.report.findings import Findings, gather, gather_problem
from dubio_app.whole_files import write_whole

__all__ = ["Findings", "gather", "gather_problem", "render_report", "write_report"]


def render_report(findings: Findings) -> str:
    """The page as text.

    All text from the table is escaped. The page allows only its own script, and no requests.
    """
    from markupsafe import Markup

    from dubio import __version__
    from dubio_app.report.sections import page_content
    from dubio_app.report.tables import as_json

    script = read_part("page.js") + read_part("corrections.js")
    content = page_content(findings) | {"style": Markup(read_part("page.css")), "script": Markup(script)}
    content |= {"data": Markup(as_json(content["data"])), "version": __version__}
    content["script_hash"] = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(template("page.html.j2").render(content))


def write_report(
    path: str | os.PathLike[str],
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    stability: Any = None,
    audit: Any = None,
    tolerance: Any = None,
    fingerprints: Any = None,
    corrected: Any = None,
    evaluation: Any = None,
    table_name: str = "the table",
    target_name: str = "the target",
    code: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write the report of a fitted selector as one HTML file (needs the extra ``cli``).

    Parameters
    ----------
    path : path
        Where to write; an existing file is replaced when the new one is complete.
    selector : estimator
        A fitted selector, preferably :class:`~dubio.FeatureSelector`.
    X, y
        The data it was fitted on.
    stability : Stability, optional
        From :func:`dubio.stability`: adds intervals and the heat map.
    audit : LabelAudit, optional
        From :func:`dubio.audit_labels`: adds the doubtful labels.
    tolerance : LabelTolerance, optional
        From :func:`dubio.label_tolerance`: adds how wrong the labels may be.
    fingerprints : Fingerprints, optional
        From :func:`dubio.label_fingerprints`: adds features that are related to how rows were labelled.
    corrected : BeforeAndAfter, optional
        From :func:`dubio.trust.compare`: adds what corrections of labels changed.
    evaluation : SelectionEvaluation, optional
        From :func:`dubio.pipelines.evaluate_selection`: adds what the selection is worth to a model.
    table_name, target_name : str
        Their names on the page.
    code : str
        Code that repeats the selection, shown at the end.
    notes : sequence of str
        Remarks, shown with the explanation.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from dubio import FeatureSelector
    >>> from dubio_app.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FeatureSelector().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.html")
    ...     write_report(path, selector, X, y, table_name="iris", target_name="species")
    ...     os.path.getsize(path) < 300_000
    True
    """
    found = {"stability": stability, "audit": audit, "tolerance": tolerance, "fingerprints": fingerprints}
    found |= {"corrected": corrected, "evaluation": evaluation, "code": code, "notes": notes}
    findings = gather(selector, X, y, **found, table_name=table_name, target_name=target_name)
    write_whole(path, render_report(findings))


def template(name: str) -> Any:
    """A template that escapes all text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from dubio_app.report.svg import printable

    environment = Environment(
        loader=PackageLoader("dubio_app.report", "."),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else printable(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def read_part(name: str) -> str:
    """A part of a page, as it stands in its file."""
    return resources.files("dubio_app.report").joinpath(name).read_text(encoding="utf-8")

"""``dubio demo``: a table that comes with scikit-learn, doubtful labels, the ranking and the report."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_wine

from dubio.doubt.audit import audit_labels
from dubio.selector import FeatureSelector
from dubio.simulate import unsure_annotator
from dubio.trust.resampling import stability

DOUBT = 0.4  # of the simulated annotator, on average
N_DECOYS = 7  # columns added as shuffled copies: they look real but mean nothing
_DRAWS = 8  # resamples for the stability

_CODE = """\
from dubio import FeatureSelector
from dubio_app.demo import doubtful_wine

X, labels, truth, guesses = doubtful_wine(seed={seed})
selector = FeatureSelector(random_state={seed}).fit(X, labels)
print(selector.explanation_)
print(selector.to_ranking())"""


def doubtful_wine(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """The wine table with shuffled decoy columns, the labels of an unsure annotator, the true classes, and the
    annotator's guesses (one class per row).

    Examples
    --------
    >>> from dubio_app.demo import doubtful_wine
    >>> X, labels, truth, guesses = doubtful_wine()
    >>> X.shape, labels.shape, round(float((guesses != truth).mean()), 2)
    ((178, 20), (178, 3), 0.44)
    """
    bunch = load_wine(as_frame=True)
    table = bunch.data.rename(columns=lambda name: name.replace("_", " "))
    rng = np.random.default_rng(seed)
    for name in list(table.columns[:N_DECOYS]):
        table[f"shuffled {name}"] = rng.permutation(table[name].to_numpy())
    truth = np.asarray(["barolo", "grignolino", "barbera"])[bunch.target]
    expert = unsure_annotator(truth, DOUBT, random_state=seed)
    return table, expert.memberships, truth, expert.y_error


def show(report: str | os.PathLike[str] = "dubio-demo.html", *, seed: int = 0, jobs: int | None = None) -> Path:
    """Rank the features, print the ranking, write the report, and print its path."""
    from dubio_app.command.output import print_table, step
    from dubio_app.report import write_report

    X, labels, truth, guesses = doubtful_wine(seed)
    with step("ranking"):
        doubtful = FeatureSelector(random_state=seed, n_jobs=jobs).fit(X, labels)
        clean = FeatureSelector(random_state=seed, n_jobs=jobs).fit(X, truth)
    wrong = float(np.mean(guesses != truth))
    print(
        f"Wine: {len(X)} rows and {X.shape[1]} features; {N_DECOYS} of them are shuffled copies that mean nothing. A "
        f"simulated\nannotator gives each row class probabilities (mean doubt {DOUBT:g}). With only one class per row, "
        f"the same\nannotator would be wrong in {100 * wrong:.0f} % of the rows.\n"
    )
    ranking, other = doubtful.to_ranking(), clean.to_ranking()
    qvalues, order = ranking.extras["qvalue"], ranking.order.tolist()
    ranks = [(ranking.ranking[j], ranking.names[j], qvalues[j], ranking.line_of(j)) for j in order]
    rows = [(*one, other.ranking[j], other.line_of(j)) for one, j in zip(ranks, order, strict=True)]
    columns = [("rank", "right"), ("feature", "left"), ("q-value", "right"), ("line", "left")]
    columns += [("clean labels: rank", "right"), ("line", "left")]
    print(fill(ranking.headline(), 100))
    print(f"Method: {doubtful.method_}. Features related to the target come first.\n")
    print_table("Features ranked with the doubtful labels, compared with clean labels", columns, rows)
    agreed = int((doubtful.support_ & clean.support_).sum())
    decoys = int(doubtful.support_[-N_DECOYS:].sum())
    print(
        f"Kept {doubtful.n_features_} features: {agreed} of the {clean.n_features_} that clean labels would keep, and "
        f"{decoys} of the {N_DECOYS} shuffled copies.\n"
    )
    with step("resampling"):
        sure = stability(clone(doubtful), X, labels, n_draws=_DRAWS, random_state=seed, n_jobs=jobs)
    with step("auditing the labels"):
        audit = audit_labels(X, guesses, random_state=seed, n_jobs=jobs)
    write_report(
        report,
        doubtful,
        X,
        labels,
        stability=sure,
        audit=audit,
        table_name="the wine table",
        target_name="the grape",
        code=_CODE.format(seed=seed),
        notes=["The doubtful labels listed below are the annotator's guesses, one class per row."],
    )
    path = Path(report).resolve()
    print(f"The report: {path}")
    return path


if __name__ == "__main__":
    show()

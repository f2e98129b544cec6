"""``make demo``: give a table that ships with scikit-learn doubtful labels, rank its features, write a page."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from dubio.ranking import Ranking
from dubio.selectors import WeightedLaplacianScore
from dubio.supervision import unsure_expert

#: Mean doubt of the simulated expert.
DOUBT = 0.4


def run(out: Path = Path("dubio-demo.html"), *, seed: int = 0) -> Path:
    """Rank the wine table from an unsure expert's labels; print the ranking and write it to ``out``."""
    bunch = load_wine()
    expert = unsure_expert(bunch.target_names[bunch.target], DOUBT, random_state=seed)
    wrong = float(np.mean(expert.y_error != bunch.target_names[bunch.target]))
    names = np.asarray(bunch.feature_names, dtype=object)
    doubtful = _ranking(bunch.data, expert.memberships, names)
    guessed = _ranking(bunch.data, expert.y_error, names)
    clean = _ranking(bunch.data, bunch.target, names)
    story = (
        f"Wine: {len(bunch.data)} rows, {bunch.data.shape[1]} features, 3 classes. A simulated expert gives each row "
        f"probabilities instead of a class (mean doubt {DOUBT:g}); asked for one class a row, the same expert would "
        f"be wrong in {100 * wrong:.0f} % of them."
    )
    print(story + "\n")
    print(f"{'rank':>4}  {'feature':<30} {'score':>7}  {'clean labels say':>16}  {'wrong labels say':>16}")
    for j in doubtful.order:
        print(
            f"{doubtful.ranking[j]:>4}  {names[j]:<30} {doubtful.scores[j]:>7.3f}  {clean.ranking[j]:>16}  "
            f"{guessed.ranking[j]:>16}"
        )
    for word, other in (("probabilities", doubtful), ("the wrong labels", guessed)):
        shared = np.isin(other.order[:5], clean.order[:5]).sum()
        print(f"\nOf the five best features by clean labels, {shared} are among the five best by {word}.", end="")
    out.write_text(_page(story, doubtful, clean, guessed), encoding="utf-8")
    print(f"\n\nThe ranking as a page: {out.resolve()}")
    return out


def _ranking(X: Any, y: Any, names: Any) -> Ranking:
    return Ranking.from_scores(WeightedLaplacianScore().fit(X, y).scores_, names=names, keep=5)


def _page(story: str, doubtful: Ranking, clean: Ranking, guessed: Ranking) -> str:
    longest = np.nanmax(doubtful.scores[np.isfinite(doubtful.scores)])
    rows = "".join(
        f"<tr><td>{doubtful.ranking[j]}</td><td>{html.escape(str(doubtful.names[j]))}</td>"
        f"<td><meter min=0 max={longest:.4g} value={doubtful.scores[j]:.4g}></meter> {doubtful.scores[j]:.3f}</td>"
        f"<td>{clean.ranking[j]}</td><td>{guessed.ranking[j]}</td></tr>"
        for j in doubtful.order
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>dubio: features ranked from doubtful labels</title>"
        "<style>body{font:16px system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
        "table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left;"
        "border-bottom:1px solid #8884}</style>"
        f"<h1>Features ranked from doubtful labels</h1><p>{html.escape(story)}</p>"
        "<table><thead><tr><th>rank</th><th>feature</th><th>score (low is good)</th><th>rank by clean labels</th>"
        f"<th>rank by wrong labels</th></tr></thead><tbody>{rows}</tbody></table></html>\n"
    )


if __name__ == "__main__":
    run()

"""The account of a run: the plain facts that its paragraphs, its checklist and its flow of rows are made from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dubio.errors import quoted
from dubio.findings import how_sure, note_on_evaluation
from dubio.ranking import Ranking
from dubio.trust.selection import FEWEST_ROWS, rounded, versions
from dubio.words import sentence
from dubio_app.command.output import Rows
from dubio_app.command.trust import Run, common_classes, counts_of_classes
from dubio_app.command.wording import model_of


@dataclass(frozen=True)
class Account:
    """The facts of a run.

    Attributes
    ----------
    facts : dict
        Numbers and names, as sentences use them.
    holds : frozenset of str
        What is so in this run: "groups", "tested", "nothing stands out". Sentences and items depend on these.
    ranking : Ranking
        Without the features that were left out.
    rows : list of dict
        One per feature that was ranked, best first.
    left_out : dict of str to str
    classes : list of (str, float)
        The classes and how many rows each has; empty for numbers. In an account without rows, rare ones are missing.
    sure : tuple of str
        Sentences on how sure the answer is.
    """

    facts: dict[str, Any]
    holds: frozenset[str]
    ranking: Ranking
    rows: Rows
    left_out: dict[str, str]
    classes: list[tuple[str, float]]
    sure: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, rows: Rows) -> Account:
        """The account of a finished run; ``rows`` has one dictionary per feature that was ranked."""
        call, problem, selector = run.call, run.problem, run.selector
        full, known = run.findings.ranking, problem.supervision.certain()
        ranking = full.without_left_out().without_handed_on()
        tested = full.n_relevant is not None
        used = getattr(selector, "n_sampled_", problem.n_rows)
        facts: dict[str, Any] = {
            "table": "standard input" if call.table == "-" else Path(call.table).name,
            "target": run.question.asked_in_quotes or "the target",
            "rows": problem.n_rows,
            "columns": len(full.names) - full.n_given,
            "ranked": len(ranking.names) - full.n_given,
            "truth": [] if full.about_truth is None else [sentence(full.about_truth)],
            "labelled": known.n_labelled,
            "unlabelled": problem.n_rows - known.n_labelled,
            "used": used,
            "missing": problem.n_missing,
            "missing_percent": 100 * problem.n_missing / max(1, problem.n_rows * problem.n_features),
            "filled_with": problem.filled_with,
            "groups": call.groups and quoted(call.groups),
            "n_groups": problem.n_groups,
            "weights": call.weights and quoted(call.weights),
            "described": known.describe(),
            "method": selector.method_,
            "does": run.findings.does,
            "because": run.findings.because,
            "alpha": 100 * call.alpha,
            "kept": ranking.names[ranking.best_first[: ranking.n_kept]].tolist(),
            "n": ranking.n_kept,
            "related": full.n_relevant or 0,
            "enough": full.n_sufficient or 0,
            "seed": call.seed,
            **{name.replace("-", "_"): version for name, version in versions().items()},
        }
        facts |= {"given": list(full.given), "checked": problem.checks.n_checked if problem.checks is not None else 0}
        if run.corrected is not None:
            labels = run.corrected.corrected
            facts |= {"looked": int((labels.decisions != "").sum()), "corrected": labels.count("change")}
        if run.stability is not None:
            facts["draws"] = len(run.stability.rankings)
        if run.evaluation is not None:
            facts |= {"model": model_of(run), "folds": len(run.evaluation.selected)}
            facts["worth"] = [sentence(note_on_evaluation(run.evaluation, facts["model"])), run.evaluation.verdict()]
        search = hasattr(selector.selector_, "subsets_")
        so = {
            "target": known.has_target,
            "left out": full.left_out,
            "unlabelled": facts["unlabelled"] and known.has_target,
            "sampled": used < problem.n_rows,
            "groups": problem.groups is not None,
            "weights": call.weights,
            "given": full.given,
            "checked": problem.checks is not None,
            "corrected": run.corrected is not None,
            "missing cells": problem.n_missing,
            "no missing cells": not problem.n_missing,
            "tested": tested,
            "tested together": tested and search,
            "tested alone": tested and not search,
            "not tested": not tested,
            "kept": not full.nothing_stands_out,
            "related": full.n_relevant,
            "sufficient": 0 < facts["enough"] < facts["related"],
            "nothing stands out": full.nothing_stands_out,
            "stability": run.stability is not None,
            "evaluation": run.evaluation is not None,
            "audit": run.audit is not None,
            "effects": rows and "effect" in rows[0],
            "no rows": call.no_rows,
        }
        if call.no_rows:
            rows = [{name: rounded(value) for name, value in row.items()} for row in rows]
            so["unlabelled"] = facts["unlabelled"] >= FEWEST_ROWS and known.has_target
            so["missing cells"] = facts["missing"] >= FEWEST_ROWS
        sure = tuple(map(sentence, how_sure(full.without_handed_on(), call.alpha if tested else None, run.stability)))
        left_out = dict.fromkeys(full.left_out, "") if call.no_rows else dict(full.left_out)
        holds = frozenset(name for name, is_so in so.items() if is_so)
        classes = common_classes(known) if call.no_rows else counts_of_classes(known)
        return cls(facts, holds, ranking, rows, left_out, list(classes.items()), sure)

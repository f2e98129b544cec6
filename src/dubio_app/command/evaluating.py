"""``dubio rank --evaluate``: what the selection is worth to a model."""

from __future__ import annotations

from typing import Any

import joblib
from sklearn.base import clone

from dubio.errors import InputError
from dubio.pipelines.evaluation import SelectionEvaluation, evaluate_problem, usual_model
from dubio.problem import Problem, sample_rows
from dubio.target.classes import Classes
from dubio.target.memberships import Memberships
from dubio.target.numbers import Numbers
from dubio_app.command.output import notes_from_warnings, step
from dubio_app.command.wording import UserError

#: Larger tables are evaluated on a sample of so many rows: the models are fitted some five hundred times.
_MOST_ROWS = 5_000
#: The models in words: for classes, and for numbers.
WORDS = {
    "logistic": ("logistic regression", "ridge regression"),
    "forest": ("a random forest", "a random forest"),
    "svm": ("a support vector machine", "a support vector machine"),
}


def require_evaluable(problem: Problem, options: Any) -> None:
    """Refuse a target that no model can be evaluated on before the work starts, not after it."""
    known = problem.supervision.certain()
    if options.evaluate is not None and not isinstance(known, Classes | Memberships | Numbers):
        raise UserError(f"--evaluate needs classes, probabilities or numbers, but {known.given}.")


def evaluation_of(selector: Any, problem: Problem, options: Any, notes: list[str]) -> SelectionEvaluation | None:
    """Nested cross-validation of the selection; None if it was not asked for."""
    if options.evaluate is None:
        return None
    problem = problem.counted
    known = problem.supervision.certain()
    if problem.n_rows > _MOST_ROWS:
        notes.append(f"the selection was evaluated on {_MOST_ROWS:,} of {problem.n_rows:,} rows")
        problem = problem.rows(sample_rows(problem, _MOST_ROWS, options.seed))
    is_numeric = isinstance(known, Numbers)
    if is_numeric and options.evaluate == "logistic":
        notes.append("logistic regression needs classes: for a numeric target, --evaluate logistic is ridge regression")
    model = usual_model(options.evaluate, "numbers" if is_numeric else "classes", random_state=options.seed)
    try:
        with (
            step(f"evaluating with {WORDS[options.evaluate][is_numeric]}"),
            notes_from_warnings([]),  # those of single folds
            joblib.parallel_config(backend="threading"),  # processes start slowly and would outlive Ctrl-C
        ):
            return evaluate_problem(
                clone(selector).set_params(n_jobs=1),
                model,
                problem,
                random_state=options.seed,
                n_jobs=options.jobs or -1,
            )
    except InputError as error:
        if error.argument == "n_splits":
            found = error.found.partition(", but ")[2]
            raise UserError(f"--evaluate divides the rows into five parts, but {found}: label more.") from error
        raise UserError(f"--evaluate: some parts of the table cannot be ranked alone: {error}") from error


def in_words(found: SelectionEvaluation, options: Any, tested: bool) -> list[str]:
    """The evaluation in two sentences, without a full stop; ``tested``: some features are related to the target."""
    name = WORDS[options.evaluate][found.measure == "R2"]
    # the answer above names the sufficient features first: say which ones the folds keep
    wishes = {"relevant": "related to the target", "sufficient": "that suffice"} if tested else {}
    chosen = wishes.get(options.keep, "selected")
    numbers, verdict = found.numbers(chosen).rstrip("."), found.verdict().rstrip(".")
    return [f"With {name}: {numbers.replace('Accuracy', 'accuracy')}", verdict]


def evaluation_record(found: SelectionEvaluation, model: str) -> dict[str, Any]:
    """The evaluation for JSON."""
    return {"model": "ridge" if model == "logistic" and found.measure == "R2" else model, **found.record()}

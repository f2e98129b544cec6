"""The findings as sentences: first the answer, then how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from dubio.doubt.number_audit import NumberAudit
from dubio.target.classes import Classes, OfClasses
from dubio.target.intervals import Intervals
from dubio.target.memberships import Memberships
from dubio.target.ordered import OrderedClasses, OrderedMemberships, in_words
from dubio.target.positives import Positives
from dubio.target.several import SeveralTargets
from dubio_app.report.findings import Findings

_RESAMPLED = {
    "bootstrap": "rows were drawn again",
    "subsample": "two thirds of the rows were drawn",
    "labels": "the labels were drawn again from their probabilities",
    "pairs": "the pairs were drawn again",
}


def question(findings: Findings) -> str:
    """The question that the page answers."""
    if findings.about_labels:
        return f"Which {_labels(findings)} of {findings.asked} in {findings.table_name} look wrong?"
    if findings.supervision.kind == "none":
        told = "show its groups of rows" if not findings.supervision.has_pairs else "agree with the given pairs of rows"
        return f"Which columns of {findings.table_name} {told}?"
    return f"Which columns of {findings.table_name} say something about {findings.asked}?"


def answer(findings: Findings) -> str:
    """The answer, in one or two sentences."""
    audit = findings.audit
    if findings.about_labels and audit is not None:
        labels, doubtful, given = _labels(findings), int(audit.doubtful.sum()), int(audit.labelled.sum())
        if not audit.judged:
            return f"The {labels} cannot be judged."
        return (
            f"{doubtful} of {given} {labels} are doubtful."
            if doubtful
            else audit.why_held_back() or f"None of the {given} {labels} is doubtful."
        )
    return findings.ranking.headline()


def surety(findings: Findings) -> list[str]:
    """How sure the answer is, in a few sentences."""
    sentences = []
    if findings.ranking.left_out:
        sentences.append(f"{findings.ranking.what_was_left_out()}.")
    if not findings.stands_out:
        sentences.append(
            "In Python, the feature with the smallest p-value is handed on so that pipelines run, but nothing shows "
            "that it matters."
        )
    elif findings.alpha is not None:
        sentences.append(
            f"Each feature was tested against chance, alone and together with others; about {100 * findings.alpha:g} % "
            "of the related features may be there by chance."
        )
    stability = findings.stability
    if stability is not None and findings.n_kept == findings.ranking.n_ranked:
        sentences.append("When the data are resampled, only the order can change: every feature is kept.")
    elif stability is not None and not findings.n_kept:
        draws, some = len(stability.rankings), int(stability.selected.any(axis=1).sum())
        often = f"a feature was kept in {some} of them" if some else "no feature was kept in any of them"
        sentences.append(f"When {_RESAMPLED[stability.resample]} {draws} times, {often}.")
    elif stability is not None:
        value = stability.index.value
        word = "barely" if value < 0.4 else "moderately" if value < 0.75 else "very"
        sentences.append(
            f"The choice is {word} stable: when {_RESAMPLED[stability.resample]} {len(stability.rankings)} times, the "
            f"stability index was {_two(value)} (interval {_two(stability.index.low)} to "
            f"{_two(stability.index.high)}; 1 means always the same features, 0 means no better than chance)."
        )
    audit = findings.audit
    if audit is not None:
        doubtful, labelled = int(audit.doubtful.sum()), int(audit.labelled.sum())
        what, labels = "numbers" if isinstance(audit, NumberAudit) else "classes", _labels(findings)
        sentences.append(
            f"The columns do not tell the {what}, so the {labels} cannot be judged."
            if not audit.judged
            else f"{doubtful} of {labelled} {labels} are doubtful (estimated share of wrong ones: "
            f"{100 * audit.error_rate:.1f} %)."
            if doubtful
            else audit.why_held_back() or f"None of the {labelled} {labels} is doubtful."
        )
    return sentences


def chosen(findings: Findings) -> str:
    """How many features were chosen, beside the curve behind that number."""
    told = "related" if findings.keeps_the_related else "kept"
    return f"{findings.curve.chosen or 'none'} {told}"


def enough(count: int) -> str:
    """The number of features beyond which a set is not better."""
    return f"{count} {'is' if count == 1 else 'are'} enough"


def _labels(findings: Findings) -> str:
    """What the target holds."""
    return "numbers" if isinstance(findings.audit, NumberAudit) else "labels"


def drawn(findings: Findings) -> str:
    """What the drawings of the top features show."""
    kind = findings.supervision.kind
    against_numbers = (
        "Each dot is a row; the line is the running mean. Categories have a bar from the first to the third quartile, "
        "with the median."
    )
    against_classes = (
        "Numbers: filled curves are densities, dots are rows, the vertical line is the median. Categories: bars show "
        f"how many rows {'of each class ' if kind != 'none' else ''}have each of them."
    )
    if kind == "several":
        return (
            "Each feature is drawn against one target, which its caption names: the one with its smallest p-value. If "
            "the target is a number, dots are rows and the line is the running mean; categories have a bar from the "
            "first to the third quartile, with the median. If the target is a class, filled curves are densities, dots "
            "are rows and the vertical line is the median; for categories, bars show how many rows of each class have "
            "them."
        )
    if kind == "soft":
        against_classes += " Every row counts for each class according to its probability."
    return against_numbers if kind == "numbers" else against_classes


def limits(findings: Findings) -> list[str]:
    """What the page does not tell, so that nobody reads it into the answer."""
    known, tested = findings.supervision, findings.alpha is not None
    target = findings.asked if known.kind != "none" else "the groups of rows"
    said = [
        f"Whether a feature causes {target}, or the other way round. It is only seen that they go together."
        if known.kind != "none"
        else "Whether the groups of rows mean anything. Nothing was given to compare them with.",
        "Anything about columns that were not measured, or about rows that were not drawn like these.",
        "That the features at the end of the list have nothing to do with it: too little evidence is not evidence of "
        "nothing."
        if tested
        else "Which features are there by chance: they were ranked, but not tested.",
    ]
    if known.kind != "none" and findings.evaluation is None:
        how = "" if known.kind == "several" else " dubio rank tells it with --evaluate logistic."
        said.append(f"How well a model would predict.{how}")
    if known.kind != "none" and findings.audit is None:
        said.append("Whether the labels are right. They were not audited.")
    if 0 < known.n_labelled < known.n_rows:
        said.append(
            "Whether the rows without a label are like those with one. If labels are missing for a reason that the "
            "columns do not show, the answer holds for labelled rows only."
        )
    if tested and findings.problem.groups is None:
        said.append(
            "Whether rows belong together. The tests take them as independent; if several are of one patient, name the "
            "column that says so (--groups)."
        )
    if findings.stability is None:
        said.append("How far the ranks would move with other rows. dubio rank tells it with --stability 50.")
    return said


def tolerance(findings: Findings) -> str:
    """What the bars of the tolerance mean."""
    found = findings.tolerance
    if found is None:
        return ""
    wrong = {
        "hard": {
            "uniform": "labels are changed to any other class at random",
            "one-class": "labels of the largest class are changed at random (the rate is a share of that class)",
            "next": "labels are changed to the next class at random",
        }[found.flips],
        "soft": "all probabilities are moved towards the shares of the classes, and one class per row is drawn",
        "numbers": "numbers are moved by 3 to 10 standard deviations",
    }[found.kind]
    worst = f" What a feature survives at worst is not known {found.no_worst}."
    if not found.no_worst:
        survived = {
            "hard": "what the feature survives if the worst labels were chosen",
            "numbers": "the worst shift of the numbers that it survives",
        }[found.kind]
        worst = f" On the right: {survived} (by the linear test, its cut held fixed)."
    return (
        f"The bar ends where the feature is kept in half of the draws in which {wrong}; the line is its interval. "
        f"{found.n_draws} draws were needed.{worst}"
    )


def _join(names: Sequence[str]) -> str:
    shown = [*names[:8], f"{len(names) - 8} more"] if len(names) > 9 else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # never "-0.00"


def labels_table(findings: Findings) -> list[tuple[str, str]]:
    """How the labels were read, as counts."""
    known = findings.supervision
    rows = [("rows", f"{known.n_rows:,}")]
    if isinstance(known, Classes):
        rows.append(("rows with one class each", f"{known.n_labelled:,}"))
    if isinstance(known, Memberships):
        certain = int((known.memberships[known.labelled].max(axis=1) >= 1 - 1e-9).sum())
        rows.append(("rows with class probabilities", f"{known.n_labelled:,}"))
        rows.append(("of these, rows with a certain class", f"{certain:,}"))
    if isinstance(known, Positives):
        rows.append((f"rows labelled {known.positive}", f"{known.n_labelled:,}"))
    if isinstance(known, Intervals):
        exact, censored = int(known.exact.sum()), int(known.censored.sum())
        rows.append(("rows with a known number", f"{exact:,}"))
        rows.append(("rows with a censored number", f"{censored:,}"))
        rows.append(("rows with other limits", f"{known.n_labelled - exact - censored:,}"))
    if isinstance(known, SeveralTargets):
        for name, part in zip(known.names, known.parts, strict=True):
            rows.append((f"rows with {name}", f"{part.n_labelled:,}"))
    if known.kind == "numbers":
        rows.append(("rows with a number", f"{known.n_labelled:,}"))
    if known.kind != "none":
        rows.append(("rows without a label", f"{known.n_rows - known.n_labelled:,}"))
    if isinstance(known, OfClasses):
        rows.append(("classes", f"{known.n_classes:,}"))
    if isinstance(known, OrderedClasses | OrderedMemberships):
        rows.append(("order of the classes", in_words(known.classes)))
    if known.has_pairs:
        rows.append(("must-link pairs", f"{len(known.pairs.must_link):,}"))
        rows.append(("cannot-link pairs", f"{len(known.pairs.cannot_link):,}"))
    return rows

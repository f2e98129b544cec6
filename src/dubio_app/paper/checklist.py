"""The checklist of the paper kit: items of reporting guidelines that concern the selection of features.

Each item is in our own words. It is answered from the run where the run knows the answer; else it says what the authors
must write. The numbers are those of TRIPOD+AI (2024), REMARK (2012, with its 20 items) and STARD (2015).
"""

from __future__ import annotations

from typing import NamedTuple

from dubio.words import say, sentence
from dubio_app.paper.account import Account


class Item(NamedTuple):
    """One item: its guideline and number, its subject, the answers of a run, and what only the authors can say.

    ``answers`` are codes of sentences with what must hold for each; the first that holds counts. Without one, or if
    ``answers`` is empty, the authors must say ``what``.
    """

    guideline: str
    number: str
    subject: str
    what: str
    answers: tuple[tuple[str, str], ...] = ()


_TABLE, _LABELS = (("paper table", ""),), (("paper labelled", "target"),)
_GAPS = (("paper missing cells", "missing cells"), ("paper no missing cells", ""))
_TESTS = (
    ("paper tested together", "tested together"),
    ("paper tested alone", "tested alone"),
    ("paper not tested", ""),
)
_MULTIPLE = (("paper false discoveries", "tested"),)
_FLOW, _SOFTWARE, _REPEAT = (("paper flow", ""),), (("paper software", ""),), (("paper repeat", ""),)
_WORTH, _STABLE = (("paper evaluation", "evaluation"),), (("paper stability", "stability"),)
_KEPT = (("paper nothing stands out", "nothing stands out"), ("paper kept", "kept"))
_EFFECTS = (("paper effects", "effects"),)

ITEMS = (
    Item("TRIPOD+AI", "5", "Source of the data", "where the rows come from, and when they were collected"),
    Item("TRIPOD+AI", "6", "Participants", "who was eligible, and at which sites"),
    Item("TRIPOD+AI", "7", "Preparation of the data", "what was done to the table before dubio read it", _TABLE),
    Item(
        "TRIPOD+AI", "8", "Outcome", "how and by whom the target was determined, and without which knowledge", _LABELS
    ),
    Item("TRIPOD+AI", "9", "Predictors", "how and when each column was measured", (("paper left out", "left out"),)),
    Item("TRIPOD+AI", "10", "Sample size", "why this number of rows was enough"),
    Item("TRIPOD+AI", "11", "Missing data", "why cells or labels are missing", _GAPS),
    Item("TRIPOD+AI", "12", "Choice of predictors", "why this way of selecting was chosen", _TESTS),
    Item("TRIPOD+AI", "12", "Several tests", "how many comparisons were made", _MULTIPLE),
    Item("TRIPOD+AI", "12", "Internal validation", "how optimism was measured", _WORTH),
    Item("TRIPOD+AI", "18", "Code and software", "where the code can be had", _SOFTWARE),
    Item("TRIPOD+AI", "20", "Flow of participants", "why rows were not in the table at all", _FLOW),
    Item("TRIPOD+AI", "21", "Rows and events in the analysis", "the number of rows of each class", _LABELS),
    Item("TRIPOD+AI", "22", "What the model holds", "the final model, if there is one", _KEPT),
    Item("TRIPOD+AI", "23", "Performance with intervals", "how well a model predicts", _WORTH),
    Item("TRIPOD+AI", "26", "Limitations", "what may bias the answer", (("paper not causal", ""),)),
    Item("REMARK", "1", "Markers and hypotheses", "which markers were expected to matter, and why"),
    Item("REMARK", "8", "Candidate variables", "why these variables were candidates", _TABLE),
    Item("REMARK", "10", "Statistical methods, missing data", "the main hypothesis", _TESTS),
    Item("REMARK", "11", "Cutpoints", "which cutpoints were used", (("paper no cutpoints", "tested"),)),
    Item("REMARK", "12", "Flow and number of events", "why patients were lost", _FLOW),
    Item("REMARK", "15", "Effect of each marker alone", "the effect of each marker", _EFFECTS),
    Item("REMARK", "16", "Effects of markers together", "a model with the established variables", _WORTH),
    Item("REMARK", "18", "Further checks", "checks of assumptions and sensitivity", _STABLE),
    Item("STARD", "10", "Test and reference", "what the reference standard is, and why", _LABELS),
    Item("STARD", "15", "Unclear results", "what was done with unclear labels", (("paper unlabelled", "unlabelled"),)),
    Item("STARD", "16", "Missing data", "what was done with missing results", _GAPS),
    Item("STARD", "18", "Intended sample size", "how the number of rows was determined"),
    Item("STARD", "19", "Flow of participants", "why rows were excluded", _FLOW),
    Item("STARD", "24", "Estimates with their precision", "accuracy with intervals", _WORTH),
)

#: What a statistician asks of a selection of features.
POINTS = (
    Item("", "1", "How many rows, and how many with a known target?", "the numbers of rows", _FLOW),
    Item("", "2", "What is the target, and how sure is it?", "how sure the labels are", _LABELS),
    Item("", "3", "Which columns were candidates, and which were left out?", "the candidates", _TABLE),
    Item("", "4", "Are the rows independent?", "whether rows belong together", (("paper groups", "groups"),)),
    Item("", "5", "What was done with missing cells?", "what was done with gaps", _GAPS),
    Item("", "6", "How were features tested?", "how features were tested", _TESTS),
    Item("", "7", "What was done about the number of tests?", "how false discoveries were limited", _MULTIPLE),
    Item("", "8", "How large are the effects, with intervals?", "the size of the effects", _EFFECTS),
    Item("", "9", "Was selection part of the validation?", "how a model was validated", _WORTH),
    Item("", "10", "Would other rows give the same selection?", "how stable the selection is", _STABLE),
    Item("", "11", "Was the analysis planned before the data were seen?", "whether there was a plan, and where it is"),
    Item("", "12", "Can the analysis be repeated?", "where table and code are", _REPEAT),
)


def answer(account: Account, item: Item) -> str:
    """The answer of the run to an item; "" if only the authors can give it."""
    codes = (code for code, needed in item.answers if not needed or needed in account.holds)
    code = next(codes, None)
    left_out = [say("because of", name=name, why=why) if why else name for name, why in account.left_out.items()]
    return "" if code is None else sentence(say(code, **{**account.facts, "left_out": left_out}))


def checklist(account: Account) -> str:
    """Both lists as Markdown."""
    parts = ["# Checklist\n", "## Items of guidelines that concern the selection\n"]
    parts += [_table(account, ITEMS, ("guideline", "item", "subject", "answer"))]
    parts += ["\n## Points that a statistician asks about\n", _table(account, POINTS, ("point", "question", "answer"))]
    return "\n".join(parts)


def _table(account: Account, items: tuple[Item, ...], head: tuple[str, ...]) -> str:
    rows = [head, ("---",) * len(head)]
    for item in items:
        told = answer(account, item) or sentence(say("paper must say", what=item.what))
        rows.append(tuple(word for word in (item.guideline, item.number, item.subject, told) if word))
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows) + "\n"

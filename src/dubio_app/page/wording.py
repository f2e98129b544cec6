"""How the page names things: an option is what people click, and a problem comes with what can be clicked."""

from __future__ import annotations

from typing import Any

from dubio.errors import InputError, Remedies, quoted
from dubio.words import Note, Phrases, note, paragraph, sentence
from dubio_app.command.options import Call, UserError, names_of_arguments
from dubio_app.command.wording import COMMAND, NAMES_WITHOUT_OPTION, REMEDIES, one_line

#: What the options are called on the page.
NAMES = {
    "target": "the target",
    "soft": "the columns with probabilities",
    "confidence": "“How sure the label is”",
    "annotators": "the columns of the annotators",
    "annotator": "“Who labelled the row”",
    "corrections": "your decisions about labels",
    "checked": "the checked rows",
    "pairs": "the file of pairs",
    "order": "“Classes from the lowest to the highest”",
    "positive": "“The value that is labelled”",
    "prior": "“Share of positive rows among the others”",
    "low": "“Column with the lowest value”",
    "high": "“Column with the highest value”",
    "time": "“Column with the time”",
    "event": "“Column that says whether it happened”",
    "unlabelled": "“Values that mean no label”",
    "groups": "“Rows that belong together”",
    "weights": "“Weight of each row”",
    "given": "“Known already”",
    "ignore": "“Leave out”",
    "nominal": "“Category”",
    "ordinal": "“Order of the values”",
    "id": "“Names a row”",
    "sep": "“What separates the columns”",
    "decimal": "“Decimal mark”",
    "encoding": "“Encoding”",
    "na": "“Cells that mean missing”",
    "sheet": "“Sheet”",
    "header_row": "“Row with the names of the columns”",
    "method": "“Method”",
    "keep": "“How many to keep”",
    "alpha": "“Share of false discoveries”",
    "stability": "“Number of resamples”",
    "tolerance": "“How wrong the labels may be”",
    "evaluate": "“What the selection is worth to a model”",
    "rows": "“Number of rows to draw”",
}

#: The page's own remedies, by the code of the fault. Some can be clicked, too.
_REMEDIES: Remedies = {
    **REMEDIES,
    "few for folds": "label more rows, or do not ask what the selection is worth to a model",
    "empty sheet": "choose another sheet",
    "encoding": "choose its encoding under “Is the file read wrongly?”, or save it as “CSV UTF-8”",
    "identifier or number": "choose the column to predict; if it is this one, say that it is a number",
    "one value": "it needs at least two; if rows without a value may have it too, choose “Only positive rows”",
    "ragged": "text that contains the separator must be in double quotes; or choose what separates the columns, or the "
    "row with their names, under “Is the file read wrongly?”",
    "unknown order": "choose “Classes with an order”, and name them from the lowest to the highest",
    "many names": "is it an identifier? Choose the column to predict",
    "missing in words": "say that such cells have no label",
    "no labels": "label some rows, or choose “Nothing” as the question",
    "no target": "choose the target",
    "no device": "use the processor",
    "order": "name all classes, the lowest first",
    "one class and blanks": "if the rows without a label may be of this class or not, choose “Only positive rows”",
    "mixed column": "correct these cells in your file, or click what they are",
    "mixed decimal marks": "write all of its numbers with the same decimal mark, or click what it is",
    "unclear column": "write all of its cells in the same way, or click what it is",
    "mixed target": "correct or empty these cells in your file, or click what they are",
    "unclear target": "write plain numbers such as 1250.5, or dates such as 2024-03-31; or click that they are classes",
    "probabilities of one class": "this looks like probabilities: choose “The probability of each class”",
    "regression": "this looks like a number, and the method needs classes",
    "sum": "click to divide each row by its sum",
    "text columns": "encode text as numbers, or leave such columns out",
    "too many rows": "use a sample of the rows, or a method that ranks features one by one",
}

#: What a user of the page can do about an alert; what can be clicked comes with it.
PAGE: Phrases = {
    **COMMAND,
    "leave a copy out": "{features:leave it out if it is not|leave out what is not} known before the target",
    "leave it out if late": "was {features:it|each} measured before the class was known? If not, leave it out",
    "leave out unless measured": "leave it out unless it is a measurement",
    "group": "say so if they belong together",
    "name groups": "choose the column that says which rows belong together",
    "give": "say that {features!q} is known already{too}",
    "give order": "say that a column that shows it is known already",
    "order": "say that the classes have an order, or that they are numbers,",
    "missing": "say that it means missing",
    "all rows": "the method fisher",
    "no target named": "nothing is known of a target",
    "mark minus one": "choose “Only few rows have a label”, and write -1 under “Values that mean no label”",
    "unlabelled marks": "“Values that mean no label”",
    "name rows": "“Columns that name a row” names rows by their identifiers",
    "asked model": "it",
    "name a sheet": "“Is the file read wrongly?” names another one",
    "mark missing": "“Cells that mean missing” makes them missing",
}

Click = dict[str, Any]
#: What the page has of an answer, as its JSON holds it.
Answer = dict[str, Any]


def problem_records(error: Exception) -> list[dict[str, Any]]:
    """Each problem in the words of the page, with its column and what can be clicked."""
    if isinstance(error, MemoryError):
        return [{"text": "There is not enough memory for this table and method.", "column": "", "clicks": []}]
    problems = error.problems if isinstance(error, InputError) else (error,)
    return [_problem(one) for one in problems]


def _problem(error: Exception) -> dict[str, Any]:
    if not isinstance(error, InputError):
        text = str(error) if isinstance(error, UserError) else one_line(error)
        return {"text": text[:1].upper() + text[1:], "column": "", "clicks": []}
    text = " ".join(error.sentence(names_of_arguments() | NAMES_WITHOUT_OPTION, _REMEDIES).split())
    column = str(error.facts.get("column", "")) if error.argument != "y" else ""
    return {"text": text[:1].upper() + text[1:], "column": column, "clicks": _clicks(error, column)}


def _clicks(error: InputError, column: str) -> list[Click]:
    """What can be clicked about a problem: a label, and the options that it adds to or sets."""
    clicks: list[Click] = []
    marks = [str(mark) for mark in error.facts.get("marks", ())][:3]
    in_quotes, mean = ", ".join(map(quoted, marks)), "means" if len(marks) == 1 else "mean"
    if error.code == "mixed column" and marks:
        clicks.append(_adds(f"{in_quotes} {mean} missing", na=marks))
    elif error.code == "mixed target" and marks:
        clicks.append(_adds(f"{in_quotes} {mean} no label", unlabelled=marks))
    if error.code in ("mixed target", "unclear target"):
        clicks.append(_sets("They are classes", target_kind="classes"))
    if error.code == "unclear column" and error.facts.get("comma"):
        clicks += [_sets("The comma is the decimal mark", decimal=","), _sets("The point is it", decimal=".")]
    if error.code == "sum":
        clicks.append(_sets("Divide each row by its sum", normalize=True))
    if error.code == "infinity":
        clicks.append(_adds("Infinite cells are missing", na=["inf", "-inf", "Inf", "-Inf"]))
    if error.code == "one value" and error.facts.get("blank"):
        clicks.append(_sets("Only positive rows are labelled", positive=error.facts["value"]))
    if error.code in ("many names", "identifier or number"):
        clicks.append(_sets("It is a number", regression=True))
    if error.code == "empty sheet":
        clicks += [_sets(f"Read sheet {quoted(name)}", sheet=name) for name in error.facts["sheets"][:8]]
    if error.code == "ragged" and error.facts["columns"] == 1:  # a title, perhaps
        line = error.facts["line"] - 1
        clicks.append(_sets(f"The names of the columns stand in line {line}", header_row=line))
    if error.argument == "header_row":
        clicks.append(_sets("Find the row by itself", header_row=None))
    if error.argument == "sheet":
        clicks.append(_sets("Choose the sheet by itself", sheet=None))
    if column:
        clicks += [_adds("Treat it as a category", nominal=[column]), _adds("Leave it out", ignore=[column])]
    return clicks


def alert_record(alert: Any, call: Call) -> dict[str, Any]:
    """An alert in the words of the page, with what can be clicked."""
    features, facts = [str(name) for name in alert.features], alert.facts
    clicks: list[Click] = []
    them = "it" if len(features) == 1 else "them"
    if alert.kind in ("copy", "separates", "identifier", "text"):
        clicks.append(_adds(f"Leave {them} out", ignore=features))
    if alert.kind == "identifier" and len(features) == 1:
        clicks.append(_adds("It names a row", id=features))
    if alert.kind == "visits" and len(features) == 1 and not call.groups:
        clicks.append(_sets("These rows belong together", groups=features[0]))
    if alert.kind == "rating" and not call.order:
        clicks += [_sets("Use the order", target_kind="ordered"), _sets("They are numbers", target_kind="numbers")]
    if alert.kind == "sentinel":
        clicks.append(_adds(f"{facts['mark']:g} means missing", na=[f"{facts['mark']:g}"]))
    if alert.kind == "confounder" and features:
        clicks.append(_adds("It is known already", given=features))
    return {
        "kind": alert.kind,
        "features": features,
        "text": alert.finding(PAGE),
        "remedy": alert.advice(PAGE),
        "clicks": clicks,
    }


def _adds(label: str, **options: list[str]) -> Click:
    return {"label": label, "adds": options}


def _sets(label: str, **options: Any) -> Click:
    return {"label": label, "sets": options}


# ---- an answer on the page: the line between kept and not, and one feature ------------------------------------------


def about_line(answer: Answer, keep: int) -> dict[str, str]:
    """The line after so many columns, and what it costs to keep these."""
    line = answer["line"]
    most = line["n_ranked"] - line["n_given"]
    keep = min(max(keep, 0), most)
    code = "line as it is" if keep == line["n_kept"] else "line moved"
    return {"text": sentence(note(code, keep=keep, of=most)), "cost": paragraph(_costs(answer, keep))}


def _costs(answer: Answer, keep: int) -> list[Note]:
    """False discoveries, related columns that are lost, and what the search says of the rest."""
    line, notes = answer["line"], list[Note]()
    if not keep:
        return [note("line before all")]
    related, enough, given, alpha = (line[name] for name in ("n_relevant", "n_sufficient", "n_given", "alpha"))
    q = [one for one in _values(answer, "qvalue")[given : given + keep] if one is not None]
    if q:
        percent = 100 * min(1.0, max(q))
        if percent > 100 * alpha:
            wrong = max(1, round(percent * keep / 100))
            notes.append(note("line too much chance", percent=percent, wrong=wrong, keep=keep, allowed=100 * alpha))
        else:
            notes.append(note("line by chance" if percent >= 0.1 else "line hardly by chance", percent=percent))
    if related is not None and related != keep:
        code = "line leaves out" if related > keep else "line beyond evidence"
        notes.append(note(code, n=abs(related - keep)))
    if enough and enough < related:
        code = "line not enough" if keep < enough else "line first enough" if enough == 1 else "line enough"
        notes.append(note(code, enough=enough, keep=keep))
    return [*notes, *_value_at(line, keep, tested=bool(q))]


def _value_at(line: dict[str, Any], keep: int, *, tested: bool) -> list[Note]:
    """The criterion of a search at another line, beside that at the line of the answer."""
    along = line["path"] or (None if tested else line["curve"])
    if along is None or keep == line["n_kept"]:
        return []
    values = dict(zip(along["sizes"], along["values"], strict=True))
    first = line["n_given"] if line["path"] else 0
    value, before = values.get(keep + first), values.get(line["n_kept"] + first)
    return (
        [] if value is None or before is None else [note("line value", what=along["label"], value=value, before=before)]
    )


def about_feature(answer: Answer, name: str) -> list[str]:
    """What a feature does, and what it survives."""
    names = _values(answer, "feature")
    if name not in names:
        return []
    found = {one["key"]: one["values"][names.index(name)] for one in answer["table"]["columns"] if "key" in one}
    given = names.index(name) < answer["line"]["n_given"]
    notes = [note("feature given")] if given else []
    notes += [*_effect(found), *_family(answer, found, name)]
    if given:  # which is kept in any case
        return [sentence(one) for one in notes]
    kind, percent = answer.get("tolerance", ""), found.get("tolerance")
    notes += [note(f"feature tolerance {kind}", percent=percent)] if kind and percent is not None else []
    for column, code in (("kept in", "feature resampled"), ("fresh", "feature forecast")):
        notes += [note(code, percent=found[column])] if found.get(column) is not None else []
    return [sentence(one) for one in notes]


def _effect(found: dict[str, Any]) -> list[Note]:
    """How a feature acts, and whether it is the truth that it acts on."""
    notes = []
    if found.get("effect") is not None and found.get("effect_low") is not None:
        share = note("feature share", effect=found["effect"], low=found["effect_low"], high=found["effect_high"])
        of = found.get("effect_of")
        on = note("feature effect on", of=of) if of else note("feature effect on more")
        notes.append(note(f"feature effect {found['direction']}", on=on, share=share))
    notes += [note("feature verdict", verdict=found["verdict"])] if found.get("verdict") else []
    if isinstance(found.get("difference"), int | float) and found["difference"]:
        notes.append(note("feature difference", difference=found["difference"]))
    return notes


def _family(answer: Answer, found: dict[str, Any], name: str) -> list[Note]:
    """Which others can stand in for a feature."""
    if not found.get("family"):
        return []
    families = zip(_values(answer, "feature"), _values(answer, "family"), strict=True)
    others = [other for other, family in families if family == found["family"] and other != name]
    return [note("feature family", others=others) if others else note("feature alone")]


def _values(answer: Answer, key: str) -> list[Any]:
    """The values of a column of the answer, best feature first; none if it has no such column."""
    return next((one["values"] for one in answer["table"]["columns"] if one.get("key") == key), [])

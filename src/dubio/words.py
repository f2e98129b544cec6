"""The words: facts become sentences here, for Python, the command and the page alike.

:data:`SENTENCES` holds every sentence by its code. It names its facts in braces, as :meth:`str.format` does, and may
say besides ``{rows:was|were}`` (for one, for several), ``{names!q}`` (in quotes), ``{names:5}`` (at most five of them).
Most sentences are clauses: they begin with a small letter and have no full stop. :func:`sentence` gives them both.

What a user can do has another name in each front end: these names are a table of phrases, :data:`PYTHON` by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from string import Formatter
from typing import Any, NamedTuple

from dubio.errors import listed, quoted

Facts = Mapping[str, Any]
#: The names of a front end for what its user can do. A phrase may use the facts, as sentences do.
Phrases = Mapping[str, str | Callable[[Facts], str]]


class Note(NamedTuple):
    """Something to say: the code of its sentence, and the facts in it. As text, it is a clause."""

    code: str
    facts: Facts

    def __str__(self) -> str:
        return say(self.code, **self.facts)


def note(code: str, **facts: Any) -> Note:
    """A note with these facts."""
    return Note(code, facts)


def say(code: str, phrases: Phrases | None = None, /, **facts: Any) -> str:
    """The sentence of a code, with its facts, in the phrases of a front end.

    >>> say("missing cells", n=1, filled_with="the median of their column")
    '1 missing value in the table was filled with the median of their column'
    """
    return _Writer(_SPOKEN.get(PYTHON) if phrases is None else phrases).vformat(SENTENCES[code], (), facts)


_SPOKEN: ContextVar[Phrases] = ContextVar("phrases of the front end")


@contextmanager
def spoken(phrases: Phrases) -> Iterator[None]:
    """Say sentences in the phrases of a front end, where no others are asked for."""
    token = _SPOKEN.set(phrases)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def sentence(clause: object) -> str:
    """A clause with a capital letter and a full stop.

    >>> sentence(note("sampled", n_rows=20, n_in_all=30))
    'A sample of 20 of 30 rows was used.'
    """
    text = capital(clause)
    return text if text.endswith((".", "?")) else f"{text}."


def capital(clause: object) -> str:
    """A clause with a capital letter; a name of the user's that it begins with stays as it is."""
    text = str(clause)
    begins_with_name = isinstance(clause, Note) and SENTENCES[clause.code].startswith("{name}")
    return text if begins_with_name else f"{text[:1].upper()}{text[1:]}"


def paragraph(clauses: Iterable[object]) -> str:
    """Some clauses as sentences, one after the other."""
    return " ".join(map(sentence, clauses))


class _Writer(Formatter):
    """Fills sentences with facts, and with the phrases of a front end."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        if key in kwargs:
            return kwargs[key]
        phrase = self.phrases[key]
        return phrase(kwargs) if callable(phrase) else self.vformat(phrase, args, kwargs)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion != "q":
            return super().convert_field(value, conversion)
        return list(map(quoted, value)) if isinstance(value, list | tuple) else quoted(value)

    def format_field(self, value: Any, format_spec: str) -> str:
        several = isinstance(value, list | tuple) and not isinstance(value, Note)
        if "|" in format_spec:
            one, many = format_spec.split("|")
            return one if (len(value) if several else value) == 1 else many
        return listed(value, int(format_spec or 8)) if several else str(super().format_field(value, format_spec))


#: What a user of Python can do, as sentences about alerts name it.
PYTHON: Phrases = {
    "leave a copy out": "{features:leave it out if it is not known before the target|leave out what is not known "
    "before it}",
    "leave it out if late": "was {features:it|each} measured before the class was known? If not, leave it out",
    "leave out unless measured": "leave it out unless it is a measurement",
    "group": lambda facts: f"say groups={_column_of(facts)} if they belong together, and leave the column out",
    "name groups": "say with groups= which rows belong together",
    "give": lambda facts: f"say given={_one_column_of(facts)}{facts['too']}",
    "give order": "say given= for a column that says so",
    "order": 'say target="ordered" or target="numbers"',
    "missing": "make these cells missing",
    "name levels": "",
    "all rows": 'method="fisher"',
    "assume": "the q-values assume",
    # what only the command and the page can do
    "no target named": "there is no --target",
    "mark minus one": "add --unlabelled -1",
    "unlabelled marks": "--unlabelled",
    "name rows": "--id COLUMN names rows by their identifiers",
    "asked model": "--evaluate logistic",
    "name a sheet": "--sheet names another one",
    "mark missing": "--na VALUE makes them missing",
}


def _column_of(facts: Facts) -> str:
    return f"X[:, {facts['position']}]" if facts["column"] is None else f"X[{facts['column']!r}]"


def _one_column_of(facts: Facts) -> str:
    return f"[{facts['position']}]" if facts["column"] is None else repr(facts["column"])


#: All sentences, by their codes.
SENTENCES: dict[str, str] = {
    # Alerts: what was found, and what to do about it.
    "copy": "{features!q:5} {features:is a copy|are copies} of the target, or {features:a recoding|recodings} of it",
    "copy remedy": "{leave a copy out}",
    "copy left out": "perhaps a copy of the target",
    "separates": "{features!q:5} {features:separates|each separate} the classes completely",
    "separates remedy": "{leave it out if late}",
    "separates left out": "separates the classes completely",
    "near copy values": "{features!q:5} {features:predicts|each predict} the target far better than all other columns "
    "together (it differs in {disagree} of {rows} rows; the others are right in {others:.0f} %): a copy of the label, "
    "recorded after it, or a very good test: only you can know",
    "near copy gaps": "the gaps of {features!q:5} follow the target far better than all other columns together predict "
    "it (they differ in {disagree} of {rows} rows): filled in after the label, or a very good test: only you can know",
    "near copy numbers": "{features!q:5} {features:has|each have} the number of the target, or one on a line with it, "
    "in nearly all rows: a copy of it, or recorded after it: only you can know",
    "near copy remedy": "{leave it out if late}",
    "near copy left out": "perhaps recorded after the target",
    "visits neighbours alike": "rows that stand next to each other in the table are much alike, like visits of the "
    "same subject or moments of the same process; {assume} that rows are independent",
    "visits same values": "rows with the same value of {features!q:5} have the same {same!q:5}, like several rows of "
    "the same subject, or a code with its properties; {assume} that rows are independent",
    "visits alike": "rows with the same value of {features!q:5} are much alike, like visits of the same subject; "
    "{assume} that rows are independent",
    "visits name": "many values of {features!q:5} occur in several rows, like visits of the same subject; {assume} "
    "that rows are independent",
    "visits remedy": "{group}",
    "visits neighbours alike remedy": "{name groups}",
    "repeated rows": "{repeated} {repeated:row|rows} of {rows} {repeated:is a repetition|are repetitions} of other "
    "rows, such as {which:3}",
    "contradicting rows": "{rows} rows are equal to others in all columns and have another class: {which:3}",
    "contradicting rows remedy": "look at these first: one label of each is wrong, or the columns do not hold what "
    "decides",
    "repeated rows remedy": "keep each row once, unless different subjects have the same values; {assume} independent "
    "rows",
    "identifier": "{n} {n:column has|columns have} a different {value} in every row, like an identifier: "
    "{features!q:5}",
    "identifier remedy": "{leave out unless measured}",
    "identifier text remedy": "nothing needs to be done; it was left out",
    "identifier text left out": "a different text in every row",
    "constant one": "{n} {n:column has|columns have} only one value and cannot matter: {features!q:5}",
    "constant one left out": "only one value",
    "constant none": "{n} {n:column has|columns have} no value and cannot matter: {features!q:5}",
    "constant none left out": "no value",
    "constant remedy": "nothing needs to be done; such columns come last",
    "constant all remedy": "look at how the table was read",
    "constant in sample": "at most one value in the sample, but others in the rest of the rows: {features}",
    "constant in sample remedy": "a method such as {all rows} uses all rows",
    "constant in sample left out": "only one value in the sample",
    "text": "{n} {n:column of text was|columns of text were} left out, with many different values: {features!q:5}",
    "text remedy": "nothing needs to be done, unless they are names of categories",
    "text left out": "text that could not be used",
    "alike": "{n} features are equal to another one, or nearly so: {groups}",
    "alike remedy": "one of each is enough",
    "variants": "categories of {features!q:5} may be the same, written in several ways: {groups}",
    "variants of classes": "classes of the target may be the same, written in several ways: {groups}",
    "variants remedy": "write each in one way{name levels}",
    "rating": "the target has {grades} whole numbers ({lowest:g} to {highest:g}) that were read as classes, but the "
    "features follow their order, as in a rating",
    "rating remedy": "{order} to use the order",
    "lonely class": "{n} {n:class has|classes have} only one row: {classes!q:5}",
    "lonely class remedy": "label more rows of {classes:it|each of them}, merge {classes:it|each of them} with another "
    "class, or leave the row out",
    "sentinel": "{mark:g} stands far from all other values of {features!q:5}, and may mean 'missing'",
    "sentinel remedy": "if so, {missing}; they were used as numbers",
    "explained": "{features!q:5} {features:explains|explain} {percent:.0f} % of the variation of the target, and "
    "hardly anything can be added",
    "explained remedy": "leave out what is the target in another form, or follows from it",
    "confounder": "{gone} of {related} related columns {gone:is|are} no longer related once {features!q} is "
    "given{too}: {names!q:5}",
    "confounder remedy": "{give} if {features!q} was there before the target and may have moved both (a confounder). "
    "If it lies between these columns and the target, or follows from them, leave it as it is: the table cannot tell, "
    "only you can",
    "confounder order": "{gone} of {related} related columns {gone:is|are} no longer related once the order of the "
    "rows is given{too}: {names!q:5}",
    "confounder order remedy": "look at what changed from the first row to the last, such as a batch or a date, and "
    "{give order}",
    "alert": "Alert: {alert}",
    # The answer before and after other decisions.
    "kept since": "{n} {n:column is|columns are} kept now that {n:was|were} not before: {names!q:8}",
    "kept before": "{n} {n:column was|columns were} kept before and {n:is|are} not now: {names!q:8}",
    "kept as before": "the same columns are kept as before",
    "rank moved": "{name!q} from {before} to {after}",
    "ranks moved": "ranks that moved: {moves:6}",
    "advice": "{finding}: {remedy}",
    # The answer, and how it was found.
    "because named": "it was requested by name",
    "because pairs": "pairs of rows are given, and the constraint score was the best method for pairs",
    "method": "method: {method} ({does}), because {because}",
    "as many": "as many as requested",
    "share": "{percent:g} % of {n_features} features",
    "half": "half of the features, the default",
    "stand out": "{n} {n:feature stands|features stand} out (false discoveries held at {percent:g} %)",
    "enough of them": "{reason}; {n} of them predict it as well as all",
    # checked rows
    "checked": "{n} {n:row was|rows were} checked{undecided}: {parts}",
    "believe": "where the checked rows settle a feature, believe them; where they do not, its relation to the labels "
    "counts, unless labels are wrong because of that feature",
    "checked undecided": " and {n} could not be decided",
    "checked truth": "{n} {n:feature is|features are} related to the truth ({names!q})",
    "checked nothing": "no feature could be shown to be related to the truth",
    "checked labels": "{names!q} {n:is|are} related only to how rows were labelled",
    "checked open": "{n} {n:is|are} related to the labels, and more rows must be checked to settle {n:it|them}",
    "drawn": "{n} of {n_in_all:,} rows were drawn at random (seed {seed}) and written to {path}",
    "drawn before": "the file also holds the {n} {n:row|rows} of earlier draws, with the chances of all draws together",
    "judge page": "open {page}, judge the rows, and download {judged}; then add {files} to dubio rank",
    "judge file": "write what is true into the column value, and leave it empty if you cannot decide; then add "
    "--checked {path} to dubio rank",
    "chances tell": "the chances in {path} differ, and may give the labels away: judge the rows on a page (--page)",
    "usual rows": "{n} rows are drawn, a usual number (--rows N draws another one)",
    "forecast of rows": "{n} rows are drawn: about as many as settle a column that is moderately related to the "
    "target, by how often the models disagree with the labels (--rows N draws another number)",
    "scores of truth": "against the truth of {n} checked rows: accuracy {accuracy}, balanced accuracy "
    "{balanced_accuracy}",
    "scores of truth with auc": "against the truth of {n} checked rows: accuracy {accuracy}, balanced accuracy "
    "{balanced_accuracy}, area under the curve {auc}",
    "only labelling": "what is related to the labels is related only to how rows were labelled",
    "checkers disagree": "two people checked {twice} {twice:row|rows} and disagree in {n}: these count as undecided",
    "verdict truth": "related to the truth",
    "verdict labels": "related only to how rows were labelled",
    "verdict open": "not settled: about {n} more checked rows would",
    "verdict open in all": "not settled, even if all rows were checked",
    "verdict none": "no evidence",
    "nothing stands out": "no feature stands out: {why}",
    "smallest": "the smallest q-value is {smallest:.2g}, and the first feature must reach {needed:g} (half of alpha), "
    "so that noise is rarely called a finding",
    "at the line": "at the line, where other random draws might decide otherwise: {names}",
    "kept": "kept {kept} of {total}: {reason}",
    "sufficient": "of these, {n} {n:predicts|predict} the target as well as all of them: {names}",
    "sufficient judged": "of these, {n} {n:predicts|predict} the target as well as all of them (by nearest neighbours, "
    "a linear model and trees): {names}",
    "nothing kept": "nothing is kept; {feature} is handed on so that pipelines run",
    "moved down": "features that resemble better ones were moved down (redundancy weight {weight:g})",
    "left out": "{ranked} of {total} columns were ranked; left out: {columns}",
    "left out alone": "left out: {columns}",
    "because of": "{name!q} ({why})",
    "headline": "{n} of {total} columns {n:is|are} related to {about}: {names}.",
    "headline stand out": "{n} of {total} columns {n:stands|stand} out: {names}.",
    "headline first": "The first {n} predict it as well as all {related}.",
    "headline first one": "The first one predicts it as well as all {related}.",
    "headline sufficient": "{n} of {total} columns {n:is|are} kept: {names}. {n:It predicts|They predict} {about} as "
    "well as all {related} that are related to it.",
    "headline kept": "{n} of {total} columns {n:is|are} kept: {names}.",
    "headline nothing": "No feature stands out: nothing in the table is clearly better than chance.",
    "would be found": "with these rows, a feature with a concordance of {percent:.0f} % (50 % is nothing) would have "
    "been found in 4 of 5 such tables",
    "headline suspected": "Look at {shown} first: {suspected:it|each} may be the target in disguise.",
    "effects corrected": "by the checked rows, {first:.0f} % of the labels {first_class!q} and {second:.0f} % of the "
    "labels {second_class!q} are wrong; corrected effects are those without such errors, if these do not depend on the "
    "column",
    "families": "the {related} related columns are {n} families: columns of a family can stand in for each other. "
    "{adding}",
    "no stand-ins": "no two of the {related} related columns can stand in for each other. {adding}",
    "no family adds": "None of them was shown to add something beyond all others",
    "families add": "{adds} of them {adds:adds|add} something beyond all others ({names})",
    "weak families": "{weak} {weak:family has|families have} little that the others do not have, so the test of what "
    "{weak:it adds|they add} is weak",
    "headline given": "Beyond {given}, {n} of {total} columns {n:is|are} related to {about}: {names}.",
    "headline sufficient given": "Beyond {given}, {n} of {total} columns {n:is|are} kept: {names}. {n:It predicts|They "
    "predict} {about} as well as all {related} that are related to it.",
    "headline kept given": "{n} of {total} columns {n:is|are} kept for what they add to {given}: {names}.",
    "headline nothing given": "No feature stands out: nothing in the table clearly adds to {given}.",
    "given": "given {n:is|are} {given}: the other columns are judged by what they add to {n:it|them}",
    "adjusting only without": "{n} {n:column is|columns are} related to the target only while nothing is "
    "given: {names!q}",
    "adjusting only with": "{n} {n:column is|columns are} related to the target only once {given} is given: {names!q}",
    "adjusting nothing": "without {given}, the same columns are related to the target",
    "effects differ": "the {n:effect|effects} of {names!q:5} {n:differs|differ} between the levels of {given!q}",
    "effects same": "no effect clearly differs between the levels of {given!q}",
    "given explains": "{given} alone {n:explains|explain} {percent:.0f} % of the variation of the target, on rows "
    "that were not used to learn this",
    # what was read, sampled, grouped, weighed and completed
    "column": "column {name!q}: {what}",
    "column left out": "column {name!q}: left out: {why}",
    "at the limit": "{n} {n:cell|cells} such as {example!q} counted as the limit itself",
    "marks": "{n} {n:cell|cells} with {marks!q:5} {n:was|were} read as missing",
    "on a scale": "read as classes with an order: {levels}",
    "without unit": "{n} {n:number without a unit was|numbers without a unit were} taken as {unit!q}",
    "converted": "{units!q} {units:was|were} converted to {unit!q}",
    "names and numbers": "numbers and names ({names!q:5}) were read as {n} categories",
    "rounded": "whole numbers as long as {example} were rounded: floating point numbers hold about 15 digits",
    "columns read": "{n} {n:column was|columns were} read as {kind}: {names!q}",
    "decimal commas": "{n} {n:column|columns} with decimal commas {n:was|were} read as numbers: {names!q:5}",
    "units": "numbers with a unit: {columns}",
    "missing cells": "{n} missing {n:value|values} in the table {n:was|were} filled with {filled_with}",
    "tested on all rows": "{n} of {of} columns {n:was|were} tested alone on all {n_rows:,} labelled rows; the "
    "order, the test of columns together and the effects are those of the sample",
    "sampled": "a sample of {n_rows:,} of {n_in_all:,} rows was used",
    "cells missing in all rows": "{share} of the cells of all rows are missing",
    "constant in all rows": "only one value in all rows: {names!q}",
    "classes of all rows": "classes of all rows: {shares}",
    "some classes of all rows": "classes of all rows: {shares} ({without} of the rows have no class)",
    "means of all rows": "mean of all rows: {means}",
    "no stream": "--no-stream loads the whole table",
    "weights": "rows have different weights",
    "weights tested": "rows have different weights; the tests hold even if these depend on a column",
    "weights assumed": "rows have different weights; the tests of this method assume that these depend on no column",
    "sparse": "no alerts were looked for, such as copies of the target, because the table is sparse",
    "groups": "{n} {n:group|groups} of rows{use}",
    "groups labelled": "{labelled} of {n} {n:group|groups} of rows {labelled:has|have} a label{use}",
    "groups compared": "; tests compare their means, and rows within each group",
    "groups once": "; each counts once",
    "groups are no sites": "groups keep rows apart that belong together; they do not adjust for differences between "
    "groups, such as sites or batches: such a column is to be given",
    "other groups": "models and neighbours of a row are from other groups",
    "independent rows": "the order of this method takes rows as independent",
    "of target": "target {target!q}: {note}",
    "joined votes": "the votes were joined with the opinion of models that had not seen the row",
    "votes alone": "the columns say nothing about the votes, so the votes alone decide what is likely",
    "joined labels": "each label was joined with the opinion of models that had not seen it",
    "joined probabilities": "probabilities were joined with the opinion of models trained on the likeliest classes",
    "doubtful left out": "{n} {n:row|rows} with a doubtful label {n:was|were} left out",
    "far replaced": "{n} {n:value|values} more than {far:g} robust standard deviations from the models' prediction "
    "{n:was|were} replaced by it in the search",
    "far left out": "{n} {n:row was|rows were} left out of the search: {n:its value is|their values are} more than "
    "{far:g} robust standard deviations from the models' prediction",
    "audit is stricter": "an audit is stricter: it lists fewer of them",
    "completed": "{n} unlabelled {n:row was|rows were} completed by models",
    "set inside": "models set the number of {n} {n:row|rows} inside {n:its|their} limits",
    "positives given": "about {percent:.0f} % of the unlabelled rows are positive",
    "positives": "about {percent:.0f} % of the unlabelled rows are positive (estimated; {low:.0f} to {high:.0f} %)",
    "positives look odd": "a sign that this does not hold: of the rows that look most positive {first:.0f} % are "
    "labelled, of those that look a little less positive {second:.0f} %. Perhaps some kinds of positive rows were "
    "labelled more often than others; then do not rely on the share",
    "positives assumed": "assumed: the labelled rows are a random part of all positive rows",
    "learned from sample": "the models learned from a sample of {n} of {n_in_all} rows",
    "judged sample": "the search judged a sample of {n} {n:row|rows} by their neighbours among all rows",
    "searched sample": "the search used a sample of {n} {n:row|rows}",
    "screened": "the search looked at the best {n} of {n_in_all} features, by ranks and smooth R2",
    # The worth of a selection to a model.
    "scores of folds": "{measure} with the features {chosen} in each fold ({kept}): {selected}; with all features: "
    "{everything}; with as many random features: {random}; by chance: {chance:.3f}",
    "scores beyond given": "{measure} with the given columns and the features {chosen} in each fold ({kept}): "
    "{selected}; with the given columns alone: {given_alone}; with all features: {everything}; with the given "
    "columns and as many random features: {random}; by chance: {chance:.3f}",
    "evaluation": "with {model}: {scores}. The scores are from rows that neither the selection nor the model had seen; "
    "the brackets are {confidence:g} % intervals over {folds} folds",
    "worth beyond given": "the selected features add to the given columns: the model is better than with these alone, "
    "by {added}",
    "worth no more than given": "the selected features do not clearly add to the given columns (difference {added})",
    "worth no model": "the model is not clearly better than chance (difference {above_chance})",
    "worth gain": "selection helps: the model is better than with all features, by {gain}",
    "worth loss": "selection costs: the model is better with all features (difference {gain})",
    "worth the same": "the selected features do as well as all of them (difference {gain}), and better than random "
    "ones (by {over_random})",
    "worth unclear": "the gain over as many random features may be chance (difference {over_random})",
    "worth nothing": "selection does not clearly help: as many random features do about as well (difference "
    "{over_random})",
    # An audit of {labels}, which stands for "labels" or "numbers". Without an anchor, no label is called wrong.
    "disagree": "in {n} of {labelled} rows the models disagree with the {label}: look at {n:it|them} first",
    "doubtful along": "labels are more doubtful along {features!q:5}, and only checked rows settle whether "
    "{n:it is|they are} related to the truth or to how rows were labelled",
    "none disagree": "the models do not clearly disagree with any of the {labelled} {labels}",
    "votes wrong": "{n} of {votes} votes of {people} annotators {n:looks|look} wrong",
    "no vote wrong": "none of the {votes} votes of {people} annotators looks wrong",
    "agreement": "agreement beyond chance is {alpha:.2f} (Krippendorff's alpha: 1 is full agreement, 0 is chance)",
    "annotator right": "{name} agrees with the likely truth in {value:.0f} % ({low:.0f} to {high:.0f}) of the votes, "
    "and calls {often:.0f} % of the {true!q} rows {called!q}",
    "annotator errs high": "{name} errs more often where {feature!q} is high (q = {q:.2g})",
    "annotator errs low": "{name} errs more often where {feature!q} is low (q = {q:.2g})",
    "annotator errs": "{name} errs more often for some values of {feature!q} (q = {q:.2g})",
    "votes disagree": "the votes disagree in {n} {n:row|rows}; in {unsure} of them no class is {percent:.0f} % sure, "
    "and one more vote is expected to settle {settled} of these",
    "rows without votes": "{n} {n:row has|rows have} no vote, and nothing is known of {n:it|them} ({rows})",
    "rows without votes judged": "{n} {n:row has|rows have} no vote: what is likely there is what the models expect "
    "({rows})",
    "annotator above": "{name} is {bias:.3g} above the likely numbers on average, and off by {value:.3g} ({low:.3g} to "
    "{high:.3g}) around that",
    "annotator below": "{name} is {bias:.3g} below the likely numbers on average, and off by {value:.3g} ({low:.3g} to "
    "{high:.3g}) around that",
    "only checking labels": "whether labels are wrong or classes overlap, only checking can tell",
    "only checking numbers": "whether numbers are wrong or only hard to predict, only checking can tell",
    "share between labels": "between {low:.0f} and {high:.1f} % of the labels may be wrong",
    "share between numbers": "between {low:.0f} and {high:.1f} % of the numbers may be far off; small errors cannot be "
    "seen",
    "doubtful": "{n} of {labelled} {labels} {n:is|are} doubtful; about {expected:.0f} % of such {labels} are wrong",
    "none doubtful": "none of the {labelled} {labels} is doubtful",
    "anchor share": "this takes for granted that {high:.3g} % of the {labels} are wrong",
    "anchor share between": "this takes for granted that {low:.3g} to {high:.3g} % of the {labels} are wrong",
    "anchor checked": "by the checked rows, {share:.3g} % of the {labels} are wrong",
    "anchor checked between": "by the checked rows, {share:.1f} % of the {labels} are wrong (interval {low:.1f} to "
    "{high:.1f} %)",
    "errors along": "how often labels are wrong depends on {names!q}",
    "errors along none": "no column could be shown to go with wrong labels",
    "rates by class": "by given class: {rates:20}",
    "held back": "no {label} is listed: the table has many columns for so few {labels} (a category counts one column "
    "for each of its values) that disagreement cannot be told from mistakes of the models. Leave out columns that "
    "cannot matter, and give names of batches or patients as groups",
    "no skill": "the columns do not {judged}, so the {labels} cannot be judged",
    "no better on labels": "the models predict held-out labels no better than the class shares do, so no label is "
    "listed",
    "no better but checked": "the models predict held-out labels no better than the class shares do, so only labels "
    "that were checked and are wrong are listed",
    "no better on numbers": "the models predict held-out numbers no better than their mean does, so no number is "
    "listed",
    "knows little": "the models know little about the {what}: this is a list of rows to check",
    "wrong before and after": "at most {before:.1f} % of the labels may have been wrong before your corrections, and "
    "at most {after:.1f} % after them",
    "still doubtful": "in {n} {n:row|rows} the models still disagree with the label",
    "none left": "the models do not clearly disagree with any label that is left",
    "suggested too": "a {label} is suggested for {n} {n:row|rows} without one",
    # The page of a report. {labels} stands for "labels" or "numbers", {asked} for the target.
    # its sections
    "heading changes": "Effect of the corrections",
    "heading ranking": "Ranking",
    "heading beyond": "Beyond the given columns",
    "heading families": "Families",
    "heading size": "Number of features",
    "heading evaluation": "Value for prediction",
    "heading drawn": "Top features",
    "heading stability": "Stability",
    "heading tolerance": "Tolerance of wrong labels",
    "heading redundancy": "Redundancy",
    "heading people": "Annotators and their votes",
    "heading audit": "Labels in doubt",
    "heading corrections": "Correction of labels",
    "heading labellers": "Annotators",
    "heading labels": "Labels",
    "heading again": "Code",
    # the answer
    "title": "{target} in {table}: which features matter",
    "title of labels": "{target} in {table}: which {labels} to look at first",
    "question": "Which columns of {table} say something about {asked}?",
    "question of labels": "Which {labels} of {asked} in {table} should somebody look at first?",
    "question given": "What do the other columns of {table} add to {given} about {asked}?",
    "question of groups": "Which columns of {table} show its groups of rows?",
    "question of pairs": "Which columns of {table} agree with the given pairs of rows?",
    "chips": "Features kept, best first",
    "more": "and {count} more",
    "key": "Filled: sufficient. Outlined: related too, but not needed beside them.",
    # how sure it is
    "handed on": "in Python, the feature with the smallest p-value is handed on so that pipelines run, but nothing "
    "shows that it matters",
    "untested": "the features were not tested",
    "tested": "each feature was tested against chance, alone and together with others; about {alpha:g} % of the "
    "related features may be there by chance",
    "tested here": "each feature was tested against chance, alone and together with others; on average over tables, "
    "about {alpha:g} % of the related features may be there by chance. In this table, {bound} (a bound "
    "that holds in 95 of 100 tables)",
    "none by chance": "none of the {n} should be there by chance",
    "some by chance": "at most {most} of the {n} {most:is|are} there by chance",
    "all kept": "when the data are resampled, only the order can change: every feature is kept",
    "never kept": "when {resampled} {draws} times, nothing was kept",
    "sometimes kept": "when {resampled} {draws} times, a feature was kept in {some} of them",
    "forecast": "of the features that one fresh sample of this size keeps, another should keep {forecast:.0f} % "
    "(forecast; {low:.0f} to {high:.0f} % five times in six; {chance:.0f} % if features were kept at random)",
    "agreement of resamples": "when {resampled} {draws} times, the selections agreed to {agreement} (1 means always "
    "the same features, 0 no better than chance)",
    "often kept": "kept in most draws, {n} of {of} {of:feature|features}: {names}",
    "seldom kept": "no feature was kept in most draws",
    "unstable features": "of those kept, a fresh sample would keep {names} less often than not",
    "resampled bootstrap": "rows were drawn again",
    "resampled subsample": "two thirds of the rows were drawn",
    "resampled labels": "the labels were drawn again from their probabilities",
    "resampled pairs": "the pairs were drawn again",
    "alerts": "Look at this first",
    # what it does not say
    "limits": "What this does not tell you",
    "cause": "Whether a feature causes {asked}, or the other way round. The analysis shows only that they are related.",
    "no meaning": "Whether the groups of rows mean anything. Nothing was given to compare them with.",
    "not measured": "Anything about columns that were not measured, or about rows that were selected in another way.",
    "no evidence": "That the features at the end of the list have nothing to do with it: too little evidence is not "
    "evidence of nothing.",
    "not tested": "Which features are there by chance: they were ranked, but not tested.",
    "not evaluated": "How well a model would predict: dubio rank --evaluate logistic measures this.",
    "several not evaluated": "How well a model would predict.",
    "not audited": "Whether the labels are right. They were not audited.",
    "unlabelled": "Whether the rows without a label are like those with one. If labels are missing for a reason that "
    "the columns do not show, the answer holds for labelled rows only.",
    "no groups": "Whether rows belong together. The tests take them as independent; if several are of one patient, "
    "name the column that says so (--groups).",
    "not resampled": "How far the ranks would move with other rows: dubio rank --stability 50 shows this.",
    "done": "What was done, and why",
    # the ranking and the number of features
    "bars": "By {method} ({does}). {good} scores are better. Each bar shows where the score lies between the worst (no "
    "bar) and the best (a full bar) of those shown.",
    "related first": "related features come first, in the order of the method; the others follow in the order of their "
    "p-values",
    "truth first": "features that are related to the truth come first, then the other related ones, each part in the "
    "order of the method; the others follow in the order of their p-values",
    "other order": "the order is that of the method, which need not be that of the scores",
    "ranks": "The line on the right shows the range of the feature's rank in {share:.0f} % of the resamples, the dot "
    "its median.",
    "beside chance": "Compared with chance",
    "chance": "Each dot is a feature, with its p-value; kept features have a filled dot. If no feature were related to "
    "the target, the dots would follow the dashed line, or lie below it where a test is conservative; the grey band "
    "is the range of chance (95 %, for features that do not depend on each other). Dots above the band are more than "
    "chance gives.",
    "intervals": "By {method} ({does}). Each dot is the concordance: the share of pairs of rows in which the row with "
    "the higher value is also the one with the higher target, or in the class named in the table; 50 % is nothing. The "
    "line is its 95 % interval.",
    "all features": "All {count:,} features",
    "legend": "What the columns mean",
    "family": "{head}{others}: q = {qvalue:.2g}; {beyond}",
    "family others": " and {n} {n:other|others}",
    "family region": " ({region})",
    "family adds": "adds something beyond all others (q = {qvalue:.2g})",
    "family not shown": "not shown to add anything beyond all others (q = {qvalue:.2g})",
    "family weak test": "little is left of it beyond the others, so the test of what it adds is weak "
    "(q = {qvalue:.2g})",
    "family members": "Columns of the family of {head}",
    "families open": "Columns of a family can stand in for each other: given one of them, another adds less than a "
    "fifth of what it predicts alone. Each family has one q-value, and one for what it adds to the columns of all "
    "others. A line opens to show the columns.",
    "more families": "{n} more {n:family|families} in the table of all features.",
    "no size": "No feature reaches the line, which is at half of alpha so that noise is rarely called a finding.",
    "size": "The related features are those whose q-value lies below the line. If more were taken, too many of them "
    "would be false discoveries.",
    "related mark": "{count} related",
    "kept mark": "{count} kept",
    "path": "The search looked at sets of features: beyond the mark, a larger set is not measurably better.",
    "path of the ranking": "The curve is the loss of nearest neighbours with the first features of the ranking, "
    "without near copies. From the mark on, nearest neighbours, a linear model and trees predict as well as with all "
    "related features.",
    "enough": "{count} are enough",
    "one enough": "1 is enough",
    "beyond": "Each column has two dots: its p-value with the given columns (dark if it is then related to {asked}) "
    "and without them (a ring). A ring far from its dot means that the column follows the given ones. Whether these "
    "move both, or lie between the column and {asked}, the table cannot tell.",
    "effects within": "Effects within each level of {given!q}: concordance in %, with its 95 % interval. The q-value "
    "is small if the levels have different effects",
    "too few rows": "too few rows",
    "ends of effect": "{effect:.0f} ({low:.0f} to {high:.0f})",
    # the features
    "drawn for numbers": "Each dot is a row; the line is the running mean. Categories have a bar from the first to the "
    "third quartile, with the median.",
    "drawn for classes": "Numbers: filled curves are densities, dots are rows, the vertical line is the median. "
    "Categories: bars show how many rows of each class have each of them.",
    "drawn for nothing": "Numbers: filled curves are densities, dots are rows, the vertical line is the median. "
    "Categories: bars show how many rows have each of them.",
    "drawn without rows": "Each bar shows how many rows lie between two limits, or have a category; what fewer than "
    "{fewest} rows share is not shown.",
    "drawn for memberships": "Every row counts for each class according to its probability.",
    "drawn for several": "Each feature is drawn against one target, which its caption names: the one with its smallest "
    "p-value. If the target is a number, dots are rows and the line is the running mean; categories have a bar from "
    "the first to the third quartile, with the median. If the target is a class, filled curves are densities, dots are "
    "rows and the vertical line is the median; for categories, bars show how many rows of each class have them.",
    "picture": "{rank}. {name}",
    "picture against": "{rank}. {name}, against {against}",
    "picture serves": "{rank}. {name}, against {against}; serves {serves}",
    "picture serves none": "{rank}. {name}, against {against}; serves no target",
    "picture serves unclear": "{rank}. {name}, against {against}; it is not clear which target it serves",
    "target drawn": "{target}",
    "target drawn as score": "score of {target} (higher is later, or more)",
    "heat": "If the dark cells of a feature are on the left, it is among the best in nearly all resamples. If they "
    "are spread out, its rank depends on chance. Resamples share rows, so fresh samples differ more.",
    "tolerance": "The bar ends where the feature is kept in 95 % of the draws in which {wrong}; the line is its "
    "interval. {draws} draws were needed. Errors that do not depend on the columns cost power; they never make a false "
    "feature.",
    "wrong hard uniform": "labels are changed to any other class at random",
    "wrong hard one-class": "labels of the largest class are changed at random (the rate is a share of that class)",
    "wrong hard next": "labels are changed to the next class at random",
    "wrong soft uniform": "all probabilities are moved towards the shares of the classes, and one class per row is "
    "drawn",
    "wrong numbers uniform": "numbers are moved by 3 to 10 standard deviations",
    "no worst": "what a feature survives at worst is not known {why}",
    "worst hard": "On the right: what the feature survives whichever labels are wrong; perhaps it survives more.",
    "worst numbers": "On the right: what it survives whichever numbers are shifted; perhaps it survives more.",
    "alike pairs": "These pairs of top features carry almost the same information, so one of each pair may be enough "
    "(--redundancy 1 on the command line, redundancy=1 in Python, moves the other down).",
    "not alike": "No two of the top features have a correlation of {near} or more.",
    "alike table": "Top features with a correlation of {near} or more",
    "sign": "{value:.2f}",
    "no sign": "{value:.2f} (no direction)",
    # the labels
    "rates": "Share of wrong labels by given class",
    "nearest": "the table has the {labels} with which they disagree most",
    "doubtful votes": "Votes that look wrong, the most doubtful first",
    "whom to ask": "Rows that are least sure, and whose vote would help most",
    "suspects": "Rows to look at first, with the values of the top features",
    "corrections": "Check the rows again, the most doubtful first, and decide. If you can label new rows, take them at "
    "random: in our trials, choosing them cleverly did not help. Nothing leaves this computer. The browser remembers "
    "your decisions on this page.",
    "no script": "This part needs JavaScript. Without it, the table above lists the same rows.",
    "apply": "Then run the same command again with --corrections corrections.csv, or in Python apply_corrections(y, "
    '"corrections.csv").',
    "labellers": "Some features are related to how rows were labelled, not to what they are. Each feature was tested "
    "against doubt about the labels, among rows that look alike. Many such features are not found in this way: only "
    "checked rows settle it (dubio check).",
    "no mark": "No feature is related to doubt about the labels, beyond what its relation to the classes explains.",
    "marked": "Look at these features before you trust them:",
    "only checked": "Only checked rows settle whether a feature is related to the truth or to how rows were labelled.",
    "marked kept": "{mark} (kept)",
    "marked not kept": "{mark} (not kept)",
    "truth of votes": "Labels of {name}: the class most likely by all votes (rows) and the given class (columns)",
    "truth of models": "Labels of {name}: the class most likely to the models (rows) and the given class (columns)",
    "class": "class",
    "counts": "Counts of labels",
    "classes": "Rows of each class",
    "all rows": "all rows",
    # the end
    "command": "On the command line:",
    "python": "In Python:",
    "made": "Made with dubio {version}. This page needs no network: it contains everything it shows.",
    # What a selection says of the next table.
    "applied empty": "{name!q} has no value in this table",
    "applied without unit": "{name!q} is written without a unit: {unit} is assumed",
    "applied new categories": "{name!q} has {n} {n:category|categories} that the first table did not have "
    "({levels!q:5}), in {rows} {rows:row|rows}",
    "applied far outside": "{name!q} has {n} {n:value|values} far outside the range of the first table "
    "({low} to {high}), such as {example}",
    "applied drifted": "the values of {name!q} have shifted: {percent:.0f} % of them would have to be different to "
    "match the first table",
    "applied": "{n} kept {n:column|columns} of {rows:,} {rows:row|rows} written to {path}",
    "selection written": "selection written to {path}",
    # The reading of a column.
    "read as number": "number",
    "read as yes/no": "yes or no",
    "read as category": "{n} {n:category|categories}",
    "read as ordered": "in order: {levels}",
    "read as date": "date, from {first}",
    "read as time": "time of the day",
    "read as text": "text",
    "read as empty": "no value",
    "read as problem": "cannot be used as it is",
    "table looked at": "Columns of {table}",
    "columns with problems": "{n} {n:column|columns} cannot be used as {n:it is|they are}:",
    "counted rows": "only counts the rows",
    "not usable": "it could not be used",
    # The page of dubio open: where the line may lie and what it costs, and one feature in sentences.
    "line as it is": "keep these {keep:,} of {of:,} columns",
    "line moved": "keep the first {keep:,} of {of:,} columns",
    "line before all": "nothing is kept",
    "line by chance": "at most {percent:.2g} % of these are expected to be there by chance",
    "line hardly by chance": "less than 0.1 % of these are expected to be there by chance",
    "line too much chance": "about {percent:.0f} % of these ({wrong:,} of {keep:,}) are expected to be there by "
    "chance: more than the {allowed:g} % that you allow",
    "line leaves out": "{n:,} {n:column that is|columns that are} related to the target would be left out",
    "line beyond evidence": "for {n:,} of them, there is no evidence of a relation",
    "line enough": "the first {enough:,} predict the target as well as all that are related to it",
    "line first enough": "the first one predicts the target as well as all that are related to it",
    "line not enough": "{keep:it predicts|they predict} the target less well than the first {enough:,}",
    "line value": "{what}: {value:.3g}, at the line of the answer {before:.3g}",
    "feature given": "it is given: the other columns are judged by what they add to it",
    "feature effect higher": "effect: higher values go with {on}: {share}",
    "feature effect lower": "effect: lower values go with {on}: {share}",
    "feature effect none": "effect: neither higher nor lower values clearly go with {on}: {share}",
    "feature share": "in {effect:g} % of the pairs of rows ({low:g} to {high:g} %), the higher value goes with it. "
    "50 % would be no effect",
    "feature effect on": "{of!q}",
    "feature effect on more": "a higher target",
    "feature verdict": "checked rows: {verdict}",
    "feature difference": "difference: {difference:g}, in the unit of the column",
    "feature family": "family: {others:8} can stand in for it",
    "feature alone": "family: no other related column can stand in for it",
    "feature tolerance hard": "wrong labels: with {percent:g} % of the labels wrong at random, it is still kept in "
    "95 % of the draws",
    "feature tolerance soft": "flatter probabilities: with all of them moved by {percent:g} % towards the shares of "
    "the classes, it is still kept in 95 % of the draws",
    "feature tolerance numbers": "wrong numbers: with {percent:g} % of the numbers far off, it is still kept in 95 % "
    "of the draws",
    "feature resampled": "other rows: it is kept in {percent:g} % of the resamples",
    "feature forecast": "fresh samples: {percent:g} % of them should keep it (forecast)",
    # The paper kit: methods and results. Square brackets hold the keys of cited works.
    "paper table": "The table ({table}) had {rows:,} {rows:row|rows} and {columns:,} {columns:column|columns} that "
    "could be selected",
    "paper labelled": "{target} was the target: {described}",
    "paper unlabelled": "In {unlabelled:,} {unlabelled:row|rows}, the target was not known",
    "paper left out": "{left_out:One column|Columns} that could not be used {left_out:was|were} left out: "
    "{left_out:20}",
    "paper missing cells": "{missing:,} {missing:cell|cells} of the table ({missing_percent:.1f} %) had no value; they "
    "were filled with {filled_with} before features were ranked",
    "paper no missing cells": "No cell of the table was missing",
    "paper groups": "Rows with the same {groups} belong together ({n_groups:,} groups): tests compared whole groups, "
    "or rows within a group, and no row was predicted from a row of its own group",
    "paper given": "{given:10} {given:was|were} taken as known: the other columns were judged by what they add. The "
    "target and each column were first predicted from {given:it|them}, by ridge regression on curves, categories and "
    "their products and on rows that were not used to learn it, and what was left of both was compared",
    "paper corrected": "Before the analysis, a person looked again at {looked:,} {looked:label|labels}, and changed "
    "{corrected:,} of them",
    "paper checked": "The truth of {checked:,} rows, drawn with known chances, was determined by hand. With them, each "
    "feature was also tested for a relation with the truth, by prediction-powered inference; features related only to "
    "how rows were labelled were not selected",
    "paper weights": "Each row counted with the weight in {weights}",
    "paper sampled": "A random sample of {used:,} rows was used",
    "paper method": "Features were ranked by {method} of dubio {dubio} ({does})",
    "paper tested together": "Each feature was tested for a relation with the target: alone, by a linear test whose "
    "law has the variance of all permutations and by a smooth test with permutations, joined by the Cauchy rule; and "
    "together with others, on rows that the search had not seen",
    "paper tested alone": "Each score was compared with the scores that chance alone would give",
    "paper false discoveries": "Features were called related to the target at a false-discovery rate of {alpha:g} %; "
    "the smallest q-value had to reach half of it",
    "paper not tested": "The number of features was chosen beforehand; they were not tested",
    "paper effects": "The effect of a feature is its concordance with the target: the share of pairs of rows in which "
    "the higher value goes with the higher target, or with the class that is named (50 % is no effect), with a 95 % "
    "interval",
    "paper stability": "The selection was repeated on {draws} resamples of the rows",
    "paper evaluation": "The worth of the selection to {model} was measured by nested cross-validation with {folds} "
    "folds: features were selected anew without the rows on which the model was tested",
    "paper audit": "Labels were compared with the predictions of models that had not seen them in training",
    "paper software": "The analysis was done with dubio {dubio}, Python {python}, NumPy {numpy}, SciPy {scipy} and "
    "scikit-learn {scikit_learn}",
    "paper repeat": "Random numbers began with seed {seed}; run.toml holds all settings, and dubio rerun repeats the "
    "analysis",
    "paper flow": "Of {rows:,} rows, {labelled:,} had a known target, and of {columns:,} columns, {ranked:,} were "
    "ranked",
    "paper kept": "{n} {n:feature was|features were} selected: {kept:20}",
    "paper sufficient": "The first {enough} predict the target as well as all {related}",
    "paper nothing stands out": "No feature was found to be related to the target at a false-discovery rate of "
    "{alpha:g} %",
    "paper feature": "{name}: rank {rank}, p = {pvalue}, q = {qvalue}",
    "paper feature with effect": "{name}: rank {rank}, concordance {effect:.0f} % ({low:.0f} to {high:.0f} %, "
    "{direction}), p = {pvalue}, q = {qvalue}",
    "paper feature on a class": "{name}: rank {rank}, concordance with {of!q} {effect:.0f} % ({low:.0f} to "
    "{high:.0f} %, {direction}), p = {pvalue}, q = {qvalue}",
    "paper feature and truth": "{line}; {verdict}, q of the truth = {q_truth}",
    "paper feature untested": "{name}: rank {rank}",
    "paper not causal": "The analysis shows that features and target are related, not that one causes the other",
    "paper no evidence": "Features that were not selected may be related to the target, too: too little evidence is "
    "not evidence of no relation",
    "paper must say": "You must say: {what}",
    "paper no cutpoints": "No cutpoint was used: columns of numbers were tested as they are",
    "rerun the same": "Every file is the same, byte by byte",
    "rerun differs": "{names:This file differs|These files differ}: {names:20}",
    "rerun changed file": "The {what} ({path}) is not the file that was analysed",
    "rerun changed version": "{name} was {before}, and is {now} now",
    "rerun came in": "Now selected, and not before: {names:10}",
    "rerun went out": "Selected before, and not now: {names:10}",
    "rerun ranks": "The largest change of a rank is {far} ({name})",
    "rerun same answer": "The same features are selected, in the same order",
    "kit written": "paper kit written to {path}",
    "no word file": "paper.docx was not written: pip install 'dubio[paper]'",
    # What only the command says. Errors have their own remedies in ``dubio_app/command/wording.py``.
    "no target": "{no target named}: features are ranked only by the structure of the table",
    "counts rows": "column {name!q} was left out: it only counts the rows",
    "without numbers": "{n} {n:column|columns} without numbers {n:was|were} left out: {names!q:5}",
    "only count": "{n} {n:column that only counts|columns that only count} the rows {n:was|were} left out: {names!q:5}",
    "minus one": "-1 is read as a class ({n} {n:row|rows}). If it means no label, {mark minus one}",
    "unused marks": "{unlabelled marks} {marks!q:5}: no row has this value",
    "as numbers": "target {name!q} was read as numbers {how}",
    "other sheets": "sheet {name!q} of {file} was read; {name a sheet}: {others!q}",
    "labelled values": "{n} {n:value|values} of column {column!q} with a label are used as they are: {shown:3}; {mark "
    "missing}",
    "first pair": "the pairs count rows from 1, the first row under the header: the first pair ({pair}) is {rows} "
    "({name rows})",
    "read once": "{what} is read once, in batches of rows",
    "half kept": "half of the features are kept, because only a test on the whole table can tell which features stand "
    "out (--keep N sets the number)",
    "labels saved": "likely labels written to {path}",
    "what asking gains": "the gain is how much the probability of the likely class is expected to rise with that vote",
    "report written": "report written to {path}",
    "evaluated on": "the selection was evaluated on {n:,} of {n_in_all:,} rows",
    "ridge": "logistic regression needs classes: for a numeric target, {asked model} is ridge regression",
    "lonely": "{n} {n:class|classes} with only one row cannot be judged ({names!q:5}): {n:it is|they are} treated as "
    "unlabelled",
    "no table": "no table was written to {path}, because no feature stands out",
    "table": "table with {n} {n:feature|features} written to {path}",
    "table of all": "table with {n} features (all that are related to the target) written to {path}",
    "table of more than enough": "table with {n} features (all that are related to the target) written to {path}; "
    "--keep sufficient writes {enough} of them",
    "ranked table": "Features for {asked}",
    "table without a target": "Features, without a target",
    "more features": "{n} more {n:feature|features}; --top {total} shows all",
    "more rows": "{n} more {n:row|rows}; --top {total} shows all",
    "scores": "scores: {direction} is good",
    "effect and interval": "{effect:.0f} % ({effect_low:.0f} to {effect_high:.0f})",
    "effects": "effect: share of pairs of rows in which the higher value goes with the higher target, with a 95 % "
    "interval; 50 % is nothing",
    "effects on": "effect: share of pairs of rows in which the higher value goes with the class or target named under "
    "'on', with a 95 % interval; 50 % is nothing",
    "effects on one": "effect: share of pairs of rows in which the higher value goes with {of!q}, with a 95 % "
    "interval; 50 % is nothing. 'higher': rows of {of!q} have the higher values. For the other class, the effect is "
    "100 % minus this",
    "by method": "method: {method}",
    "by method in a stream": "method: {method}, on all rows",
    "kept because": "kept: {reason}",
    "tolerated hard": "tolerance: the share of labels that may be wrong at random before a feature is kept in fewer "
    "than 95 % of the draws",
    "tolerated soft": "tolerance: how far all probabilities may be flattened before a feature is kept in fewer than "
    "95 % of the draws",
    "tolerated numbers": "tolerance: the share of gross errors before a feature is kept in fewer than 95 % of the "
    "draws",
    "worst case hard": "worst case: with fewer changed labels than this, whichever they are, it is kept",
    "worst case numbers": "worst case: with a smaller shift of the numbers, in standard deviations, it is kept",
    "skills": "skill of the models on rows they had not seen (1 is perfect, 0 is guessing): {skills:20}",
    "skills below 0": "skill of the models on rows they had not seen (1 is perfect, 0 is guessing, below 0 is worse "
    "than guessing): {skills:20}",
}

#: Columns of the tables of the page: the name and the meaning of each.
COLUMNS: dict[str, tuple[str, str]] = {
    "rank": ("rank", "1 is best"),
    "feature": ("feature", ""),
    "label": ("meaning", "by the file or the codebook"),
    "line": ("line", "sufficient, related to the target, or neither; given: not judged"),
    "kept": ("kept", ""),
    "score low": ("score", "lower is better"),
    "score high": ("score", "higher is better"),
    "pvalue": ("p-value", "probability of a score this good by chance"),
    "qvalue": ("q-value", "share of false discoveries if the features with this q-value or a smaller one are kept"),
    "pvalue_without": ("p-value, nothing given", "the same if nothing is given"),
    "adjusting": ("related", "to the target: with and without the given columns, only without, or only with them"),
    "p_truth": ("p-value (truth)", "probability of such a relation to the truth by chance, by the checked rows"),
    "q_truth": ("q-value (truth)", "the same as a share of false discoveries"),
    "verdict": ("verdict", "what the checked rows say"),
    "effect": (
        "effect",
        "concordance: share of pairs of rows in which the higher value goes with the higher target, or with the class "
        "named; 50 % is nothing",
    ),
    "effect_low": ("effect from", "low end of its 95 % interval"),
    "effect_high": ("effect to", "high end of its 95 % interval"),
    "direction": ("direction", "of the target where the feature is higher; none: the interval holds 50 %"),
    "difference": (
        "difference",
        "between the medians of the class and of all others, in the unit of the column (of a category: between its "
        "shares); for numbers the slope per unit, for ordered classes the step from one to the next, for times the "
        "ratio of hazards per standard deviation",
    ),
    "effect_corrected": ("corrected effect", "the effect without wrong labels, by the checked rows"),
    "effect_corrected_low": ("corrected from", "low end of its 95 % interval"),
    "effect_corrected_high": ("corrected to", "high end of its 95 % interval"),
    "family": ("family", "features with the same number can stand in for each other; 0: not related"),
    "region": ("region", "the family as a region of the spectrum"),
    "family_qvalue": ("q (family)", "share of false discoveries among families"),
    "beyond_qvalue": ("q (beyond)", "the same for what its family adds beyond all others"),
    "beyond": ("beyond", "whether its family was shown to add something beyond all others"),
    "effect_of": (
        "on",
        "the class or target of the effect: of several the one that stands out most, of two classes the second",
    ),
    "effect_level": ("category", "the category, or the column of a group, that acts most"),
    "serves": ("serves", "the targets that it is related to; ?: it is not clear which"),
    "doubt": ("doubt", "q-value of the test whether labels are more doubtful where the feature is high, or low"),
    "annotator": ("annotator", "whose labels the feature marks"),
    "tolerance": (
        "tolerance",
        "share of labels that may be wrong at random before it is kept in fewer than 95 % of the draws",
    ),
    "rank from": ("rank from", "low end of its rank interval"),
    "rank to": ("rank to", "high end of its rank interval"),
    "kept in": ("kept in", "share of the resamples in which it is kept"),
    "fresh": ("fresh samples", "forecast of the share of fresh samples of this size that keep it"),
    "row": ("row", "counted from 1"),
    "given label": ("given label", ""),
    "suggested": ("suggested label", "the other class that the models prefer"),
    "next likely": ("next likely label", "the other class that the models prefer"),
    "disagreement": ("disagreement", "of the models with what is given: 0 is none, 1 the most there can be"),
    "wrong": ("P(wrong)", "probability that it is wrong"),
    "steps": ("steps", "how many classes the models are away from the label, on average"),
    "given number": ("given number", ""),
    "predicted": ("predicted", "by models that had not seen the row"),
    "low": ("from", "the interval should hold nine of ten right numbers"),
    "high": ("to", "the interval should hold nine of ten right numbers"),
}

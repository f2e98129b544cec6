"""The sentences of the page, each with its code. Where a sentence has facts, it names them in braces."""

from __future__ import annotations

#: The sections of the page: their names in the navigation, and their titles.
SECTIONS = {
    "changes": ("", "What the corrections changed"),
    "ranking": ("Ranking", "Ranking"),
    "size": ("How many", "How many features"),
    "evaluation": ("Worth", "What the selection is worth"),
    "drawn": ("Top features", "The top features"),
    "stability": ("Stability", "Stability"),
    "tolerance": ("Tolerance", "How wrong may the labels be?"),
    "redundancy": ("Redundancy", "Redundancy"),
    "audit": ("Labels in doubt", "Labels in doubt"),
    "corrections": ("Correct labels", "Correct labels"),
    "labellers": ("Labellers", "Who labelled the rows"),
    "labels": ("Labels", "How the labels were read"),
    "again": ("Repeat this", "Repeat this"),
}

#: The columns of tables: their names, and what they mean.
COLUMNS = {
    "rank": ("rank", "1 is best"),
    "feature": ("feature", ""),
    "line": ("line", "sufficient, related to the target, or neither"),
    "kept": ("kept", ""),
    "score low": ("score", "low is good"),
    "score high": ("score", "high is good"),
    "pvalue": ("p-value", "probability of a score this good by chance"),
    "qvalue": ("q-value", "share of false discoveries if the features with this q-value or a smaller one are kept"),
    "serves": ("serves", "the targets that it is related to; ?: it is not clear which"),
    "doubt": ("doubt", "q-value of the test whether labels are more doubtful where the feature is high, or low"),
    "annotator": ("annotator", "whose labels the feature marks"),
    "tolerance": (
        "tolerance",
        "share of labels that may be wrong at random before it is kept in fewer than half of the draws",
    ),
    "rank from": ("rank from", "low end of its rank interval"),
    "rank to": ("rank to", "high end of its rank interval"),
    "kept in": ("kept in", "share of the resamples in which it is kept"),
    "row": ("row", "counted from 1"),
    "given label": ("given label", ""),
    "suggested": ("suggested label", "the class it most likely has if the given label is wrong"),
    "next likely": ("next likely label", "the class it most likely has if the given label is wrong"),
    "wrong label": ("P(wrong)", "probability that the label is wrong"),
    "steps": ("steps", "how many classes it is off, expected"),
    "given number": ("given number", ""),
    "predicted": ("predicted", "by experts that had not seen the row"),
    "low": ("from", "the interval should hold nine of ten right numbers"),
    "high": ("to", "the interval should hold nine of ten right numbers"),
    "wrong number": ("P(wrong)", "probability that the number is wrong"),
}

#: The columns of the table of features that are alike.
PAIR = ("feature", "and", "correlation")
#: The sentences. Every one may use {labels} ("labels" or "numbers"), {asked} (the target) and {table}.
SENTENCES = {
    # the answer
    "title": "{target} in {table}: which features matter",
    "title of labels": "{target} in {table}: which {labels} look wrong",
    "question": "Which columns of {table} say something about {asked}?",
    "question of labels": "Which {labels} of {asked} in {table} look wrong?",
    "question of groups": "Which columns of {table} show its groups of rows?",
    "question of pairs": "Which columns of {table} agree with the given pairs of rows?",
    "doubtful": "{doubtful} of {labelled} {labels} are doubtful.",
    "none doubtful": "None of the {labelled} {labels} is doubtful.",
    "not judged": "The {labels} cannot be judged.",
    "kept": "Features kept, best first",
    "more": "and {count} more",
    "key": "Filled: sufficient. Outlined: related too, but not needed beside them.",
    # how sure it is
    "handed on": "In Python, the feature with the smallest p-value is handed on so that pipelines run, but nothing "
    "shows that it matters.",
    "tested": "Each feature was tested against chance, alone and together with others; about {alpha:g} % of the "
    "related features may be there by chance.",
    "all kept": "When the data are resampled, only the order can change: every feature is kept.",
    "never kept": "When {resampled} {draws} times, no feature was kept in any of them.",
    "sometimes kept": "When {resampled} {draws} times, a feature was kept in {some} of them.",
    "stability": "The choice is {how} stable: when {resampled} {draws} times, the stability index was {index} "
    "(interval {low} to {high}; 1 means always the same features, 0 means no better than chance).",
    "resampled bootstrap": "rows were drawn again",
    "resampled subsample": "two thirds of the rows were drawn",
    "resampled labels": "the labels were drawn again from their probabilities",
    "resampled pairs": "the pairs were drawn again",
    "no skill": "The columns do not tell the {classes}, so the {labels} cannot be judged.",
    "doubtful share": "{doubtful} of {labelled} {labels} are doubtful (estimated share of wrong ones: {rate:.1f} %).",
    "alerts": "Look at this first",
    # what it does not say
    "limits": "What this does not tell you",
    "cause": "Whether a feature causes {asked}, or the other way round. It is only seen that they go together.",
    "no meaning": "Whether the groups of rows mean anything. Nothing was given to compare them with.",
    "not measured": "Anything about columns that were not measured, or about rows that were not drawn like these.",
    "no evidence": "That the features at the end of the list have nothing to do with it: too little evidence is not "
    "evidence of nothing.",
    "not tested": "Which features are there by chance: they were ranked, but not tested.",
    "not evaluated": "How well a model would predict. dubio rank tells it with --evaluate logistic.",
    "several not evaluated": "How well a model would predict.",
    "not audited": "Whether the labels are right. They were not audited.",
    "unlabelled": "Whether the rows without a label are like those with one. If labels are missing for a reason that "
    "the columns do not show, the answer holds for labelled rows only.",
    "no groups": "Whether rows belong together. The tests take them as independent; if several are of one patient, "
    "name the column that says so (--groups).",
    "not resampled": "How far the ranks would move with other rows. dubio rank tells it with --stability 50.",
    "done": "What was done, and why",
    # the ranking and the number of features
    "bars": "By {method} ({does}). A {good} score is good; the bars compare the scores shown, from the best (a full "
    "bar) to the worst (no bar).",
    "related first": "Related features come first; within each part the order is that of the method, which need not be "
    "that of the scores.",
    "other order": "The order is that of the method, which need not be that of the scores.",
    "ranks": "The line on the right shows the range of the feature's rank in {share:.0f} % of the resamples, the dot "
    "its median.",
    "beside chance": "Beside chance",
    "chance": "Each dot is a feature, with its p-value; kept features have a filled dot. If no feature were related to "
    "the target, the dots would follow the dashed line, or lie below it where a test is careful; the grey band is the "
    "range of chance (95 %, for features that do not depend on each other). Dots above the band are more than chance "
    "gives.",
    "all features": "All {count:,} features",
    "legend": "What the columns mean",
    "no size": "No feature reaches the line, which is at half of alpha so that noise is rarely called a finding.",
    "size": "The related features are those whose q-value lies below the line. If more were taken, too many of them "
    "would be false discoveries.",
    "related mark": "{count} related",
    "kept mark": "{count} kept",
    "path": "The search looked at sets of features: beyond the mark, a larger set is not measurably better.",
    "enough": "{count} are enough",
    "one enough": "1 is enough",
    "evaluation": "With {model}, on rows that neither the selection nor the model had seen. {numbers} In brackets: "
    "{confidence:g} % intervals over {folds} folds.",
    # the features
    "drawn for numbers": "Each dot is a row; the line is the running mean. Categories have a bar from the first to the "
    "third quartile, with the median.",
    "drawn for classes": "Numbers: filled curves are densities, dots are rows, the vertical line is the median. "
    "Categories: bars show how many rows of each class have each of them.",
    "drawn for nothing": "Numbers: filled curves are densities, dots are rows, the vertical line is the median. "
    "Categories: bars show how many rows have each of them.",
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
    "heat": "If the dark cells of a feature are on the left, it is reliably among the best. If they are spread out, "
    "its rank depends on chance.",
    "tolerance": "The bar ends where the feature is kept in half of the draws in which {wrong}; the line is its "
    "interval. {draws} draws were needed.",
    "wrong uniform": "labels are changed to any other class at random",
    "wrong one-class": "labels of the largest class are changed at random (the rate is a share of that class)",
    "wrong next": "labels are changed to the next class at random",
    "wrong soft": "all probabilities are moved towards the shares of the classes, and one class per row is drawn",
    "wrong numbers": "numbers are moved by 3 to 10 standard deviations",
    "no worst": "What a feature survives at worst is not known {why}.",
    "worst hard": "On the right: what the feature survives if the worst labels were chosen (by the linear test, its "
    "cut held fixed).",
    "worst numbers": "On the right: the worst shift of the numbers that it survives (by the linear test, its cut held "
    "fixed).",
    "alike": "These pairs of top features carry almost the same information, so one of each pair may be enough "
    "(--redundancy 1 on the command line, redundancy=1 in Python, moves the other down).",
    "not alike": "No two of the top features have a correlation of {near} or more.",
    "alike table": "Top features with a correlation of {near} or more",
    "sign": "{value:.2f}",
    "no sign": "{value:.2f} (no direction)",
    # the labels
    "rates": "Estimated share of wrong labels by given class",
    "held back": "{why} The table has the labels that are nearest to it.",
    "nearest": "None of the {labelled} {labels} is doubtful; the table has those that are nearest to it.",
    "assumption": "The rates assume that {assumption}.",
    "suspects": "The most suspicious {labels}, with the values of the top features",
    "corrections": "Look at the rows again, the most doubtful first, and decide. Recheck labels in this order. If you "
    "can label new rows, take them at random: in our trials, choosing them cleverly did not help. Nothing leaves this "
    "computer. The browser remembers your decisions on this page.",
    "no script": "This part needs JavaScript. Without it, the table above lists the same rows.",
    "apply": "Then run the same command again with --corrections corrections.csv, or in Python apply_corrections(y, "
    '"corrections.csv").',
    "labellers": "Some features are related to how rows were labelled, not to what they are. Each feature was tested "
    "against doubt about the labels, among rows that look alike.",
    "marked": "Look at these features before you trust them:",
    "marked kept": "{mark} (kept)",
    "marked not kept": "{mark} (not kept)",
    "truth of votes": "Labels of {name}: the class most likely by all votes (rows) and the given class (columns)",
    "truth of experts": "Labels of {name}: the class most likely to the experts (rows) and the given class (columns)",
    "class": "class",
    "counts": "Counts of labels",
    "classes": "Rows of each class",
    "all rows": "all rows",
    # the end
    "command": "On the command line:",
    "python": "In Python:",
    "made": "Made with dubio {version}. This page needs no network: it contains everything it shows.",
}

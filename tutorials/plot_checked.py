"""
A scanner that misses cases
===========================

In 600 files the diagnosis was read from pictures. An old scanner blurs them, and where it was used 60 % of the cases
were missed. So the age of the scanner is related to the diagnosis in the file, though not to the disease. No test of
the given labels can see the difference, and no model either. Sixty files that are drawn at random and read again can.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from dubio import FeatureSelector, audit_labels, checked_rows
from dubio.pipelines import evaluate_selection
from dubio.trust import draw_rows, rows_needed

# %%
# The table
# ---------
# It is made here, so that we know the truth. Everything after this part sees only the table and its labels.
rng = np.random.default_rng(1)
ill = rng.random(600) < 0.5
names = ["crp", "temperature", "pulse", "age", "weight", "scanner_age", "height", "ward", "queue", "room"]
X = pd.DataFrame(rng.normal(size=(600, 10)), columns=names)
X[["crp", "temperature", "pulse", "age"]] += ill[:, None] * np.array([0.9, 0.8, 0.7, 0.6])
missed = ill & (X["scanner_age"] > 0.3) & (rng.random(600) < 0.6)
truth = np.where(ill, "ill", "well")
given = np.where(ill & ~missed, "ill", "well")

# %%
# What the given labels say
# -------------------------
# The scanner's age is among the related columns, and nothing in the table says that it should not be.
print(FeatureSelector().fit(X, given).to_ranking().headline())
audit = audit_labels(X, given)
print(audit)

# %%
# How many rows to check
# ----------------------
# A forecast for a column that is moderately related to the truth. We check fewer, as people do.
print(rows_needed(audit.disagreement))

# %%
# The draw
# --------
# Rows are drawn by chance. Whoever picks the doubtful ones, or easy ones, learns nothing about the others. On the
# command line this is ``dubio check patients.csv --target diagnosis --rows 60 --page check.html``, which also writes
# the page on which a person judges the rows without seeing their labels.
draw = draw_rows(len(X), 60, random_state=0)
values = np.full(len(X), None, dtype=object)
values[draw.rows] = truth[draw.rows]  # here the truth is known; else, a person looks
checked = checked_rows(values, chance="random")
print(checked)

# %%
# Two answers, side by side
# -------------------------
# What is related to the truth comes first. The scanner's age is not kept.
selector = FeatureSelector().fit(X, given, checked=checked)
ranking = selector.to_ranking()
print(ranking.headline())
print(ranking.to_frame()[["rank", "feature", "qvalue", "q_truth", "verdict"]].to_string(index=False))

# %%
# How often the labels are wrong, and what a model is worth
# ---------------------------------------------------------
# Of each class, with an interval. The accuracy against the given labels takes right answers for wrong ones, so the
# checked rows say how good the model really is.
print(audit_labels(X, given, checked=checked))
worth = evaluate_selection(FeatureSelector(), LogisticRegression(), X, given, checked=checked, n_repeats=1, sizes=[4])
print(worth.headline())
print("right in", round(float((given == truth).mean()), 3), "of the labels")

# %%
# The picture
# -----------
# Each column has two bars: the evidence of a relation to the given label, and to the truth. Correcting the 60 labels
# and ranking again does not help, since 540 labels are as they were.
frame = ranking.to_frame()[::-1]
places = np.arange(len(frame))
plt.figure(figsize=(7, 4.5))
for shift, column, color, label in ((0.2, "qvalue", "#9aa5a5", "given label"), (-0.2, "q_truth", "#0b6e6e", "truth")):
    plt.barh(places + shift, -np.log10(frame[column].clip(1e-12)), 0.38, color=color, label=label)
plt.axvline(-np.log10(0.05), color="#b4441c", linestyle="--", label="q = 0.05")
plt.yticks(places, frame["feature"])
plt.xlabel("evidence of a relation: -log10 of the q-value")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Two bars per column. The scanner's age has a long bar for the label and none for the truth."

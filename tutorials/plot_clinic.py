"""
A clinical table with two annotators
====================================

Forty patients come three times each. Two doctors said whether a patient is at risk; they do not always agree, and one
of them was asked about some patients only. The file is as it came from the ward: units, categories, dates, blanks.
Which columns tell who is at risk? And how can the answer be defended?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import FeatureSelector, soft_labels, stability
from dubio.pipelines import evaluate_problem, usual_model

# %%
# The raw file
# ------------
# The file is made here, so that we know the truth: CRP and smoking go with the risk, the other columns do not.
# Everything after this part knows only the file.
rng = np.random.default_rng(0)
patients = np.repeat(np.arange(40), 3)
at_risk = rng.integers(0, 2, 40)[patients]
made = pd.DataFrame(
    {
        "patient": [f"P{p:03d}" for p in patients],
        "visit": pd.Timestamp("2026-01-05") + pd.to_timedelta(7 * np.tile([0, 1, 2], 40) + patients, unit="D"),
        "crp": [f"{value:.1f} mg/L" for value in np.exp(rng.normal(1 + 1.4 * at_risk, 0.5))],
        "age": rng.integers(30, 80, 40)[patients],
        "sex": rng.choice(["f", "m"], 40)[patients],
        "smoker": np.where(rng.random(120) < 0.05, None, np.where(rng.random(120) < 0.3 + 0.4 * at_risk, "yes", "no")),
        "temperature": (37 + 0.4 * rng.normal(size=120)).round(1),
        "room": rng.integers(1, 12, 120),
    }
)
first = np.where(rng.random(120) < 0.1, 1 - at_risk, at_risk).astype(object)
second = np.where(rng.random(120) < 0.2, 1 - at_risk, at_risk).astype(object)
second[rng.random(120) < 0.4] = None  # the second doctor was not always asked
names = {0: "well", 1: "at risk", None: None}
made["doctor_a"], made["doctor_b"] = [names[v] for v in first], [names[v] for v in second]
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "ward.csv"
made.to_csv(path, index=False)
print(path.read_text(encoding="utf-8")[:260])

# %%
# What is known of the target
# ---------------------------
# The votes become probabilities. Rows of one patient belong together, so the patient is the group, not a feature.
table = pd.read_csv(path, parse_dates=["visit"])
folder.cleanup()
labels = soft_labels(table[["doctor_a", "doctor_b"]])
patient = table["patient"]
X = table.drop(columns=["patient", "doctor_a", "doctor_b"])

# %%
# Which columns?
# --------------
selector = FeatureSelector().fit(X, labels, groups=patient)
print(selector.to_ranking().headline())
for alert in selector.alerts_:
    print("-", alert)
print(selector.explanation_)

# %%
# Would other patients give the same answer?
# ------------------------------------------
# Some of the patients are drawn, with all their visits, and the columns are chosen anew. This is done ten times.
sure = stability(FeatureSelector(), X, labels, groups=patient, resample="subsample", n_draws=10)
print(sure.to_frame().round(2).to_string(index=False))

# %%
# Is it of use for patients who come later?
# -----------------------------------------
# In each fold, columns are chosen and a model is trained with some patients, and tested with the others. Cells such as
# "4.8 mg/L" are text to a model; ``evaluate_problem`` hands it the numbers that the selector has read.
problem = selector.read_problem(X, labels, groups=patient)
worth = evaluate_problem(FeatureSelector(), usual_model("logistic"), problem, sizes=[1, 2, 4, 7], n_repeats=1)
print(worth.headline())

# %%
# The answer, to be defended
# --------------------------
# A reader of the study needs to know three things: what is kept, how often other patients led to the same columns, and
# how well these tell the risk of a patient who had no part in the choice. A column that is found in few of the draws
# rests on few patients: it should be confirmed in a new study. The model is compared with the doctors. They are
# sometimes wrong or disagree, so even the truth would not reach 100 %.
often = dict(zip(sure.names, sure.frequency, strict=True))
right = worth.estimate(worth.selected)
kept = [f"{name} (in {100 * often[name]:.0f} % of the draws)" for name in selector.get_feature_names_out()]
print(f"We keep {len(kept)} of {X.shape[1]} columns: {', '.join(kept)}.")
print(
    f"A model with such columns agrees with the doctors on {100 * right.mean:.0f} % of the visits of patients it has "
    f"not seen (interval {100 * right.low:.0f} to {100 * right.high:.0f} %). Always saying the most frequent answer "
    f"would agree on {100 * worth.chance.mean():.0f} %."
)
print(worth.verdict())

# %%
# What if patients were not counted?
# ----------------------------------
# Then every visit would count as a patient of its own, and what is chance could look like a finding. The bars are the
# evidence of the right answer and of the wrong one.
wrong = FeatureSelector().fit(X, labels)
places = np.arange(X.shape[1])
plt.figure(figsize=(6.5, 3.5))
plt.barh(
    places - 0.2, -np.log10(np.maximum(selector.pvalues_, 1e-12)), 0.4, color="#0b6e6e", label="patients as groups"
)
plt.barh(places + 0.2, -np.log10(np.maximum(wrong.pvalues_, 1e-12)), 0.4, color="#c3c8d1", label="visits as rows")
plt.axvline(-np.log10(0.05), color="#b4441c", linestyle="--", label="p = 0.05")
plt.yticks(places, X.columns)
plt.xlabel("evidence: minus the logarithm of p")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars of evidence for each column: with patients as groups, and too large with visits as rows."

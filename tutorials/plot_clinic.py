"""
A clinical table with two annotators
====================================

Forty patients come three times each. Two doctors said whether a patient is at risk; they do not always agree, and one
of them was asked about some patients only. The table is as it came from the ward: units, categories, dates, blanks.
"""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import FeatureSelector, soft_labels

# %%
# The raw table
# -------------
rng = np.random.default_rng(0)
patients = np.repeat(np.arange(40), 3)
at_risk = rng.integers(0, 2, 40)[patients]
frame = pd.DataFrame(
    {
        "patient": [f"P{p:03d}" for p in patients],
        "visit": pd.Timestamp("2026-01-05") + pd.to_timedelta(7 * np.tile([0, 1, 2], 40) + patients, unit="D"),
        "crp": [f"{value:.1f} mg/L" for value in np.exp(rng.normal(1 + 0.9 * at_risk, 0.5))],
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
frame["doctor_a"], frame["doctor_b"] = [names[v] for v in first], [names[v] for v in second]
raw = io.StringIO(frame.to_csv(index=False))
print(raw.getvalue()[:260])

# %%
# What is known of the target
# ---------------------------
# The votes become probabilities. Rows of one patient belong together, so the patient is the group, not a feature.
table = pd.read_csv(raw, parse_dates=["visit"])
votes = table[["doctor_a", "doctor_b"]]
labels = soft_labels(votes)
X = table.drop(columns=["patient", "doctor_a", "doctor_b"])
selector = FeatureSelector().fit(X, labels, groups=table["patient"])

# %%
# The answer
# ----------
print(selector.to_ranking().headline())
for alert in selector.alerts_:
    print("-", alert)
print(selector.explanation_)

# %%
# Without the groups, every visit would count as a patient of its own, and chance would be underestimated:
# the p-values below are those of the right answer and of the wrong one.
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

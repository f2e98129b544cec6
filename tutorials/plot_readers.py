"""
Three readers who quarrel
=========================

Three radiologists read the same scans. They agree in most of them, but not in all. Who is right, who errs on which
scans, whom should one ask again, and which measurements go with the disease?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import FeatureSelector, audit_labels, votes

# %%
# The table
# ---------
# It is made here, so that we know the truth: texture and margin go with malignant lesions. The third reader misses
# small ones. Not everybody read every scan, and a panel has judged twenty of them.
rng = np.random.default_rng(0)
n = 300
scans = pd.DataFrame(
    {
        "texture": rng.normal(size=n),
        "margin": rng.normal(size=n),
        "size_mm": np.exp(rng.normal(2.3, 0.4, size=n)).round(1),
        "age": rng.integers(30, 85, n),
        "contrast": rng.normal(size=n),
    }
)
malignant = scans["texture"] + 0.7 * scans["margin"] + 0.4 * rng.normal(size=n) > 0.4
small = scans["size_mm"] < 9
chances = {"rad_A": np.full(n, 0.92), "rad_B": np.full(n, 0.86), "rad_C": np.where(small & malignant, 0.3, 0.9)}
truth = np.where(malignant, "malignant", "benign")
other = np.where(malignant, "benign", "malignant")
read = pd.DataFrame({who: np.where(rng.random(n) < often, truth, other) for who, often in chances.items()})
read = read.astype(object).mask(rng.random(read.shape) < 0.25, None)
panel = np.where(np.arange(n) < 20, truth, None)
print(read.head())

# %%
# Who is right how often
# ----------------------
# One call joins the readings with what the other columns say about each scan. Models judge a scan only if they have not
# seen it.
said = votes(read, truth=panel)
audit = audit_labels(scans, said)
for note in (*audit.notes(), *audit.on_annotators()):
    print(f"* {note}")

# %%
# On which scans they err
# -----------------------
# Each reader's errors are compared with every column, among scans that look alike; ``q`` is the rate of false findings.
print(audit.errors_frame().round(3))

# %%
# What is likely true
# -------------------
# Two readers who agree may both be wrong, and one alone may be right. Here the majority is compared with the consensus,
# on the scans that the panel has not judged.
rest = (np.arange(n) >= 20) & read.notna().any(axis=1).to_numpy()
majority = read.mode(axis=1)[0].to_numpy()
print(f"majority right: {np.mean(majority[rest] == truth[rest]):.0%}")
print(f"consensus right: {np.mean(audit.likely[rest] == truth[rest]):.0%}")
print(audit.to_frame().sort_values("rank").head(3).round(2))

# %%
# The last table says which scans to read again first, and whose reading would settle most of them.
#
# Which measurements matter
# -------------------------
# The same record is the target. The tests see the readings alone, so that no column is tested against itself.
print(FeatureSelector().fit(scans, said).to_ranking().headline())

# %%
# The readers in a picture
# ------------------------
# Each reader's share of right readings, with an interval, beside the true share:
frame = audit.annotators_frame()[::-1]
plt.figure(figsize=(6, 2.5))
plt.hlines(frame.index, frame["low"], frame["high"], color="#0b6e6e", lw=2)
plt.plot(frame["right"], frame.index, "o", color="#0b6e6e", label="estimated")
plt.plot([chances[who].mean() for who in frame.index], frame.index, "x", color="#333333", label="true")
plt.xlabel("share of right readings")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "The share of right readings of three readers, with intervals and the true shares."

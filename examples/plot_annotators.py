"""
Several annotators who do not agree
===================================

Four people looked at the rows, not all of them at every row. One of them mostly guesses, and one errs where a column is
low. ``votes`` takes what each of them said; the audit joins it with what the columns say about each row.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import audit_labels, soft_labels, votes

rng = np.random.default_rng(0)
truth = rng.integers(0, 2, 250)
X = pd.DataFrame(rng.normal(size=(250, 8)), columns=["a", "b", "c", "d", "size", "e", "f", "g"])
X.iloc[:, :4] += 0.8 * truth[:, None]
errors = {"ann": 0.1, "bob": 0.15, "cyd": np.where(X["size"] < 0, 0.45, 0.05), "dan": 0.45}
said = pd.DataFrame({name: np.where(rng.random(250) < rate, 1 - truth, truth) for name, rate in errors.items()})
said = said.astype(object).mask(rng.random(said.shape) < 0.4, None)

audit = audit_labels(X, votes(said))
known = audit.labelled & said.notna().any(axis=1).to_numpy()
for name, likely in (
    ("shares of the votes", soft_labels(said).memberships.argmax(axis=1)),
    ("Dawid and Skene", soft_labels(said, combine="dawid-skene").memberships.argmax(axis=1)),
    ("votes and columns", np.array(audit.likely)),
):
    print(f"{name}: the likeliest class is right in {np.mean(likely[known] == truth[known]):.0%} of the rows")
print(*(note for note in audit.on_annotators()), sep="\n")

# %%
# How often is each annotator right? The lines are intervals of 95 %, the crosses the true shares.
frame = audit.annotators_frame()[::-1]
true = {name: float(np.mean(1 - np.broadcast_to(rate, 250))) for name, rate in errors.items()}
plt.figure(figsize=(6, 3))
plt.hlines(frame.index, frame["low"], frame["high"], color="#0b6e6e", lw=2)
plt.plot(frame["right"], frame.index, "o", color="#0b6e6e", label="estimated")
plt.plot([true[name] for name in frame.index], frame.index, "x", color="#333333", label="true")
plt.xlabel("share of right votes")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "The share of right votes of four annotators, with intervals that hold the true shares."

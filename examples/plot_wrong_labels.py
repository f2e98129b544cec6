"""
Wrong labels: find and correct them
===================================

A tenth of the labels was swapped. The audit orders the rows by how doubtful their label is, so that a person can look
at the first of them again. Correcting them brings the features back.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from dubio import FeatureSelector, audit_labels
from dubio.plots import LabelAuditDisplay

X, truth = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
flipped = np.sort(rng.choice(len(truth), 18, replace=False))
y = truth.to_numpy().copy()
y[flipped] = (y[flipped] + rng.integers(1, 3, len(flipped))) % 3

audit = audit_labels(X, y)
found = np.flatnonzero(audit.doubtful)
print(f"{audit}\n{np.isin(found, flipped).sum()} of these {len(found)} labels were swapped")

# %%
# Somebody looks at the doubtful rows, and corrects them.
corrected = np.where(audit.doubtful, truth, y)
before, after = FeatureSelector().fit(X, y), FeatureSelector().fit(X, corrected)
print("before:", before.to_ranking().headline(5))
print("after: ", after.to_ranking().headline(5))

# %%
# Rows are given classes, columns those that the models prefer: off the diagonal stand the rows to look at.
LabelAuditDisplay.from_audit(audit)
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Given against preferred classes as a table of shares; rows to look at stand off the diagonal."

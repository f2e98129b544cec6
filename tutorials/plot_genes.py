"""
Gene expression with wrong labels
=================================

Ninety tissue samples, 1,000 genes, two diagnoses. Some samples were mislabelled. Which ones? Which genes matter? Would
they still be there if a few more labels were wrong?
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector, audit_labels

rng = np.random.default_rng(1)
truth = rng.integers(0, 2, 90)
genes = rng.normal(size=(90, 1000))
genes[:, :10] += rng.uniform(0.9, 1.6, 10) * truth[:, None]
swapped = rng.choice(90, 8, replace=False)
y = truth.copy()
y[swapped] = 1 - y[swapped]
names = np.array(["benign", "malignant"])

# %%
# Which labels look wrong?
# ------------------------
# With so many more genes than samples, the audit is careful: it flags a label only if it is sure. Its order of the rows
# is still useful.
audit = audit_labels(genes, names[y])
doubtful = np.flatnonzero(audit.doubtful)
print(f"{len(doubtful)} labels are doubtful; {np.isin(doubtful, swapped).sum()} of them were swapped")
order = np.argsort(audit.probabilities[np.arange(90), audit.codes])  # the least likely labels first
print(f"among the ten most doubtful labels, {np.isin(order[:10], swapped).sum()} were swapped")

# %%
# Which genes matter?
# -------------------
selector = FeatureSelector().fit(genes, names[y])
kept = np.flatnonzero(selector.support_)
print(selector.to_ranking().headline(6))
print(f"{np.count_nonzero(kept < 10)} of the ten true genes are kept, and {np.count_nonzero(kept >= 10)} others")

# %%
# Would they survive more wrong labels?
# -------------------------------------
# The pathologist looks at the ten most doubtful samples again, and mends them. The same selection follows.
mended = y.copy()
mended[order[:10]] = truth[order[:10]]
after = FeatureSelector().fit(genes, names[mended])
found = np.flatnonzero(after.support_)
print(
    f"after mending: {np.count_nonzero(found < 10)} of the ten true genes, and {np.count_nonzero(found >= 10)} others"
)

# %%
# Every dot is a gene: evidence before and after mending. The ten true genes are dark.
colours = np.where(np.arange(1000) < 10, "#0b6e6e", "#c3c8d1")
plt.figure(figsize=(5.5, 4.5))
before_p, after_p = np.maximum(selector.pvalues_, 1e-12), np.maximum(after.pvalues_, 1e-12)
plt.scatter(-np.log10(before_p), -np.log10(after_p), c=colours, s=16)
plt.plot([0, 10], [0, 10], color="gray", linestyle=":")
plt.xlabel("evidence with 8 wrong labels")
plt.ylabel("evidence after mending ten rows")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Evidence of each gene before and after mending: most of the ten true genes gain."

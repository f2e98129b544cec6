"""
More columns than rows
======================

Eighty samples, 2,000 genes, a tenth of the labels wrong: how many genes are related to the class, and how many of the
genes found are there by chance?
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector

rng = np.random.default_rng(0)
truth = rng.integers(0, 2, 80)
genes = rng.normal(size=(80, 2000))
genes[:, :12] += 1.2 * truth[:, None]  # twelve genes differ
y = np.where(rng.random(80) < 0.1, 1 - truth, truth)

selector = FeatureSelector().fit(genes, y)
kept = np.flatnonzero(selector.support_)
print(selector.to_ranking().headline(5))
print(f"{np.count_nonzero(kept < 12)} of the 12 true genes are kept, and {np.count_nonzero(kept >= 12)} others")

# %%
# On average, at most 5 % of the genes kept are there by chance. In a single table it can be more, as here.
#
# Chance gives the straight line. The genes that are kept leave it.
pvalues = np.sort(selector.pvalues_)
plt.figure(figsize=(6, 4))
plt.loglog(np.arange(1, 2001) / 2001, np.arange(1, 2001) / 2001, color="gray", linestyle=":", label="chance")
plt.loglog(np.arange(1, 2001) / 2001, np.maximum(pvalues, 1e-12), ".", color="#0b6e6e", label="genes")
plt.xlabel("expected p-value")
plt.ylabel("p-value")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "P-values of 2,000 genes against those expected by chance: a few genes lie far below the line."

"""
Only positive rows are labelled
===============================

Thirty patients are known to be ill. The other 270 were never tested: most of them are well, some are ill. A row without
a label is not a negative row, and ``positive_unlabelled`` says so.
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector, positive_unlabelled

rng = np.random.default_rng(0)
ill = np.arange(300) < 100
labs = rng.normal(size=(300, 12))
labs[:, :3] += 1.5 * ill[:, None]
known = np.full(300, None, dtype=object)
known[rng.choice(100, 30, replace=False)] = "ill"

selector = FeatureSelector().fit(labs, positive_unlabelled(known))
print(selector.to_ranking().headline())

# %%
# How many of the other rows are positive? The answer is an estimate with an interval. Where the classes overlap, as
# here, it tends to be too high.
found = selector.selector_.positives_
unlabelled = known != "ill"
print(f"estimated: {found.share:.0%} (from {found.low:.0%} to {found.high:.0%}); true: {ill[unlabelled].mean():.0%}")

# %%
# The believed probability of each row without a label, by what the row really is.
plt.figure(figsize=(6, 3.5))
bins = np.linspace(0, 1, 16)
plt.hist(found.posterior[unlabelled & ~ill], bins, color="#c3c8d1", label="really well")
plt.hist(found.posterior[unlabelled & ill], bins, color="#0b6e6e", alpha=0.8, label="really ill")
plt.xlabel("believed probability of being ill")
plt.ylabel("rows without a label")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Histograms of the believed probability of being ill, for rows that are well and ill."

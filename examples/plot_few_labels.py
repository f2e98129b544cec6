"""
Most labels are missing
=======================

Only 18 of 178 rows have a label, six of each class. Experts that learn from these rows complete the others, and the
search uses all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from dubio import FeatureSelector

X, truth = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(1)
known = [row for c in range(3) for row in rng.choice(np.flatnonzero(truth == c), 6, replace=False)]
y = np.full(len(truth), None)  # None, NaN, pd.NA or -1: the row has no label
y[known] = truth[known]

few = FeatureSelector(n_features_to_select=5).fit(X, y)
print(few.explanation_)

# %%
# How well does the order fit that of all labels?
every = FeatureSelector(n_features_to_select=5).fit(X, truth)
shared = set(few.get_feature_names_out()) & set(every.get_feature_names_out())
print(f"{len(shared)} of the first five are the same: {', '.join(sorted(shared))}")

# %%
plt.figure(figsize=(6, 4))
plt.scatter(every.ranking_, few.ranking_, color="#0b6e6e")
plt.plot([1, 13], [1, 13], color="gray", linestyle=":")
plt.xlabel("rank with all 178 labels")
plt.ylabel("rank with 18 labels")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "The rank of each feature with 18 labels against its rank with all 178 labels."

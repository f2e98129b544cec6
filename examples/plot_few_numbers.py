"""
A number that is known for a few rows
=====================================

A laboratory value is expensive, so it was measured for 120 of 400 rows. Three columns matter; one of them only by its
distance from the middle, which no correlation can see.
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 12))
value = X[:, 0] + 0.8 * X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * rng.normal(size=400)
y = np.where(np.arange(400) < 120, value, np.nan)

selector = FeatureSelector(target="numbers").fit(X, y)
print(selector.to_ranking().headline())

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True)
for axis, column in zip(axes, np.argsort(selector.ranking_)[:3], strict=True):
    axis.scatter(X[:120, column], y[:120], s=12, color="#0b6e6e")
    axis.set_xlabel(f"x{column}, p = {selector.pvalues_[column]:.1g}")
axes[0].set_ylabel("measured value")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Three scatter plots: the measured value against each of the first three features."

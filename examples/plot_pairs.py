"""
Only which rows belong together
===============================

Nobody knows the classes, but somebody said of a few pairs of rows: "these are the same" and "these are not".
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from dubio import ConstraintScore

X, truth = load_iris(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
X["shuffled"] = rng.permutation(X["petal width (cm)"])  # a column that means nothing
drawn = rng.integers(0, len(X), size=(40, 2))
drawn = drawn[drawn[:, 0] != drawn[:, 1]]
same = truth.to_numpy()[drawn[:, 0]] == truth.to_numpy()[drawn[:, 1]]
selector = ConstraintScore().fit(X, must_link=drawn[same], cannot_link=drawn[~same])
print(selector.to_ranking())

# %%
# The score of a feature is small if rows that belong together are close in it, and others far apart.
order = np.argsort(selector.ranking_)
plt.figure(figsize=(6, 3))
plt.barh([X.columns[j] for j in order][::-1], selector.scores_[order][::-1], color="#0b6e6e")
plt.xlabel("constraint score (low is good)")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars of the constraint score: small for the petals, large for the shuffled column."

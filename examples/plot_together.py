"""
Features that matter only together
==================================

The class is the sign of a product: neither column tells anything alone, both together tell everything. Tests of single
columns find nothing. The joint test does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import f_classif

from dubio import FeatureSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 8))
y = (X[:, 0] * X[:, 1] > 0).astype(int)

print("p-values of the F-test:", f_classif(X, y)[1].round(2))
selector = FeatureSelector().fit(X, y)
print(selector.to_ranking().headline())

# %%
plt.figure(figsize=(5, 4))
plt.scatter(X[:, 0], X[:, 1], c=y, cmap="coolwarm", s=10)
plt.xlabel("x0")
plt.ylabel("x1")
plt.title("neither column alone, both together")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Rows of two classes in two features: the classes fill opposite quarters of the picture."

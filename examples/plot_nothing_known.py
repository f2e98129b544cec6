"""
No labels at all
================

Without labels, the Laplacian score looks for features that follow the neighbourhoods of the rows. It is a hint, not a
proof: nobody said what matters.
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import LaplacianScore

rng = np.random.default_rng(0)
clump = rng.integers(0, 3, 150)
X = rng.normal(size=(150, 8))
X[:, 0] += 4 * np.cos(2 * np.pi * clump / 3)
X[:, 1] += 4 * np.sin(2 * np.pi * clump / 3)
selector = LaplacianScore(n_features_to_select=2).fit(X)
print(selector.to_ranking())

# %%
first, second = np.argsort(selector.ranking_)[:2]
plt.figure(figsize=(5, 4))
plt.scatter(X[:, first], X[:, second], s=14, color="#0b6e6e")
plt.xlabel(f"x{first}, rank 1")
plt.ylabel(f"x{second}, rank 2")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "The rows in the two features that come first: three clumps."

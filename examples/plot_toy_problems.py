"""
The toy problems of the papers
==============================

The papers that dubio grew from use made tables in which the answer is known. Here are four of them, and how far the
relevant columns come to the front.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from dubio import FeatureSelector
from dubio_papers.datasets.artificial import make_circle, make_spheres, make_y1, make_y5

figure, axes = plt.subplots(1, 4, figsize=(10, 3), sharey=True)
for axis, make in zip(axes, (make_spheres, make_circle, make_y1, make_y5), strict=True):
    problem = make(random_state=0)
    X, y = problem.X[:300], problem.y[:300]
    ranking = FeatureSelector(n_features_to_select=problem.n_relevant).fit(X, y).ranking_
    colours = ["#0b6e6e" if j < problem.n_relevant else "#c3c8d1" for j in np.argsort(ranking)]
    axis.bar(np.arange(1, len(ranking) + 1), np.ones(len(ranking)), color=colours)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set(title=make.__name__.removeprefix("make_"), xlabel="rank", yticks=[])
    print(f"{make.__name__}: ranks of the relevant columns {sorted(ranking[: problem.n_relevant].tolist())}")
figure.suptitle("dark: columns that the target was made from")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "One bar per rank for four made tables: dark bars, the columns that matter, come first."

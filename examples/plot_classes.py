"""
Every row has a class
=====================

The plainest question: which columns tell the classes apart, how many are needed, and how sure is that?
``FeatureSelector`` answers with one order and two lines.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from dubio import FeatureSelector
from dubio.plots import RankingDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
selector = FeatureSelector().fit(X, y)
print(selector.to_ranking().headline())

# %%
# The first line says how many features predict the target as well as all of them. The second one says how many are
# related to it at all. What is kept is always the beginning of the ranking.
print(f"sufficient: {selector.n_sufficient_}, relevant: {selector.n_relevant_} of {X.shape[1]}")
print(selector.explanation_)

# %%
# Dark bars are sufficient, light ones are related too.
RankingDisplay.from_estimator(selector)
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars of 13 features in their order: dark ones are sufficient, light ones are related too."

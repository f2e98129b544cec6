"""
dubio beside an F-test and a forest
===================================

A third of the labels of one class is wrong. An F-test and a forest believe them; the engine of dubio joins each label
with the opinion of experts that have not seen it. This is one table: the page "Comparison" has many.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from dubio import FeatureSelector

rng = np.random.default_rng(3)
X = rng.normal(size=(300, 20))
truth = ((X[:, 0] ** 2 + X[:, 1] ** 2) > 1.4).astype(int)  # inside or outside a circle
y = np.where((truth == 1) & (rng.random(300) < 0.33), 0, truth)

orders = {
    "dubio": np.argsort(FeatureSelector(n_features_to_select=5).fit(X, y).ranking_),
    "forest": np.argsort(-RandomForestClassifier(200, random_state=0).fit(X, y).feature_importances_),
    "F-test": np.argsort(-f_classif(X, y)[0]),
}
sizes = [1, 2, 3, 5, 8, 12]
curves = {
    name: [cross_val_score(KNeighborsClassifier(), X[:, order[:size]], truth).mean() for size in sizes]
    for name, order in orders.items()
}

# %%
# Judged on the true classes:
plt.figure(figsize=(6, 4))
for (name, curve), style in zip(curves.items(), ("-o", "--s", ":^"), strict=True):
    plt.plot(sizes, curve, style, label=name)
plt.xlabel("number of features")
plt.ylabel("accuracy of 5 nearest neighbours")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Accuracy against the number of features for dubio, a forest and an F-test, on the true classes."

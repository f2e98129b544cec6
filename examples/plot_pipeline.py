"""
A pipeline with 70 % of the labels missing
==========================================

The selector takes missing labels. The classifier behind it does not, so ``DoubtClassifier`` wraps it. ``KnownFolds``
tests only rows that have a label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dubio import WeightedLaplacianScore
from dubio.pipelines import DoubtClassifier, KnownFolds, expected_accuracy

X, classes = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
y = np.where(rng.random(len(classes)) < 0.7, None, classes)

model = make_pipeline(WeightedLaplacianScore(), StandardScaler(), DoubtClassifier(LogisticRegression()))
sizes = [1, 2, 4, 6, 9, 13]
search = GridSearchCV(
    model, {"weightedlaplacianscore__n_features_to_select": sizes}, cv=KnownFolds(5), scoring=expected_accuracy
).fit(X, y)
print(search.best_params_, f"accuracy {search.best_score_:.2f}")

# %%
means, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
plt.figure(figsize=(6, 4))
plt.errorbar(sizes, means, spread, color="#0b6e6e", marker="o", capsize=3)
plt.xlabel("number of features")
plt.ylabel("accuracy on held-out labelled rows")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Accuracy on held-out rows against the number of features, with the spread over the folds."

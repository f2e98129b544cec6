"""
What is a selection worth?
==========================

Nested cross-validation: in every fold, features are selected from the training rows only. Beside the selected features
stand all features, and as many random ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from dubio import LinearR2Score
from dubio.pipelines import evaluate_selection

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 150)
X = rng.normal(size=(150, 40))
X[:, :4] += 0.8 * y[:, None]
found = evaluate_selection(LinearR2Score(n_features_to_select=4), GaussianNB(), X, y)
print(found.headline())

# %%
# And on pure noise:
noise = evaluate_selection(LinearR2Score(n_features_to_select=4), GaussianNB(), rng.normal(size=(150, 40)), y)
print(noise.headline())

# %%
frame = found.to_frame()
plt.figure(figsize=(6, 4))
plt.fill_between(frame["n_features"], frame["low"], frame["high"], color="#0b6e6e", alpha=0.2)
plt.plot(frame["n_features"], frame["accuracy"], color="#0b6e6e", marker="o", label="first features of the ranking")
plt.plot(frame["n_features"], frame["random"], color="gray", marker=".", label="random features")
plt.axhline(float(found.chance.mean()), color="#b4441c", linestyle="--", label="chance")
plt.xscale("log")
plt.xlabel("number of features")
plt.ylabel("accuracy on held-out rows")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Accuracy against the number of features, with an interval: ranked, random, chance."

"""
Several annotators who do not agree
===================================

Four people looked at the rows, not all of them at every row. One of them mostly guesses. ``soft_labels`` turns votes
into probabilities; Dawid and Skene's method also learns how far each annotator can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import FeatureSelector, soft_labels

rng = np.random.default_rng(0)
truth = rng.integers(0, 2, 250)
X = rng.normal(size=(250, 12))
X[:, :4] += 0.8 * truth[:, None]
errors = {"ann": 0.1, "bob": 0.15, "cyd": 0.25, "dan": 0.45}
votes = pd.DataFrame({name: np.where(rng.random(250) < rate, 1 - truth, truth) for name, rate in errors.items()})
votes = votes.astype(object).mask(rng.random(votes.shape) < 0.3, None)

shares = soft_labels(votes)
learned = soft_labels(votes, combine="dawid-skene")
for name, labels in (("shares of the votes", shares), ("Dawid and Skene", learned)):
    right = np.nanmean(np.where(np.isnan(labels.memberships[:, 1]), np.nan, labels.memberships.argmax(axis=1) == truth))
    ranking = FeatureSelector().fit(X, labels).to_ranking()
    print(f"{name}: the likeliest class is right in {right:.0%} of the rows. {ranking.headline(4)}")

# %%
# How often is each annotator wrong? Nobody told the method.
estimated = 1 - np.einsum("c,acc->a", learned.priors, learned.confusions)
places = np.arange(4)
plt.figure(figsize=(6, 3.5))
plt.bar(places - 0.2, estimated, 0.4, color="#0b6e6e", label="estimated")
plt.bar(places + 0.2, list(errors.values()), 0.4, color="#c3c8d1", label="true")
plt.xticks(places, list(errors))
plt.ylabel("share of wrong votes")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars of the share of wrong votes of four annotators: the estimates beside the true shares."

"""
Probabilities instead of classes
================================

An unsure annotator gives probabilities. Taking the likeliest class throws away how sure each of them was.
Two numbers below say how well each order agrees with that of the true classes: 1 is the same order, 0 no relation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from dubio import WeightedLaplacianScore
from dubio.simulate import unsure_annotator

X, y = load_wine(return_X_y=True, as_frame=True)
annotator = unsure_annotator(y, mean=0.4, random_state=0)
wrong = float((annotator.y_error != y).mean())
print(f"{wrong:.0%} of the likeliest classes are wrong")

# %%
# The same score three times: with the true classes, with the probabilities, and with the likeliest classes.
truth = WeightedLaplacianScore().fit(X, y)
soft = WeightedLaplacianScore().fit(X, annotator.memberships)
hard = WeightedLaplacianScore().fit(X, annotator.y_error)
for name, found in (("probabilities", soft), ("likeliest classes", hard)):
    agreement = np.corrcoef(found.ranking_, truth.ranking_)[0, 1]
    print(f"agreement of the order with that of the true classes, {name}: {agreement:.2f}")

# %%
# Each dot is a feature. On the diagonal it has the rank that the true classes give it.
figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True)
for axis, found, title in zip(axes, (soft, hard), ("probabilities", "likeliest classes"), strict=True):
    axis.scatter(truth.ranking_, found.ranking_, color="#0b6e6e")
    axis.plot([1, 13], [1, 13], color="gray", linestyle=":")
    axis.set(title=title, xlabel="rank with the true classes", aspect="equal")
axes[0].set_ylabel("rank found")
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Ranks found against true ranks: nearer to the diagonal with probabilities than with classes."

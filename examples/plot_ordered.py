"""
Classes with an order
=====================

Stages of a disease have an order, and a label is often one stage off. Tests that know the order find weaker trends than
tests that take the stages for unrelated names.
"""

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector, ordered_classes

rng = np.random.default_rng(0)
stages = np.array(["I", "II", "III", "IV"])
truth = rng.integers(0, 4, 160)
labs = rng.normal(size=(160, 10))
# Five trends, each weaker than the one before it.
labs[:, :5] += np.array([1.0, 0.7, 0.5, 0.4, 0.3]) * (truth[:, None] - 1.5) / 1.1
near = np.clip(truth + rng.choice([-1, 1], 160), 0, 3)
stage = stages[np.where(rng.random(160) < 0.2, near, truth)]  # a fifth of the labels is one stage off

with_order = FeatureSelector().fit(labs, ordered_classes(stage, stages))
as_names = FeatureSelector(target="classes").fit(labs, stage)
print(with_order.supervision_.describe())
print("with the order:", with_order.to_ranking().headline(5))
print("as names:      ", as_names.to_ranking().headline(5))

# %%
# Bars to the right of the line are evidence at the level of 5 %, each feature on its own.
places = np.arange(10)
plt.figure(figsize=(6.5, 4))
for shift, selector, colour, name in ((-0.2, with_order, "#0b6e6e", "ordered"), (0.2, as_names, "#c3c8d1", "names")):
    evidence = -np.log10(np.maximum(selector.pvalues_, 1e-12))
    plt.barh(places + shift, evidence, 0.4, color=colour, label=name)
plt.axvline(-np.log10(0.05), color="#b4441c", linestyle="--", label="p = 0.05")
plt.yticks(places, [f"trend {j + 1}" if j < 5 else f"noise {j - 4}" for j in places])
plt.gca().invert_yaxis()
plt.xlabel("evidence: minus the logarithm of p")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars of evidence for ten features, with the order of the stages and with stages as names."

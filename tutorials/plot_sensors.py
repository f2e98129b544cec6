"""
Sensor data with few labels
===========================

A machine writes 16 sensors every minute. Somebody looked at 80 of 1,200 minutes and said what state the machine was in.
Which sensors are needed to watch it, and how well would a model with them do?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dubio import FeatureSelector, LinearR2Score
from dubio.pipelines import DoubtClassifier, KnownFolds, evaluate_selection

rng = np.random.default_rng(2)
state = rng.integers(0, 3, 1200)
sensors = rng.normal(size=(1200, 16))
sensors[:, 0] += 1.6 * state
sensors[:, 1] += 2.0 * (state == 2)
sensors[:, 2] = sensors[:, 0] + 0.3 * sensors[:, 2]  # the same thing measured twice
y = np.full(1200, None, dtype=object)
seen = rng.choice(1200, 80, replace=False)
y[seen] = np.array(["idle", "running", "fault"])[state[seen]]

# %%
# Which sensors?
# --------------
# Rows without a label are not wasted: experts that learn from the 80 rows complete them for the search. The tests use
# the given labels only.
selector = FeatureSelector().fit(sensors, y)
print(selector.to_ranking().headline())
print(selector.explanation_)

# %%
# How well would a model do?
# --------------------------
# Only the 80 labelled minutes are ever tested.
model = make_pipeline(StandardScaler(), LogisticRegression())
found = evaluate_selection(LinearR2Score(n_features_to_select=3), model, sensors, y, n_repeats=1)
print(found.headline())

# %%
# Completing the labels for the model, too:
scores = {}
for unlabelled in ("leave out", "complete"):
    wrapped = DoubtClassifier(model, unlabelled=unlabelled)
    tested = [
        wrapped.fit(sensors[train], y[train]).score(sensors[test], y[test])
        for train, test in KnownFolds(5).split(sensors, y)
    ]
    scores[unlabelled] = np.mean(tested)
print({name: round(float(score), 3) for name, score in scores.items()})

# %%
frame = found.to_frame()
plt.figure(figsize=(6, 4))
plt.fill_between(frame["n_features"], frame["low"], frame["high"], color="#0b6e6e", alpha=0.2)
plt.plot(frame["n_features"], frame["accuracy"], color="#0b6e6e", marker="o", label="first sensors of the ranking")
plt.plot(frame["n_features"], frame["random"], color="gray", marker=".", label="random sensors")
plt.axhline(float(found.chance.mean()), color="#b4441c", linestyle="--", label="chance")
plt.xlabel("number of sensors")
plt.ylabel("accuracy on held-out labelled minutes")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Accuracy against the number of sensors, with an interval: ranked, random, chance."

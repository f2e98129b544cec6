"""
Sensor data with few labels
===========================

A machine writes 16 sensors every minute. Somebody looked at 90 of 900 minutes and said what state the machine was in.
Which sensors are needed to watch it, and how well would a model with them do?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dubio import FeatureSelector, LinearR2Score
from dubio.pipelines import DoubtClassifier, KnownFolds, evaluate_selection

# %%
# The raw file
# ------------
# The file is made here: a state lasts for 15 minutes, and all sensors drift a little from one such period to the next.
# Sensors 0 and 1 follow the state, sensor 2 repeats sensor 0, and the others mean nothing.
rng = np.random.default_rng(2)
period = np.repeat(np.arange(60), 15)
state = rng.integers(0, 3, 60)[period]
levels = rng.normal(size=(900, 16)) + 0.5 * rng.normal(size=(60, 16))[period]
levels[:, 0] += 1.6 * state
levels[:, 1] += 2.0 * (state == 2)
levels[:, 2] = levels[:, 0] + 0.3 * levels[:, 2]
made = pd.DataFrame(levels.round(2), columns=[f"sensor_{j}" for j in range(16)])
made.insert(0, "time", pd.date_range("2026-03-02 06:00", periods=900, freq="min"))
made["state"] = None
seen = rng.choice(900, 90, replace=False)
made.loc[seen, "state"] = np.array(["idle", "running", "fault"])[state[seen]]
folder = tempfile.TemporaryDirectory()
made.to_csv(Path(folder.name) / "machine.csv", index=False)

table = pd.read_csv(Path(folder.name) / "machine.csv", parse_dates=["time"])
folder.cleanup()
print(table.iloc[:3, [0, 1, 2, 16, 17]])
print(table["state"].value_counts(dropna=False).to_dict())

# %%
# Minutes are not independent
# ---------------------------
# Neighbouring minutes are alike. If each of them counted as a new observation, chance would be underestimated. So
# minutes of one period are a group: they are tested together, and a model is never tested on a period that it has
# learned from.
sensors, y = table.drop(columns=["time", "state"]), table["state"].to_numpy(dtype=object)
groups = table["time"].dt.floor("15min")

# %%
# Which sensors?
# --------------
# Minutes without a label are not wasted: experts that learn from the 90 labelled ones complete them for the search. The
# tests use the given labels only.
selector = FeatureSelector().fit(sensors, y, groups=groups)
print(selector.to_ranking().headline())
print(selector.explanation_)

# %%
# How well would a model do?
# --------------------------
# Only labelled minutes are ever tested.
model = make_pipeline(StandardScaler(), LogisticRegression())
quick, sizes = LinearR2Score(n_features_to_select=3), [1, 2, 3, 5, 16]
found = evaluate_selection(quick, model, sensors, y, groups=groups, sizes=sizes, n_repeats=1)
print(found.headline())

# %%
# Does it help the model to complete the labels, too?
scores = {}
for unlabelled in ("leave out", "complete"):
    wrapped = DoubtClassifier(model, unlabelled=unlabelled)
    tested = [
        wrapped.fit(sensors.iloc[train], y[train]).score(sensors.iloc[test], y[test])
        for train, test in KnownFolds(3).split(sensors, y, groups)
    ]
    scores[unlabelled] = np.mean(tested)
print({name: round(float(score), 3) for name, score in scores.items()})

# %%
# The answer, to be defended: the sensors that stand out when periods are counted, and an accuracy on periods that
# neither the selection nor the model had seen, beside as many random sensors and beside chance.
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

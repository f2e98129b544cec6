"""
Numbers of which only limits are known
======================================

When the study ended, some of the patients were still alive: of their survival time only a lower limit is known. Leaving
these patients out, or taking the limit for the time, loses what they tell.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector, interval_targets
from dubio.errors import NoFeatureStandsOut

rng = np.random.default_rng(0)
labs = rng.normal(size=(160, 8))
days = 400 * rng.exponential(size=160) * np.exp(-0.8 * labs[:, 0] + 0.5 * labs[:, 1])
end = rng.uniform(100, 700, 160)  # patients came at different times, so each was watched for a different time
died = days <= end
seen = np.where(died, days, end)

censored = FeatureSelector().fit(labs, interval_targets(seen, np.where(died, seen, np.inf)))
print(censored.supervision_.describe())
print(censored.to_ranking().headline())

# %%
# Two shortcuts beside it: only those who died, and the limit taken for the time.
warnings.simplefilter("ignore", NoFeatureStandsOut)  # with a shortcut, perhaps nothing stands out
ways = {
    "limits": censored.pvalues_,
    "only the dead": FeatureSelector(target="numbers").fit(labs[died], days[died]).pvalues_,
    "limits taken for times": FeatureSelector(target="numbers").fit(labs, seen).pvalues_,
}
for name, pvalues in ways.items():
    print(f"{name:23} p of the two features that matter: {pvalues[0]:.1g}, {pvalues[1]:.1g}")

# %%
# Patients with a high first feature die earlier. Open circles were alive when they were last seen.
plt.figure(figsize=(6, 4))
plt.scatter(labs[died, 0], seen[died], s=18, color="#0b6e6e", label="died")
plt.scatter(labs[~died, 0], seen[~died], s=22, facecolors="none", edgecolors="#b4441c", label="alive when last seen")
plt.yscale("log")
plt.xlabel("first feature")
plt.ylabel("days")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Days against the first feature: full dots for deaths, open circles for patients still alive."

"""
Several rows per patient
========================

Ten visits of one patient are not ten patients. Here labs and labels have nothing to do with each other, but visits of
one patient are alike. Tests that count visits find almost anything; tests that count patients do not.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from dubio import FeatureSelector
from dubio.errors import NoFeatureStandsOut

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(40), 10)
ill = rng.permutation(np.arange(40) % 2)[patient]
labs = rng.normal(size=(40, 20))[patient] + 0.5 * rng.normal(size=(400, 20))

visits = FeatureSelector().fit(labs, ill)
print(visits.alerts_[0])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoFeatureStandsOut)  # that nothing stands out is the right answer here
    patients = FeatureSelector().fit(labs, ill, groups=patient)
print(f"related features: {visits.n_relevant_} of 20 if visits count, {patients.n_relevant_} if patients count")

# %%
# Without any relation, p-values should be spread evenly, along the line.
expected = (np.arange(20) + 0.5) / 20
plt.figure(figsize=(5, 4.5))
plt.plot([0, 1], [0, 1], color="gray", linestyle=":", label="chance")
plt.plot(expected, np.sort(patients.pvalues_), "o", color="#0b6e6e", label="patients counted")
plt.plot(expected, np.sort(visits.pvalues_), "s", color="#b4441c", label="visits counted")
plt.xlabel("expected p-value")
plt.ylabel("p-value")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Sorted p-values of 20 features: near the line of chance for patients, near zero for visits."

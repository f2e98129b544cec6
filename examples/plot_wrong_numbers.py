"""
Wrong numbers in a target
=========================

A decimal point was lost, two rows were exchanged. Experts predict every number while its row is held out; numbers that
lie far from the prediction are doubtful.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from dubio import audit_labels
from dubio.simulate import misstate_numbers

X, _ = load_wine(return_X_y=True, as_frame=True)
truth = X.pop("proline").to_numpy()
given = misstate_numbers(truth, 0.1, random_state=0)  # a tenth of the numbers is off by far
wrong = given != truth

audit = audit_labels(X, given)
found = audit.doubtful
seen = np.count_nonzero(found & wrong)
print(f"{found.sum()} numbers are doubtful. Of the {wrong.sum()} wrong ones, {seen} are among them.")
print(audit.to_frame().sort_values("rank").head(4).round(2))

# %%
# Given numbers, and the middle of the interval in which a right number is expected. Wrong numbers that are near the
# line cannot be seen.
expected = (audit.low + audit.high) / 2
plt.figure(figsize=(5.5, 4.5))
plt.plot([200, 1700], [200, 1700], color="gray", linestyle=":")
plt.scatter(expected[~wrong], given[~wrong], s=14, color="#c3c8d1", label="right")
plt.scatter(expected[wrong], given[wrong], s=22, color="#b4441c", marker="^", label="wrong")
plt.scatter(expected[found], given[found], s=70, facecolors="none", edgecolors="#0b6e6e", label="doubtful")
plt.xlabel("expected number")
plt.ylabel("given number")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Given against expected numbers: most wrong ones lie far from the line and are circled."

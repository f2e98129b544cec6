"""
How wrong may the labels be?
============================

"Would this feature still be there if some labels were wrong?" For errors at random and for the worst case the answers
are very different.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from dubio import FeatureSelector

X, y = load_wine(return_X_y=True, as_frame=True)
two = y < 2  # two of the three grapes
X, y = X[two], y[two]
selector = FeatureSelector().fit(X, y)
found = selector.tolerance(X, y)
for j in np.argsort(selector.ranking_)[:3]:
    print(f"{X.columns[j]}: {found.in_words(j)}")

# %%
# The bars end at the share of wrong labels at which a feature is kept in half of the draws. The dots are the worst
# case: the share of labels that somebody would have to choose to push the feature out.
table = found.to_frame().set_index("feature").loc[X.columns[np.argsort(selector.ranking_)]]
table = table[table["tolerance"].notna()][::-1]
plt.figure(figsize=(7, 4))
plt.barh(table.index, 100 * table["tolerance"], color="#0b6e6e", label="at random")
plt.plot(100 * table["worst_case"] / len(y), table.index, "o", color="#b4441c", label="at worst")
plt.xlabel("wrong labels that the feature survives, %")
plt.legend()
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Bars: the share of random errors each feature survives. Dots: the smaller worst case."

"""
What age and site explain
=========================

Old patients are ill more often, and many lab values change with age. Here ten proteins follow the age of the patient in
a curve, two are really related to the illness, and three mean nothing. ``given`` asks what each column adds to age and
site.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from dubio import FeatureSelector
from dubio.charts import adjusting_chart
from dubio.plots import draw

rng = np.random.default_rng(0)
n = 300
age, site = rng.normal(60, 12, n), rng.choice(["north", "south", "east"], n)
bent = ((age - 60) / 12) ** 2
ill = rng.random(n) < 1 / (1 + np.exp(1.3 - 1.3 * bent))

columns = {f"follows age {j}": (0.5 + 0.08 * j) * bent + rng.normal(size=n) for j in range(10)}
columns |= {f"related {j}": 0.9 * ill + rng.normal(size=n) for j in range(2)}
columns |= {f"noise {j}": rng.normal(size=n) for j in range(3)}
table = pd.DataFrame(columns).assign(age=age, site=site)

# %%
# Nobody said that age matters, but an alert does.
selector = FeatureSelector().fit(table, ill)
print(selector.to_ranking().headline())
print(*[alert for alert in selector.alerts_ if alert.kind == "confounder"], sep="\n")

# %%
# With age and site given, only what adds to them is left.
selector = FeatureSelector().fit(table, ill, given=["age", "site"])
ranking = selector.to_ranking()
print(ranking.headline())
print(f"age and site explain {100 * selector.given_share_:.0f} % of the variation of the illness")

# %%
# Each column has two p-values: a ring without age and site, a dot with them.
draw(adjusting_chart(ranking, ranking.order[ranking.n_given :]))
plt.tight_layout()
plt.show()
# sphinx_gallery_alt = "Two p-values per column: for those that follow age, they are near 1 once age is given."

"""
A table that does not fit in memory
===================================

``rank_stream`` reads a file once, in batches. "auto" draws a sample of rows and ranks it; methods that need only sums
over rows use every row.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dubio.streams.stream import rank_stream

rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "sensors.parquet"
state = rng.integers(0, 3, 200_000)
columns = {f"sensor{j}": (rng.normal(size=len(state)) + (j < 3) * (j + 1) * state / 4) for j in range(10)}
pq.write_table(pa.table({**columns, "state": state}), path)

sampled = rank_stream(path, target="state", n_features_to_select=3)
every_row = rank_stream(path, target="state", method="fisher", n_features_to_select=3)
print(sampled.reason)
print(every_row)

# %%
order = every_row.order
plt.figure(figsize=(6, 3.5))
plt.barh([every_row.names[j] for j in order][::-1], every_row.scores[order][::-1], color="#0b6e6e")
plt.xlabel("Fisher score of all 200,000 rows (high is good)")
plt.tight_layout()
plt.show()
folder.cleanup()
# sphinx_gallery_alt = "Bars of the Fisher score of ten sensors: three stand out, the others are near zero."

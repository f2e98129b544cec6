"""
Gene expression with wrong labels
=================================

Ninety tissue samples, 400 genes, two diagnoses, in one file. Some samples were mislabelled. Which ones? Which genes
matter? And how can the answer be defended?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dubio import FeatureSelector, LinearR2Score, apply_corrections, audit_labels
from dubio.pipelines import evaluate_selection

# %%
# The raw file
# ------------
# The file is made here, so that we know the truth: ten genes differ between the diagnoses, and eight of the ninety
# diagnoses were swapped. Everything after this part knows only the file.
rng = np.random.default_rng(1)
malignant = rng.integers(0, 2, 90)
levels = rng.normal(size=(90, 400))
levels[:, :10] += rng.uniform(0.9, 1.6, 10) * malignant[:, None]
swapped = rng.choice(90, 8, replace=False)
names = np.array(["benign", "malignant"])
truth, given = names[malignant], names[malignant]
given[swapped] = names[1 - malignant[swapped]]
made = pd.DataFrame(levels.round(3), columns=[f"gene_{j + 1:03d}" for j in range(400)])
made.insert(0, "sample", [f"S{i + 1:03d}" for i in range(90)])
made.insert(1, "diagnosis", given)
folder = tempfile.TemporaryDirectory()
made.to_csv(Path(folder.name) / "tissue.tsv", sep="\t", index=False)

table = pd.read_csv(Path(folder.name) / "tissue.tsv", sep="\t", index_col="sample")
genes, y = table.drop(columns="diagnosis"), table["diagnosis"]
print(table.iloc[:3, :4])

# %%
# Which genes matter?
# -------------------
selector = FeatureSelector().fit(genes, y)
print(selector.to_ranking().headline(6))


def told(fitted):
    """How many of the ten true genes are kept, and how many others."""
    kept = np.flatnonzero(fitted.support_)
    return f"true genes that are kept: {np.count_nonzero(kept < 10)} of 10; other genes: {np.count_nonzero(kept >= 10)}"


print(told(selector))

# %%
# Which labels to look at first?
# ------------------------------
# With so many more genes than samples, the audit is careful: it flags a label only if it is sure. Its order of the
# samples is still useful: it says where to look first.
audit = audit_labels(genes, y)
first = audit.to_frame().sort_values("rank").head(10)
print(first[["given", "suggested", "disagreement", "doubtful"]].round(2))
were_swapped = np.sum((truth != y)[first.index])
print(f"{audit.doubtful.sum()} labels are flagged; among the first ten, {were_swapped} were swapped")

# %%
# Look at ten samples again, and correct them
# -------------------------------------------
# The pathologist looks at the first ten samples and decides about each. The page of ``dubio audit --report`` writes
# such a file of decisions; here it is made from the truth.
rows = y.index.get_indexer(first.index)
decisions = pd.DataFrame({"row": rows + 1, "id": first.index, "given": first["given"]})
decisions["decision"] = np.where(truth[rows] == first["given"], "right", "change")
decisions["label"] = truth[rows]
decisions.to_csv(Path(folder.name) / "corrections.csv", index=False)
corrected = apply_corrections(y, Path(folder.name) / "corrections.csv", ids=y.index)
print(corrected)
after = FeatureSelector().fit(genes, corrected)
print(f"After the corrections, {told(after)}")

# %%
# Defend the answer
# -----------------
# Would a model with ten genes of such a ranking predict the diagnosis of samples that it has not seen, better than with
# ten genes at random? Genes are ranked anew in every fold, so no sample is tested by genes that it helped to choose.
model = make_pipeline(StandardScaler(), LogisticRegression())
quick = LinearR2Score(n_features_to_select=10)
worth = evaluate_selection(quick, model, genes, corrected.labels, sizes=[1, 10], n_repeats=1)
print(worth.headline())

# %%
# Every dot is a gene: evidence before and after the corrections. The ten true genes are dark.
colours = np.where(np.arange(400) < 10, "#0b6e6e", "#c3c8d1")
plt.figure(figsize=(5.5, 4.5))
before_p, after_p = np.maximum(selector.pvalues_, 1e-12), np.maximum(after.pvalues_, 1e-12)
plt.scatter(-np.log10(before_p), -np.log10(after_p), c=colours, s=16)
plt.plot([0, 10], [0, 10], color="gray", linestyle=":")
plt.xlabel("evidence with the labels of the file")
plt.ylabel("evidence after correcting ten rows")
plt.tight_layout()
plt.show()
folder.cleanup()
# sphinx_gallery_alt = "Evidence of each gene before and after the corrections: most of the ten true genes gain."

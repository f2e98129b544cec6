"""Out-of-fold experts: classifiers that give class probabilities to rows they were not trained on.

Only an expert that has not seen a label can doubt it. Rows are sorted by their content before they are split into
folds, so the result does not depend on the order of the table.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning, eigh
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from dubio.doubt.engines import pool_experts
from dubio.doubt.random_trees import LEAF, RandomTrees, judge_by_trees
from dubio.errors import InputError, InputWarning, warn
from dubio.problem import Problem
from dubio.progress import advance
from dubio.sampling import sample_rows
from dubio.table.rows import order_by
from dubio.target.knowledge import Supervision


class BestColumns(TransformerMixin, BaseEstimator):
    """Keep the columns with the largest F statistic: the spread between the classes over the spread within them.

    In a pipeline it is fitted on the rows that an expert learns from, so no label of a held-out row plays a part. Of
    equal columns, those on the left are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.doubt.experts import BestColumns
    >>> X = np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 5.0], [0.0, 8.0, 5.0], [1.0, 9.0, 5.0]])
    >>> BestColumns(1).fit(X, [0, 0, 1, 1]).columns_
    array([1])
    """

    def __init__(self, n_columns: int = 50) -> None:
        self.n_columns = n_columns

    def fit(self, X: NDArray[Any], y: Any) -> Self:
        """Choose the columns of a table of finite values."""
        codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        centred = X - X.mean(axis=0)
        of_class = np.eye(len(counts))[codes].T @ centred  # sums over the rows of a class
        between = np.einsum("cj,cj,c->j", of_class, of_class, 1.0 / counts)
        total = np.einsum("ij,ij->j", centred, centred)
        share = np.divide(between, total, out=np.full(X.shape[1], -1.0), where=total > 0)  # grows with F
        self.columns_ = np.sort(np.argsort(-share, kind="stable")[: self.n_columns])
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """The chosen columns."""
        return X[:, self.columns_]


Floats = NDArray[np.float64]


def fit_weighted(model: Any, X: NDArray[Any], y: NDArray[Any], weights: Floats | None, seed: int) -> Any:
    """Fit a model with weights; ``y`` are codes of classes, or numbers.

    A model whose ``fit`` takes no ``sample_weight`` (nearest neighbours, Gaussian classifiers) learns from as many rows
    as there are, each repeated in proportion to its weight (see :func:`rows_in_proportion`).
    """
    if weights is None:
        return model.fit(X, y)
    weights = relative_weights(weights)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(X, y, sample_weight=weights)
    rows = rows_in_proportion(weights, y if y.dtype.kind == "i" else np.zeros(len(y), dtype=np.int64), seed)
    return model.fit(X[rows], y[rows])


def relative_weights(weights: Floats) -> Floats:
    """Weights over their mean. Of 53 binary digits 24 stay: a common factor changes the last ones, and so the trees."""
    digits, exponents = np.frexp(weights / weights.mean())
    return np.asarray(np.ldexp(np.round(np.ldexp(digits, 24)), exponents - 24))


def rows_in_proportion(weights: Floats, codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """``len(weights)`` rows, each as often as its weight says, in increasing order (systematic sampling).

    The number of rows of a class is its share of the weights, rounded up or down, but at least two if the class has as
    many; then there may be more rows in all. Within a class of :math:`m` such rows, a row occurs
    :math:`m w_i / \\sum w` times (the sum is over the class), rounded up or down.

    >>> import numpy as np
    >>> from dubio.doubt.experts import rows_in_proportion
    >>> rows_in_proportion(np.array([2.0, 1.0, 0.5, 0.5]), np.zeros(4, dtype=np.int64), seed=0)
    array([0, 0, 1, 3])
    """
    share = weights * (len(weights) / weights.sum())
    start = np.random.RandomState(seed).random_sample()
    place = np.unique(codes, return_inverse=True)[1]
    wanted = np.bincount(place, share)
    counts = np.floor(wanted).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: len(codes) - counts.sum()]] += 1  # the largest remainders
    drawn = []
    for code, rounded in enumerate(counts.tolist()):
        own = np.flatnonzero(place == code)
        upto = np.cumsum(share[own])
        count = max(min(2, len(own)), rounded)
        wanted = (np.arange(count) + start) * upto[-1] / count
        drawn.append(own[np.searchsorted(upto, wanted, side="right").clip(max=len(own) - 1)])
    return np.sort(np.concatenate(drawn))


Codes = NDArray[np.int64]

#: With more features than this, the default experts see the table's principal components instead, and others see the
#: columns in which the classes differ most. On seven tables with 400 to 900 columns and 20 % wrong labels, these and
#: those together named the right class of 73 % of the rows, those on the components alone of 62 %.
MANY_FEATURES = 200
N_DIRECTIONS = 50
#: Share of the largest variance below which a component is rounding.
_NO_DIRECTION = 1e-12
N_BEST_COLUMNS = 50
#: A quadratic Gaussian must estimate a spread for each class.
_ROWS_FOR_QUADRATIC = 4
#: Trees on the best columns: these are chosen, and so the trees are grown, once for each fold.
_TREES_OF_FOLD = 50
#: The experts learn from at most this many labelled rows, and judge all others too.
MOST_TRAINED = 10_000


class OutOfFold(NamedTuple):
    """The experts' predictions for rows they have not seen."""

    names: tuple[str, ...]
    """One name per expert."""
    probabilities: Floats
    """(experts, rows, classes). Rows without a label get the mean over all folds."""
    folds: Codes
    """The fold in which each row was held out; -1 for rows without a label."""
    n_folds: int


def out_of_fold(
    problem: Problem, *, experts: Any = None, n_folds: int = 5, random_state: int | None = 0, n_jobs: int | None = None
) -> OutOfFold:
    """The experts' predictions for every row of a problem with classes; each row is held out.

    The experts are trained once per problem, and cleaning, the audit and the report share the result. If a class has
    only one row, its label cannot be judged and is left out (see :func:`judged_codes`). If the table has many columns,
    the default experts see its principal components, because Gaussian classifiers need few columns. The components do
    not depend on the labels. Further experts see the columns in which the classes of their training rows differ most.
    If rows belong together, whole groups are held out.
    """

    def train() -> OutOfFold:
        supervision = problem.supervision
        codes = judged_codes(supervision, problem.groups)
        kept, known = places(codes, supervision.n_classes)
        counts = np.bincount(codes[codes >= 0])[kept]
        trained = codes >= 0
        if np.count_nonzero(trained) > MOST_TRAINED:  # a sample in which each class has its share
            judged = problem.with_supervision(supervision.with_codes(codes))
            trained = np.isin(np.arange(len(codes)), sample_rows(judged, MOST_TRAINED, random_state))
        fold_of, usual, table = None, experts is None, problem.X
        if problem.groups is None:
            folds = usable_folds(counts, supervision.classes[kept], n_folds)
            learned = np.minimum(counts, counts * MOST_TRAINED // counts.sum() + 1)
            left = learned - -(-learned // folds)  # rows of each class when a fold is held out
            fewest = int(left.sum())
        else:
            units = units_per_class(supervision.with_codes(codes), problem.groups)[kept]
            folds = usable_folds(units, supervision.classes[kept], n_folds, "group")
            splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=random_state)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # a class in few groups: usable_folds has said so
                fold_of = _folds_of(splitter, known, problem.groups)
            parts = [known[trained & (known >= 0) & (fold_of != fold)] for fold in range(fold_of.max() + 1)]
            rows = np.array([np.bincount(part, minlength=len(kept)) for part in parts])
            # the fewest rows of each class, and of all; for a class, folds without it do not count
            left = np.where(rows > 0, rows, np.iinfo(np.int64).max).min(axis=0)
            fewest = int(rows.sum(axis=1).min())
        many = usual and problem.n_columns > MANY_FEATURES
        if usual:  # trees compute in single precision, so the units of a column must not choose its digits
            table = main_directions(problem) if many else problem.standardized_table
        table = varying_columns(table) if usual else table
        judges = gaussian_experts(left, fewest, table.shape[1]) if usual else read_experts(experts)
        shared: dict[str, Any] = {"trained": trained, "weights": problem.uneven_weights, "random_state": random_state}
        # the default experts need no check of parameters and values in every fold
        with config_context(assume_finite=True, skip_parameter_validation=True) if usual else nullcontext():
            said = [out_of_fold_probabilities(table, known, len(kept), judges, n_folds=folds, folds=fold_of, **shared)]
            if usual:
                trees = forest_opinions(table, known, len(kept), problem.groups, n_folds, n_jobs=n_jobs, **shared)
                said.insert(0, said[0]._replace(names=("forest",), probabilities=trees[None]))
            if many:
                table, shared["folds"] = varying_columns(problem.standardized_table), said[0].folds
                # as if there were as many columns as rows: none is quadratic
                best = {
                    "forest": RandomTrees(_TREES_OF_FOLD, min_samples_leaf=LEAF, random_state=None, n_jobs=n_jobs),
                    **gaussian_experts(np.full(2, fewest), fewest, fewest),
                }
                columns = BestColumns(N_BEST_COLUMNS)
                judges = {f"{name}, best columns": make_pipeline(columns, judge) for name, judge in best.items()}
                said.append(out_of_fold_probabilities(table, known, len(kept), judges, **shared))
        names = tuple(name for part in said for name in part.names)
        everything = np.zeros((len(names), supervision.n_rows, supervision.n_classes))
        everything[:, :, kept] = np.concatenate([part.probabilities for part in said])
        return OutOfFold(names, everything, said[0].folds, folds)

    problem.once(("experts", id(experts)), lambda: experts)  # kept alive, so that no other object gets the same id
    return problem.once(("out of fold", id(experts), n_folds, random_state), train)


def varying_columns(table: NDArray[Any]) -> NDArray[Any]:
    """The table without constant columns: a forest draws its columns at random, and these would change the draw."""
    varies = table.max(axis=0) > table.min(axis=0)
    return table if varies.all() or not varies.any() else np.ascontiguousarray(table[:, varies])


def places(codes: Codes, n_classes: int) -> tuple[Codes, Codes]:
    """The classes that occur, and for each row the place of its class among them (-1 without a label)."""
    kept = np.unique(codes[codes >= 0])
    place = np.full(n_classes + 1, -1)  # code -1 reads the last place
    place[kept] = np.arange(len(kept))
    return kept, place[codes]


def units_per_class(supervision: Supervision, groups: Codes | None = None) -> Codes:
    """How many rows each class has; if rows belong together, in how many groups it occurs."""
    known = supervision.labelled
    codes = supervision.codes[known]
    if groups is not None:
        codes = np.unique(np.column_stack([codes, groups[known]]), axis=0)[:, 0]
    return np.bincount(codes, minlength=supervision.n_classes)


def judged_codes(supervision: Supervision, groups: Codes | None = None) -> Codes:
    """The labels that can be judged. That of a class's only row, or only group, cannot: nothing is like it."""
    alone = np.append(units_per_class(supervision, groups) < 2, False)  # code -1 reads the last place
    return np.where(alone[supervision.codes], -1, supervision.codes)


def _folds_of(splitter: Any, codes: Codes, groups: Codes | None = None) -> Codes:
    """The fold of each row with a label; -1 for all others."""
    fold_of, known = np.full(len(codes), -1, dtype=np.int64), np.flatnonzero(codes >= 0)
    together = None if groups is None else groups[known]
    for fold, (_, held_out) in enumerate(splitter.split(known, codes[known], together)):
        fold_of[known[held_out]] = fold
    return fold_of


def main_directions(problem: Problem) -> Floats:
    """The principal components of the table, with the largest loading of each above 0.

    They come from the products of columns, or of rows if there are fewer: all singular vectors of 5,000 rows x 2,000
    columns would take five times as long.
    """
    centred = problem.standardized_table - problem.standardized_table.mean(axis=0)
    n, d = centred.shape
    by_rows = n < d
    products = centred @ centred.T if by_rows else centred.T @ centred
    count = min(N_DIRECTIONS, n, d)
    squares, vectors = eigh(products, subset_by_index=[len(products) - count, len(products) - 1])
    squares, vectors = squares[::-1], vectors[:, ::-1]
    there = squares >= _NO_DIRECTION * max(squares[0], 0.0)
    squares, vectors = np.maximum(squares[there], 0.0), vectors[:, there]
    loadings = centred.T @ vectors if by_rows else vectors
    signs = np.sign(loadings[np.abs(loadings).argmax(axis=0), np.arange(len(squares))])
    return np.asarray((vectors * np.sqrt(squares) if by_rows else centred @ vectors) * signs)


def forest_opinions(
    X: NDArray[Any],
    codes: Codes,
    n_classes: int,
    groups: Codes | None,
    n_folds: int,
    *,
    trained: NDArray[np.bool_],
    weights: Floats | None,
    random_state: int | None,
    n_jobs: int | None,
) -> Floats:
    """(rows, classes): what trees say about the rows that they have not seen (see :func:`judge_by_trees`)."""
    order = content_order(X, codes)
    said = judge_by_trees(
        X[order],
        codes[order],
        n_classes,
        known=codes[order] >= 0,
        learned=trained[order],
        groups=None if groups is None else groups[order],
        weights=None if weights is None else relative_weights(weights)[order],
        n_parts=n_folds,
        random_state=np.random.RandomState(random_state),
        n_jobs=n_jobs,
    )
    return said[np.argsort(order)]


def gaussian_experts(rows_per_class: Codes, n_rows: int, n_features: int) -> dict[str, Any]:
    """Gaussian classifiers, beside the forest: one shared covariance, and one for each class.

    They err in other ways than trees, so the pool is better than each of them. They will be trained on at least
    ``rows_per_class`` rows of each class, and on ``n_rows`` in all. If the smallest class has fewer than four rows, or
    no more rows than features (its covariance would be singular), the quadratic one is left out. With one row per
    class, so is the other one.
    """
    experts: dict[str, Any] = {}
    if n_rows > len(rows_per_class):
        experts["linear"] = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    if rows_per_class.min() >= max(_ROWS_FOR_QUADRATIC, n_features + 1):
        experts["quadratic"] = make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.1))
    return experts


def read_experts(experts: Any) -> dict[str, Any]:
    """Your own experts by name."""
    if isinstance(experts, Mapping):
        named = {str(name): expert for name, expert in experts.items()}
    else:
        named = {}
        for expert in experts if isinstance(experts, Sequence) and not isinstance(experts, str) else [experts]:
            name = type(expert).__name__
            same = sum(known.split(" ")[0] == name for known in named)
            named[name if not same else f"{name} {same + 1}"] = expert
    if not named:
        raise InputError("experts", "is empty", "give at least one classifier, or None for the default ones")
    for name, expert in named.items():
        if not hasattr(expert, "fit") or not hasattr(expert, "predict_proba"):
            raise InputError(
                "experts",
                f"holds {name!r} ({type(expert).__name__}), which has no predict_proba",
                "the audit needs class probabilities. Wrap it in sklearn.calibration.CalibratedClassifierCV, or choose "
                "another classifier (for SVC pass probability=True)",
            )
    return named


def content_order(X: NDArray[Any], codes: Codes) -> Codes:
    """An order of the rows that depends only on their content, not on their position in the table."""
    return order_by([*X.T, codes])


def require_judges(supervision: Supervision, groups: Codes | None = None) -> None:
    """Raise if a class has only one labelled row, or occurs in only one group: its label cannot be judged."""
    alone = np.flatnonzero(units_per_class(supervision, groups) == 1)
    if len(alone):
        name, unit = repr(supervision.classes.tolist()[alone[0]]), "row" if groups is None else "group"
        found = f"only one labelled row of class {name}" if groups is None else f"class {name} in only one group"
        raise InputError(
            "y",
            f"has {found}, and its label cannot be judged without another {unit} of that class",
            f"label a second {unit}, merge the class with another one, or set the label to missing",
            code="alone",
        )


def usable_folds(counts: Codes, classes: NDArray[Any], n_folds: int, unit: str = "labelled row") -> int:
    """``n_folds``, or the size of the smallest class if that is smaller (with a warning)."""
    if n_folds < 2:
        raise InputError("n_folds", f"={n_folds}", "give at least 2, so that rows can be held out")
    smallest = int(counts.argmin())
    if counts[smallest] < n_folds:
        found = f"has {counts[smallest]} {unit}s of class {classes.tolist()[smallest]!r}, fewer than"
        warn(InputWarning("y", f"{found} the {n_folds} folds of the audit: using {counts[smallest]} folds"))
    return int(min(n_folds, counts[smallest]))


def out_of_fold_probabilities(
    X: NDArray[Any],
    codes: Codes,
    n_classes: int,
    experts: Mapping[str, Any],
    *,
    n_folds: int = 5,
    random_state: int | None = 0,
    folds: Codes | None = None,
    trained: NDArray[np.bool_] | None = None,
    weights: Floats | None = None,
) -> OutOfFold:
    """Let each expert judge each row while that row is held out.

    ``codes`` are -1 for rows without a label; ``folds`` are your own, by default stratified ones. The experts are
    cloned, and those without a seed get one. Labelled rows that are not ``trained`` are judged by the experts of one
    fold. ``weights`` say how much is learned from each row.
    """
    order = content_order(X, codes)
    X, codes = X[order], codes[order]
    weights = None if weights is None else weights[order]
    learned = codes >= 0 if trained is None else trained[order]
    seeds = np.random.RandomState(random_state)
    if folds is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seeds.randint(2**31 - 1))
        fold_of = _folds_of(splitter, codes)
    else:
        fold_of = np.asarray(folds, dtype=np.int64)[order]
        n_folds = int(fold_of.max()) + 1
    unlabelled = codes < 0
    probabilities = np.zeros((len(experts), len(codes), n_classes))
    for e, expert in enumerate(experts.values()):
        for fold in range(n_folds):
            training = learned & (fold_of >= 0) & (fold_of != fold)
            asked = (fold_of == fold) | unlabelled
            seed = seeds.randint(2**31 - 1)
            fitted = clone(expert)
            params = fitted.get_params(deep=True).items()
            loose = [name for name, value in params if value is None and name.split("__")[-1] == "random_state"]
            fitted.set_params(**dict.fromkeys(loose, seed))  # so that the same call gives the same audit
            said = np.zeros((int(asked.sum()), n_classes))
            present = np.unique(codes[training])
            if len(present) == 1:  # all groups of the other classes are held out
                said[:, present] = 1.0
            else:
                own_weights = None if weights is None else weights[training]
                try:
                    with warnings.catch_warnings():
                        if own_weights is not None:  # before scikit-learn 1.8, only a warning
                            warnings.filterwarnings("error", "The covariance matrix of class", LinAlgWarning)
                        fit_weighted(fitted, X[training], codes[training], own_weights, seed)
                    said[:, fitted.classes_] = fitted.predict_proba(X[asked])
                except (np.linalg.LinAlgError, LinAlgWarning):
                    if own_weights is None:
                        raise
                    # so few rows of a class have any weight that its covariance is singular: only shares are known
                    said[:] = np.bincount(codes[training], own_weights, minlength=n_classes) / own_weights.sum()
            own, others = fold_of[asked] == fold, unlabelled[asked]
            probabilities[e, fold_of == fold] = said[own]
            probabilities[e, unlabelled] += said[others] / n_folds
            advance("experts", e * n_folds + fold + 1, len(experts) * n_folds)
    back = np.argsort(order)
    return OutOfFold(tuple(experts), probabilities[:, back], fold_of[back], n_folds)


@dataclass(frozen=True)
class ExpertOptions:
    """How the experts are trained."""

    experts: Any = None
    n_folds: int = 5
    random_state: int | None = 0
    n_jobs: int | None = None

    @property
    def for_audit(self) -> dict[str, Any]:
        """The options as arguments."""
        return dict(vars(self))

    @property
    def for_numbers(self) -> dict[str, Any]:
        """The same for experts of numbers, of which there are no own ones."""
        return {name: value for name, value in vars(self).items() if name != "experts"}


def pooled_opinions(problem: Problem, options: ExpertOptions) -> Floats:
    """(rows, classes): the experts' opinion of every row, pooled; no expert has seen the label of the row it judges."""
    supervision = problem.supervision

    def pool() -> Floats:
        said = out_of_fold(problem, **options.for_audit)
        kept, known = places(judged_codes(supervision, problem.groups), supervision.n_classes)
        opinions = np.zeros((supervision.n_rows, supervision.n_classes))
        judged = np.ascontiguousarray(said.probabilities[:, :, kept])
        pooled = pool_experts(judged, known, flips=False, row_weights=problem.uneven_weights)
        opinions[:, kept] = pooled.opinions
        return opinions

    return problem.once(("pooled opinions", id(options.experts), options.n_folds, options.random_state), pool)

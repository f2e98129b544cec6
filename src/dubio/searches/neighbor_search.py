"""Search for the features in which the nearest rows of a row predict its class or its number."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dubio.checks import AT_LEAST_ONE, Interval, StrOptions, clip_neighbors
from dubio.doubt.belief import Belief, Cleaning, believe
from dubio.doubt.experts import ExpertOptions
from dubio.evidence.evidence import Evidence
from dubio.evidence.relations import linear_r2, smooth_r2
from dubio.kernels.gpu import DeviceName, Worth, find_device
from dubio.kernels.threads import resolve_threads
from dubio.methods.base import Searched, SearchSelector
from dubio.methods.parameters import estimator
from dubio.neighbors.distances import DeviceDistances, Distances, SubsetDistances
from dubio.neighbors.greedy import Direction, SearchPath, best_subsets, greedy_search, order_by_presence
from dubio.neighbors.losses import NeighborLoss
from dubio.problem import Problem
from dubio.sampling import sample_rows
from dubio.scores.consensus import mean_rank
from dubio.table.rows import order_by
from dubio.target.reader import Target
from dubio.words import Note, note

Rows = NDArray[np.int64]
Features = NDArray[np.intp]
#: Rows from which the experts learn, as a multiple of the rows that the search uses.
EXPERT_ROWS = 5
#: Features among which a search looks that stops early; the others are ranked one by one.
SCREENED = 300
#: Distances (judged rows x rows x subsets) from which on a GPU is faster.
_GPU_IS_WORTH = Worth(again=5e6, first=7e9)
#: Losses that differ by less than this share of the loss without features are equal, so that rounding does not decide.
_SAME = 1e-11
#: Rows for each neighbour that predicts a row, at least.
_ROWS_PER_NEIGHBOR = 8
#: Neighbours that predict a row, at least, however few rows there are.
_FEWEST_NEIGHBORS = 3


@estimator
class NeighborSearch(SearchSelector):
    """Experts clean and complete the target, then a greedy search finds the features whose near rows predict it.

    A subset of features is good if the nearest other rows predict the class of a row (for a number: if their mean
    predicts it). Before the search, experts judge every row without having seen its label (:func:`dubio.audit_labels`).
    Labels are joined with the experts' opinion, rows without a label get it, and class probabilities are joined with
    it. Numbers far from the experts' prediction are left out. Then the search sees at most ``max_rows`` rows.

    Parameters
    ----------
    direction : {"auto", "forward", "backward", "both"}, default="auto"
        "auto" searches forward, which gave the best order in our trials. "both" searches forward and backward and
        keeps, for each size, the subset with the better value; these need not be nested, and a feature ranks by the
        number of subsets that contain it.
    n_neighbors : int, default=15
        Number of neighbours that predict a row: at most an eighth of the rows, but at least three. If ``max_rows`` is
        None, exactly this number.
    clean : {"experts", "confident", "pooled", "lnt"} or None, default="experts"
        What to do about wrong labels. "experts": join each label with the experts' opinion, one to three. "confident":
        leave out rows whose label confident learning doubts. "pooled": weight every class by its posterior under a
        uniform flip rate. "lnt": weight every class by its posterior under the LNT noise model. None: trust the labels.
        For class probabilities, all but None join the given ones with the experts' opinion; for numbers, they leave
        out gross errors.
    complete : bool, default=True
        Whether rows without a label take part, with the experts' probabilities or predictions.
    class_weight : {"balanced"} or None, default=None
        None: every row counts alike. "balanced": every class counts alike.
    max_rows : int or None, default=1000
        Number of rows that the search uses. If there are more, it uses a sample: labelled rows first, each class with
        its share. The experts learn from up to five times as many. None: all rows.
    reference_rows : {"sample", "all"}, default="sample"
        Among which rows the neighbours of the sampled rows are sought: among the sample, or among all rows of the
        table, where they are nearer. Then the experts, too, learn from all rows. It takes longer; see ``device``.
    max_steps : int or None, default=25
        Number of features that a forward search adds. Features that it does not reach are ranked by their value in its
        last step. None: all features.
    max_features : int, "auto" or None, default="auto"
        Number of features to search among: the best ones by linear R2 of their normal scores and by smooth R2. The
        others follow in that order.
        "auto" is 300, or all features if ``max_steps`` is None.
    random_state : int or None, default=0
        Seed for the sample, the experts, and the order in which equally distant rows are used. The order of the rows in
        the table does not matter.

    Attributes
    ----------
    values_ : dict of int to float
        The criterion of each subset: cross-entropy in nats, or mean squared error; of several targets, the mean share
        of these that is left. Low is good.
    audit_ : LabelAudit or None
        The result of the audit of the labels (of the sample, if there is one). Of several targets: None, and
        ``audits_`` has one for each target with classes, by name.
    used_rows_ : array of int
        The rows that the search used. With ``reference_rows="all"``, those that it judged.
    searched_features_ : array of int
        The features that it searched among.
    n_completed_, n_left_out_ : int
        Number of unlabelled rows that the experts completed, and of labelled rows left out as doubtful; of several
        targets, of cells.
    notes_ : tuple of str
        What was sampled, completed and left out, in sentences.
    paths_ : dict of str to SearchPath
        The searches themselves, by direction.
    positives_ : PositiveEstimate
        If only positive rows are labelled: how many of the others are positive, and which.

    Notes
    -----
    This method has no paper: it was found here, by trials that the guide's page on choosing a method tells. The
    criterion is the leave-one-out loss of a nearest-neighbour prediction [1]_. Assumes that near rows have near
    targets, once the right features are chosen. Do not use it if one formula is known to hold (a straight line:
    :class:`LinearSearch`), or with fewer than about 20 labelled rows.

    References
    ----------
    .. [1] A. W. Moore and M. S. Lee (1994). Efficient algorithms for minimizing cross validation error. ICML,
       190-198.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import NeighborSearch
    >>> from dubio.simulate import flip_labels
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> noisy = flip_labels(y, 0.2, random_state=0)
    >>> search = NeighborSearch(n_features_to_select=3).fit(X, noisy)
    >>> sorted(search.get_feature_names_out())
    ['alcohol', 'color_intensity', 'flavanoids']
    >>> int((search.audit_.suggested == y).sum()) > int((noisy == y).sum())
    True
    """

    _name = "neighbor_search"
    _takes_given = True
    _takes_weights = True
    _does = "columns by which similar rows have similar targets; labels in doubt count less, missing ones are completed"
    _takes = ("hard", "soft", "numbers", "ordered", "ordered soft", "positives", "intervals", "several", "any")
    _keeps_groups_apart = True
    _criterion = "loss of the nearest neighbours (low is good)"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions({"auto", "both", "forward", "backward"})],
        "clean": [StrOptions({"experts", "confident", "pooled", "lnt"}), None],
        "complete": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), None],
        "max_rows": [*AT_LEAST_ONE, None],
        "reference_rows": [StrOptions({"sample", "all"})],
        "max_steps": [*AT_LEAST_ONE, None],
        "max_features": [*AT_LEAST_ONE, StrOptions({"auto"}), None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both"), None],
    }

    alpha: float = 0.05
    direction: Literal["auto", "both", "forward", "backward"] = "auto"
    n_neighbors: int = 15
    clean: Cleaning | None = "experts"
    complete: bool = True
    class_weight: Literal["balanced"] | None = None
    max_rows: int | None = 1000
    reference_rows: Literal["sample", "all"] = "sample"
    max_steps: int | None = 25
    max_features: int | Literal["auto"] | None = "auto"
    target: Target = "auto"
    experts: Any = None
    n_folds: int = 5
    standardize: bool = True
    missing_label: Any = "auto"
    random_state: int | None = 0
    n_jobs: int | None = None
    device: DeviceName = "cpu"
    verbose: int = 0

    def fit(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search the features of ``X``.

        Parameters
        ----------
        X, y
            As in :meth:`Selector.fit`.
        groups : array-like (n_rows,), optional
            Which rows belong together. A row is predicted only by rows of other groups.
        sample_weight : array-like (n_rows,), optional
            The weight of each row: of its vote as a neighbour, of its loss, in the training of the experts and in the
            tests. Only the ratios matter; a row of weight 0 is left out.
        """
        return self._fit(X, y, groups=groups, sample_weight=sample_weight)

    def _search(self, problem: Problem, count: int | None) -> Searched:
        seed, most = self.random_state, self.max_rows
        whole = part = problem.counted
        counts = np.ones(problem.n_rows) if problem.sample_weight is None else problem.sample_weight
        sample = np.flatnonzero(counts)
        notes: list[Note] = []
        if most is not None and whole.n_rows > EXPERT_ROWS * most and self.reference_rows == "sample":
            drawn = sample_rows(whole, EXPERT_ROWS * most, seed)
            sample, part = sample[drawn], whole.rows(drawn)
            notes.append(note("learned from sample", n=part.n_rows, n_in_all=whole.n_rows))
        varying = part.varying_features(part.tested.supervision.labelled)
        options = ExpertOptions(self.experts, self.n_folds, seed, self.n_jobs)
        belief = believe(part, self.clean, self.complete, options)
        judged, others = belief.rows, belief.rows[:0]
        if most is not None and len(belief.rows) > most:
            judged = belief.rows[sample_rows(part.rows(belief.rows), most, seed)]
            if self.reference_rows == "all":
                others = np.setdiff1d(belief.rows, judged)
            notes.append(note("judged sample" if len(others) else "searched sample", n=len(judged)))
        varying = np.intersect1d(varying, part.varying_features(np.concatenate([judged, others])))
        searched, later = self._screened(part, belief, varying)
        if len(later):
            notes.append(note("screened", n=len(searched), n_in_all=len(varying)))
        criterion = self._criterion_on(part, belief, judged, others, searched)
        start = np.flatnonzero(~part.is_judged[searched])
        paths = self._walk(criterion, part.feature_names[searched].tolist(), start)
        subsets, values = best_subsets(list(paths.values()))
        constant = np.setdiff1d(np.arange(part.n_features), varying)
        present = np.zeros(part.n_features)
        for subset in subsets.values():
            present[searched[subset]] += 1.0 / len(subsets)
        return Searched(
            {size: searched[subset] for size, subset in subsets.items()},
            values,
            part.given_first(np.concatenate([searched[_order_of(paths, subsets, len(searched))], later, constant])),
            present,
            row_losses=lambda features: criterion.unit_values(np.flatnonzero(np.isin(searched, features))),
            attributes={
                "audit_": belief.audit,
                "used_rows_": sample[judged],
                "searched_features_": searched,
                "n_completed_": belief.n_completed,
                "n_left_out_": belief.n_left_out,
                "paths_": paths,
                **belief.attributes,
            },
            notes=(*notes, *belief.notes()),
        )

    def _screened(self, problem: Problem, belief: Belief, varying: Features) -> tuple[Features, Features]:
        """The features to search among, in increasing order, all given ones with them, and the others, best first."""
        most = self.max_features
        if most == "auto":
            most = None if self.max_steps is None else SCREENED
        given = varying[~problem.is_judged[varying]]
        if most is None or len(varying) - len(given) <= most:
            return varying, varying[:0]
        believed = problem.features(varying).with_supervision(belief.supervision)
        evidence = Evidence.of(believed, within=False).on_normal_scores(self.n_jobs)
        scores = [linear_r2(evidence)[0], smooth_r2(evidence, random_state=self._seed, n_jobs=self.n_jobs)]
        best_first = varying[np.argsort(mean_rank(scores, lower_is_better=[False, False]), kind="stable")]
        best_first = best_first[~np.isin(best_first, given)]
        return np.sort(np.concatenate([given, best_first[:most]])), best_first[most:]

    def _criterion_on(
        self, problem: Problem, belief: Belief, judged: Rows, others: Rows, searched: Features
    ) -> NeighborLoss:
        n = len(judged) + len(others)
        space = problem.space(self.standardize)[:, problem.columns_of(searched)]
        goals = belief.supervision.goals()
        content = np.column_stack([*goals, space])
        # Ties in distance are broken by row order. So rows are sorted, then shuffled: neither order must decide.
        rng = np.random.RandomState(self.random_state)
        mixed = (some[order_by(content[some].T[::-1])][rng.permutation(len(some))] for some in (judged, others))
        rows = np.concatenate(list(mixed))
        part = problem.rows(rows)
        k = clip_neighbors(self.n_neighbors, max(1, n - 1))
        if self.max_rows is not None:  # with few rows, 15 neighbours are no longer near
            k = min(k, max(_FEWEST_NEIGHBORS, n // _ROWS_PER_NEIGHBOR))
        distances: Distances
        n_threads = resolve_threads(self.n_jobs)
        options: dict[str, Any] = {"n_judged": len(judged), "n_threads": n_threads, "groups": part.groups}
        gpu = None
        if self.device != "cpu" and not problem.has_wide_features:  # those are searched on the processor only
            gpu = find_device(self.device, float(len(judged)) * n * self._n_subsets(space.shape[1]), _GPU_IS_WORTH)
        if gpu is not None:
            distances = DeviceDistances(space[rows], gpu, **options)
        else:
            features = None if problem.columns is None else problem.columns.only(searched)
            distances = SubsetDistances(space[rows], features=features, **options)
        goals, balanced = [goal[rows] for goal in goals], self.class_weight == "balanced"
        return NeighborLoss(distances, goals, n_neighbors=k, balanced=balanced, weights=part.uneven_weights)

    def _n_subsets(self, n_features: int) -> float:
        """How many subsets the search looks at."""
        steps = self._n_steps(n_features)
        forward = steps * (n_features - 0.5 * (steps - 1)) if self.direction != "backward" else 0.0
        backward = 0.5 * n_features * (n_features + 1) if self.direction in ("backward", "both") else 0.0
        return forward + backward

    def _n_steps(self, n_features: int) -> int:
        """How many features a forward search adds."""
        return n_features if self.max_steps is None else min(self.max_steps, n_features)

    def _walk(self, criterion: NeighborLoss, names: list[str], start: Features) -> dict[str, SearchPath]:
        several: dict[str, tuple[Direction, ...]] = {"both": ("forward", "backward"), "backward": ("backward",)}
        options: dict[str, Any] = {"tie_tolerance": _SAME * criterion.value_of_nothing, "names": names, "start": start}
        every, stop = np.arange(len(names)), {"forward": len(start) + self._n_steps(len(names) - len(start))}
        return {
            direction: greedy_search(criterion, every, direction=direction, stop_size=stop.get(direction), **options)
            for direction in several.get(self.direction, ("forward",))
        }


def _order_of(paths: dict[str, SearchPath], subsets: dict[int, Rows], n_features: int) -> Rows:
    """The features best first; those that a forward search did not reach, by their value in its last step."""
    if list(paths) != ["forward"]:
        return order_by_presence(subsets, n_features)
    path = paths["forward"]
    if not path.steps:  # all of them are given
        return path.order()
    last = path.steps[-1]
    rest = last.candidates[np.argsort(last.candidate_values, kind="stable")]
    return np.concatenate([path.order(), rest[rest != last.feature]])

"""Ranking and search by k-NN mutual information with classes that may be soft, wrong or missing (LNT)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dubio.checks import AT_LEAST_ONE, NOT_NEGATIVE, Interval, StrOptions, clip_neighbors, random_of
from dubio.doubt.noise_model import NoiseModel, NoiseTracker
from dubio.errors import InputError
from dubio.evidence.evidence import level_features, levels_of
from dubio.evidence.relevance import smallest_sufficient_size
from dubio.kernels.gpu import DeviceName, Worth, find_device
from dubio.kernels.threads import resolve_threads
from dubio.methods.base import ScoreSelector, Searched, SearchSelector, Selector
from dubio.methods.parameters import estimator
from dubio.neighbors.distances import MAX_ROWS, DeviceDistances, Distances, SubsetDistances, check_row_limit
from dubio.neighbors.greedy import Direction, greedy_search
from dubio.neighbors.information import (
    Groups,
    InformationCriterion,
    feature_mutual_information,
    require_another_row,
    table_mutual_information,
)
from dubio.problem import Problem
from dubio.ranking import Scored, rank_in_order
from dubio.table.matrix import columns_of_sizes

#: Distances from which on a GPU is faster (rows x rows x subsets; for noise models, see below).
_GPU_IS_WORTH = Worth(again=2e7, first=5e9)
#: Subsets that take as long as one start of a noise model, for each class.
_SUBSETS_PER_START = 1.6
#: Values of the criterion that are closer than this are equal, so that rounding does not decide.
_SAME = 1e-11


@estimator
class _InformationMethod(Selector):
    """The parameters that the ranking and the search share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "label_noise": ["boolean"],
        "n_init": AT_LEAST_ONE,
        "noise_max_iter": AT_LEAST_ONE,
        "slack": [Interval(Real, 0, 1, closed="left")],
        "include_self": ["boolean"],
        "jitter": NOT_NEGATIVE,
    }

    _as_published: ClassVar[dict[str, Any]] = {"include_self": True, "slack": 0.0}

    label_noise: bool = True
    n_neighbors: int = 8
    n_neighbors_noise: int = 3
    n_init: int = 5
    slack: float = 0.5
    include_self: bool = False
    jitter: float = 0.001
    noise_max_iter: int = 50
    standardize: bool = True
    missing_label: Any = "auto"
    max_rows: int = MAX_ROWS
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    device: DeviceName = "cpu"

    @classmethod
    def as_published(cls, **parameters: Any) -> Self:
        """The printed form: a row counts as one of its own neighbours, and a ball holds at least k expected rows.

        >>> from dubio import MutualInformationSearch
        >>> MutualInformationSearch.as_published(n_features_to_select=5)
        MutualInformationSearch(include_self=True, n_features_to_select=5, slack=0.0)
        """
        return cls(**{**cls._as_published, **parameters})


@estimator
class MutualInformationRanking(_InformationMethod, ScoreSelector):
    """Rank features one by one by their mutual information (in nats) with a class, when labels may be wrong.

    Uses the estimators of :class:`MutualInformationSearch` on single features. It finds any relation of one feature
    with the class. It does not see redundancy, nor features that are informative only in combination. For one feature,
    neighbours are found by sorting, so wide tables are no problem. With ``label_noise=True``, the noise model is
    estimated once, on all features together.

    Parameters
    ----------
    label_noise : bool, default=True
        Whether hard labels may be wrong. This needs 12 bytes per pair of rows; without it, no such memory is needed.
    n_neighbors, n_neighbors_noise, n_init, slack, include_self, jitter, noise_max_iter
        See :class:`MutualInformationSearch`.
    {device}
        It matters only for the noise model: single features are sorted, on the CPU.

    Attributes
    ----------
    noise_model_ : NoiseModel or None
        The noise model on all features; None if none was estimated.

    Notes
    -----
    Equation 19 of the paper [1]_ for one feature at a time; the paper itself only searches subsets. Assumes that
    most features matter, since the noise model judges the labels by all of them, and that a wrong label is equally
    likely to be any other class. Do not use it with irrelevant features in the majority; ``label_noise=False`` is
    safe there.

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import MutualInformationRanking
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> list(MutualInformationRanking(n_features_to_select=2, random_state=0).fit(X, y).get_feature_names_out())
    ['flavanoids', 'od280/od315_of_diluted_wines']
    """

    _name = "mutual_information"
    _does = "information of one feature about classes that may be wrong, LNT"
    _lower_is_better = False
    _n_permutations = 200  # each one estimates the noise again

    def _score(self, problem: Problem) -> Scored:
        scene = Scene(self, problem)
        scores = np.full(problem.n_features, -np.inf)
        scores[scene.varying], model = scene.information_of_each()
        return Scored(scores, attributes={"noise_model_": model})


@estimator
class MutualInformationSearch(_InformationMethod, SearchSelector):
    """Greedy search for the features that together say most about a class, when labels may be wrong.

    Backward search removes one feature at a time: the one without which the other features have the largest mutual
    information with the class. With ``label_noise=True``, the labels are treated as noisy copies of the true classes.
    Before each step, the probability of every true class of every row is estimated
    (:func:`dubio.estimate_memberships`), and the noise-tolerant mutual information of equation 19 is used (LNT-BW,
    Algorithm 2 of the paper [1]_). ``label_noise=False`` is the plain search (BW).

    Soft labels (2-D ``y``) are used directly in the noise-tolerant estimator: they already express uncertainty.
    Rows without a label are used with memberships estimated by the noise model; with ``label_noise=False`` they are
    left out.

    The search keeps one n x n array of float64 distances and, with label noise, one of int32 neighbours: 12 bytes
    per pair of rows. For wide tables use ``prescreen``.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None
        A count, a share, or None for half. "auto" or "relevant": the features that tests find related to the target
        (:func:`~dubio.evidence.relevance.relevance_of`). "sufficient": as many of these as the smallest subset has
        whose mutual information is not significantly below the best
        (:func:`~dubio.evidence.relevance.smallest_sufficient_size`).
    alpha : float, default=0.05
        With "auto": the allowed share of false discoveries, and the level of the test of mutual information.
    label_noise : bool, default=True
        Whether hard labels may be wrong.
    direction : {"backward", "forward"}, default="backward"
        Backward starts with all the available information, which the noise model needs.
    n_neighbors : int, default=8
        Number of neighbours for the mutual information.
    n_neighbors_noise : int, default=3
        Number of neighbours for the densities of the noise model. With a larger one, large classes absorb small ones.
    n_init : int, default=5
        Number of restarts of the noise model.
    slack : float, default=0.5
        See :func:`dubio.noise_tolerant_mutual_information`.
    include_self : bool, default=False
        Whether a row counts as one of its own neighbours where classes are doubted or soft. The paper says so
        (``as_published``).
    jitter : float, default=1e-3
        Standard deviation of the Gaussian noise that breaks ties, in units of a standardised feature. It is added to a
        copy that only the search uses. If a subset has few features and all are discrete, the jitter decides.
    reestimate : {"step", "once"}, default="step"
        Fit the noise model again on each subset, or once on all features.
    prescreen : int, optional
        Search only among this many features, those with the highest mutual information of their own
        (:class:`MutualInformationRanking`). The others follow in this order.
    noise_max_iter : int, default=50
        Most iterations of a restart of the noise model; see :func:`dubio.estimate_memberships`.

    Attributes
    ----------
    noise_model_ : NoiseModel or None
        Memberships, error rates and objectives on the chosen subset; None if no noise model was estimated.
    history_ : tuple of SearchStep
        Every step: the candidates tried and their values. For a candidate that could not win, the value may be an upper
        bound.

    Notes
    -----
    Algorithms 1 and 2 and equations 14 to 29 of the paper [1]_; :meth:`as_published` is the printed form. Assumes
    that most features matter, since a backward search starts with distances over all of them, and that a wrong
    label is equally likely to be any other class. Do not use it with irrelevant features in the majority, with
    fewer than about ten rows in a class, or as a detector of wrong labels.

    References
    ----------
    .. [1] B. Frenay, G. Doquire and M. Verleysen (2014). Estimating mutual information for feature selection in the
       presence of label noise. Computational Statistics and Data Analysis 71, 832-848.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dubio import MutualInformationSearch
    >>> from dubio.simulate import flip_labels
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> noisy = flip_labels(y, 0.2, random_state=0)  # every fifth label is wrong
    >>> search = MutualInformationSearch(n_features_to_select=2, random_state=0).fit(X, noisy)
    >>> list(search.get_feature_names_out())
    ['alcohol', 'flavanoids']
    >>> search.subsets_[3], round(search.values_[3], 1)
    (array([ 0,  6, 10]), 0.8)
    """

    _name = "mutual_information_search"
    _does = "subsets with most information about classes that may be wrong, LNT"
    _criterion = "mutual information (high is good)"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "direction": [StrOptions({"backward", "forward"})],
        "reestimate": [StrOptions({"step", "once"})],
        "prescreen": [None, *AT_LEAST_ONE],
    }

    alpha: float = 0.05
    direction: Direction = "backward"
    reestimate: Literal["step", "once"] = "step"
    prescreen: int | None = None
    verbose: int = 0

    def _search(self, problem: Problem, count: int | None) -> Searched:
        if self.prescreen is not None and self.prescreen < (count or 1):
            wrong = f"={self.prescreen}, but {count} features are to be selected"
            raise InputError("prescreen", wrong, "raise prescreen or give a smaller n_features_to_select")
        scene = Scene(self, problem)
        searched, screened = np.arange(len(scene.varying)), np.empty(0, dtype=np.int64)
        if self.prescreen is not None and self.prescreen < len(searched):
            order = np.argsort(-scene.information_of_each()[0], kind="stable")
            searched, screened = np.sort(order[: self.prescreen]), order[self.prescreen :]
        columns = scene.varying[searched]
        d = len(searched)
        n_models = d if self.reestimate == "step" else 1
        distances = scene.distances(searched, n_subsets=0.5 * d * (d + 1), n_models=n_models)
        options: dict[str, Any] = {"n_neighbors": scene.n_neighbors, "slack": self.slack}
        options["include_self"] = scene.include_self
        path = greedy_search(
            InformationCriterion(distances, scene.memberships_of, **options),
            np.arange(d),
            direction=self.direction,
            tie_tolerance=_SAME,
            names=problem.feature_names[columns].tolist(),
        )
        sufficient = None
        if count is None:  # all subsets are compared with the memberships estimated on the best one
            distances.start(path.subsets[max(path.values, key=lambda size: (path.values[size], -size))])
            memberships = scene.memberships_of(distances)
            sufficient = smallest_sufficient_size(
                path.subsets,
                path.values,
                InformationCriterion(distances, lambda _: memberships, **options).row_values,
                larger_is_better=True,
                alpha=self.alpha,
            )
        constant = np.setdiff1d(np.arange(problem.n_features), scene.varying)
        best_first = np.concatenate([columns[path.order()], scene.varying[screened], constant])
        values = {size: path.values[size] for size in sorted(path.values)}
        ranks = rank_in_order(best_first)
        model = None
        if scene.tracker is not None:
            kept = ranks <= (sufficient[0] if sufficient is not None else count or 1)
            distances.start(np.flatnonzero(kept[columns]))
            model = scene.tracker.fit(distances)
        history = tuple(
            replace(step, feature=int(columns[step.feature]), candidates=columns[step.candidates])
            for step in path.steps
        )
        return Searched(
            {size: columns[path.subsets[size]] for size in sorted(path.subsets)},
            values,
            best_first,
            np.array([values.get(int(rank), -np.inf) for rank in ranks]),
            sufficient,
            attributes={"history_": history, "noise_model_": model},
        )


class Scene:
    """What both methods work on: the rows used, scaled and with jitter; the features that vary; the labels."""

    def __init__(self, method: MutualInformationRanking | MutualInformationSearch, problem: Problem) -> None:
        if not method.label_noise:
            problem = problem.labelled
        supervision, n = problem.supervision, problem.n_rows
        supervision.require_two_rows_per_class()
        self._method, self._supervision = method, supervision
        self.n_neighbors = clip_neighbors(method.n_neighbors, n - 1)
        trusted = supervision.given_codes is not None and not method.label_noise
        self.include_self = method.include_self and not trusted  # trusted classes: the estimator of Gomez-Verdejo
        require_another_row(self.n_neighbors, self.include_self)
        self.n_threads = resolve_threads(method.n_jobs)
        random_state = random_of(method.random_state)
        self.varying = problem.varying_features(supervision.labelled)
        table = problem.space(method.standardize)[:, problem.columns_of(self.varying)]
        part = problem.features(self.varying)
        self._columns = columns_of_sizes([1] * len(self.varying)) if part.columns is None else part.columns
        self._levels = {j: levels_of(part.X[:, self._columns.of(j)]) for j in level_features(part.columns).tolist()}
        if method.jitter:  # noise against ties, drawn for the rows in sorted order: their order must not matter
            noise = np.empty(table.shape)
            order = np.lexsort((*supervision.memberships.T, *table.T))
            noise[order] = random_state.normal(scale=method.jitter, size=table.shape)
            table = table + noise
        self.table = table
        self.tracker: NoiseTracker | None = None
        in_doubt = supervision.given_codes is not None or supervision.n_unlabelled > 0
        if method.label_noise and in_doubt:
            check_row_limit(n, method.max_rows)
            k = clip_neighbors(method.n_neighbors_noise, n - 1, "n_neighbors_noise")
            options: dict[str, Any] = {"once": getattr(method, "reestimate", "once") == "once"}
            require_another_row(k, method.include_self, "n_neighbors_noise")
            options |= {"n_init": method.n_init, "max_iter": method.noise_max_iter, "include_self": method.include_self}
            self.tracker = NoiseTracker(supervision, n_neighbors=k, random_state=random_state, **options)

    def distances(self, features: NDArray[np.int64], *, n_subsets: float = 0.0, n_models: int = 1) -> Distances:
        """Distances for subsets of some of the varying features.

        From the numbers of subsets and noise models that they will be used for follows whether a GPU is faster.
        """
        n, per_model = len(self.table), 0.0  # the number of subsets that take as long as one noise model
        check_row_limit(n, self._method.max_rows)
        if self.tracker is not None:
            per_model = _SUBSETS_PER_START * self._method.n_init * self._supervision.n_classes
        table = self.table[:, self._columns.of_all(features)]
        n_distances = float(n) * n * (n_subsets + n_models * per_model)
        gpu = find_device(self._method.device, n_distances, _GPU_IS_WORTH)
        if gpu is not None and self._columns.is_plain:  # features of several columns are searched on the CPU
            return DeviceDistances(table, gpu, n_threads=self.n_threads)
        own = self._columns.only(features)
        return SubsetDistances(table, features=own, n_threads=self.n_threads)

    def memberships_of(self, distances: Distances) -> NDArray[np.float64]:
        """Memberships as given, or estimated on the current subset."""
        return self._supervision.memberships if self.tracker is None else self.tracker(distances)

    def information_of_each(self) -> tuple[NDArray[np.float64], NoiseModel | None]:
        """Mutual information of each single varying feature, and the noise model on all of them."""
        every = np.arange(len(self.varying))
        memberships, model = self._supervision.memberships, None
        if self.tracker is not None:
            distances = self.distances(every)
            distances.start(every)
            model = self.tracker.fit(distances)
            memberships = model.memberships
        features = [self._columns.of(j) for j in every.tolist()]
        groups = Groups(memberships, self.n_neighbors, self._method.slack, self.include_self)
        scores = feature_mutual_information(np.ascontiguousarray(self.table.T), features, groups, self.n_threads)
        for feature, levels in self._levels.items():  # noise on 30 columns of 0 and 1 would drown what they say
            scores[feature] = table_mutual_information(levels, memberships)
        return scores, model

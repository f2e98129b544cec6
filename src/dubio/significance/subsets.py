"""The size of the subset that a search should keep: the smallest that is not significantly worse than the best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from dubio.errors import InputError, counted, warn
from dubio.significance.count import NoFeatureStandsOut
from dubio.significance.multiple import check_alpha


def smallest_sufficient_size(
    subsets: dict[int, NDArray[np.int64]],
    values: dict[int, float],
    row_values: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    larger_is_better: bool,
    alpha: float = 0.05,
    value_of_nothing: float | None = None,
) -> tuple[int, str]:
    r"""The smallest size whose criterion is not significantly worse than the best, and the reason in words.

    The criterion must be a sum over rows, so that each row has a value for each subset. For each row, take the
    difference between the best subset and a smaller one. If rows are independent, the sum :math:`S` of these
    differences has the standard error :math:`\sqrt{n}\, s`. A size is sufficient if :math:`S / (\sqrt{n}\, s)` stays
    below the normal quantile of :math:`1 - \alpha`. Sizes are tried from the smallest up, only as far as needed.

    Parameters
    ----------
    subsets, values : dict
        The features and the criterion for each size.
    row_values : callable
        ``row_values(subset)`` returns what each row adds to the criterion: an array (n_rows,).
    larger_is_better : bool
    alpha : float
        Level of the one-sided test.
    value_of_nothing : float, optional
        The criterion of the empty subset. If no subset is better, one feature is kept, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from dubio.significance import smallest_sufficient_size
    >>> rng = np.random.default_rng(0)
    >>> gains = {1: rng.normal(0.5, 0.1, 50), 2: rng.normal(1.0, 0.1, 50), 3: rng.normal(1.0, 0.1, 50)}
    >>> subsets = {size: np.arange(size) for size in gains}
    >>> values = {1: 25.0, 2: 50.0, 3: 50.1}
    >>> smallest_sufficient_size(subsets, values, lambda s: gains[len(s)], larger_is_better=True)[0]
    2
    """
    if not subsets or set(subsets) != set(values):
        raise InputError(
            "subsets", f"has {len(subsets)} sizes and values has {len(values)}", "give the same sizes, one or more"
        )
    check_alpha(alpha)
    sign = 1.0 if larger_is_better else -1.0
    sizes = sorted(values)
    best = max(sizes, key=lambda size: (sign * values[size], -size))  # among equals the smaller
    if value_of_nothing is not None and sign * values[best] <= sign * value_of_nothing:
        text = (
            f"the best criterion of any subset, {values[best]:.4g}, is no better than the criterion without any "
            f"feature, {value_of_nothing:.4g}"
        )
        warn(
            NoFeatureStandsOut(
                "X",
                f"has no feature that stands out: {text}. One feature is kept, but nothing shows that it matters",
            )
        )
        return sizes[0], f"no feature stands out: {text}; one is kept so that the selection is not empty"
    bar = norm.ppf(1 - alpha)
    reference = sign * np.asarray(row_values(subsets[best]), dtype=np.float64)
    for size in sizes:
        if size >= best:
            break
        loss = reference - sign * np.asarray(row_values(subsets[size]), dtype=np.float64)
        spread = loss.std(ddof=1) * np.sqrt(len(loss)) if len(loss) > 1 else 0.0
        if loss.sum() <= bar * spread:
            return size, (
                f"{counted(size, 'feature')}: the smallest subset whose criterion ({values[size]:.4g}) is not "
                f"significantly worse (alpha={alpha:g}) than the best ({values[best]:.4g}, {best} features)"
            )
    return (
        best,
        f"{counted(best, 'feature')}: the best criterion ({values[best]:.4g}); every smaller subset is clearly worse",
    )

"""LNT paper, Figures 2 and 3: one wrong label among forty, over many draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, logsumexp

from dubio.doubt.noise_model import NeighborOrder, estimate_memberships
from dubio.neighbors.distances import SubsetDistances
from dubio.neighbors.information import log_unit_ball_volume, mutual_information, noise_tolerant_mutual_information
from dubio_papers.claims import better, enough
from dubio_papers.experiment import Cell, Curves, Experiment, Finding, Point, Table

MI_NEIGHBORS, NOISE_NEIGHBORS = 8, 3
INFORMATION = ("MI, wrong label", "MI, clean", "MI, noise-tolerant")
RATES = ("error rate of class 0", "error rate of class 1")


def run(parameters: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Twenty rows of each of two Gaussians; one row of class 0 is labelled 1."""
    truth = np.repeat([0, 1], 20)
    x = random.normal(np.where(truth == 0, -1.5, 1.5), 1.0)
    order = np.argsort(x)
    x, truth = x[order], truth[order]
    wrong = int(random.choice(np.flatnonzero(truth == 0)))
    y = truth.copy()
    y[wrong] = 1
    X = x[:, None]
    model = estimate_memberships(X, y, n_neighbors=NOISE_NEIGHBORS, random_state=int(random.integers(2**31)))
    assert model.error_rates is not None
    plain, tolerant = _gomez_log_density(x, y), _tolerant_log_density(X, y, model)
    return {
        INFORMATION[0]: mutual_information(X, y, n_neighbors=MI_NEIGHBORS),
        INFORMATION[1]: mutual_information(X, truth, n_neighbors=MI_NEIGHBORS),
        INFORMATION[2]: noise_tolerant_mutual_information(X, model.memberships, n_neighbors=MI_NEIGHBORS),
        RATES[0]: model.error_rates[0],
        RATES[1]: model.error_rates[1],
        "log p of the wrong row, plain": plain[wrong],
        "log p of the wrong row, tolerant": tolerant[wrong],
        "rise": tolerant[wrong] - plain[wrong],
        "plain (Figure 2)": plain,
        "noise-tolerant (Figure 3)": tolerant,
    }


def _gomez_log_density(x: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Equation 11: log p(x | y) of each row in the class of its label."""
    log_p = np.empty(len(x))
    for label in (0, 1):
        own = x[y == label]
        gaps = np.sort(np.abs(own[:, None] - own[None, :]), axis=1)[:, MI_NEIGHBORS]
        log_p[y == label] = digamma(MI_NEIGHBORS) - digamma(len(own)) - log_unit_ball_volume(1) - np.log(2 * gaps)
    return log_p


def _tolerant_log_density(X: NDArray[np.float64], y: NDArray[np.int64], model: Any) -> NDArray[np.float64]:
    """Equation 30: log p(x | y), summed over the true classes."""
    distances = SubsetDistances(X)
    distances.start([0])
    neighbors = NeighborOrder(len(X))
    neighbors.update(distances)
    densities = neighbors.log_densities(model.memberships, MI_NEIGHBORS)
    labelling = np.where(y[:, None] == np.arange(2), 1 - model.error_rates, model.error_rates)
    joint = densities + np.log(labelling) + np.log(model.priors)
    result: NDArray[np.float64] = logsumexp(joint, axis=1) - np.log(np.bincount(y) / len(y))[y]
    return result


def findings(summary: Any) -> list[Finding]:
    claim = "On average, the tolerant estimate lies between the noisy and the clean one."
    values = [summary.mean(_KEY, name) for name in INFORMATION]
    noisy, clean, tolerant = values
    return [
        better(summary, _KEY, "rise", "The noise model increases log p of the mislabelled row.", scale="rise of log p"),
        Finding(
            claim,
            bool(noisy <= tolerant <= clean) if enough(summary, _KEY) else None,
            "",
            tuple(
                Point(name, value, summary.error(_KEY, name))
                for name, value in zip(INFORMATION, values, strict=True)
                if value is not None
            ),
            against=None,
            scale="mutual information (nats)",
        ),
    ]


_KEY = "draw=two Gaussians"
EXPERIMENTS = (
    Experiment(
        name="lnt-figures-2-3",
        paper="lnt",
        title="Figures 2 and 3: one wrong label among forty rows",
        about="Two Gaussians at -1.5 and 1.5 with 20 rows each; one row of class 0 is labelled 1. The paper shows one "
        "random draw, we make many. So the band of a printed number is the band of single draws. The curves are means "
        "over the draws, by the rank of the row along x.",
        cells=(Cell({"draw": "two Gaussians"}, full=1000, quick=100, seconds=0.02, label="two Gaussians"),),
        protocol=run,
        displays=(
            Table(
                "Mutual information (nats)",
                INFORMATION,
                {_KEY: {INFORMATION[0]: 0.58, INFORMATION[1]: 0.63, INFORMATION[2]: 0.61}},
                digits=3,
            ),
            Table("Estimated error rates", RATES, {_KEY: {RATES[0]: 0.02, RATES[1]: 0.00}}, digits=3),
            Table(
                "The mislabelled row",
                ("log p of the wrong row, plain", "log p of the wrong row, tolerant", "rise"),
                digits=2,
            ),
            Curves(
                "log p(x | y) along x",
                ("plain (Figure 2)", "noise-tolerant (Figure 3)"),
                "rank of the row along x",
                "log p(x | y)",
            ),
        ),
        findings=findings,
    ),
)

"""Turn the votes of several annotators into memberships: the plain average, or Dawid and Skene's EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DawidSkene:
    """Memberships, ``confusions[annotator, true, said]``, class priors, iterations used."""

    memberships: NDArray[np.float64]
    confusions: NDArray[np.float64]
    priors: NDArray[np.float64]
    n_iter: int


def average_votes(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Share of the votes for each class. A row in which everybody abstained (code -1) is NaN."""
    votes = _one_hot(codes, n_classes).sum(axis=1)
    total = votes.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, votes / np.where(total > 0, total, 1.0), np.nan)


def dawid_skene(
    codes: NDArray[np.int64],
    n_classes: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    smoothing: float = 0.01,
) -> DawidSkene:
    r"""Dawid and Skene's EM on votes ``codes`` (rows, annotators), -1 where an annotator abstains.

    E step: :math:`p_{ik} \propto \pi_k \prod_e \theta^{(e)}_{k, v_{ie}}`, in logs. M step: :math:`\pi` and
    :math:`\theta` from the expected counts. A pseudo-count of ``smoothing`` keeps the entries of a confusion matrix
    above zero, so that no single vote can rule out a class for good. Rows without any vote get NaN.
    """
    said = _one_hot(codes, n_classes)
    voted = said.any(axis=(1, 2))
    P = average_votes(codes, n_classes)
    P[~voted] = 0.0
    confusions = np.empty((codes.shape[1], n_classes, n_classes))
    priors = np.empty(n_classes)
    n_iter = 0
    for _ in range(max_iter):
        n_iter += 1
        counts = np.einsum("ik,iel->ekl", P, said) + smoothing
        confusions = counts / counts.sum(axis=2, keepdims=True)
        priors = (P.sum(axis=0) + smoothing) / (P.sum() + n_classes * smoothing)
        logs = np.log(priors) + np.einsum("iel,ekl->ik", said, np.log(confusions))
        logs -= logs.max(axis=1, keepdims=True)
        new = np.exp(logs)
        new /= new.sum(axis=1, keepdims=True)
        new[~voted] = 0.0
        change = float(np.abs(new - P).max()) if len(P) else 0.0
        P = new
        if change < tol:
            break
    P[~voted] = np.nan
    return DawidSkene(P, confusions, priors, n_iter)


def _one_hot(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    return (codes[:, :, None] == np.arange(n_classes)).astype(np.float64)

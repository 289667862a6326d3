"""Exact Gaussian inference by dense matrices: O(n^3), no recursion, nothing clever."""

from typing import NamedTuple

import numpy as np


class Dense(NamedTuple):
    log_z: float
    mean: np.ndarray
    cov: np.ndarray


def posterior(k: np.ndarray, linear: np.ndarray, quadratic: np.ndarray) -> Dense:
    """log E exp(linear' f + f' diag(quadratic) f) under f ~ N(0, k), with the tilted mean and covariance.

    With W = -2 diag(quadratic): log Z = linear' V linear / 2 - log det(I + W k) / 2, V = k (I + W k)^-1.
    """
    system = np.eye(len(k)) + (-2 * quadratic)[:, None] * k
    cov = np.linalg.solve(system.T, k).T
    cov = (cov + cov.T) / 2
    return Dense(float(linear @ cov @ linear / 2 - np.linalg.slogdet(system)[1] / 2), cov @ linear, cov)

"""Exact Gaussian inference by dense matrices: O(n^3), no recursion, nothing clever."""

from typing import NamedTuple

import numpy as np


class Regression(NamedTuple):
    log_z: float
    mean: np.ndarray
    variance: np.ndarray
    cov: np.ndarray


def regression(gram, times, y, sd, asked) -> Regression:
    """log p(y) of y = f(times) + N(0, sd^2), and the posterior of f at the times asked for.

    `gram(s, t)` is the prior covariance of f between two sets of times; `sd` is one number or one a row.
    """
    noisy = gram(times, times) + np.diag(np.broadcast_to(sd, len(times)) ** 2.0)
    across = gram(asked, times)
    weights = np.linalg.solve(noisy, np.column_stack([y, across.T]))
    log_z = -(y @ weights[:, 0] + np.linalg.slogdet(noisy)[1] + len(y) * np.log(2 * np.pi)) / 2
    cov = gram(asked, asked) - across @ weights[:, 1:]
    return Regression(float(log_z), across @ weights[:, 0], np.diag(cov), (cov + cov.T) / 2)

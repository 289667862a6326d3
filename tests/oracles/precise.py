"""The dense oracle at 80 digits: what rounding cannot touch."""

from typing import NamedTuple

import mpmath
import numpy as np

DIGITS = 80


class Precise(NamedTuple):
    log_z: mpmath.mpf
    mean: list[mpmath.mpf]
    variance: list[mpmath.mpf]


def matern(order: int, variance: float, lengthscale: float):
    """The Matern covariance of smoothness order - 1/2, as a function of mpmath numbers."""
    with mpmath.workdps(DIGITS):
        third, fifteenth = mpmath.mpf(1) / 3, mpmath.mpf(1) / 15
    coefficients = {1: [1], 2: [1, 1], 3: [1, 1, third], 4: [1, 1, 6 * fifteenth, fifteenth]}

    def covariance(tau):
        r = mpmath.sqrt(2 * order - 1) * abs(tau) / mpmath.mpf(lengthscale)
        return mpmath.mpf(variance) * sum(c * r**k for k, c in enumerate(coefficients[order])) * mpmath.exp(-r)

    return covariance


def posterior(covariance, times: np.ndarray, y: np.ndarray, noise_sd: float) -> Precise:
    """log p(y), and mean and variance of f at every time; a NaN in y is a missing value."""
    with mpmath.workdps(DIGITS):
        t = [mpmath.mpf(float(x)) for x in times]
        seen = [i for i in range(len(t)) if not np.isnan(y[i])]
        noise = mpmath.mpf(float(noise_sd)) ** 2
        gram = mpmath.matrix(len(seen), len(seen))
        for a, i in enumerate(seen):
            for b, j in enumerate(seen):
                gram[a, b] = covariance(t[i] - t[j]) + (noise if i == j else 0)
        root = mpmath.cholesky(gram)
        white = _forward(root, [mpmath.mpf(float(y[i])) for i in seen])
        log_z = -mpmath.fsum(w**2 for w in white) / 2 - len(seen) * mpmath.log(2 * mpmath.pi) / 2
        log_z -= mpmath.fsum(mpmath.log(root[k, k]) for k in range(len(seen)))
        means, variances = [], []
        for s in t:
            across = _forward(root, [covariance(s - t[j]) for j in seen])
            means.append(mpmath.fsum(a * w for a, w in zip(across, white, strict=True)))
            variances.append(covariance(mpmath.mpf(0)) - mpmath.fsum(a**2 for a in across))
        return Precise(log_z, means, variances)


def _forward(lower, right):
    """Solve lower x = right."""
    found = []
    for i, value in enumerate(right):
        found.append((value - mpmath.fsum(lower[i, k] * found[k] for k in range(i))) / lower[i, i])
    return found

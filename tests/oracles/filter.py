"""The textbook Kalman filter and Rauch-Tung-Striebel smoother: one step after the other, plain NumPy.

Noise variance r = 1 / w and pseudo-data y = linear / w; a step without datum has w = 0.
"""

from typing import NamedTuple

import numpy as np


class Smoothed(NamedTuple):
    log_z: float
    mean: np.ndarray
    variance: np.ndarray


def smooth(moves, noises, start, h, linear, w) -> Smoothed:
    """log Z and the marginals of f = h x; `moves[i]`, `noises[i]` follow instant i."""
    n, d = len(linear), len(start)
    predicted_m, predicted_p = np.zeros((n, d)), np.zeros((n, d, d))
    filtered_m, filtered_p = np.zeros((n, d)), np.zeros((n, d, d))
    m, p, log_z = np.zeros(d), start, 0.0
    for i in range(n):
        predicted_m[i], predicted_p[i] = m, p
        if w[i] != 0:
            y, r = linear[i] / w[i], 1 / w[i]
            s = h @ p @ h + r
            gain = p @ h / s
            log_z += -0.5 * (np.log(s / r) + (y - h @ m) ** 2 / s) + y**2 / (2 * r)
            m = m + gain * (y - h @ m)
            keep = np.eye(d) - np.outer(gain, h)
            p = keep @ p @ keep.T + r * np.outer(gain, gain)
        filtered_m[i], filtered_p[i] = m, p
        m, p = moves[i] @ m, moves[i] @ p @ moves[i].T + noises[i]
    mean, cov = filtered_m[-1], filtered_p[-1]
    means, variances = np.zeros(n), np.zeros(n)
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            gain = np.linalg.lstsq(predicted_p[i + 1], moves[i] @ filtered_p[i], rcond=1e-14)[0].T
            mean = filtered_m[i] + gain @ (mean - predicted_m[i + 1])
            cov = filtered_p[i] + gain @ (cov - predicted_p[i + 1]) @ gain.T
        means[i], variances[i] = h @ mean, h @ cov @ h
    return Smoothed(log_z, means, variances)

"""The textbook Kalman filter and Rauch-Tung-Striebel smoother: one step after the other, plain NumPy.

Everything before the smoother is analytic, so a complex step through it, x + i h with h = 1e-30, gives derivatives to
the last digit.
"""

from typing import NamedTuple

import numpy as np


class Filtered(NamedTuple):
    log_z: complex
    predicted: list[tuple[np.ndarray, np.ndarray]]
    filtered: list[tuple[np.ndarray, np.ndarray]]


def filter(moves, noises, start, h, y, r) -> Filtered:
    """log p(y) of y = h x + N(0, r), NaN missing, and the states; `moves[i]`, `noises[i]` follow instant i."""
    m, p, log_z = np.zeros(len(start)), start, 0.0
    eye, predicted, filtered = np.eye(len(start)), [], []
    for i in range(len(y)):
        predicted.append((m, p))
        if not np.isnan(y[i]):
            s = h @ p @ h + r
            gain = p @ h / s
            error = y[i] - h @ m
            log_z = log_z - (np.log(2 * np.pi * s) + error**2 / s) / 2
            m = m + gain * error
            keep = eye - np.outer(gain, h)
            p = keep @ p @ keep.T + r * np.outer(gain, gain)
        filtered.append((m, p))
        m, p = moves[i] @ m, moves[i] @ p @ moves[i].T + noises[i]
    return Filtered(log_z, predicted, filtered)


def smooth(moves, h, states: Filtered) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of h x at every instant, given all data."""
    mean, cov = states.filtered[-1]
    found = [(h @ mean, h @ cov @ h)]
    for i in range(len(states.filtered) - 2, -1, -1):
        (m, p), (ahead, spread) = states.filtered[i], states.predicted[i + 1]
        gain = np.linalg.solve(spread, moves[i] @ p).T
        mean, cov = m + gain @ (mean - ahead), p + gain @ (cov - spread) @ gain.T
        found.append((h @ mean, h @ cov @ h))
    means, variances = zip(*found[::-1], strict=True)
    return np.array(means), np.array(variances)

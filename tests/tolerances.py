"""Every tolerance of the tests, in one table. Errors are relative to max(1, |value|), gradients' to their norm."""

import numpy as np

LOG_Z = 1e-10  # against the dense oracle
MOMENT = 1e-9  # means and variances, against the dense oracle
LANES = 1e-10  # one lane against many
LANES_LONG = 1e-9  # the same at n = 10^6
TEXTBOOK = 1e-8  # against the sequential textbook filter, at n = 10^5
DIFFERENCES = 1e-6  # gradients against central differences
AUTODIFF = 1e-9  # gradients against autodiff through the plain scan
PRECISE = 1e-6  # variances and log Z against 80 digits, signal over noise variance up to 1e18
PRECISE_FAR = 1e-3  # the same, up to 1e24
INVARIANCE = 1e-9  # shuffled, shifted, rescaled
SUMS = 1e-10  # components against their sum
TRANSITION = 1e-12  # A and Q against matrix exponentials


def error(value, truth) -> float:
    """The largest error relative to max(1, |truth|)."""
    value, truth = np.asarray(value, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    assert value.shape == truth.shape, (value.shape, truth.shape)
    return float(np.max(np.abs(value - truth) / np.maximum(1.0, np.abs(truth)), initial=0.0))


def gradient_error(value, truth) -> float:
    """The distance of two gradients over max(1, norm)."""
    value, truth = np.ravel(value), np.ravel(truth)
    assert value.shape == truth.shape, (value.shape, truth.shape)
    return float(np.linalg.norm(value - truth) / max(1.0, np.linalg.norm(truth)))

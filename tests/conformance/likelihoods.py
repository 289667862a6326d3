"""Every likelihood, with hyperparameters and data to try it on. A new one joins by one entry in `LIKELIHOODS`."""

from typing import NamedTuple

import numpy as np

import chronogp as cgp


class Case(NamedTuple):
    label: str
    likelihood: cgp.Likelihood
    y: np.ndarray
    exposure: np.ndarray
    support: np.ndarray  # a fine grid over nearly all of y's distribution, or every value of it


FINE = np.linspace(-30, 30, 60_001)

LIKELIHOODS = [
    Case("Gaussian", cgp.Gaussian(0.7), np.array([-0.4, 0.0, 2.5]), np.ones(3), FINE),
    Case("Gaussian by exposure", cgp.Gaussian(0.7), np.array([-0.4, 0.0, 2.5]), np.array([1.0, 4.0, 0.25]), FINE),
]

"""Likelihoods: how one datum arises from the latent function at its time."""

from .base import Exact as Exact, Likelihood as Likelihood, Marginals as Marginals, Rows as Rows
from .gaussian import Gaussian as Gaussian

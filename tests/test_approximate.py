"""How far the approximate kernels are from the exact ones, by order: the tables that `docs/kernels.md` shows."""

from itertools import pairwise

import numpy as np
import pytest

import chronogp as cgp

LAGS = np.concatenate([np.linspace(0, 6, 301), np.geomspace(6, 200, 200)])
ORDERS = (2, 4, 6, 8, 10, 12)
RBF_ERRORS = (0.14, 2.2e-2, 4.3e-3, 9.2e-4, 2.1e-4, 4.8e-5)
RATIONAL_ERRORS = {  # by alpha
    0.5: (0.23, 8.1e-2, 4.0e-2, 2.3e-2, 1.3e-2, 6.9e-3),
    1.0: (0.19, 4.5e-2, 1.7e-2, 7.4e-3, 3.3e-3, 3.5e-3),
    2.0: (0.16, 2.8e-2, 6.0e-3, 2.1e-3, 1.2e-3, 6.4e-4),
    5.0: (0.14, 2.2e-2, 3.6e-3, 4.7e-4, 2.1e-4, 2.1e-4),
    20.0: (0.14, 2.1e-2, 4.0e-3, 8.3e-4, 1.8e-4, 3.7e-5),
}


def rbf_error(order: int) -> float:
    """The largest difference from exp(-tau^2 / 2)."""
    return float(np.max(np.abs(cgp.RBF(1.0, 1.0, order).covariance(LAGS) - np.exp(-(LAGS**2) / 2))))


def rational_error(order: int, alpha: float) -> float:
    """The largest difference from (1 + tau^2 / (2 alpha))^-alpha."""
    exact = (1 + LAGS**2 / (2 * alpha)) ** -alpha
    return float(np.max(np.abs(cgp.RationalQuadratic(1.0, 1.0, alpha, order).covariance(LAGS) - exact)))


def test_rbf_is_as_near_as_the_table_says():
    errors = np.array([rbf_error(order) for order in ORDERS])
    assert np.all(errors <= RBF_ERRORS)
    assert np.all(errors > 0.9 * np.array(RBF_ERRORS))


@pytest.mark.parametrize("alpha", RATIONAL_ERRORS)
def test_rational_quadratic_is_as_near_as_the_table_says(alpha):
    errors = np.array([rational_error(order, alpha) for order in ORDERS])
    assert np.all(errors <= RATIONAL_ERRORS[alpha])
    assert np.all(errors > 0.9 * np.array(RATIONAL_ERRORS[alpha]))


def test_a_higher_order_is_nearer():
    errors = [rbf_error(order) for order in range(1, 13)]
    assert all(higher < lower for lower, higher in pairwise(errors))

"""Every kernel, beside its covariance written independently in NumPy. A new kernel joins by one entry in `KERNELS`.

`covariance(s, t)` takes times since the start, broadcast against each other.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from scipy import linalg, special

import chronogp as cgp
from chronogp.kernels.approximate import unit_rbf


class Case(NamedTuple):
    label: str
    kernel: cgp.Kernel
    covariance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    whole_steps: bool = False  # whether its times must be whole numbers


def stationary(k):
    return lambda s, t: k(np.abs(s - t))


def matern(order, variance, lengthscale):
    polynomial = [[1], [1, 1], [1 / 3, 1, 1], [1 / 15, 2 / 5, 1, 1]][order - 1]
    rate = np.sqrt(2 * order - 1) / lengthscale
    return stationary(lambda tau: variance * np.polyval(polynomial, rate * tau) * np.exp(-rate * tau))


def cosine(period):
    return stationary(lambda tau: np.cos(2 * np.pi * tau / period))


def periodic(lengthscale, period, order):
    z = lengthscale**-2.0
    weights = special.ive(np.arange(order + 1), z) * np.where(np.arange(order + 1) == 0, 1, 2)
    weights = weights / weights.sum()
    return stationary(lambda tau: sum(w * np.cos(2 * np.pi * j * tau / period) for j, w in enumerate(weights)))


def sho(variance, period, quality):
    a = 0.5 / quality
    b = np.sqrt(complex(1 - a**2)) if a != 1 else 1e-9

    def k(tau):
        x = 2 * np.pi * tau / period
        return variance * (np.exp(-a * x) * (np.cos(b * x) + a / b * np.sin(b * x))).real

    return stationary(k)


def linear_sde(drift, noise, h, start=None):
    """The covariance of a stable linear SDE by the eigenvectors of its drift, from `start` or stationary."""
    still = linalg.solve_continuous_lyapunov(drift, -noise)
    rates, modes = np.linalg.eig(drift)
    back = np.linalg.inv(modes)

    def move(x):  # exp(drift x), a matrix for every x
        return np.einsum("ij,...j,jk->...ik", modes, np.exp(rates * x[..., None]), back).real

    def k(s, t):
        first, lag = np.minimum(s, t), np.abs(s - t)
        state = still
        if start is not None:
            moved = move(first)
            state = still + moved @ (start - still) @ np.swapaxes(moved, -1, -2)
        return np.einsum("i,...ij,...jk,k->...", h, move(lag), state, h)

    return k


def rbf(variance, lengthscale, order):
    unit = unit_rbf(order)
    k = linear_sde(unit.drift, unit.noise, np.eye(order)[0])
    return lambda s, t: variance * k(s / lengthscale, t / lengthscale)


def rational_quadratic(kernel):
    with jax.enable_x64(True):
        mixture = np.stack(kernel.mixture(), axis=1)
    parts = [rbf(kernel.variance * w, kernel.lengthscale / np.sqrt(p), kernel.order) for w, p in mixture]
    return lambda s, t: sum(part(s, t) for part in parts)


def local_trend(variance, start):
    def k(s, t):
        first = np.minimum(s, t)
        return start * (1 + s * t) + variance * (first**3 / 3 + np.abs(s - t) * first**2 / 2)

    return k


def discrete(A, Q, P0, h):
    def k(s, t):
        first, lag = np.rint(np.minimum(s, t)).astype(int), np.rint(np.abs(s - t)).astype(int)
        states, moves = [P0], [np.eye(len(A))]
        for _ in range(int(max(first.max(), lag.max()))):
            states.append(A @ states[-1] @ A.T + Q)
            moves.append(A @ moves[-1])
        return np.einsum("i,...ij,...jk,k->...", h, np.stack(moves)[lag], np.stack(states)[first], h)

    return k


def product(*parts):
    return lambda s, t: np.prod([part(s, t) for part in parts], axis=0)


DRIFT = np.array([[-0.3, 1.1, 0.0], [-1.0, -0.2, 0.4], [0.0, 0.1, -0.8]])
ENTRY = np.array([[0.5, 0.0], [0.0, 0.7], [0.3, 0.2]])
DENSITY = np.array([[1.0, 0.2], [0.2, 0.6]])
LOOK = np.array([1.0, 0.5, -0.2])
START = np.diag([0.6, 0.3, 0.5])
TURN = np.array([[0.9, 0.3], [-0.2, 0.8]])
SHAKE = np.array([[0.3, 0.1], [0.1, 0.2]])
RQ = cgp.RationalQuadratic(0.9, 2.0, 1.3)

KERNELS = [
    Case("Matern12", cgp.Matern12(1.3, 2.0), matern(1, 1.3, 2.0)),
    Case("Matern32", cgp.Matern32(0.7, 1.5), matern(2, 0.7, 1.5)),
    Case("Matern52", cgp.Matern52(1.1, 3.0), matern(3, 1.1, 3.0)),
    Case("Matern72", cgp.Matern72(0.8, 2.5), matern(4, 0.8, 2.5)),
    Case("Cosine", cgp.Cosine(3.7), cosine(3.7)),
    Case("Periodic", cgp.Periodic(0.8, 4.1), periodic(0.8, 4.1, 6)),
    Case(
        "quasi_periodic",
        cgp.quasi_periodic(1.2, 1.1, 5.0, 9.0),
        product(periodic(1.1, 5.0, 6), matern(2, 1.2, 9.0)),
    ),
    Case("SHO", cgp.SHO(0.9, 3.0, 4.0), sho(0.9, 3.0, 4.0)),
    Case("SHO overdamped", cgp.SHO(1.4, 8.0, 0.2), sho(1.4, 8.0, 0.2)),
    Case("SHO critical", cgp.SHO(1.0, 6.0, 0.5), sho(1.0, 6.0, 0.5)),
    Case("Constant", cgp.Constant(0.6), stationary(lambda tau: 0.6 + 0 * tau)),
    Case("White", cgp.White(0.5), stationary(lambda tau: np.where(tau == 0, 0.5, 0.0))),
    Case("LocalLevel", cgp.LocalLevel(0.4, start_variance=1.5), lambda s, t: 1.5 + 0.4 * np.minimum(s, t)),
    Case("LocalTrend", cgp.LocalTrend(0.1, start_variance=0.8), local_trend(0.1, 0.8)),
    Case("Polynomial", cgp.Polynomial(2, 0.5), lambda s, t: 0.5 * (1 + s * t + (s * t) ** 2)),
    Case("RBF", cgp.RBF(1.2, 1.7), rbf(1.2, 1.7, 6)),
    Case("RationalQuadratic", RQ, rational_quadratic(RQ)),
    Case(
        "StateSpace",
        cgp.StateSpace(DRIFT, ENTRY, DENSITY, LOOK),
        linear_sde(DRIFT, ENTRY @ DENSITY @ ENTRY.T, LOOK),
    ),
    Case(
        "StateSpace from P0",
        cgp.StateSpace(DRIFT, ENTRY[:, 0], 0.7, LOOK, P0=START),
        linear_sde(DRIFT, 0.7 * np.outer(ENTRY[:, 0], ENTRY[:, 0]), LOOK, START),
    ),
    Case(
        "DiscreteStateSpace",
        cgp.DiscreteStateSpace(TURN, SHAKE, np.array([1.0, 0.4]), 0.5 * np.eye(2)),
        discrete(TURN, SHAKE, 0.5 * np.eye(2), np.array([1.0, 0.4])),
        whole_steps=True,
    ),
]


def states(kernel) -> int:
    return jax.eval_shape(kernel.readout).size


def combinations(count: int, largest: int, seed: int) -> list[Case]:
    """Random sums, products and multiples of the kernels above, nested, of at most `largest` states."""
    rng = np.random.default_rng(seed)
    plain = [case for case in KERNELS if not case.whole_steps]
    still = [case for case in plain if case.kernel.stationary]

    def draw(depth: int, pool: list[Case]) -> Case:
        how = rng.choice(["leaf", "sum", "product", "multiple"], p=[0.1, 0.4, 0.35, 0.15]) if depth else "leaf"
        if how == "leaf":
            return pool[rng.integers(len(pool))]
        if how == "multiple":
            part, scale = draw(depth - 1, pool), float(rng.uniform(0.3, 2.0))
            return Case(f"{scale:.1f}*({part.label})", scale * part.kernel, lambda s, t: scale * part.covariance(s, t))
        inner = still if how == "product" else pool
        one, two = draw(depth - 1, inner), draw(depth - 1, inner)
        if how == "sum":
            both = one.kernel + two.kernel
            return Case(f"({one.label}+{two.label})", both, lambda s, t: one.covariance(s, t) + two.covariance(s, t))
        both = one.kernel * two.kernel
        return Case(f"({one.label}*{two.label})", both, product(one.covariance, two.covariance))

    found: list[Case] = []
    while len(found) < count:
        case = draw(3, plain)
        if all(case is not leaf for leaf in plain) and states(case.kernel) <= largest:
            found.append(case._replace(label=f"{len(found)} {case.label}"))
    return found


COMBINATIONS = combinations(30, 40, seed=7)

"""Matern kernels of half-integer order: exponentials times polynomials, in closed form.

With d = nu + 1/2, lambda = sqrt(2 nu) / lengthscale and x = lambda dt, the states f, f'/lambda, f''/lambda^2, ...
follow dx = F x dt + noise with F the companion matrix of (s + 1)^d, whatever the unit of time. F + I is
nilpotent, so

    A(x) = e^-x sum_k x^k (F + I)^k / k!,        k < d
    Q(x) = q int_0^x a(s) a(s)' ds,              a the last column of A,

and Q is a sum of G_k(x) = int_0^x s^k e^-2s ds. The recursion G_{k-1} = (2 G_k + x^k e^-2x) / k adds positive
numbers only, so Q keeps its digits from x = 1e-9 (where Q's entries span x to x^(2d-1)) up to x = infinity.
"""

import math
from functools import cache, partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..params import Parameter, parameter
from .base import Kernel

FAR = 800.0  # e^-800 is zero in float64: beyond it nothing is remembered
SERIES = 40  # terms, the last of them below 1e-17 of the sum for up to four states


class Tables(NamedTuple):
    """The constants of one order: A's polynomial, Q's coefficients on G_k, and the unit stationary covariance."""

    move: Float[np.ndarray, "d d d"]  # A(x) = e^-x sum_k x^k move[k]
    noise: Float[np.ndarray, "g d d"]  # Q(x) = sum_k G_k(x) noise[k]
    start: Float[np.ndarray, "d d"]


@cache
def tables(d: int) -> Tables:
    """The constants of the Matern process with d states: whole numbers, computed once."""
    nilpotent = np.eye(d, k=1) + np.eye(d)
    nilpotent[-1] -= [math.comb(d, j) for j in range(d)]
    move = np.stack([np.linalg.matrix_power(nilpotent, k) / math.factorial(k) for k in range(d)])
    noise = np.zeros((2 * d - 1, d, d))
    for i in range(d):
        for j in range(d):
            noise[i + j] += np.outer(move[i, :, -1], move[j, :, -1])
    start = np.tensordot([math.factorial(k) / 2 ** (k + 1) for k in range(2 * d - 1)], noise, 1)
    return Tables(move, noise / start[0, 0], start / start[0, 0])


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def integrals(x: Float[Array, ""], top: int) -> list[Array]:
    """G_k(x) = int_0^x s^k e^-2s ds for k = 0 ... top, each to full relative accuracy."""
    split = top + 2.0  # below: a series of positive terms; above: the complement, which no longer cancels
    small = jnp.minimum(2 * x, split)
    series = jnp.ones_like(x)
    for j in range(SERIES, 0, -1):
        series = 1 + small / (top + 1 + j) * series
    below = x ** (top + 1) * jnp.exp(-2 * x) / (top + 1) * series
    terms = sum((2 * x) ** j / math.factorial(j) for j in range(top + 1))
    above = math.factorial(top) / 2 ** (top + 1) * (1 - jnp.exp(-2 * x) * terms)
    found = [jnp.where(2 * x < split, below, above)]
    for k in range(top, 0, -1):
        found.append((2 * found[-1] + x**k * jnp.exp(-2 * x)) / k)
    return found[::-1]


@integrals.defjvp
def _(top: int, at: tuple, along: tuple) -> tuple[list[Array], list[Array]]:
    """By the fundamental theorem of calculus, which is shorter than the series."""
    (x,), (dx,) = at, along
    return integrals(x, top), [x**k * jnp.exp(-2 * x) * dx for k in range(top + 1)]


def unit_transition(d: int, x: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
    """A and Q of the unit process over x = lambda dt."""
    x = jnp.minimum(x, FAR)
    table = tables(d)
    move = jnp.exp(-x) * sum(x**k * table.move[k] for k in range(d))
    noise = sum(g * table.noise[k] for k, g in enumerate(integrals(x, 2 * d - 2)))
    return jnp.asarray(move), jnp.asarray(noise)


class Matern(Kernel):
    """What the four orders share; `states` is d = nu + 1/2."""

    stationary = True
    states: ClassVar[int]
    variance: Parameter = parameter(1.0)
    lengthscale: Parameter = parameter(1.0, duration=True)

    def start(self) -> Float[Array, "d d"]:
        return self.variance * jnp.asarray(tables(self.states).start)

    def transition(self, dt: Float[Array, ""]) -> tuple[Float[Array, "d d"], Float[Array, "d d"]]:
        move, noise = unit_transition(self.states, math.sqrt(2 * self.states - 1) * dt / self.lengthscale)
        return move, self.variance * noise

    def readout(self) -> Float[Array, " d"]:
        return jnp.eye(self.states)[0]


class Matern12(Matern):
    """Rough, without slope (Ornstein-Uhlenbeck): k(tau) = variance exp(-r), r = abs(tau) / lengthscale."""

    states = 1


class Matern32(Matern):
    """One slope: k(tau) = variance (1 + r) exp(-r), r = sqrt(3) abs(tau) / lengthscale."""

    states = 2


class Matern52(Matern):
    """Smooth, with two slopes: k(tau) = variance (1 + r + r^2/3) exp(-r), r = sqrt(5) abs(tau) / lengthscale."""

    states = 3


class Matern72(Matern):
    """Three slopes: k(tau) = variance (1 + r + 2r^2/5 + r^3/15) exp(-r), r = sqrt(7) abs(tau) / lengthscale."""

    states = 4

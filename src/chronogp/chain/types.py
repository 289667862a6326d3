"""The three nouns of the engine: a chain, the sites that data put on it, and what a sweep along it answers."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Chain(eqx.Module):
    """A linear-Gaussian Markov process at n instants: x_0 ~ N(0, P0), x_{i+1} = A_i x_i + N(0, Q_i), f_i = H x_i.

    A and Q are tables. With an `index`, entry `index[i]` follows instant i; without one the table has a single
    entry that serves all steps, or n entries, one a step. The step after the last instant changes nothing.
    """

    A: Float[Array, "k d d"]
    Q: Float[Array, "k d d"]
    index: Int[Array, " n"] | None
    P0: Float[Array, "d d"]
    H: Float[Array, "p d"]
    length: int = eqx.field(static=True)

    def entries(self) -> Int[Array, " n"]:
        """For each instant the entry of the tables that follows it."""
        if self.index is not None:
            return self.index
        return jnp.zeros(self.length, int) if self.A.shape[0] == 1 else jnp.arange(self.length)


class Sites(eqx.Module):
    """One factor exp(linear' f + f' quadratic f) a datum, in natural parameters; a zero site says nothing.

    The precision of a site is W = -2 quadratic; the datum that a Gaussian would have seen is W^-1 linear.
    """

    linear: Float[Array, "n p"]
    quadratic: Float[Array, "n p p"]

    def measured_from(self, centre: Float[Array, "n p"]) -> "Sites":
        """The same factors in f - centre, each scaled to 1 at its centre."""
        return Sites(self.linear + 2 * jnp.einsum("nij,nj->ni", self.quadratic, centre), self.quadratic)

    def pseudo_data(self) -> Float[Array, "n p"]:
        """Where each factor peaks, which is where to measure it from: nothing is lost however sharp it is.

        Zero for an empty factor, and for several latents, whose sites are not that sharp.
        """
        if self.linear.shape[1] > 1:
            return 0 * self.linear
        w = -2 * self.quadratic[:, :, 0]
        return self.linear * (w != 0) / (w + (w == 0))


class Sweep(NamedTuple):
    """One filter and smoother pass: the log partition function and everything that is a derivative of it.

    With factors measured from `centre` g and x_i = f_i - g_i, log Z = log E exp(sum_i l_i' x_i + x_i' quadratic_i x_i)
    under the chain.
    """

    log_z: Float[Array, ""]
    mean: Float[Array, "n q"]  # of look @ x, given all sites
    variance: Float[Array, "n q q"]
    chain: Chain  # d log Z / d (A, Q, P0, H), in a chain's shape; its index is None
    sites: Sites  # d log Z / d (linear, quadratic): E (f - g) and E (f - g)(f - g)'
    loss: Float[Array, ""]  # the relative rounding error of the worst variance; infinite where a site is impossible
    contrast: Float[Array, ""]  # the largest 1 + w v: signal variance before a datum over the datum's own
    refined: Bool[Array, ""]  # whether the careful pass computed this

"""log Z of a chain and its sites as a differentiable function, and the choice of the engine that computes it.

Every derivative of log Z comes out of the same sweep that computes it, so the rule for `jax.grad` is a
multiplication: no tape, memory O(n), first order. Derivatives of any order come from the plain
`blocked.sweep(...).log_z`, which is ordinary JAX code.
"""

import dataclasses
from functools import partial
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from ..errors import ModelError
from ..precision import in_float64
from ..typing import Tracer
from .blocked import Blocked
from .careful import Careful
from .types import Chain, Sites, Sweep

PRECISE = 1e-9  # the relative error of a variance up to which the plain pass is good enough


class Engine(Protocol):
    """Anything with a sweep; compared and hashed by value, because it is a static argument."""

    def sweep(self, chain: Chain, sites: Sites, centre: Float[Array, "n p"], look: Float[Array, "q d"]) -> Sweep: ...


@dataclasses.dataclass(frozen=True)
class Auto:
    """The plain engine, and where it loses more than `PRECISE` of a variance, the careful one."""

    plain: Blocked = dataclasses.field(default_factory=Blocked)

    def sweep(self, chain: Chain, sites: Sites, centre: Float[Array, "n p"], look: Float[Array, "q d"]) -> Sweep:
        first = self.plain.sweep(chain, sites, centre, look)
        wanted = ~(first.loss <= PRECISE) & may_be_careful(sites)
        if not isinstance(wanted, Tracer):  # outside jit, what is not needed is not even compiled
            return Careful().sweep(chain, sites, centre, look) if wanted else first
        return lax.cond(wanted, lambda: Careful().sweep(chain, sites, centre, look), lambda: first)


def may_be_careful(sites: Sites) -> Bool[Array, ""]:
    """Whether every site has a precision that a square root exists of."""
    if sites.quadratic.shape[-1] == 1:
        return jnp.all(sites.quadratic <= 0)
    return jnp.all(jnp.linalg.eigvalsh(sites.quadratic) <= 0)


@jax.custom_jvp
def _once(answer: Sweep) -> Sweep:
    """The same answer, which refuses to be differentiated: it holds derivatives of a converged answer already."""
    return answer


@_once.defjvp
def _twice(primals: tuple, tangents: tuple) -> tuple:
    raise ModelError(
        "the evidence can be differentiated once, in reverse mode (jax.grad); for a Hessian, take finite differences "
        "of the gradient"
    )


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def log_partition(chain: Chain, sites: Sites, centre: Float[Array, "n p"], engine: Engine) -> Float[Array, ""]:
    """log Z with sites measured from `centre`: the exact gradient in chain and sites, from the sweep itself."""
    return engine.sweep(chain, sites, centre, chain.H).log_z


def _forward(chain: Chain, sites: Sites, centre: Array, engine: Engine) -> tuple[Array, tuple]:
    answer = _once(engine.sweep(chain, sites, centre, chain.H))
    slope = -sites.linear - 2 * jnp.einsum("nij,nj->ni", sites.quadratic, answer.sites.linear)
    return answer.log_z, (answer.chain, answer.sites, slope, chain.index)


@in_float64
def _backward(engine: Engine, kept: tuple, cotangent: Array) -> tuple:
    chain, sites, slope, index = kept
    scaled = jax.tree.map(lambda x: cotangent * x, (chain, sites, slope))
    no_slope = None if index is None else np.zeros(index.shape, jax.dtypes.float0)
    return dataclasses.replace(scaled[0], index=no_slope), scaled[1], scaled[2]


log_partition.defvjp(_forward, _backward)


@partial(jax.jit, static_argnames="length")
def at_instants(
    sites: Sites, centre: Float[Array, "rows p"], instant: Int[Array, " rows"], length: int
) -> tuple[Sites, Float[Array, "n p"], Float[Array, ""]]:
    """Row sites summed at their instants: the sites, the centre they are measured from, and a constant.

    log Z of the answer plus the constant is log Z with each row's factor scaled to 1 at the row's own centre.
    """
    own = sites.measured_from(centre)
    weight = lax.stop_gradient(jnp.abs(jnp.diagonal(sites.quadratic, axis1=1, axis2=2)))
    total = partial(jax.ops.segment_sum, segment_ids=instant, num_segments=length)
    shared = lax.stop_gradient(total(weight * centre) / jnp.where(total(weight) > 0, total(weight), 1.0))
    shift = shared[instant] - centre
    constant = jnp.sum(own.linear * shift) + jnp.einsum("ni,nij,nj->", shift, sites.quadratic, shift)
    moved = own.measured_from(shift)
    return Sites(total(moved.linear), total(moved.quadratic)), shared, constant

"""The engine by itself: lanes against one lane, gradients against differences and autodiff, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import chronogp as cgp
from chronogp.chain import Blocked, Careful, Chain, Sites, log_partition
from chronogp.chain.blocked import sweep
from chronogp.kernels import chain_of

from tolerances import AUTODIFF, DIFFERENCES, LANES, LANES_LONG, MOMENT, error, gradient_error

pytestmark = pytest.mark.usefixtures("float64")

KINDS = ("one step for all", "a step for each", "steps by index")
ONE = (cgp.Matern52(1.3, 0.7),)
TWO = (cgp.Matern32(0.8, 1.1), cgp.Matern12(0.5, 2.0))


def problem(kernels, n, kind="a step for each", seed=0):
    """A chain with sites of a precision that leaves digits to compare, one in ten of them empty."""
    rng = np.random.default_rng(seed)
    p = len(kernels)
    steps, index = rng.gamma(1.0, 0.1, n), None
    if kind == "one step for all":
        steps = steps[:1]
    elif kind == "steps by index":
        steps, index = steps[:5], rng.integers(0, 5, n)
    chain = chain_of(kernels, steps, index, n)
    root = rng.normal(size=(n, p, p))
    precision = 4.0 * (np.eye(p) + root @ np.swapaxes(root, 1, 2))
    seen = rng.uniform(size=n) > 0.1
    centre = rng.normal(size=(n, p))
    linear = np.einsum("nij,nj->ni", precision, rng.normal(size=(n, p)))
    sites = Sites(jnp.asarray(linear * seen[:, None]), jnp.asarray(-precision / 2 * seen[:, None, None]))
    return chain, sites, jnp.asarray(centre)


def tangent(tree, seed=1):
    """A direction of the size of the tree's own numbers, a factor an entry, so that symmetric matrices stay so."""
    rng = np.random.default_rng(seed)

    def one(leaf):
        return leaf * rng.normal(size=leaf.shape[:1] + (1,) * (leaf.ndim - 1))

    return jax.tree.map(one, tree)


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernels", [ONE, TWO], ids=["p=1", "p=2"])
@pytest.mark.parametrize("lanes", [2, 7, 64, 256])
def test_lanes_agree_with_one_lane(kernels, kind, lanes):
    chain, sites, centre = problem(kernels, 1001, kind)
    one = sweep(chain, sites, centre, chain.H, 1)
    many = sweep(chain, sites, centre, chain.H, lanes)
    assert error(many.log_z, one.log_z) < LANES
    assert error(many.mean, one.mean) < LANES
    assert error(many.variance, one.variance) < LANES
    assert gradient_error(flat(many.sites), flat(one.sites)) < LANES
    for name in ("A", "Q", "P0", "H"):
        assert gradient_error(getattr(many.chain, name), getattr(one.chain, name)) < LANES, name


@pytest.mark.slow
def test_lanes_agree_with_one_lane_at_a_million():
    chain, sites, centre = problem(ONE, 1_000_003, "steps by index")
    one, many = (sweep(chain, sites, centre, chain.H, lanes) for lanes in (1, 256))
    assert error(many.log_z, one.log_z) < LANES_LONG
    assert error(many.mean, one.mean) < LANES_LONG
    assert error(many.variance, one.variance) < LANES_LONG
    assert gradient_error(flat(many.chain), flat(one.chain)) < LANES_LONG


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("lanes", [2, 7])
def test_more_lanes_than_places(n, lanes):
    chain, sites, centre = problem(ONE, n)
    one, many = (sweep(chain, sites, centre, chain.H, k) for k in (1, lanes))
    assert error(many.log_z, one.log_z) < LANES
    assert error(many.variance, one.variance) < LANES


@pytest.mark.parametrize("kernels", [ONE, TWO], ids=["p=1", "p=2"])
def test_the_careful_pass_is_the_same_function(kernels):
    chain, sites, centre = problem(kernels, 60)
    plain, careful = (engine.sweep(chain, sites, centre, chain.H) for engine in (Blocked(1), Careful()))
    assert careful.refined
    assert not plain.refined
    assert error(careful.log_z, plain.log_z) < LANES
    assert error(careful.mean, plain.mean) < LANES
    assert error(careful.variance, plain.variance) < LANES
    assert gradient_error(flat(careful.chain), flat(plain.chain)) < LANES
    assert gradient_error(flat(careful.sites), flat(plain.sites)) < LANES


@pytest.mark.parametrize(
    ("kernels", "kind"),
    [
        pytest.param(ONE, KINDS[0], id="p=1, one step for all", marks=pytest.mark.slow),
        pytest.param(ONE, KINDS[1], id="p=1, a step for each", marks=pytest.mark.slow),
        pytest.param(ONE, KINDS[2], id="p=1, steps by index"),
        pytest.param(TWO, KINDS[1], id="p=2, a step for each"),
    ],
)
def test_gradients_are_those_of_the_plain_scan(kernels, kind):
    chain, sites, centre = problem(kernels, 200, kind)
    at = {"linear": sites.linear, "quadratic": sites.quadratic, "centre": centre}
    at |= {name: getattr(chain, name) for name in ("A", "Q", "P0", "H")}

    def pose(at):
        here = Chain(at["A"], at["Q"], chain.index, at["P0"], at["H"], chain.length)
        return here, Sites(at["linear"], at["quadratic"]), at["centre"]

    def own(at, lanes):
        return log_partition(*pose(at), Blocked(lanes))

    truth = jax.grad(lambda at: sweep(*pose(at), at["H"], 1).log_z)(at)
    for lanes in (1, 7):
        found = jax.grad(own)(at, lanes)
        for name in at:
            assert gradient_error(even(name, found[name]), even(name, truth[name])) < AUTODIFF, (lanes, name)


def even(name, slope):
    """Entries (i, j) and (j, i) of a symmetric matrix are one number: only their sum means something."""
    return (slope + np.swapaxes(slope, -1, -2)) / 2 if name in ("quadratic", "Q", "P0") else slope


@pytest.mark.parametrize("kernels", [ONE, TWO], ids=["p=1", "p=2"])
def test_gradients_are_central_differences(kernels):
    chain, sites, centre = problem(kernels, 200)
    at, h = (chain, sites), 1e-6

    def value(chain, sites):
        return log_partition(chain, sites, centre, Blocked(7))

    def moved(way, by):
        return jax.tree.map(lambda x, d: x + by * d, at, way)

    slopes = jax.grad(value, (0, 1))(*at)
    for seed in range(3):
        way = tangent(at, seed)
        difference = (value(*moved(way, h)) - value(*moved(way, -h))) / (2 * h)
        along = sum(np.vdot(g, d) for g, d in zip(jax.tree.leaves(slopes), jax.tree.leaves(way), strict=True))
        size = np.linalg.norm(flat(slopes)) * np.linalg.norm(flat(way))
        assert abs(difference - along) < DIFFERENCES * size


def test_the_plain_sweep_has_a_second_derivative():
    chain, sites, centre = problem(ONE, 50)

    def value(scale):
        return sweep(chain, Sites(scale * sites.linear, sites.quadratic), centre, chain.H, 1).log_z

    # log Z is quadratic in the linear sites
    second = jax.grad(jax.grad(value))(1.0)
    assert error(second, value(2.0) - 2 * value(1.0) + value(0.0)) < MOMENT


def test_a_second_derivative_of_log_partition_is_refused():
    chain, sites, centre = problem(ONE, 10)

    def value(scale):
        return log_partition(chain, Sites(scale * sites.linear, sites.quadratic), centre, Blocked(1))

    with pytest.raises(cgp.ModelError, match="differentiated once"):
        jax.grad(jax.grad(value))(1.0)


def test_batches_by_vmap():
    chain, sites, centre = problem(ONE, 30)
    scales = jnp.asarray([0.5, 1.0, 2.0])

    def value(scale):
        return log_partition(chain, Sites(scale * sites.linear, sites.quadratic), centre, Blocked(1))

    values, slopes = jax.vmap(jax.value_and_grad(value))(scales)
    for k, scale in enumerate(scales):
        alone = jax.value_and_grad(value)(scale)
        assert error(values[k], alone[0]) < LANES
        assert error(slopes[k], alone[1]) < LANES


def test_an_impossible_site_is_told_by_an_infinite_loss():
    chain, sites, centre = problem(ONE, 10)
    upside_down = Sites(sites.linear, -10 * sites.quadratic)
    assert np.isinf(sweep(chain, upside_down, centre, chain.H, 1).loss)


def test_a_mildly_negative_precision_is_an_ordinary_site():
    """W < 0 is allowed while every 1 + w v stays positive: against the dense formula."""
    chain, sites, centre = problem(ONE, 8)
    sites = Sites(sites.linear, sites.quadratic.at[3].set(0.1))
    found = sweep(chain, sites, centre, chain.H, 1)
    nothing = 0 * sites.quadratic
    pushes = [sweep(chain, Sites(jnp.asarray(push)[:, None], nothing), 0 * centre, chain.H, 1) for push in np.eye(8)]
    prior = np.stack([np.asarray(one.mean[:, 0]) for one in pushes])  # a unit push gives a column of the covariance
    cov = np.linalg.solve(np.eye(8) + prior @ np.diag(-2 * sites.quadratic[:, 0, 0]), prior)
    assert error(found.variance[:, 0, 0], np.diag(cov)) < MOMENT

"""One evidence with its gradient at n = 10^6 (Matern-5/2, float64): the engine against autodiff through a plain scan.

The plain scan is the textbook filter as anyone would write it in JAX, differentiated by `jax.value_and_grad`. Both run
in this one process, one after the other, so that their ratio is worth something on a noisy machine. Peak memory is that
of a process of its own.

    python benchmarks/evidence.py [n]
"""

import math
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from machine import report, timed

import chronogp as cgp

ROWS = 1_000_000
LEARNED = (1.0, 30.0, 0.3)  # variance, lengthscale, sd


def data(rows: int, equal: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    t = np.arange(rows, dtype=float) if equal else np.cumsum(rng.gamma(4.0, 0.25, rows))
    return t, np.sin(t / 20) + 0.3 * rng.normal(size=rows)


def plain_log_evidence(parameters, steps, y):
    """The textbook Kalman filter, one step after the other; Matern-5/2 by its closed-form exponential."""
    variance, lengthscale, sd = parameters
    rate = math.sqrt(5) / lengthscale
    start = variance * jnp.array([[1.0, 0.0, -(rate**2) / 3], [0.0, rate**2 / 3, 0.0], [-(rate**2) / 3, 0.0, rate**4]])
    drift = jnp.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-(rate**3), -3 * rate**2, -3 * rate]])
    nilpotent = drift + rate * jnp.eye(3)

    def step(state, along):
        m, p = state
        dt, datum = along
        s = p[0, 0] + sd**2
        gain = p[:, 0] / s
        error = datum - m[0]
        m, p = m + gain * error, p - jnp.outer(gain, p[0])
        move = jnp.exp(-rate * dt) * (jnp.eye(3) + dt * nilpotent + dt**2 / 2 * nilpotent @ nilpotent)
        m, p = move @ m, move @ (p - start) @ move.T + start
        return (m, p), -(jnp.log(2 * jnp.pi * s) + error**2 / s) / 2

    return lax.scan(step, (jnp.zeros(3), start), (steps, y))[1].sum()


def engine(series: cgp.Series):
    """Value and gradient through the public function, compiled by the caller."""

    def evidence(parameters):
        variance, lengthscale, sd = parameters
        return cgp.evidence(cgp.Model(cgp.Matern52(variance, lengthscale), cgp.Gaussian(sd)), series)

    return jax.jit(jax.value_and_grad(evidence))


def compare(rows: int, equal: bool) -> dict:
    t, y = data(rows, equal)
    at = tuple(jnp.asarray(x, jnp.float64) for x in LEARNED)
    steps, values = jnp.asarray(np.append(np.diff(t), 0.0)), jnp.asarray(y)
    ours = engine(cgp.Series(t, y))
    plain = jax.jit(jax.value_and_grad(plain_log_evidence))
    one, other = timed(lambda: ours(at)), timed(lambda: plain(at, steps, values), repeats=2)
    found, truth = ours(at), plain(at, steps, values)
    gap = np.linalg.norm(np.subtract(found[1], truth[1])) / np.linalg.norm(truth[1])
    return {
        "blocked_seconds": one,
        "plain_scan_seconds": other,
        "times_faster": other["run"] / one["run"],
        "relative_difference": {"evidence": abs(float(found[0] / truth[0]) - 1), "gradient": float(gap)},
    }


def peak_doubles_a_point(rows: int, equal: bool) -> float:
    """What a process that evaluates once holds at its highest, data included, over what it held without data."""
    call = [sys.executable, __file__, "--memory", str(rows), str(int(equal))]
    return float(subprocess.run(call, capture_output=True, text=True, check=True).stdout)


def measure_memory(rows: int, equal: bool) -> float:
    """Linux only: a warm-up on few rows, then compile, then forget the peak so far (the compiler's), then evaluate."""
    at = tuple(jnp.asarray(x, jnp.float64) for x in LEARNED)
    jax.block_until_ready(engine(cgp.Series(*data(10_000, equal)))(at))
    before = kilobytes("VmRSS")
    compiled = engine(cgp.Series(*data(rows, equal))).lower(at).compile()
    Path("/proc/self/clear_refs").write_text("5")
    jax.block_until_ready(compiled(at))
    return (kilobytes("VmHWM") - before) * 1024 / 8 / rows


def kilobytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def main() -> None:
    if sys.argv[1:2] == ["--memory"]:
        sys.stdout.write(str(measure_memory(int(sys.argv[2]), sys.argv[3] == "1")))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    figures = {}
    for name, equal in (("equal steps", True), ("irregular steps", False)):
        figures[name] = {"peak_doubles_a_point": peak_doubles_a_point(rows, equal), **compare(rows, equal)}
    report("evidence", {"rows": rows, **figures})


if __name__ == "__main__":
    with jax.enable_x64(True):
        main()

"""Explosions in British coal mines, 1851-1962: how often they came, with an honest band.

Counts a year are brought to unit noise by Anscombe's transform z = 2 sqrt(count + 3/8), smoothed by a Gaussian
process, and brought back by rate = (z / 2)^2 - 1/8. Writes demo/coal.png.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

import chronogp as cgp

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INK, BAND, MEAN = "#33415c", "#9db4d6", "#0b3c8c"


def rate(z: np.ndarray) -> np.ndarray:
    """Anscombe's transform, undone."""
    return np.maximum(np.maximum(z / 2, 0) ** 2 - 1 / 8, 0)


def main() -> None:
    dates = cgp.datasets.load("coal")["date"]
    years = np.arange(1851, 1962)  # the record ends in March 1962
    counts = np.bincount(dates.astype("datetime64[Y]").astype(int) + 1970 - 1851, minlength=len(years))[: len(years)]

    series = cgp.Series(years + 0.5, 2 * np.sqrt(counts + 3 / 8))
    model = cgp.Model(
        cgp.Matern52(variance=1.0, lengthscale=20.0) + cgp.Constant(10.0), cgp.Gaussian(sd=cgp.fixed(1.0))
    )
    posterior = cgp.fit(model, series)
    sys.stdout.write(posterior.summary() + "\n")

    grid = np.linspace(1851, 1963, 500)
    prediction = posterior.predict(grid)
    low, high = prediction.mean - 1.645 * prediction.sd, prediction.mean + 1.645 * prediction.sd

    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    axes.bar(years + 0.5, counts, width=0.8, color="#d5d9e0", label="explosions that killed ten or more")
    axes.fill_between(grid, rate(low), rate(high), color=BAND, alpha=0.6, lw=0, label="90 % band of the rate")
    axes.plot(grid, rate(prediction.mean), color=MEAN, lw=2, label="rate a year")
    axes.plot(
        dates.astype("datetime64[D]").astype(float) / 365.25 + 1970,
        np.full(len(dates), -0.18),
        "|",
        color=INK,
        ms=6,
        label="their dates",
    )
    axes.set(xlim=(1851, 1963), ylim=(-0.4, None), ylabel="explosions a year", title="Explosions in British coal mines")
    axes.legend(frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    out = Path("demo") / "coal.png"
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out, dpi=150)
    sys.stdout.write(f"picture: {out}\n")


if __name__ == "__main__":
    main()

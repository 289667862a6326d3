"""What a figure means nothing without: the machine, the versions, and compile and run time apart."""

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np

import chronogp

RESULTS = Path(__file__).parent / "results"


def describe() -> dict[str, Any]:
    return {
        "machine": f"{cpu()}, {os.cpu_count()} cores, {jax.default_backend()}",
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "chronogp": chronogp.__version__,
    }


def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def timed(call: Callable[[], Any], repeats: int = 5) -> dict[str, float]:
    """Seconds of the first call, which compiles, and of the best of the others."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        jax.block_until_ready(call())
        seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "run": min(seconds[1:])}


def report(name: str, figures: dict[str, Any]) -> None:
    """Print, and keep as JSON beside earlier results."""
    text = json.dumps({"benchmark": name, **describe(), **figures}, indent=2)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    sys.stdout.write(text + "\n")

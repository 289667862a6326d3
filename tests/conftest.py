"""Shared set-up: 64-bit JAX types around every test that asks for them, and the sample of slow tests."""

import zlib
from pathlib import Path

import jax
import pytest

MAPS = 20_000
SAMPLE = 6  # one in so many slow tests runs in `make test`


def pytest_addoption(parser):
    parser.addoption("--slow-sample", action="store_true", help=f"run one in {SAMPLE} of the slow tests")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow-sample"):
        return
    left_out = [i for i in items if "slow" in i.keywords and zlib.crc32(i.nodeid.encode()) % SAMPLE]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [i for i in items if i not in set(left_out)]


@pytest.fixture(autouse=True)
def few_programs():
    """Forget compiled programs before they are too many: each maps memory, and Linux allows 65,530 maps a process."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_bytes().splitlines()) > MAPS:
        jax.clear_caches()


@pytest.fixture
def float64():
    """For tests below the public functions, which switch to float64 themselves."""
    with jax.enable_x64(True):
        yield

"""Importing does nothing, and imports point one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chronogp as cgp

SOURCE = Path(cgp.__file__).parent
FLOOR = {"params", "linalg", "errors", "typing", "precision", "reading"}
MAY_IMPORT = {  # a room, and what it may use besides the floor and itself
    "series": set(),
    "chain": set(),
    "kernels": {"chain"},
    "likelihoods": set(),
    "model": {"kernels", "likelihoods", "series"},
    "prediction": {"likelihoods"},
    "posterior": {"prediction", "likelihoods", "model", "kernels", "chain", "series"},
    "inference": {"posterior", "model", "kernels", "likelihoods", "chain", "series"},
    "learning": {"inference", "posterior", "model", "series"},
    "datasets": set(),
}
EVERYTHING = {"__init__": MAY_IMPORT.keys() | FLOOR}  # the table of public names


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The rooms of chronogp that a file imports from, wherever in the file."""
    package = ["chronogp", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            whole = [*base, *(node.module.split(".") if node.module else [])]
            found |= {".".join([*whole, name.name]) for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {name.split(".")[1] for name in found if name.startswith("chronogp.")}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    room = room_of(path)
    used = imported_rooms(path) - {room}
    if room in FLOOR:
        assert used <= FLOOR, f"the floor stands on nothing, but {room} imports {used - FLOOR}"
    else:
        allowed = (MAY_IMPORT | EVERYTHING)[room] | FLOOR
        assert used <= allowed, f"{room} must not import {used - allowed}"


def test_the_floor_has_no_circle():
    order = ["errors", "typing", "precision", "linalg", "params", "reading"]
    for k, room in enumerate(order):
        assert imported_rooms(SOURCE / f"{room}.py") - {room} <= set(order[:k])


def test_no_file_holds_two_ideas():
    assert not [path for path in SOURCE.rglob("*.py") if len(path.read_text().splitlines()) > 350]


def run(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_changes_no_setting_and_loads_nothing_heavy():
    heavy = ["pandas", "matplotlib", "scipy.optimize", "scipy.stats", "polars", "IPython"]
    said = run(
        "import jax, sys\n"
        "before = dict(jax.config.values)\n"
        "import chronogp as cgp\n"
        "cgp.Series, cgp.Matern52, cgp.Model, cgp.infer, cgp.fit, cgp.Posterior\n"
        "assert dict(jax.config.values) == before, 'a JAX setting moved'\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    assert said == "[]"


def test_using_it_leaves_the_callers_flag_alone():
    said = run(
        "import jax, jax.numpy as jnp, chronogp as cgp\n"
        "before = dict(jax.config.values)\n"
        "p = cgp.fit(cgp.Model(cgp.Matern32(), cgp.Gaussian()), cgp.Series([0., 1., 2.], [.1, .4, .2]))\n"
        "p.predict([0.5]).observed().mean, p.sample(2)\n"
        "jax.grad(cgp.evidence)(p.model, p.series)\n"
        "assert dict(jax.config.values) == before\n"
        "print(jnp.ones(1).dtype, p.predict().mean.dtype)"
    )
    assert said == "float32 float64"


def test_every_public_name_is_there():
    names = dir(cgp)
    assert {"Series", "Matern52", "infer", "fit", "evidence", "Model", "fixed", "datasets"} <= set(names)
    assert all(hasattr(cgp, name) for name in names)
    with pytest.raises(AttributeError, match="has no attribute 'Matern99'"):
        _ = cgp.Matern99


def test_the_table_of_names_and_the_types_agree():
    """What a type checker sees in `__init__` is what is loaded."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(dir(cgp))


@pytest.mark.parametrize("name", dir(cgp))
def test_every_public_name_explains_itself(name):
    assert (getattr(cgp, name).__doc__ or "").strip()

"""The code that users read is code that runs: the README, every docstring."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import chronogp

ROOT = Path(__file__).parent.parent
MODULES = ["chronogp", *(m.name for m in pkgutil.walk_packages(chronogp.__path__, "chronogp."))]


def python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_readme_runs_as_printed(capsys):
    (block,) = python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    said = capsys.readouterr().out
    assert names["posterior"].converged
    assert "likelihood.sd" in said
    assert abs(names["posterior"].model.likelihood.sd - 0.2) < 0.05  # the noise that was put in
    assert (names["low"] < names["week"].mean).all()


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_show_what_happens(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0

# Each of these works on a fresh clone: they make .venv and install what they need.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/ready

demo: $(READY)            ## fit the coal-mining disasters, print a summary, write demo/coal.png
	$(BIN)/python examples/coal.py

test: $(READY)            ## the tests and a sample of the slow ones
	$(BIN)/python -m pytest -n 2 --slow-sample

test-all: $(READY)        ## every test
	$(BIN)/python -m pytest -n 2

lint: $(READY)            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(READY)            ## the documentation, its examples executed; open docs/_build/index.html
	$(BIN)/sphinx-build --fail-on-warning --keep-going -q docs docs/_build

bench: $(READY)           ## the quick benchmarks; results in benchmarks/results
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/evidence.py

clean:
	rm -rf $(VENV) docs/_build demo

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chronogp needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	touch $(READY)

.PHONY: demo test test-all lint docs bench clean

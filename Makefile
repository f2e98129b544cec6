PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One test worker per core. Each uses two numba threads, so that all tests run with threads.
WORKERS ?= auto

.PHONY: demo test test-slow lint format bench docs clean

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/python -m dubio.demo

test: $(VENV)/.installed
	NUMBA_NUM_THREADS=2 $(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks --write

# `make test` runs the examples of the user guide. `make docs` builds its pages from them and from the docstrings.
$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

docs: $(VENV)/.docs
	$(BIN)/python -m pytest -q tests/test_docs.py
	$(BIN)/python -m sphinx -q --keep-going -b html docs docs/_build/html
	@echo "The user guide: $(CURDIR)/docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build build dist .pytest_cache .mypy_cache .ruff_cache

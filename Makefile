PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run on all cores; numba threads inside each worker are held to one.
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

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache

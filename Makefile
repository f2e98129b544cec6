PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One test worker per core. Each uses two numba threads, so that all tests run with threads; more threads than cores
# in the libraries below would only wait for each other.
WORKERS ?= auto
export PYTHONPATH := lab
THREADS := NUMBA_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

# Random calls of everything public: make fuzz N=100000 SEED=1
N ?= 20000
SEED ?= 0

.PHONY: demo test test-all test-slow fuzz test-oldest coverage lint format bench docs docs-look docs-links dist release-check clean

# The demo needs the command; the tests, the linters and the laboratory need the rest.
$(VENV)/.command: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
	touch $@

$(VENV)/.installed: $(VENV)/.command lab/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]" --editable ./lab
	touch $@

# Compiled once, not by every worker of the tests.
$(VENV)/.kernels: $(VENV)/.installed $(wildcard src/dubio/kernels/*.py)
	$(THREADS) $(BIN)/python tools/compile_kernels.py
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

demo: $(VENV)/.command
	$(BIN)/python -m dubio_app.demo

# Three tiers: `make test` after every change; `make test-all` for what takes processes, kills, clusters, browsers, pages
# and the laboratory; `make test-slow` at night.
test: $(VENV)/.kernels
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) -m "not thorough and not slow"

test-all: $(VENV)/.kernels
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) -m "thorough and not slow"

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

fuzz: $(VENV)/.installed
	$(BIN)/python -m fuzz --calls $(N) --seed $(SEED)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks --write

# `make docs` runs the gallery and the tutorials and builds all pages; a warning is an error. The examples within the
# pages are run by `make test`. `make docs-look` opens the pages in Chromium, `make docs-links` follows links to the outside.
$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs docs/_build/html
	@echo "The user guide: $(CURDIR)/docs/_build/html/index.html"

docs-look: docs
	$(BIN)/python tools/check_site.py

docs-links: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

# The oldest supported version of every dependency, in an environment of its own, with compiled code of its own.
test-oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	$(PYTHON) tools/oldest.py test > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(THREADS) NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba .venv-oldest/bin/python -m pytest -n $(WORKERS) -m "not slow"

$(VENV)/.release: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[release]"
	touch $@

# Compiled lines are not seen, so the tests of the kernels run once more with the compiler off.
coverage: $(VENV)/.release
	rm -f .coverage .coverage.*
	$(THREADS) $(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" --cov --cov-report=
	mv .coverage .coverage.compiled
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -q tests/test_kernels_uncompiled.py
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=95

# The wheel and the source archive, built twice: the same bytes come out.
dist: $(VENV)/.release
	rm -rf dist build/again
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir build/again
	$(BIN)/python tools/same_bytes.py dist build/again
	$(BIN)/python -m twine check --strict dist/*

# Everything that can be checked before a release without a network.
release-check: lint test test-all dist
	$(BIN)/python tools/check_release.py

clean:
	rm -rf $(VENV) .venv-oldest docs/_build docs/generated docs/gallery docs/tutorials build dist .coverage .pytest_cache .mypy_cache .ruff_cache

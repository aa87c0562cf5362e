# The commands of the repository. A fresh machine needs Python 3.11 or newer and make, nothing else.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: setup checks-setup test slow network demo lint format types bench fuzz mutants lock clean help

# The newest of these that is there; `make PYTHON=/path/to/python setup` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo "$$p" && break; done)

V := .venv
BIN := $(V)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
MEMBERS := shared services $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
MANIFESTS := $(addsuffix /pyproject.toml,$(MEMBERS))
TESTS := tests/unit tests/wiring tests/arch $(wildcard plugins/*/tests)
PYTEST := $(BIN)/python -m pytest

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

setup: $(V)/.members ## the environment in .venv: third-party packages by hash, then the distributions of this repository

$(V)/.python:
	@test -n "$(PYTHON)" || { echo "make setup: no Python 3.11, 3.12 or 3.13 found; install one, or name it: make PYTHON=/path/to/python setup" >&2; exit 1; }
	@echo "make setup: $$("$(PYTHON)" -V) into $(V)"
	@"$(PYTHON)" -m venv $(V) || { echo "make setup: $(PYTHON) cannot make a virtual environment (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	@touch $@

$(V)/.requirements: deploy/requirements.lock $(V)/.python
	@echo "make setup: $$(grep -c '^[a-z0-9]' deploy/requirements.lock) third-party packages, by hash (a minute or so)"
	@$(PIP) install --require-hashes --only-binary :all: -r deploy/requirements.lock
	@touch $@

# Offline, and never by name: a registry is not asked for the distributions of this repository.
$(V)/.members: $(MANIFESTS) $(V)/.requirements
	@echo "make setup: $(MEMBERS)"
	@$(PIP) install --no-index --no-deps --no-build-isolation $(addprefix -e ./,$(MEMBERS))
	@touch $@

# What only the developers' checks need (types, lint, import contracts).
$(V)/.checks: deploy/checks.lock $(V)/.requirements
	@echo "make checks-setup: linters and type checkers, by hash"
	@$(PIP) install --require-hashes --only-binary :all: -r deploy/checks.lock
	@touch $@

checks-setup: setup $(V)/.checks

test: setup ## what must be green before every commit: unit, wiring, arch and plugin tests
	$(PYTEST) -m "not slow and not network" $(wildcard $(TESTS))

slow: setup ## the long tests: large random games, deep trees, other processes
	$(PYTEST) -m slow $(wildcard $(TESTS))

network: setup ## the tests against a real nats-server
	$(PYTEST) -m "network and not slow" $(wildcard tests/network)

demo: setup ## a game, four operators, one of them wrong, and the board
	$(BIN)/weighbridge demo

lint: checks-setup ## format, lint and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

format: checks-setup ## write the format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: checks-setup ## mypy once per member, pyright once
	@set -e; for m in $(MEMBERS); do echo "mypy $$m"; $(BIN)/mypy --no-error-summary $$m/src; done
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: setup ## every benchmark, one table
	$(BIN)/python tests/bench

SECONDS := 60
fuzz: setup ## what reads bytes of strangers, with changed ones: make fuzz SECONDS=600, FUZZ="--seed now"
	$(BIN)/python tests/fuzz $(SECONDS) $(FUZZ)

mutants: setup ## planted mistakes: each must turn its test red
	$(BIN)/python tests/mutants

# Needs uv. The locks hold hashes and no addresses.
lock: ## write the locks anew from deploy/*.in
	uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --only-binary :all: deploy/requirements.in -o deploy/requirements.lock
	uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --only-binary :all: deploy/checks.in -o deploy/checks.lock

clean: ## take away everything that was made
	rm -rf $(V) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find shared services plugins tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything is installed into .venv, so this works even if the system's Python forbids installs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := $(VENV)-clients
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Every file that is downloaded must have the hash that a lock file names; Stich itself needs none.
LOCKED := $(PIP) --require-hashes --requirement
STICH := $(PIP) --no-deps --no-build-isolation --editable .
# One lock for all supported systems and Pythons. `make lock NEWEST=` keeps the locked versions, and adds
# packages that are new in pyproject.toml. Extras stay in the names: pip before 23.3
# takes `coverage[toml]` for unpinned if the lock names only `coverage` and a newer release exists.
NEWEST := --upgrade
UV := --quiet --universal --no-strip-extras --python-version 3.11 --generate-hashes --no-annotate --no-header

.DEFAULT_GOAL := help
.PHONY: help setup cup test test-all lint format types docs dist wheel serve bench bench-points bench-par openapi catalogs lock fuzz \
  test-clients test-kits clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

# An empty environment. Each target installs what it needs.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Stich needs Python 3.11 or newer, which $(PYTHON) is not. Choose another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "This Python cannot create virtual environments; on Debian: apt install python3-venv"; exit 1; }

$(INSTALLED): $(BIN)/python pyproject.toml requirements.lock
	@echo "Installing Stich into $(VENV) (once) ..."
	@# Remove rules that an earlier version compiled in place: they would hide the sources.
	@find games -name '*.so' -delete; rm -f *__mypyc*.so
	@$(LOCKED) requirements.lock
	@$(STICH)
	@touch $(INSTALLED)

$(READY): $(BIN)/python pyproject.toml requirements-dev.lock
	@echo "Installing the development tools into $(VENV) (once) ..."
	@$(LOCKED) requirements-dev.lock
	@$(STICH)
	@touch $(INSTALLED) $(READY)

$(BIN)/tox: | $(BIN)/python
	@$(LOCKED) requirements-tox.lock

setup: $(READY)  ## install Stich and the development tools into .venv

cup: $(INSTALLED)  ## run a small cup of the reference bots and print the standings
	@$(BIN)/stich run examples/cup.toml --out runs/cup

test: $(BIN)/tox  ## linters, types and tests (about four minutes)
	@$(BIN)/tox run -e check

test-all: test  ## the same with every installed Python, then slow tests, compiled rules, starter kits
	@sh tests/install-system-packages.sh
	@# Debian keeps nginx and the servers of PostgreSQL outside the PATH of users.
	@PATH="$$PATH:/usr/sbin:$$(echo /usr/lib/postgresql/*/bin)" STICH_ALL_KITS=1 \
	  $(BIN)/tox run -e py311,py312,py313,py314,slow,docs

# tox calls this with the tools of its environment: `make lint READY= BIN=...`.
lint: $(READY)  ## linters of Python, imports, JavaScript, workflows and the image
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/oxlint --quiet .
	@! test -x $(BIN)/hadolint || $(BIN)/hadolint deploy/Containerfile
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yaml
	@$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yaml
	@# Nothing is installed without a hash, except the tools of `make lock`.
	@! grep -n 'pip [i]nstall' Makefile tox.ini .github/workflows/*.yaml | \
	  grep -v -e ':PIP :=' -e '(VENV)-lock' -e --require-hashes -e --no-deps -e '{packages}'

format: $(READY)  ## format the code, and fix what ruff can fix
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(READY)  ## check the types with mypy
	@$(BIN)/mypy --num-workers auto

docs: $(READY)  ## build the docs site into site/; fails on dead links
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --fresh-env --write-all \
	  --conf-dir docs --doctree-dir build/doctrees . site
	@echo "Open site/index.html"

dist: $(READY)  ## build the sdist and the wheel into dist/, and check them
	@$(BIN)/tox run -e dist

wheel: $(READY)  ## build a wheel with compiled rules into dist/, and run their tests on it
	@command -v cc >/dev/null || command -v gcc >/dev/null || \
	  { echo "Compiling the rules needs a C compiler; on Debian: apt install gcc python3-dev"; exit 1; }
	@$(BIN)/python -m tests.support.make_wheel dist

serve: $(INSTALLED)  ## run the rules service on http://127.0.0.1:8080
	@$(BIN)/stich serve

bench: $(READY)  ## run the benchmarks and write docs/benchmarks.md
	@$(PIP) --editable '.[bench]'
	@$(BIN)/python -m benchmarks

bench-points: $(READY)  ## play the games whose points the benchmarks of the ranking draw from
	@$(BIN)/python -m tools.simulation.points

bench-par: $(READY)  ## play par and the landmarks of `stich bench` again (about half an hour)
	@$(BIN)/python -m benchmarks.bots.par

openapi: $(READY)  ## update openapi.yaml
	@$(BIN)/python -m service.openapi

catalogs: $(READY)  ## add new messages of the pages to the catalogs of translations
	@$(BIN)/python -m tests.support.make_catalogs

lock: $(BIN)/python  ## write the lock files with the newest versions that pyproject.toml allows
	@$(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(VENV)-lock/bin/python -m pip install --quiet --disable-pip-version-check --group lock
	@$(VENV)-lock/bin/uv pip compile $(UV) $(NEWEST) pyproject.toml --group build --extra all -o requirements-dev.lock
	@$(VENV)-lock/bin/uv pip compile $(UV) -c requirements-dev.lock pyproject.toml --group build -o requirements.lock
	@$(VENV)-lock/bin/uv pip compile $(UV) $(NEWEST) tests/clients/requirements.in -o tests/clients/requirements.lock
	@$(VENV)-lock/bin/uv pip compile $(UV) -c requirements-dev.lock --group tox -o requirements-tox.lock
	@rm -rf $(VENV)-lock

fuzz: $(READY)  ## run the property tests on many new random examples
	@$(BIN)/pytest --hypothesis-profile=fuzz -m hypothesis

# The generators of docs/api.md have a separate environment, with locked versions.
$(CLIENTS)/bin/openapi-generator-cli: $(BIN)/python tests/clients/requirements.lock
	@$(PYTHON) -m venv $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement tests/clients/requirements.lock
	@touch $@

test-clients: $(READY) $(CLIENTS)/bin/openapi-generator-cli  ## generate clients in seven languages, and play with them
	@sh tests/clients/install-system-packages.sh
	@PATH="$$PWD/$(CLIENTS)/bin:$$PATH" $(BIN)/pytest tests/clients

test-kits: $(READY)  ## build and test every starter kit, once tests/install-system-packages.sh has run
	@STICH_ALL_KITS=1 $(BIN)/pytest tests/bots/kits/test_kits.py

clean:  ## remove everything that the other targets created
	@rm -rf $(VENV) $(CLIENTS) .tox build dist site *.egg-info runs .coverage* htmlcov .mypy_cache .ruff_cache \
	  .pytest_cache .hypothesis .schemathesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

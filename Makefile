# The two commands of the README are `make demo` and `make test`. Both do their own set-up.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
CACHE ?= $(or $(EVALXRL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/evalxrl)
export CARGO_TARGET_DIR ?= $(CACHE)/target
EVALXRL = $(CARGO_TARGET_DIR)/debug/evalxrl
RUN ?= runs/pilot
# docker, local, or auto: Docker where an engine answers, else local processes.
SANDBOX ?= auto

.PHONY: demo test test-slow build lint rust slow containers wheel python bench bench-envs

## Runs the pilot experiment and writes its report; the same command again resumes it.
demo: build
	$(EVALXRL) run analysis/plans/pilot.toml --out $(RUN) --sandbox $(SANDBOX)
	$(EVALXRL) show $(RUN)
	$(EVALXRL) report $(RUN)

## Everything that must hold: format, lints, Rust, Python, the wheel, and the containers where Docker answers.
test: lint rust slow containers wheel python
	@echo "all parts passed"

build:
	cargo build --locked

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	venv=$$(scripts/python-environment.sh); $$venv/bin/ruff check .; $$venv/bin/ruff format --check .; \
	cd analysis/python; $$venv/bin/python -m mypy --strict evalxrl

rust:
	cargo test --locked --workspace --exclude evalxrl-python -- --skip containers

## The published error rates, power and coverage with the published effort: half a minute, apart from the other tests.
slow:
	cargo test --locked --workspace --exclude evalxrl-python --test it slow_ -- --ignored

## What needs a Docker engine; without one each test says that it was skipped, and with EVALXRL_REQUIRE_DOCKER it fails.
containers:
	cargo test --locked --test it -- containers --nocapture --test-threads 1

## Each tool of each dossier on each environment, twice, within its limit; an hour on two cores, apart from `make test`.
test-slow:
	venv=$$(scripts/python-environment.sh); cd dossiers && $$venv/bin/python -m pytest -n 0 -rA _shared/slow

## The wheel is built by the profile of everything else, so that little is compiled twice.
wheel:
	venv=$$(scripts/python-environment.sh); \
	MATURIN_PEP517_ARGS="--profile dev" $$venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps .; \
	$$venv/bin/python -c 'import evalxrl; print("wheel imported:", evalxrl.__name__)'

python:
	venv=$$(scripts/python-environment.sh); \
	(cd envs && $$venv/bin/python -m pytest -q); \
	(cd dossiers && $$venv/bin/python -m pytest -q); \
	$$venv/bin/python -m pytest -q --doctest-modules --pyargs evalxrl; \
	$$venv/bin/python -m pytest -q tests/python

## Times the statistics against scipy, rliable and statsmodels, with the wheel built in release; takes some minutes.
bench:
	venv=$$(scripts/python-environment.sh bench analysis/python/bench/requirements.lock); \
	PATH=$$venv/bin:$$PATH python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps --no-build-isolation .; \
	$$venv/bin/python analysis/python/bench/peers.py

## Measures the performance targets of the environments, against gymnax and a peer trainer; some minutes, JSON on stdout.
bench-envs:
	venv=$$(scripts/python-environment.sh); $$venv/bin/python benchmarks/envs.py

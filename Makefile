# The two commands of the README are `make demo` and `make test`. Both do their own set-up.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
CACHE ?= $(or $(EVALXRL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/evalxrl)
export CARGO_TARGET_DIR ?= $(CACHE)/target
EVALXRL = $(CARGO_TARGET_DIR)/debug/evalxrl
RUN ?= runs/pilot
# docker, local, or auto: Docker where an engine answers, else local processes.
SANDBOX ?= auto

.PHONY: demo test build rust python wheel docker-tier lint clean

## Runs the pilot experiment and writes its report; the same command again resumes it.
demo: build
	$(EVALXRL) run analysis/plans/pilot.toml --out $(RUN) --sandbox $(SANDBOX)
	$(EVALXRL) report $(RUN)

## Everything that must hold: format, lints, Rust, Python, the wheel, and the containers where Docker answers.
test: lint rust wheel python docker-tier
	@echo "all parts passed"

build:
	cargo build --locked

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	venv=$$(scripts/python-environment.sh); $$venv/bin/ruff check .; $$venv/bin/ruff format --check .

rust:
	cargo test --locked --workspace --exclude evalxrl-python

python:
	venv=$$(scripts/python-environment.sh); \
	EVALXRL_REPOSITORY=$(CURDIR) $$venv/bin/python -m pytest -q envs/tests dossiers tests/python

wheel:
	venv=$$(scripts/python-environment.sh); \
	$$venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps .

docker-tier:
	cargo test --locked --test docker_tier -- --nocapture

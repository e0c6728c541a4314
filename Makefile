# make demo   sets up .venv and judges the RMSNorm examples on this machine's processor
# make test   runs every test that needs no accelerator

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
EXTRAS ?= triton,nki,test
OLDER_TRITON ?= 3.6.0
PYTEST ?= -q -rsfE
BIN := $(VENV)/bin
OLDER := $(VENV)/triton-$(OLDER_TRITON)

export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1

.PHONY: help setup demo test test-older test-device device-wheels device-round lint bench docs clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo "also: setup, test-older (Triton $(OLDER_TRITON)), test-device, device-wheels, device-round, lint, bench, docs, clean"

setup: $(VENV)/ready

# torch first: which build of it is installed is the machine's business, not that of an extra.
$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -qq $(TORCH)
	$(BIN)/pip install -qq --editable ".[$(EXTRAS)]"
	@touch $@

$(OLDER)/ready: pyproject.toml $(VENV)/ready
	$(PYTHON) -m venv $(OLDER)
	$(OLDER)/bin/pip install -qq $(TORCH)
	$(OLDER)/bin/pip install -qq --editable ".[nki,test]" "triton==$(OLDER_TRITON)" "numpy<2.4"
	@touch $@

# Some of the examples are wrong on purpose, so exit code 1 is what a working demo ends with.
demo: setup
	@$(BIN)/kengine verify --target triton:interpret examples/triton/rmsnorm; code=$$?; test $$code -le 1

test: setup
	$(BIN)/python -m pytest $(PYTEST) -m "not device"

test-older: $(OLDER)/ready
	$(OLDER)/bin/python -m pytest $(PYTEST) -m "not device" tests/triton

test-device: setup
	$(BIN)/python -m pytest $(PYTEST) -m device

# What a machine with a GPU and no network needs besides torch and Triton.
device-wheels: setup
	$(BIN)/pip wheel -qq --no-deps --wheel-dir dist/device . pyelftools

# Everything that only a GPU can tell, in nine minutes, by the Python that has torch and Triton (see the script).
device-round:
	$(PYTHON) scripts/device_round.py $(if $(WHEELS),--wheels $(WHEELS)) --out $(or $(OUT),device_round)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Runs every command that the documentation shows and puts what it prints in the place of what is there.
docs: setup
	$(BIN)/python scripts/refresh_docs.py README.md docs/*.md

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache

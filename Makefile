# make corpus   build the default corpus from the interpreter's own standard library
# make test     run the tests
# make test-torch   run the tests inside PyTorch, which is installed apart (0.8 GB, or 3 GB with CUDA)
# make check    style, types, layers
# make ui       open the Dagster UI on the recipes
# make readers  open exports with OLMo-core, Megatron, litData and mosaicml-streaming themselves (torch, 1.3 GB)
# Each installs what it needs into .venv on its first run.

ROOT ?= corpora
RECIPE ?= recipes/stdlib.yaml

# The first interpreter of at least 3.11; PYTHON=/path/to/python overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	command -v $$p && break; done)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
BASE := .venv/.installed-base
DEV := .venv/.installed-dev

.PHONY: corpus test test-torch check ui readers clean
.DELETE_ON_ERROR:

corpus: $(BASE)
	$(BIN)/mixle-assets build $(RECIPE) --root $(ROOT)

ui: $(BASE)
	$(BIN)/mixle-assets ui $(RECIPE) --root $(ROOT) --plan

test: $(DEV)
	$(BIN)/pytest

# Apart from .venv, since libraries that find torch there import it. The CPU's build, where pip can find it.
TORCH := .venv/torch

test-torch: $(DEV) $(TORCH)/torch
	PYTHONPATH="$(CURDIR)/$(TORCH)" $(BIN)/pytest tests/packing/test_torch.py

$(TORCH)/torch: | $(DEV)
	$(PIP) --target $(TORCH) torch==2.13.0+cpu || $(PIP) --target $(TORCH) torch==2.13.0

readers: $(DEV)
	$(BIN)/python tests/exporting/install_readers.py .venv/whole-readers
	MIXLE_WHOLE_READERS="$(CURDIR)/.venv/whole-readers" $(BIN)/pytest tests/exporting/test_whole_readers.py

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python >= 3.11 found; install one, or say PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "make: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv .venv

$(BASE): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(DEV): $(BASE)
	$(PIP) --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv corpora .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

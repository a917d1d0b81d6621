# Everything runs in a virtual environment, .venv, made on the first call from Python 3.11 to 3.13.
#
#   make PYTHON=python3.12 ...    another interpreter for a new .venv
#   make TORCH="..." ...          other arguments for the pip install of PyTorch, see CONTRIBUTING.md
#   make CONFIG=configs/... train another training
#   make WORKERS=8 test           more test processes

PYTHON  ?= python3
VENV    ?= .venv
TORCH   ?= -r requirements/torch.txt
CONFIG  ?= configs/caravan-2p.yaml
WORKERS ?= 2

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP   := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup train test lint bench docs results build clean distclean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv and install everything in it

$(STAMP): pyproject.toml requirements/torch.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11 to 3.13 is needed, not %d.%d: say make PYTHON=python3.12" % v)'
	@echo "installing into $(VENV) (some minutes, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install $(TORCH)
	@$(PIP) install --editable '.[all]'
	@touch $@

train: $(STAMP) ## train 2-player Caravan for at most ten minutes, evaluate, leave a run folder
	@$(BIN)/caravan train $(CONFIG)

test: lint ## lint, types, import layers and all tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

lint: $(STAMP) ## ruff, mypy and import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## measure the speed of Caravan
	@$(BIN)/caravan bench caravan

docs: $(STAMP) ## make the pictures in docs/images again
	@$(BIN)/python docs/make_images.py

results: $(STAMP) ## play the matches of the README's results table and fill it in
	@$(BIN)/python docs/make_results.py

build: $(STAMP) ## make the wheel and the source distribution in dist/
	@$(BIN)/python -m build

clean: ## remove what builds, tests and linters leave
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## also remove .venv; runs/ stays
	rm -rf $(VENV)

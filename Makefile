# Springtide from a shell: every target sets up what it needs first, and `make` alone lists them.
# Needs Python 3.11 to 3.13 and make, nothing else. Works offline once set up.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
# Written last, so that an interrupted installation has no stamp and is done again from the start.
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
QUIETLY := --quiet --disable-pip-version-check
COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --generate-hashes --no-annotate \
	--custom-compile-command "make lock" --quiet

# A Python asked for by name replaces an environment that was made with another one.
ifneq ($(filter environment command,$(firstword $(origin PYTHON))),)
version_of = $(shell $(1) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifneq ($(filter-out $(call version_of,$(BIN)/python),$(call version_of,$(PYTHON))),)
$(shell rm -f $(LOCKED))
endif
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(INSTALLED) ## Create .venv from the hashed lock (PYTHON=python3.12 picks the interpreter)

$(LOCKED): requirements/dev.txt
	@rm -f $(LOCKED) $(INSTALLED)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
		echo "$(PYTHON) is no Python 3.11, 3.12 or 3.13: name one, as in" \
			"'make setup PYTHON=python3.12'." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install $(QUIETLY) --require-hashes \
		-r requirements/dev.txt
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml
	@rm -f $@
	$(BIN)/python -m pip install $(QUIETLY) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src/springtide
	@touch $@

.PHONY: demo
demo: setup ## Plan examples/warm-group: the decision table and the reasons
	@$(BIN)/springtide plan examples/warm-group || test $$? -eq 1 # 1 says that some pods fit nowhere

.PHONY: test
test: setup ## Run the tests (ARGS="tests/unit -k memory" picks some)
	$(BIN)/python -m pytest $(ARGS)

.PHONY: coverage
coverage: setup ## Run the tests and report the branches that none of them took
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage report

.PHONY: check
check: setup ## Check format, lint, types, layers and the rules of tools/tidy.py
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(wildcard src tests tools bench examples)
	$(BIN)/lint-imports
	$(BIN)/python tools/tidy.py

.PHONY: format
format: setup ## Format the code and apply the safe fixes of the linter
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

.PHONY: bench
bench: setup ## Run the benchmarks
	$(BIN)/python bench/run.py $(ARGS)

.PHONY: golden
golden: setup ## Write the golden files anew; read the difference before you commit it
	SPRINGTIDE_REGENERATE=1 $(BIN)/python -m pytest tests/golden $(ARGS)

.PHONY: schema
schema: setup ## Write docs/schema anew from the records of answers and the tables of routes
	$(BIN)/python tools/schema.py plan > docs/schema/plan.v1alpha1.json
	$(BIN)/python tools/schema.py why > docs/schema/why.v1alpha1.json
	$(BIN)/python tools/schema.py headroom > docs/schema/headroom.v1alpha1.json
	$(BIN)/python tools/schema.py bench > docs/schema/bench.v1alpha1.json
	$(BIN)/python tools/schema.py replay > docs/schema/replay.v1alpha1.json
	$(BIN)/python tools/schema.py profile > docs/schema/profile.v1alpha1.json
	$(BIN)/python tools/schema.py extender > docs/schema/extender.openapi.json
	$(BIN)/python tools/schema.py simulation > docs/schema/simulation.openapi.json

.PHONY: crds
crds: setup ## Write deploy/crds anew from the records of our stored documents
	$(BIN)/python tools/crd.py > deploy/crds/deviceprofiles.springtide.io.yaml

.PHONY: pages
pages: setup ## Write the parts of docs/*.md that are made from the commands and from the tests
	$(BIN)/python tools/command_pages.py
	$(BIN)/python tools/requirements.py

.PHONY: kubectl
kubectl: setup ## Fetch a real kubectl for the tests of the plugin, into a cache outside the tree
	@$(BIN)/python tools/kubectl.py

.PHONY: controlplane
controlplane: setup ## Build the control plane for tests with Go, once, into a cache outside the tree
	@$(BIN)/python tools/controlplane/build.py

.PHONY: e2e
e2e: controlplane ## Run the tests against a real control plane (ARGS="-k silent" picks some)
	$(BIN)/python -m pytest tests/e2e tests/contract $(ARGS)

.PHONY: lock
lock: setup ## Compile requirements/*.txt from pyproject.toml (ARGS=--upgrade takes newer versions)
	$(COMPILE) --output-file requirements/run.txt $(ARGS)
	$(COMPILE) --group dev --output-file requirements/dev.txt $(ARGS)

.PHONY: clean
clean: ## Remove the environment, caches and results
	rm -rf $(VENV) build dist htmlcov .coverage .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

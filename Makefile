# Every task of the project; `make` alone lists them. A fresh clone needs Python 3.11 or newer, make and git.

.DEFAULT_GOAL := help
.PHONY: help setup run serve web test-web screenshots test test-slow test-all test-containment test-faults test-processes test-browser test-page test-sandbox test-pythons lint types docs docs-check check bench bench-agentdojo bench-browser bench-page router wheel format lock clean stale

BIN := .venv/bin
# A worker that is done takes tests from the others, so that none waits for the longest file.
PYTEST := $(BIN)/pytest -n auto --dist worksteal
# Pages and their attackers wait most of the time, so there are more workers than cores. Each has a Chromium.
PYTEST_BROWSER := $(BIN)/pytest -n 6 --dist worksteal

# The page, and all that it is made of.
PAGE := src/sestet/server/page/index.html
PAGE_SOURCES := $(shell find web -name node_modules -prune -o -path web/tests -prune -o -type f -print)

# The tests start hundreds of processes. Without bytecode on the disk, each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# Not empty when .venv is incomplete or belongs to another checkout; scripts/setup.sh checks it.
STALE := $(shell scripts/setup.sh usable || echo stale)

help: ## list the tasks
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s  %s\n", $$1, $$2 }' Makefile

setup: .venv/.dev ## make .venv with everything that running, testing and checking need

run: .venv/.run ## talk with the assistant (ARGS="..." goes to `sestet chat`)
	@$(BIN)/sestet chat $(ARGS)

serve: .venv/.run $(PAGE) ## serve the assistant on this machine, and open its page (ARGS="..." goes to `sestet serve`)
	@$(BIN)/sestet serve --open $(ARGS)

web: $(PAGE) ## build the web page into the package

test: .venv/.dev $(PAGE) ## run the tests that are not slow, in a minute or two
	$(PYTEST) -m "not slow"

test-web: .venv/.dev ## check the types, the style and the units of the web page
	$(BIN)/python -m scripts.build_page --check

test-slow: .venv/.dev $(PAGE) ## run the slow tests: the batteries below, and the tests that take seconds
	@failed=0; $(PYTEST) -m "slow and not browser" || failed=1; $(PYTEST_BROWSER) -m browser || failed=1; exit $$failed

test-all: .venv/.dev $(PAGE) ## run every test
	@failed=0; $(PYTEST) -m "not browser" || failed=1; $(PYTEST_BROWSER) -m browser || failed=1; exit $$failed

test-containment: .venv/.dev ## attack the gate and the vault
	$(PYTEST) -m containment

test-faults: .venv/.dev ## kill processes, fill disks, damage files, load the machine
	$(PYTEST) -m faults

test-processes: .venv/.dev ## talk with the real program, at a terminal and through pipes
	$(PYTEST) -m processes

test-browser: .venv/.dev ## read, use and attack with pages in a real Chromium
	$(PYTEST_BROWSER) -m browser

test-page: .venv/.dev $(PAGE) ## use the built page in a real Chromium, point by point
	$(PYTEST) -m page

test-sandbox: .venv/.dev ## attack the sandbox
	$(PYTEST) -m sandbox

test-pythons: .venv/.dev ## run the tests that are not slow with the other Pythons of this machine, 3.11 to 3.14
	$(BIN)/python -m scripts.other_pythons $(ARGS)

lint: .venv/.dev ## check style, formatting and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

types: .venv/.dev ## check the types
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

docs: .venv/.dev ## write the generated pages of the documentation
	$(BIN)/python -m scripts.generate_docs
	$(BIN)/python -m scripts.injection_picture

docs-check: .venv/.dev ## check that the generated pages are up to date
	$(BIN)/python -m scripts.generate_docs --check

check: lint types test-web test-all docs-check test-pythons ## all of the above checks; what continuous integration runs

bench: .venv/.dev ## measure against a bare loop and the peers (ARGS="--only sestet,floor" for a quick look)
	$(BIN)/python -m bench $(ARGS)

bench-agentdojo: .venv/.dev ## attack the gate with AgentDojo (ARGS="--benign" for the tasks alone)
	$(BIN)/python -m bench.agentdojo $(ARGS)

bench-browser: .venv/.dev ## measure what a model reads of a page, and what the browser costs, against Playwright
	$(BIN)/python -m bench.browser $(ARGS)

screenshots: .venv/.dev $(PAGE) ## take the pictures of the page for the documentation
	$(BIN)/python -m scripts.screenshots

bench-page: .venv/.dev $(PAGE) ## measure how long a person waits for the page
	$(BIN)/python -m bench.page

router: .venv/.dev ## train the router on its bank of requests, and write its figures into docs/routing.md
	$(BIN)/python -m sestet.evals.training
	$(BIN)/python -m sestet.evals.training.report

wheel: .venv/.run $(PAGE) ## build dist/sestet-<version>-py3-none-any.whl, to install elsewhere
	@rm -f dist/sestet-*.whl
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

format: .venv/.dev ## format the code and fix what can be fixed safely
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# A pinned version stays as long as pyproject.toml allows it. requirements-dev.lock is constrained by
# requirements.lock, so that the tests use the versions that a conversation uses.
COMPILE := build/lock-venv/bin/uv --quiet pip compile pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-annotate --custom-compile-command "make lock" $(UPGRADE)

lock: build/lock-venv/bin/uv ## bring the lock files up to date (UPGRADE=--upgrade for the newest versions)
	$(COMPILE) --group build --extra keyring --extra router --extra server --output-file requirements.lock
	$(COMPILE) --group dev --all-extras --constraints requirements.lock --output-file requirements-dev.lock

clean: ## remove .venv, caches and build products
	rm -rf .venv .venv.old build dist web/node_modules src/sestet/server/page .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(PAGE): $(PAGE_SOURCES) scripts/build_page.py | .venv/.run
	@$(BIN)/python -m scripts.build_page

.venv/.run: pyproject.toml requirements.lock scripts/setup.sh scripts/install_packages.py $(STALE)
	@scripts/setup.sh run

.venv/.dev: pyproject.toml requirements.lock requirements-dev.lock scripts/setup.sh scripts/install_packages.py \
		tests/chain/package-lock.json tests/server/agui_client/package-lock.json $(STALE)
	@scripts/setup.sh dev

build/lock-venv/bin/uv: | .venv/.run
	$(BIN)/python -m venv build/lock-venv
	build/lock-venv/bin/python -m pip --disable-pip-version-check install --quiet uv

stale:

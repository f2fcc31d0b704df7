# Each target sets up what it needs by itself: on a fresh machine `make tour` is the only command to type.

# The first Python from 3.11 on that runs; another one by `make PYTHON=/path/to/python3.13 …`.
# Each candidate is run, not only found: a version manager's shims are on PATH even where no version is chosen.
MODERN := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
ifeq ($(origin PYTHON), undefined)
PYTHON := $(shell for p in python3 python python3.13 python3.12 python3.11; do \
	$$p -c '$(MODERN)' >/dev/null 2>&1 && { command -v $$p; break; }; done)
endif

VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint check test test-spark test-plain test-tour test-long tour auc record vectors agree semantics fuzz types mutants bench bench-expr bench-server bench-time bench-materialize bench-cache bench-online bench-attribution bench-check bench-imports fuzz-codec faults-online fault-bench incremental screenshot clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 20

setup: $(STAMP) ## make .venv with everything in it, at the versions of requirements.lock

# --upgrade-strategy stays pip's default: the constraints hold every version, so an old environment moves to them.
$(STAMP): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or later with venv was found; say which: make PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -c '$(MODERN)' || { echo "$(PYTHON) is not a Python 3.11 or later with venv" >&2; exit 2; }
	@echo "setting up $(VENV) with $(PYTHON) (one to three minutes, once)"
	@test -x $(RUN) || $(PYTHON) -m venv --clear $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[all,examples,dev]'
	@touch $@

fmt: setup ## format the code and mend what ruff can mend
	$(RUN) -m ruff check --fix-only --quiet .
	$(RUN) -m ruff format .

lint: setup ## ruff, mypy and the import rules
	$(RUN) -m ruff check .
	$(RUN) -m tests.architecture.rules
	$(RUN) -m mypy

check: setup ## format, ruff, mypy strict, import rules: the quick half of the gate
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pytest -q tests/architecture

# Two at a time: tests that need a JVM wait for it most of the time, the others never.
test: setup ## every test but the long ones; starts what it needs by itself
	$(MAKE) --no-print-directory -j 2 --output-sync=line test-spark test-plain test-tour

test-spark: setup ## only the tests that need a JVM, without the tour
	$(RUN) -m pytest -m "spark and not long" --ignore=tests/tour

test-plain: setup ## only the tests that need none
	$(RUN) -m pytest -m "not spark and not long"

test-tour: setup ## only the tour, and whether docs/tour.md is what it prints
	$(RUN) -m pytest -m spark tests/tour

test-long: setup ## tests that take minutes, or a session of their own: what incremental refreshes read and may not leave out
	$(RUN) -m pytest -m long

tour: setup ## the main job on real data, from definition to diagnosis; writes docs/tour.md
	$(RUN) -m featurekit.examples.tour

auc: setup ## a model trained as declared, as served, by event time: what each set promises, what the store delivers
	$(RUN) -m featurekit.examples.auc $(addprefix --days ,$(DAYS))

record: setup ## ask Spark for the expected values of tests/semantics/
	$(RUN) -m tests.semantics.record

vectors: setup ## write docs/vectors/, the test vectors for clients in other languages
	$(RUN) -m tests.online.vectors

agree: setup ## all paths give the same bits: November 2013, or drawn worlds and a plain reference: make agree SEEDS=200
	$(RUN) -m benchmarks.agree $(addprefix --seeds ,$(SEEDS))

semantics: setup ## every recorded case on each evaluator, and in Spark on Java 17, 21 and 25
	$(RUN) -m benchmarks.semantics

CELLS := 1000000
fuzz: setup ## random expressions on random rows, Spark beside our evaluators: make fuzz CELLS=1000000 SEED=7
	$(RUN) -m benchmarks.fuzz --cells $(CELLS) $(addprefix --seed ,$(SEED))

types: setup ## inferred types beside Spark's analysed schema, for the whole catalogue
	$(RUN) -m benchmarks.types

mutants: setup ## defects seeded on purpose, and whether the recorded cases or the tests see each of them
	$(RUN) -m benchmarks.mutants

bench: setup ## lookup, materialize and import, beside raw Redis in the same run
	$(RUN) -m benchmarks.bench

bench-expr: setup ## twenty features over 1, 100 and 10,000 rows, beside DuckDB and pandas by hand
	$(RUN) -m benchmarks.expr

bench-server: setup ## the lookup server beside the SDK in process and a bare route that returns the same bytes
	$(RUN) -m benchmarks.bench_server

bench-time: setup ## training sets beside a plain Spark join and Feast (in an environment of its own), and by size
	$(RUN) -m benchmarks.time

bench-materialize: setup ## a refresh of 100,000 to 1,000,000 entities, beside raw SETs and Feast's Spark engine on one redis-server
	$(RUN) -m benchmarks.bench_materialize

bench-cache: setup ## lookups that the client's cache answers, beside those that read and a raw MGET; memory of a row
	$(RUN) -m benchmarks.bench_cache

bench-online: setup ## lookups beside a raw MGET of the same bytes and beside Feast, on one Redis server; memory too
	$(RUN) -m benchmarks.bench_online

bench-attribution: setup ## faults of known cost in what was served: what check attribute tells of what the model lost
	$(RUN) -m benchmarks.attribution

bench-check: setup ## an audit of 1,000 entities × 50 features, a replay of 100,000 requests, each with Spark's start; the log's cost
	$(RUN) -m benchmarks.bench_check --sizes

bench-imports: setup ## what importing the lookup client costs, and that it loads nothing heavy
	$(RUN) -m benchmarks.bench_imports

ROWS := 1000000
fuzz-codec: setup ## damaged rows through every decoder: make fuzz-codec ROWS=1000000 SEED=7
	$(RUN) -m benchmarks.fuzz_codec --rows $(ROWS) $(addprefix --seed ,$(SEED))

faults-online: setup ## processes, servers, nodes and clocks broken on purpose, again and again, with counts
	$(RUN) -m benchmarks.faults_online

fault-bench: setup ## faults planted in what is served: seen by the check, and rightly named? And days without any
	$(RUN) -m benchmarks.fault_bench

incremental: setup ## a month of daily refreshes from the day before, beside full ones: bits, rows read, CPU
	$(RUN) -m benchmarks.incremental

screenshot: setup ## the picture of a report in docs/images, from a week of checks with faults planted (needs chromium)
	$(RUN) -m tests.browser.screenshot

STOP := import pathlib, featurekit.online.embedded as server; server.stop(pathlib.Path(".featurekit"))

# The embedded server goes first: a server whose folder was deleted under it can't save any more.
clean: ## remove .venv, the local state (.featurekit, its data too) and the caches
	@if [ -x $(RUN) ]; then $(RUN) -c '$(STOP)' || true; fi
	rm -rf $(VENV) .featurekit build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis spark-warehouse metastore_db
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything a person does here. `make` alone says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

DELTA_VERSION := $(shell sed -n 's/.*"delta-spark==\([0-9.]*\)".*/\1/p' setup.py)
DELTA_PACKAGE := io.delta:delta-spark_4.1_2.13:$(DELTA_VERSION)
# Spark has everything else that these packages name, and no table here needs the Delta kernel: two
# jars are enough.
NOT_NEEDED := org.*:*,com.*:*,io.netty*:*,io.unitycatalog:*,io.delta:delta-kernel*
IVY_SETTINGS ?= conf/ivysettings.xml
# Spark's Kafka source. The part of it that gets delegation tokens is not published for every
# release: any of this Spark line does.
KAFKA_SOURCE := org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3
KAFKA_TOKENS := org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1
IN_SPARK := org.apache.spark:spark-tags*,org.apache.hadoop:*,com.*:*,org.lz4:*,org.xerial*:*,org.slf4j:*,org.scala-lang*:*

VENV := .venv/.installed
JARS := .cache/jars/.resolved
KAFKA_JARS := .cache/kafka-jars/.resolved
CLASSES := .cache/classes.jsa
READY := $(VENV) $(JARS) $(CLASSES)
# Compiled modules are kept, whatever the environment says: else every process of the suite compiles
# them again.
IN_VENV := PATH="$(CURDIR)/.venv/bin:$$PATH" PYSPARK_PYTHON="$(CURDIR)/.venv/bin/python" TZ=UTC \
    PYTHONDONTWRITEBYTECODE=
PYTEST := $(IN_VENV) .venv/bin/python -m pytest --numprocesses=2 --dist=loadfile \
    --no-loadscope-reorder
# Files with such tests: to look for them in all of tests/ takes longer than they do.
INTERPRETED = $(shell grep -rlF mark.interpreted --include='test_*.py' tests)
UNIT := not spark and not whole and not broker and not browser and not long and not soak
CHECKED := lib jobs tests setup.py compile_core.py compile_dataclasses.py

.PHONY: help setup core compiled kafka-jars test-jars lint types unit unit-compiled spark test browser demo \
    screenshots bench soak rebuild clean

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/make \1@\2/p' Makefile \
	    | awk -F@ '{printf "%-16s %s\n", $$1, $$2}'

setup: $(READY) core  ## .venv, Delta jars, compiled core; everything else does this by itself

# Without a C compiler, or where compiling fails, this says so in a line, and the sources run as
# they are.
core: $(READY)
	@.venv/bin/python compile_core.py --setup

compiled: $(VENV)  ## pack the compiled core for executors and as a wheel, into dist/
	@.venv/bin/python compile_core.py --archive

# pip would compile every module of every package on one core, for half a minute: a process compiles
# those that it loads, once.
$(VENV): setup.py constraints.txt
	@bash .ci/make_venv "$(PYTHON)"
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	    --constraint constraints.txt --editable '.[local,dev]'
	@$(IN_VENV) .ci/compile_zips .venv/lib/python3*/site-packages/pyspark/python/lib/*.zip
	@touch $@

$(JARS): $(VENV) $(IVY_SETTINGS) conf/jars.sha256
	@rm -rf .cache/ivy .cache/jars && mkdir -p .cache/jars
	@echo pass > .cache/nothing.py
	@echo "fetching $(DELTA_PACKAGE)"
	@$(IN_VENV) .venv/bin/spark-submit --conf spark.jars.ivySettings=$(IVY_SETTINGS) \
	    --conf spark.jars.ivy=$(CURDIR)/.cache/ivy --packages $(DELTA_PACKAGE) \
	    --exclude-packages '$(NOT_NEEDED)' .cache/nothing.py >.cache/ivy.log 2>&1 \
	    || { cat .cache/ivy.log; echo "The Delta jars could not be fetched: put those of" \
	    "conf/jars.sha256 into .cache/jars yourself and touch $@."; exit 1; }
	@for jar in .cache/ivy/jars/*.jar; do name=$$(basename "$$jar"); \
	    cp "$$jar" ".cache/jars/$${name#io.delta_}"; done
	@cd .cache/jars && { sha256sum --quiet -c ../../conf/jars.sha256 2>/dev/null \
	    || shasum -a 256 --quiet -c ../../conf/jars.sha256; }
	@rm -rf .cache/ivy .cache/nothing.py .cache/ivy.log
	@touch $@

kafka-jars: $(KAFKA_JARS)  ## fetch the four jars that read the live topic

$(KAFKA_JARS): $(VENV) $(IVY_SETTINGS) conf/kafka-jars.sha256
	@rm -rf .cache/kafka-ivy .cache/kafka-jars && mkdir -p .cache/kafka-jars
	@echo pass > .cache/kafka-jars/nothing.py
	@echo "fetching $(KAFKA_SOURCE)"
	@fetch() { $(IN_VENV) .venv/bin/spark-submit --conf spark.jars.ivySettings=$(IVY_SETTINGS) \
	    --conf spark.jars.ivy=$(CURDIR)/.cache/kafka-ivy/$$1 \
	    --packages "$$2" --exclude-packages "$$3" .cache/kafka-jars/nothing.py \
	    >.cache/kafka-ivy.log 2>&1; }; \
	    { fetch source $(KAFKA_SOURCE) '$(IN_SPARK),org.apache.spark:spark-token-provider*' \
	    && fetch tokens $(KAFKA_TOKENS) '$(IN_SPARK),org.apache.kafka:*'; } \
	    || { cat .cache/kafka-ivy.log; echo "The Kafka jars could not be fetched: put those of" \
	    "conf/kafka-jars.sha256 into .cache/kafka-jars yourself and touch $@."; exit 1; }
	@for jar in .cache/kafka-ivy/*/jars/*.jar; do name=$$(basename "$$jar"); \
	    cp "$$jar" ".cache/kafka-jars/$${name#org.apache.*_}"; done
	@cd .cache/kafka-jars && { sha256sum --quiet -c ../../conf/kafka-jars.sha256 2>/dev/null \
	    || shasum -a 256 --quiet -c ../../conf/kafka-jars.sha256; }
	@rm -rf .cache/kafka-ivy .cache/kafka-ivy.log .cache/kafka-jars/nothing.py
	@touch $@

# A night loads 30,000 classes, and checks each. Where this Java cannot archive them, starts are
# just slower: an empty file says so.
$(CLASSES): $(JARS)
	@echo "archiving the classes that a night loads: every start will be five seconds shorter"
	@rm -rf $@ .cache/classes
	@GROUPREPLAY_CLASSES= GROUPREPLAY_JAVA="'-XX:ArchiveClassesAtExit=$(CURDIR)/$@'" \
	    ./spark-submit.sh run_nightly --config conf/demo.yaml \
	    --set warehouse=.cache/classes >.cache/classes.log 2>&1 || rm -f $@
	@rm -rf .cache/classes .cache/classes.log
	@[ -e $@ ] || : >$@

lint: $(VENV)  ## formatting, lint, types and import contracts
	@.venv/bin/ruff format --check $(CHECKED)
	@.venv/bin/ruff check $(CHECKED)
	@.venv/bin/lint-imports
	@.venv/bin/mypy

types: $(VENV)  ## types alone
	@.venv/bin/mypy

unit: $(VENV)  ## tests that need no Spark, broker or browser: about a minute
	@$(PYTEST) -m '$(UNIT)'

unit-compiled: $(VENV)  ## the same on the compiled core, where one can be compiled
	@said="$$(.venv/bin/python compile_core.py)" || { echo "$$said"; exit 1; }; echo "$$said"; \
	    case "$$said" in "not compiled"*) ;; *) GROUPREPLAY_COMPILED=1 $(PYTEST) -m '$(UNIT)' ;; esac

spark: $(READY) kafka-jars  ## the tests that need a Spark session, but run no whole job
	@$(PYTEST) -m 'spark and not whole and not broker and not soak'

test-jars: $(VENV)  # Kafka's own jars, of each version that tests play
	@$(IN_VENV) .venv/bin/python -m tests.support.fetch_jars

# First two things at once: fetching waits for others, linting and compiling for one core. Each test
# runs once, on the compiled core where there is one.
test:  ## lint, types, import contracts and every test
	@$(MAKE) --no-print-directory --jobs=2 lint kafka-jars test-jars setup
	@said="$$(.venv/bin/python compile_core.py)" || { echo "$$said"; exit 1; }; echo "$$said"; \
	    case "$$said" in "not compiled"*) $(PYTEST) ;; \
	    *) $(PYTEST) -m 'interpreted and not soak' $(INTERPRETED) \
	        && GROUPREPLAY_COMPILED=1 $(PYTEST) -m 'not soak and not interpreted' ;; esac

browser: setup  ## tests of pages in a real browser (apt-get install chromium)
	@$(IN_VENV) .venv/bin/python -m pytest -m browser

screenshots: demo  ## the two pictures of the README, of the demo's pages, by a real browser
	@$(IN_VENV) .venv/bin/python -m tests.page.screenshots .cache/demo/_report/demo docs/pictures

demo: setup  ## the main job on the logs of tests/recordings, and three queries
	@rm -rf .cache/demo
	@./spark-submit.sh run_nightly --config conf/demo.yaml
	@./spark-submit.sh query_tables --config conf/demo.yaml
	@echo "The page of the night: file://$(CURDIR)/.cache/demo/_report/demo/index.html"

# NIGHTS=30 RECORDS=2000000 KIND=steady: the cost over months. PEER=1 times Kafka's own tool beside
# it. CLUSTER=1 instead: executors of 1, 2 and 4 cores.
bench: setup  ## speed and memory (NIGHTS= RECORDS= KIND= PEER=1 CLUSTER=1)
ifdef CLUSTER
	@$(IN_VENV) .venv/bin/python -m tests.bench.cluster --case churn --case skew \
	    $(if $(RECORDS),--records $(RECORDS))
else
	@$(IN_VENV) .venv/bin/python -m tests.bench.run $(if $(PEER),--peer)
	@$(IN_VENV) .venv/bin/python -m tests.bench.text_logs
	@$(IN_VENV) .venv/bin/python -m tests.bench.nights $(if $(NIGHTS),--nights $(NIGHTS)) \
	    $(if $(RECORDS),--records $(RECORDS)) $(if $(KIND),--kind $(KIND))
endif

soak: setup kafka-jars  ## what takes longer, and new seeds of simulated coordinators
	@$(IN_VENV) .venv/bin/python -m pytest -m soak
	@$(IN_VENV) GROUPREPLAY_COMPILED=0 .venv/bin/python -m tests.simulator.soak

rebuild: setup  ## replay all nights of CONFIG=file again, from the rows that they landed
	@./spark-submit.sh rebuild_nights --config "$(CONFIG)"

clean:  ## remove everything that make made
	@rm -rf .venv .cache dist build spark-warehouse metastore_db derby.log lib/groupreplay.egg-info \
	    .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find lib jobs tests -name __pycache__ -type d -prune -exec rm -rf {} +

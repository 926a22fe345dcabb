# `make help` lists what there is. Everything runs in .venv, which is made on first use.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROTOS := $(shell find protos -name '*.proto')

.PHONY: help run test lint format protos bench bench-rules bench-peers bench-check replay lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

run: $(VENV)/.local gen/.stamp ## serve the whole system on embedded servers, gateway on 127.0.0.1:8080 (ARGS="--help" for options)
	@exec $(BIN)/waystation run $(ARGS)

test: $(VENV)/.dev gen/.stamp ## run the tests on real embedded servers (ARGS="-k name" to choose)
	$(BIN)/pytest $(ARGS)

lint: $(VENV)/.dev gen/.stamp ## ruff, mypy --strict, import contracts, buf, spelling, yaml, shellcheck, hadolint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint protos
	$(BIN)/buf format --diff --exit-code protos
	$(BIN)/codespell
	$(BIN)/yamllint --strict .
	find .ci deploy tests -name '*.sh' -o -path .ci/run | xargs $(BIN)/shellcheck -x -P SCRIPTDIR
	find deploy -name '*Dockerfile' | xargs $(BIN)/hadolint

format: $(VENV)/.dev ## format code and protos
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/buf format --write protos

protos: ## generate gen/ from protos/ again
	@rm -f gen/.stamp
	@$(MAKE) --no-print-directory gen/.stamp

bench-rules: $(VENV)/.dev gen/.stamp ## measure random play per title, on one core (ARGS="wayfare", "--help")
	@$(BIN)/python -m bench.playouts $(ARGS)

bench: $(VENV)/.dev gen/.stamp ## measure the whole system under load (ARGS="--full", "--plan closed --seconds 10")
	@$(BIN)/python -m bench.whole $(ARGS)

bench-peers: $(VENV)/.dev gen/.stamp ## measure Waystation beside boardgame.io and Colyseus (needs Node 20 and npm; ARGS="--runs 1")
	@$(BIN)/python -m bench.peers $(ARGS)

bench-check: $(VENV)/.dev gen/.stamp ## warn when a move costs more CPU than the stored baseline (ARGS=--store renews it)
	@$(BIN)/python -m bench.check $(ARGS)

replay: $(VENV)/.local gen/.stamp ## print a match version by version, proved from its stream: make replay MATCH=<id>
	@test -n "$(MATCH)" || { echo "make replay: say which match: make replay MATCH=<id>"; exit 2; }
	@$(BIN)/waystation replay $(MATCH) $(ARGS)

lock: $(VENV)/.dev ## resolve requirements/*.txt again (needs uv; versions at least two weeks old)
	deploy/local/lock.sh

clean: ## remove what was built; matches in data/ stay
	rm -rf $(VENV) gen .cache .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis .schemathesis

$(VENV)/.local: requirements/local.txt pyproject.toml
	@deploy/local/setup.sh $(PYTHON) $(VENV) requirements/local.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml
	@deploy/local/setup.sh $(PYTHON) $(VENV) requirements/dev.txt
	@touch $@ $(VENV)/.local

gen/.stamp: $(PROTOS) | $(VENV)/.local
	@deploy/local/protos.sh $(VENV)
	@touch $@

# Containers and Kubernetes: docs/operations.md.
DOCKER ?= docker
COMPOSE ?= $(shell $(DOCKER) compose version >/dev/null 2>&1 && echo $(DOCKER) compose || echo docker-compose)
COMPOSED = $(COMPOSE) -p waystation -f deploy/compose.yaml

.PHONY: images stand-ins up down manifests test-manifests test-containers

images: ## build every image (BUILD_FLAGS="--network host" where the bridge reaches no package index)
	@DOCKER=$(DOCKER) deploy/images/build.sh

stand-ins: $(VENV)/.local ## build base images out of Debian packages, on a machine without an image registry
	@DOCKER=$(DOCKER) deploy/images/stand_ins.sh

up: ## serve the whole system in containers, gateway on 127.0.0.1:8080 (ARGS="--scale rules-wayfare=3")
	@$(COMPOSED) up -d $(ARGS)

down: ## stop the containers; matches stay in their volumes (ARGS=--volumes removes them)
	@COMPOSE_PROFILES=monitoring,tracing $(COMPOSED) down $(ARGS)

manifests: $(VENV)/.local ## write what lists the titles: compose.yaml, k8s/titles (IMAGE_PREFIX=, IMAGE_TAG=)
	@$(BIN)/python -m deploy.manifests

test-manifests: $(VENV)/.dev gen/.stamp ## render, validate and judge every overlay and component
	@deploy/kubectl.sh $(VENV)
	$(BIN)/pytest tests/k8s --timeout 900 $(ARGS)

test-containers: $(VENV)/.dev gen/.stamp ## play on the built images (needs Docker; make images first)
	@deploy/kubectl.sh $(VENV)
	$(BIN)/pytest tests/containers --timeout 900 $(ARGS)

# Under fire: docs/faults.md.
.PHONY: test-faults test-failover test-simulation test-hostile test-contract test-soak

test-faults: $(VENV)/.dev gen/.stamp ## kill, stop and restart everything under load, and check what clients were told (ARGS="--seconds 480 --every 1")
	@GRPC_VERBOSITY=ERROR GRPC_ENABLE_FORK_SUPPORT=0 $(BIN)/python -m tests.faults $(ARGS)

test-failover: $(VENV)/.dev gen/.stamp ## kill the primary of a replicated Redis and servers of a NATS cluster under load
	$(BIN)/pytest tests/failover $(ARGS)

test-simulation: $(VENV)/.dev gen/.stamp ## thousands of simulated runs: crash, race, redeliver, reorder, rebuild (ARGS="--seed 7")
	@$(BIN)/python -m tests.simulation $(ARGS)

test-hostile: $(VENV)/.dev gen/.stamp ## forged tokens, ruined bodies, frames and messages, limits, secrets in logs
	$(BIN)/pytest tests/hostile $(ARGS)

test-contract: $(VENV)/.dev gen/.stamp ## schemathesis over the served document: coverage, fuzzing, stateful
	$(BIN)/python -m tests.hostile.contract $(ARGS)

test-soak: $(VENV)/.dev gen/.stamp ## make 100,000 matches and see memory stay flat (ARGS="--matches 12000 --titles wayfare"; with --leak it must fail)
	@$(BIN)/python -m tests.soak $(ARGS)

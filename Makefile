# `make help` lists the targets. Everything here is a short name for a command that also works on its own; what it
# needs is installed by scripts/setup.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)

# Tools that `make test` had to compile are kept here; a path outside the checkout shares them between checkouts.
export TOOLS ?= $(TARGET)/tools
export PATH := $(abspath $(TOOLS))/bin:$(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

# Set only when the pinned toolchain is there under another name, see the script.
TOOLCHAIN := $(if $(RUSTUP_TOOLCHAIN),,$(shell PATH="$(PATH)" scripts/toolchain))
ifneq ($(TOOLCHAIN),)
export RUSTUP_TOOLCHAIN := $(TOOLCHAIN)
endif

# The tests make the program fail at named places, which no release has: crates/storage/src/fault.rs.
FAULTS := --features tillkeep/failpoints

# Lints the workspace while it is compiled, as cargo-clippy does, but without a second pass over all dependencies.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## Install what building and testing need and is not there yet
	@scripts/setup test

.PHONY: test
test: setup ## Set up, then all checks and all tests
	cargo fmt --all --check
	cargo deny --locked --log-level error check licenses sources bans
	$(LINTED) cargo nextest run --locked --workspace $(FAULTS)
	@$(MAKE) --no-print-directory fuzz

.PHONY: fuzz
fuzz: ## Requests made from the descriptions, against both servers; ARGS="--seconds 300 --seed 7" for longer
	@scripts/setup fuzz
	$(LINTED) cargo build --locked --workspace
	@$(TOOLS)/fuzz/bin/python scripts/fuzz $(TARGET)/debug/tillkeep $(ARGS)

.PHONY: sim
sim: ## The sync engine in virtual time, seed after seed; ARGS="--seeds 1..200 --days 3 --stores 5 --put-back"
	SIM="$(ARGS)" cargo test --locked --workspace $(FAULTS) --test sim -- --ignored --nocapture many_seeds

.PHONY: chaos
chaos: ## Stores under load while everything breaks, then the checker; ARGS="--minutes 5 --seed 7"
	@scripts/chaos $(ARGS)

.PHONY: check
check: ## Formatting, lints, licences and sources of the dependencies
	cargo fmt --all --check
	cargo clippy --locked --workspace $(FAULTS) --all-targets -- -D warnings
	cargo check --locked --workspace --quiet
	cargo deny --locked --log-level error check licenses sources bans

.PHONY: deny
deny: ## The same check of the dependencies alone, with its warnings (crates in two versions)
	cargo deny --locked check --hide-inclusion-graph licenses sources bans

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all

.PHONY: generated
generated: ## Write docs/generated anew from the code
	UPDATE_GENERATED=1 cargo test --locked --quiet --workspace $(FAULTS) --test contract --test openapi checked_in

.PHONY: build
build: ## Build the release binary, target/release/tillkeep
	cargo build --locked --release --bin tillkeep

.PHONY: bench
bench: ## Print the figures of one run: first pull, push, a price on its way, memory
	cargo bench --locked --package tillkeep --bench figures

.PHONY: demo
demo: ## Build quickly and run an HQ with its stores on this machine; ARGS="--stores 3"
	@scripts/setup demo
	cargo run --locked --profile demo --bin tillkeep -- demo $(ARGS)

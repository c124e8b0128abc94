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

# Lints the workspace while it is compiled, as cargo-clippy does, but without a second pass over all dependencies.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__

# Everything that is tested, by one build; the tests of the web client and the fuzzer take their binary from it.
BUILD := $(LINTED) cargo test --locked --workspace --no-run --no-fail-fast

# The web client is inside of the binary, so that whatever compiles it needs this. The last file of its build stands for
# all of them; the types of the interface are made by the build itself.
WEB := web/dist/index.html.gz
WEB_SOURCES := $(wildcard web/*.json web/*.html web/*.ts web/scripts/*.mjs) docs/generated/openapi-hq.json docs/generated/openapi-store.json scripts/check-licences \
	scripts/compress-web $(shell find web/src web/public -type f \
	-not -path web/src/api/codes.ts -not -name schema.d.ts -not -path 'web/src/rules/*')

# The binary under test and the browser: Chromium's shell where there is one, as scripts/setup installs it, or all of it.
BROWSED := TILLKEEP=$(abspath $(TARGET)/debug/tillkeep) CHROMIUM=$${CHROMIUM:-$$(command -v chromium-headless-shell || command -v chromium)}

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## Install what building and testing need and is not there yet
	@scripts/setup test

# What waits for the network goes on beside what waits for the processor. The crates are compiled while the web client is
# made, which is inside of one of them: if it comes too late for that, the tests compile the rest.
.PHONY: test
test: ## Set up, then all checks and all tests; how long each took is shown by `make times`
	@rm -f $(TARGET)/times.tsv
	@scripts/setup compiler
	@scripts/beside \
		compile '$(BUILD) || echo "what is missing is compiled by the tests"' \
		packages 'scripts/setup servers' \
		web '$(MAKE) --no-print-directory web && npm --prefix web run check' \
		crates 'scripts/setup nextest && cargo fmt --all --check && scripts/check-crates && scripts/measure --self-test' \
		python 'scripts/setup python'
	@scripts/beside \
		next '$(MAKE) --no-print-directory next'
	@scripts/beside \
		tests '$(LINTED) TMPDIR=$$(scripts/scratch) cargo nextest run --locked --workspace' \
		fuzz-and-e2e 'TMPDIR=$$(scripts/scratch) $(MAKE) --no-print-directory clients fuzz e2e ARGS=--brief'

.PHONY: times
times: ## Where the time of the last `make test` went: its steps, and the longest tests
	@scripts/times $(TARGET)

.PHONY: binary
binary: web
	@$(BUILD) --quiet

.PHONY: web
web: $(WEB) ## Build the web client into web/dist when something of it changed

$(WEB): $(WEB_SOURCES) | web-setup
	npm --prefix web run build
	scripts/check-licences web/dist
	scripts/compress-web web/dist

.PHONY: web-setup
web-setup:
	@scripts/setup web

.PHONY: web-dev
web-dev: web-setup ## The web client with changes shown at once, in front of a running HQ: TILLKEEP_HQ=http://127.0.0.1:8080
	npm --prefix web run dev

.PHONY: e2e
e2e: binary ## The web client in a browser, against servers of its own
	$(BROWSED) npm --prefix web run e2e

.PHONY: screenshots
screenshots: binary ## Every page in light, in dark and on a phone into target/pictures, and those of docs/images
	$(BROWSED) npm --prefix web run screenshots

.PHONY: tasks
tasks: binary ## What everyday tasks take in the browser, in clicks, keys and seconds, into target/tasks.json
	$(BROWSED) npm --prefix web run tasks

.PHONY: till-crashes
till-crashes: binary ## Browser and store killed at each step of paying, the table into target/till-crashes.json; ARGS=200 crashes
	TILL_CRASHES=$(or $(ARGS),200) $(BROWSED) npm --prefix web run till-crashes

.PHONY: till-figures
till-figures: binary ## How fast the till is with 50 000 products, and what it loads, into target/till-figures.json
	$(BROWSED) npm --prefix web run till-figures

.PHONY: fuzz
fuzz: binary ## Requests made from the descriptions, against both servers; ARGS="--seconds 300 --seed 7" for longer
	@scripts/setup fuzz
	@$(TOOLS)/fuzz/bin/python scripts/fuzz $(TARGET)/debug/tillkeep $(ARGS)

.PHONY: clients
clients: binary ## Clients made from the descriptions by two generators, as others would make theirs, at work on both servers
	@scripts/setup clients
	@$(TOOLS)/clients/bin/python scripts/clients $(TARGET)/debug/tillkeep

.PHONY: sim
sim: web ## The sync engine in virtual time, seed after seed; ARGS="--seeds 1..200 --days 3 --stores 5 --restores"
	SIM="$(ARGS)" cargo test --locked --workspace --test sim -- --ignored --nocapture many_seeds

.PHONY: planted
planted: web ## Wrong programs, each of which the simulation must catch; NAME=… for one of tests/sim/planted
	@scripts/planted $(NAME)

.PHONY: pairs
pairs: web ## Every two writers of one table at once on PostgreSQL, the end compared with both orders; ARGS=50 rounds
	PAIRS_ROUNDS=$(or $(ARGS),50) cargo test --locked --workspace --test backoffice_on_postgres -- --nocapture --exact \
		pairs::all_pairs_of_writers_of_one_table_end_as_one_after_the_other

.PHONY: kills
kills: web ## A store killed again and again in commits that several sales share; ARGS=500 kills
	GROUP_KILLS=$(or $(ARGS),500) cargo test --locked --workspace --test cluster -- --nocapture --exact \
		group::a_store_killed_in_the_middle_of_shared_commits_has_what_it_answered_once

.PHONY: money-kills
money-kills: web ## A store killed while sales are undone, money comes back and papers are printed; ARGS=500 kills
	MONEY_KILLS=$(or $(ARGS),500) cargo test --locked --workspace --test cluster -- --nocapture --exact \
		money_back::a_store_killed_while_money_comes_back_or_a_paper_is_printed_has_each_of_them_once

.PHONY: drawer-closes
drawer-closes: web ## Drawers closed under selling tills, then added up by SQL of the test; ARGS=1000 closes
	DRAWER_CLOSES=$(or $(ARGS),1000) cargo test --locked --workspace --test cluster -- --nocapture --exact \
		drawers::closes::of_many_closes_under_selling_clients_each_has_all_that_was_answered_and_adds_up

.PHONY: drawer-day
drawer-day: web ## A day of three stores that die at every place of a drawer, compared with headquarters; ARGS=500 documents
	DRAWER_DAY=$(or $(ARGS),500) cargo test --locked --workspace --test cluster -- --nocapture --exact \
		drawers::day::a_day_of_three_stores_that_die_all_the_time_is_the_same_to_the_cent_at_headquarters

.PHONY: fails
fails: web ## The database of each server failing at every place, of which each test run has every third one
	ALL_PLACES=1 cargo test --locked --workspace --test cluster -- --nocapture database_fails

.PHONY: deaths
deaths: web ## Each server killed at every place, of which each test run has every third one
	ALL_PLACES=1 cargo test --locked --workspace --test cluster -- --nocapture killed_at_any_place

.PHONY: sweeps
sweeps: web ## Every route with every forged token, role and word of SQL, of which each test run has a part
	ALL_PLACES=1 cargo test --locked --workspace --test contract -- --nocapture forgeries:: sweep:: injections:: fields::

.PHONY: bench-goals
bench-goals: web ## Every goal of `tillkeep bench` at the smallest size, as a test of the benchmark itself
	cargo test --locked --workspace --test contract -- --ignored --nocapture every_goal_is_measured

.PHONY: attacks
attacks: web ## What attackers tried, against real servers, with the figures; ARGS=14 rounds of strangers
	ATTACK_ROUNDS=$(or $(ARGS),14) cargo test --locked --workspace --test attacks -- --nocapture --test-threads 1

.PHONY: chaos
chaos: web ## Stores under load while everything breaks, then the checker; ARGS="--minutes 5 --seed 7 --postgres", or "--nodes 3"
	@scripts/chaos $(ARGS)

.PHONY: storm
storm: build ## Tills, editors and SIGKILLs on the release binary, compared by SQL of its own; ARGS="--postgres --seed 3"
	@scripts/storm $(TARGET)/release/tillkeep $(ARGS)

.PHONY: memory
memory: dist ## The memory of headquarters over an hour of everything at once, and after it; ARGS="--minutes 10 --postgres"
	@scripts/memory $(TARGET)/dist/tillkeep $(ARGS)

.PHONY: check
check: web ## Formatting, lints, licences and sources of the dependencies
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	npm --prefix web run check
	scripts/check-crates

# The newer release of the tests: this program with one step of the schema, one column and one pulled type more. A test is
# built beside it, the smallest one: dependencies then have the features that they have for all tests, and are not
# compiled once more. It does not stay where scripts/built would take it for this program; the next build puts that there.
export TILLKEEP_NEXT := $(abspath $(TARGET))/tillkeep-next

.PHONY: next
next: web ## Build the newer release of the tests, which upgrades are tried with
	$(LINTED) cargo build --locked --workspace --bin tillkeep --test pricing --features tillkeep/next-release
	cp --remove-destination $(TARGET)/debug/tillkeep $(TILLKEEP_NEXT)
	rm $(TARGET)/debug/tillkeep
	@echo "TILLKEEP_NEXT=$(TILLKEEP_NEXT)"

.PHONY: release-record
release-record: web ## Keep the schema, rows and wire of this version in tests/releases, as a release is closed
	RELEASE_RECORD=1 cargo test --locked --quiet --workspace --test contract can_be_recorded

.PHONY: measure
measure: ## How the source reads, in figures with their goals; ARGS="--compare REV", "--list NAME"
	@scripts/measure $(ARGS)

.PHONY: deny
deny: ## The check of the dependencies by cargo-deny, with its warnings (crates in two versions)
	@scripts/setup deny
	cargo deny --locked check --hide-inclusion-graph licenses sources bans

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all

.PHONY: generated
generated: web ## Write docs/generated from the code, and figures of the docs from docs/performance.json
	UPDATE_GENERATED=1 cargo test --locked --quiet --workspace --test contract the_examples_are_the_ones_that_are_checked_in
	UPDATE_GENERATED=1 cargo test --locked --quiet --workspace --test contract checked_in

# Fails when the program $(1) has what lets tests make it fail.
define no-faults
	@found=0; grep --text --only-matching --max-count 1 -e FAILPOINTS -e CLOCK_OFFSET_MS $(1) || found=$$?; \
	((found == 1)) || \
		{ echo "tests could make this release fail: crates/storage/src/fault.rs" >&2 && exit 1; }
endef

.PHONY: build-setup
build-setup:
	@scripts/setup build

.PHONY: build
build: build-setup web ## Set up, then build the binary to run here, target/release/tillkeep, in some minutes
	cargo build --locked --release --bin tillkeep
	$(call no-faults,$(TARGET)/release/tillkeep)

.PHONY: dist
dist: build-setup web ## Build the binary as packages have it, target/dist/tillkeep: smaller and quicker, after some minutes more
	cargo build --locked --profile dist --bin tillkeep
	$(call no-faults,$(TARGET)/dist/tillkeep)

.PHONY: package
package: $(if $(BINARY),,web) ## A Debian package into target/package; BINARY=path packs that binary instead of building the release
	@scripts/setup package
	@scripts/package deb

# What the drills of upgrades begin with, once built, and the web client in a package; other parts of `make ops` do without.
OLD_RELEASE := $(TARGET)/tillkeep-0.1.0
ALL_PARTS := $(if $(findstring --only,$(ARGS))$(findstring --drills,$(ARGS)),,all)
DRILLED := $(ALL_PARTS)$(findstring drills,$(ARGS))
PACKED := $(ALL_PARTS)$(findstring package,$(ARGS))

.PHONY: old-release
old-release: $(OLD_RELEASE) ## The program of release 0.1.0 from the history of git, for the drills of upgrades

$(OLD_RELEASE):
	@scripts/setup compiler
	@scripts/old-release $@

.PHONY: ops
ops: $(if $(BINARY),,$(if $(PACKED),web)) $(if $(TILLKEEP_OLD),,$(if $(DRILLED),$(OLD_RELEASE))) ## What is installed and run, and all drills, on this machine as root; BINARY=path, ARGS="--only watch" or "--drills token"
	@$(if $(PACKED),scripts/setup package,true)
	@scripts/setup ops
	@$(TOOLS)/ops/bin/python scripts/ops/run $(if $(BINARY),--binary $(BINARY)) $(ARGS)

# Servers at work, each beside the limit of this machine (docs/performance.md). Takes three quarters of an hour; --quick three
# minutes.
BENCH := TILLKEEP_COMMIT=$$(git describe --always --dirty) $(TARGET)/dist/tillkeep bench --json $(TARGET)/bench.json

.PHONY: bench
bench: dist ## Measure the binary of packages on this machine; ARGS="--quick --only P3,P6", docs/performance.md has the rest
	$(BENCH) $(ARGS)

docs/performance.json:
	@echo "$@ is not there, so that nothing can be compared: check in what 'make bench' wrote to $(TARGET)/bench.json" >&2
	@exit 1

.PHONY: bench-check
bench-check: docs/performance.json dist ## As `make bench`, beside docs/performance.json: fails at a ratio a fifth lower, a goal no longer met, a figure gone
	$(BENCH) --against docs/performance.json $(ARGS)

.PHONY: demo
demo: ## Run an HQ with its stores on this machine, the last one for you to sell in, built first if need be; ARGS="--stores 3"
	@scripts/demo $(ARGS)

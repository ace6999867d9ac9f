# commsan: `make demo` and `make test` set up everything they need.
SHELL := /bin/bash
CARGO ?= cargo
PREFIX ?= /usr/local
DIST := target/dist
LIB := $(DIST)/lib/commsan
export CARGO_TERM_COLOR ?= auto
# Where cargo puts what it builds for a target that is named.
OUTPUT = target/$(CARGO_BUILD_TARGET)
# What runs outside the program.
PROFILE := release
BUILT = $(OUTPUT)/$(PROFILE:dev=debug)
OUTSIDE = $(CARGO) build --profile $(PROFILE)
# What runs within it.
RUNTIME := runtime
LOADED = $(OUTPUT)/$(RUNTIME:dev=debug)
WITHIN = $(CARGO) build --profile $(RUNTIME)
# What links the simulated CUDA runtimes.
LINK := cc

# Parts that are left out, and with them what they need to be built: lint (LLVM 19), viewer
# (Node.js), clang (the plugin; LLVM 19), gcc (the plugin; gcc's plugin headers), gpu (simulated
# devices), openmpi, mpich, mpiabi (runtimes).
WITHOUT :=
PARTS := lint viewer clang gcc gpu openmpi mpich mpiabi
ifneq (,$(filter-out $(PARTS),$(WITHOUT)))
$(error WITHOUT is of: $(PARTS); not: $(filter-out $(PARTS),$(WITHOUT)))
endif
has = $(filter-out $(WITHOUT),$(1))
FEATURES = $(if $(filter lint viewer,$(WITHOUT)),--no-default-features $(patsubst %,--features commsan/%,$(call has,lint viewer)))
RUNTIMES = $(call has,openmpi mpich mpiabi) serial

# Installs plugins of compilers; one that cannot be compiled is named, and compilers do without.
PLUGINS_FOR = $(call has,gcc) $(if $(call has,clang),$(wildcard $(addprefix /usr/bin/llvm-config-,14 15 16 17 18 19 20 21)))
PLUGINS = for compiler in $(3); do $(1) setup compiler --into $(2) $$compiler >$(2)/.setup || cat $(2)/.setup; done; rm -f $(2)/.setup

.PHONY: all help build viewer cuda setup fetched test matrix compilers check case bless pictures demo bench gpu-kit gpu-check fmt lint clean install dist aarch64
all: build

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What the machine lacks is installed with apt, or named when that is not possible. Building needs
# less than tests do.
NEEDS := build
setup: ## install what is missing, or name it
	@./scripts/setup.sh $(NEEDS) $(WITHOUT)

# What `commsan view` shows in the browser.
viewer: setup ## build the viewer in the browser
	@$(if $(call has,viewer),./scripts/viewer.sh)

# The tree a user installs: one command, its aliases, the hooks archive, a plugin for this machine's
# gcc and for each LLVM whose headers are here (others' are compiled when they are needed), a
# runtime per MPI and one for programs without, and CUDA's runtimes, NCCL and NVSHMEM for simulated
# devices.
build: setup viewer ## build everything, optimized, into target/dist
	@mkdir -p $(DIST)/bin $(LIB)
	$(OUTSIDE) -p commsan $(FEATURES)
	$(OUTSIDE) -p commsan-preload $(if $(call has,clang),-p commsan-llvm-pass)
	@install -m755 $(BUILT)/commsan $(DIST)/bin/commsan
	@for l in cc cxx fc nvcc {gcc,llvm}-{ar,nm,ranlib}; do ln -sf commsan $(DIST)/bin/commsan-$$l; done
	@install -m755 $(BUILT)/libcommsan_inject.so $(LIB)/
	@$(if $(call has,clang),install -m755 $(BUILT)/libcommsan_llvm_pass.so $(LIB)/libcommsan_pass.so)
	set -e; for r in $(RUNTIMES); do $(WITHIN) -p commsan-runtime --features commsan-runtime/$$r; \
	  install -m755 $(LOADED)/libcommsan_runtime.so $(LIB)/libcommsan_$$r.so; done
ifneq (,$(call has,gpu))
	$(WITHIN) -p commsan-simgpu
	@CC="$(LINK)" crates/simgpu/link.sh $(LOADED)/libcommsan_simgpu.a $(LIB)/simgpu
	$(WITHIN) -p commsan-simnccl
	@install -m755 $(LOADED)/libcommsan_simnccl.so $(LIB)/simgpu/libnccl.so.2
	@ln -sf libnccl.so.2 $(LIB)/simgpu/libnccl.so
	@CC="$(LINK)" crates/simnccl/link.sh $(LOADED)/libcommsan_simnccl.a $(LIB)/simgpu
endif
	@$(MAKE) --no-print-directory -s -C instrument/hooks OUT=$(abspath $(LIB)) OBJ=$(abspath target/hooks)
	@$(call PLUGINS,$(DIST)/bin/commsan,$(LIB),$(PLUGINS_FOR))

# NVIDIA's compiler and headers, for tests.
cuda: NEEDS := test
cuda: setup ## install NVIDIA's compiler and headers, for tests
	@./scripts/cuda.sh >/dev/null

# What else tests need from elsewhere comes while the compiler works. Failures are told when it is
# needed.
OTHER_MPIS := ./scripts/mpis.sh openmpi-5.0.11 mpich-5.0.2-abi
fetched: NEEDS := test
fetched: setup
	@($(OTHER_MPIS); ./scripts/python.sh) >/dev/null 2>&1 &

# All is built as one then, whatever `-p` says: what several need has the same features, and is
# compiled once.
TESTED = $(CARGO) build --workspace --lib --bins --tests --examples
# The runtime, which is empty without a feature, has tests of its own.
test: NEEDS := test
test: PROFILE := dev
test: RUNTIME := dev
test: OUTSIDE = $(TESTED)
test: WITHIN = $(TESTED)
test: fetched cuda build ## build and run all tests
	@./scripts/viewer.sh test
	@$(OTHER_MPIS) >/dev/null || echo "Tests go on without these MPI libraries"
	@./scripts/python.sh >/dev/null || echo "Tests go on without mpi4py, pytest and Meson"
	@CARGO="$(CARGO)" ./scripts/test.sh
	@echo

# One in EVERY of the C programs on one node; 1 is all of them, which takes hours.
EVERY := 4
matrix: NEEDS := test
matrix: PROFILE := dev
matrix: RUNTIME := dev
matrix: OUTSIDE = $(TESTED)
matrix: WITHIN = $(TESTED)
matrix: build ## run test programs with other versions and makers of MPI
	@./scripts/mpis.sh >/dev/null
	COMMSAN_TEST_MPIS=target/mpis COMMSAN_TEST_EVERY=$(EVERY) $(CARGO) test -p commsan --test cases

# Debian's compilers: one in EVERY of the C programs, and what checking costs.
compilers: NEEDS := test
compilers: build ## run and measure test programs with other versions of gcc and clang
	@./scripts/compilers.sh >/dev/null
	@for compiler in $$(./scripts/compilers.sh); do \
	  $(DIST)/bin/commsan setup compiler $$compiler || exit; \
	  echo "tests/cases with $$compiler"; \
	  COMMSAN_TEST_COMPILER=$$compiler COMMSAN_TEST_EVERY=$(EVERY) $(CARGO) test -q -p commsan --test cases -- $(NAME) || exit; \
	done
	@./bench/compilers.py --check $$(./scripts/compilers.sh)

# What needs neither an installed MPI nor a built tree.
check: lint ## unit tests and clippy: minutes
	$(CARGO) test --workspace --features commsan-runtime/serial --lib --bins
	$(CARGO) test -p commsan-report -p commsan-shadow -p commsan-rundir -p commsan-profile --tests
	$(CARGO) test -p commsan --test docs --test comments --test architecture --test architecture_circles

case: NEEDS := test
case: PROFILE := dev
case: RUNTIME := dev
case: OUTSIDE = $(TESTED)
case: WITHIN = $(TESTED)
case: cuda build ## run one test program with both MPIs, show its report: make case NAME=fail/p2p/isend_write
	@test -n "$(NAME)" || { echo 'which one? make case NAME=fail/p2p/isend_write' >&2; exit 2; }
	$(CARGO) test -p commsan --test cases -- $(NAME)
	@for run in target/cases/$(NAME)/*/run; do echo; echo "$$run"; $(DIST)/bin/commsan report $$run || true; done

# Tests that compare files write them instead. Look at `git diff` afterwards.
bless: ## rewrite snapshots and generated files
	BLESS=1 INSTA_UPDATE=always INSTA_FORCE_PASS=1 $(CARGO) test -q --no-fail-fast \
	  -p commsan-report -p commsan-profile -p commsan-ptx
	INSTA_UPDATE=always INSTA_FORCE_PASS=1 $(CARGO) test -q -p commsan-cuda-shim --test told
	BLESS=1 $(CARGO) test -q -p commsan --bins --test docs
	@git status --short

pictures: build ## take the README's pictures anew
	@./scripts/pictures.sh

# The demo has a tree of its own, which takes a minute and a half to build instead of ten: what it
# runs and for one MPI only, with nothing optimized.
DEMO := target/demo/dist
DEMO_MPI = $(shell { command -v mpicc.openmpi || { ! command -v mpicc.mpich && mpicc --showme; }; } \
  >/dev/null 2>&1 && echo openmpi || echo mpich)
# Which MPI there is, is asked when `setup` has installed one: make expands a recipe before it runs
# its first line.
demo: NEEDS := demo
demo: setup ## check a heat solver with a real bug, then its fix
	@mkdir -p $(DEMO)/bin $(DEMO)/lib/commsan
	$(CARGO) build --profile demo --bins --lib --no-default-features -p commsan -p commsan-preload \
	  -p commsan-runtime --features commsan-runtime/$(DEMO_MPI)
	@install -m755 target/demo/commsan $(DEMO)/bin/
	@install -m755 target/demo/libcommsan_inject.so $(DEMO)/lib/commsan/
	@install -m755 target/demo/libcommsan_runtime.so $(DEMO)/lib/commsan/libcommsan_$(DEMO_MPI).so
	@$(MAKE) --no-print-directory -s -C instrument/hooks OUT=$(abspath $(DEMO)/lib/commsan) OBJ=$(abspath target/demo/hooks)
	@$(call PLUGINS,$(DEMO)/bin/commsan,$(DEMO)/lib/commsan,gcc)
	@COMMSAN_DIST=$(abspath $(DEMO)) ./scripts/demo.sh

gpu-kit: cuda build ## a kit of compiled CUDA programs, for machines with a GPU
	$(CARGO) build --release -p commsan-gpu-check
	@./scripts/gpu-kit.sh

gpu-check: ## run that kit on this machine's GPU, else on simulated devices
	@[ -e target/gpu-check/kit.tar.xz ] || $(MAKE) gpu-kit
	@./scripts/gpu-check.sh target/gpu-check/kit.tar.xz --output target/gpu-check/results.json

bench: cuda build ## measure what checking costs
	@./bench/run.sh
	$(CARGO) bench -p commsan-simt -p commsan-kernel-checks

fmt: ## format the code
	$(CARGO) fmt --all

lint: ## check formatting, run clippy
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy -p commsan-runtime -p commsan-mpi-shim --features commsan-mpi-shim/openmpi,commsan-runtime/openmpi -- -D warnings
	$(CARGO) clippy -p commsan-runtime -p commsan-mpi-shim --features commsan-mpi-shim/mpich,commsan-runtime/mpich -- -D warnings
	$(CARGO) clippy -p commsan-runtime -p commsan-mpi-shim --features commsan-mpi-shim/mpiabi,commsan-runtime/mpiabi -- -D warnings
	$(CARGO) clippy -p commsan-runtime --features serial -- -D warnings
	$(CARGO) clippy -p commsan --no-default-features -- -D warnings

install: build ## build and copy to PREFIX, /usr/local by default; WITHOUT="lint viewer" leaves parts out
	@./scripts/install.sh $(DIST) $(DESTDIR)$(PREFIX)

dist: ## a tarball and a wheel for any Linux with glibc 2.28 or newer, into target/packages
	@./scripts/dist.sh

# What runs on 64-bit Arm: compiled, and crates with assembler or without tests of processes are run
# under emulation.
aarch64: ## check that the code compiles for 64-bit Arm
	@./scripts/aarch64.sh

clean: ## remove what was built
	$(CARGO) clean

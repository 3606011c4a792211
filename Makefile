# The front door to CMake. `make help` lists the targets; `make PRESET=cpu test` picks another preset.
SHELL := /bin/bash
export PATH := $(PATH):/usr/local/cuda/bin
PRESET ?= $(shell scripts/preset.sh)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD = build/$(PRESET)

.PHONY: build demo test test-python test-page bench install release-check format tidy clean help dependencies configure

build: configure  ## Build everything for this machine (the default)
	cmake --build --preset $(PRESET) -j $(JOBS)

# What is run here and now need not wait for nvcc without a GPU: `make PRESET=cuda install` for one that comes later.
demo install: PRESET = $(shell scripts/preset.sh --gpu)
demo: configure  ## Make a hologram of the sample object, reconstruct it, write demo/report.html
	cmake --build --preset $(PRESET) -j $(JOBS) -t holotone_cli
	scripts/demo.sh $(BUILD)/cli/holotone demo

test: build  ## Build, then run every test this machine can run
	ctest --preset $(PRESET) -j $(JOBS)

test-python: dependencies  ## Build the Python package and run its tests
	scripts/test_python.sh $(PRESET)

test-page: configure  ## Build the program and test the page of `holotone view` in a browser
	cmake --build --preset $(PRESET) -j $(JOBS) -t holotone_cli
	scripts/test_page.sh $(BUILD)/cli/holotone

bench: build  ## Run the benchmarks; results go to out/bench.json
	mkdir -p out
	$(BUILD)/bench/holotone_bench --benchmark_out=out/bench.json --benchmark_out_format=json

install: configure  ## Install library, headers and program below PREFIX (default /usr/local)
	cmake --build --preset $(PRESET) -j $(JOBS) -t holotone holotone_cli
	cmake --install $(BUILD) --prefix $(PREFIX)

release-check: dependencies  ## Check version, changelog and tables; build the wheel of a release and test it
	scripts/install_dependencies.sh --python
	scripts/install_dependencies.sh --develop
	scripts/release_check.sh

format:  ## Format every source file in place
	scripts/format.sh

tidy:  ## Run clang-tidy on every source file
	scripts/install_dependencies.sh --develop
	cmake --preset tidy
	cmake --build --preset tidy -j $(JOBS)

clean:  ## Remove what was built and made
	rm -rf build out demo

help:  ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

dependencies:
	scripts/install_dependencies.sh

configure: dependencies
	scripts/configure.sh $(PRESET)

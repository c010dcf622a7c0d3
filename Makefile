# Short names for the commands of this project; `make help` lists them. The work is done by CMake (CMakePresets.json).
JOBS ?= $(shell nproc)
TEST_JOBS ?= 2
PYTHON := /usr/bin/python3
CXX_FILES = find $(wildcard src cli bench test examples experiments python fuzz) -name '*.hpp' -o -name '*.cpp'

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help packages build demo test test-browser viewer peers bench experiments lint asan tsan fuzz fuzz-short soak format clean install python

help:
	@echo 'make demo     install the Debian packages, build, run the tour; results in out/demo'
	@echo 'make test     install the Debian packages, build, run all tests'
	@echo 'make bench    build and run the benchmarks beside their peers (Debian; pip, in build/peers); writes docs/performance.md; QUICK=1, ONLY=name'
	@echo 'make experiments   the papers’ experiments, paper’s value beside ours; one page, out/experiments/index.html'
	@echo 'make python   the Python package for /usr/bin/python3, in build/release/python (PYTHONPATH); elsewhere: pip install .'
	@echo 'make viewer   rebuild the page of reports, viewer/dist/report.html, from its TypeScript (Node)'
	@echo 'make test-browser   open a report of every verb in Chromium, without a screen (Node); pictures in out/browser'
	@echo 'make asan     the tests under the address and undefined behaviour sanitizers'
	@echo 'make tsan     the tests that use threads under the thread sanitizer'
	@echo 'make fuzz     every reader under libFuzzer (clang), ten minutes each; make fuzz-short: a minute in all'
	@echo 'make soak     long runs, less than an hour: a thousand random machines, ten million steps, eight hours of a particle filter'
	@echo 'make lint     clang-format (check only) and clang-tidy'
	@echo 'make format   clang-format, in place'
	@echo 'make install  to PREFIX (default /usr/local)'
	@echo 'make clean    remove build/ and out/'

packages:
	@cmake/packages.sh build

build/%/build.ninja: CMakePresets.json | packages
	cmake --preset $*

build: build/release/build.ninja
	cmake --build --preset release --parallel $(JOBS)

demo: build/release/build.ninja
	cmake --build --preset release --parallel $(JOBS) --target kinegraph
	build/release/cli/kinegraph demo --out out/demo
	@echo 'The tour wrote, in out/demo:'
	@cd out/demo && find . -type f -printf '  out/demo/%P  (%s bytes)\n' | sort

# ctest's own status is not the answer: the summary counts, and fails if a test failed or none ran.
# The readers are fuzzed too, where clang can be had: a fuzzer that cannot be built for another reason is a failure.
test: build
	@cmake/packages.sh fuzz || echo 'without clang the readers are not fuzzed' >&2
	$(PYTHON) fuzz/run.py --only-build || test $$? = 77
	@rm -f build/release/tests.xml
	ctest --preset release --parallel $(TEST_JOBS) --output-junit tests.xml || true
	@$(PYTHON) cmake/test_summary.py build/release/tests.xml

asan: build/asan/build.ninja
	cmake --build --preset asan --parallel $(JOBS)
	@rm -f build/asan/tests.xml
	UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan --parallel $(TEST_JOBS) --output-junit tests.xml || true
	@$(PYTHON) cmake/test_summary.py build/asan/tests.xml

# TBB is not instrumented: what it synchronises looks like races in its own library (cmake/tbb.suppressions).
TSAN_TESTS := linear_test solve_test filter_test ensemble_test
tsan: build/tsan/build.ninja
	cmake --build --preset tsan --parallel $(JOBS) --target $(TSAN_TESTS)
	set -e; for test in $(TSAN_TESTS); do \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/cmake/tbb.suppressions halt_on_error=1" build/tsan/src/$$test --gtest_brief=1; done

fuzz fuzz-short: packages
	@cmake/packages.sh fuzz
	$(PYTHON) fuzz/run.py --build $(if $(filter fuzz-short,$@),--seconds 60,--each 600)

soak: build/release/build.ninja
	cmake --build --preset release --parallel $(JOBS) --target kinegraph
	$(PYTHON) -B test/trust/soak.py build/release/cli/kinegraph

# The page of reports. Its built form is in the repository: who builds kinegraph needs no Node.
viewer/node_modules/complete: viewer/package-lock.json
	@command -v npm >/dev/null || cmake/packages.sh viewer
	cd viewer && { npm ci --no-audit --no-fund --loglevel=error || npm install --no-save --no-audit --no-fund; } && touch node_modules/complete  # a mirror may lack other systems' parts

viewer: viewer/node_modules/complete
	cd viewer && npm run build

test-browser: viewer/node_modules/complete build/release/build.ninja
	@cmake/packages.sh browser
	cmake --build --preset release --parallel $(JOBS) --target kinegraph
	cd viewer && npm test

# Pinocchio, MuJoCo and Crocoddyl, measured beside us. Where pip cannot get them the benchmarks run without.
PEERS := build/peers/venv
peers:
	@cmake/packages.sh build bench
	@test -f $(PEERS)/complete || { \
	  rm -rf $(PEERS) && $(PYTHON) -m venv $(PEERS) && \
	  $(PEERS)/bin/pip install --quiet --disable-pip-version-check 'pin>=4.1,<5' 'mujoco>=3.3' && \
	  touch $(PEERS)/complete; } || \
	  echo 'pip could not install Pinocchio and MuJoCo: the benchmarks run without them' >&2
	@test -f $(PEERS)/crocoddyl || { test -f $(PEERS)/complete && \
	  $(PEERS)/bin/pip install --quiet --disable-pip-version-check 'crocoddyl>=3.2,<4' && touch $(PEERS)/crocoddyl; } || \
	  echo 'pip could not install Crocoddyl: plan_bench runs without it' >&2

bench: peers
	cmake --preset bench -DKINEGRAPH_PEERS="$$(test -f $(PEERS)/complete && realpath $(PEERS))"
	cmake --build --preset bench --parallel $(JOBS)
	$(PYTHON) -B bench/page.py build/bench/bench --peers $(PEERS) $(if $(QUICK),--quick) $(addprefix --only ,$(ONLY))

experiments: build/release/build.ninja
	$(if $(QUICK),KINEGRAPH_QUICK=1) cmake --build --preset release --parallel $(JOBS) --target experiments

# The package for Debian's interpreter, with what draws and keeps logs. Another interpreter builds its own: pip install .
python: build/release/build.ninja
	@cmake/packages.sh build python
	cmake --preset release -DKINEGRAPH_PYTHON=ON
	cmake --build --preset release --parallel $(JOBS) --target _kinegraph
	PYTHONPATH=build/release/python $(PYTHON) -c 'import kinegraph; print("kinegraph", kinegraph.__version__, "in build/release/python")'

lint:
	@cmake/packages.sh build bench lint
	$(CXX_FILES) | sort | xargs clang-format --dry-run -Werror
	cmake --preset lint
	$(PYTHON) /usr/bin/run-clang-tidy -quiet -p build/lint -j $(JOBS) '^(?!.*_test\.cpp$$)' 2>&1 | \
	  { grep -vE 'warnings? generated|^clang-tidy' || true; }

format:
	@cmake/packages.sh lint
	$(CXX_FILES) | xargs clang-format -i

install: build
	cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

clean:
	rm -rf build out

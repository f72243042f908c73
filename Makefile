# Sets up, builds, shows and tests Precast. Every target may be run again; what is done is skipped.
# Only git, make, g++ and Python >= 3.11 need to be there before, on Debian 12.

.DEFAULT_GOAL := help
.PHONY: help setup build demo demo-train install test test-long bench bench-jax coverage clean
# The targets share build/, and ninja has its own parallelism.
.NOTPARALLEL:

# A user's Python settings must not reach the tests, and sources are no place for compiled files.
unexport PYTHONHOME PYTHONPATH
export PYTHONDONTWRITEBYTECODE := 1
# make PYTHON=/path/to/python3 chooses the Python for the virtual environments.
export PYTHON
# make install PREFIX=/opt/precast chooses the place; DESTDIR goes in front of it, for packages.
PREFIX ?= /usr/local
export DESTDIR

help:
	@echo 'make demo       set up, build, and run a real model: compile once, load everywhere'
	@echo 'make demo-train train the ranker with flax and optax, kill it, restart it on other devices (fetches 750 MB)'
	@echo 'make test       set up, build, and run every test, the sanitizers included'
	@echo 'make build      set up and build build/bin/precast and build/lib/'
	@echo 'make install    build, and install the command, the library and its headers in PREFIX ($(PREFIX))'
	@echo 'make setup      Debian packages and build/venv, which holds the CPU plugin'
	@echo 'make bench      measure: keys, decoding, the hit path against bare PJRT, the start of precast run'
	@echo 'make bench-jax  measure: precast.jax next to the cache that JAX has itself'
	@echo 'make test-long  the tests that take long'
	@echo 'make coverage   how many lines of src/ the tests run (needs clang 19, which it installs)'
	@echo 'make clean      remove build/: what was built and both virtual environments'
	@echo 'Add PYTHON=/path/to/python3 to choose the Python (>= 3.11).'

setup:
	@tools/setup packages venv

# The command and its library; the tests are built by make test.
build:
	@tools/setup packages venv configure
	cmake --build --preset release --target precast_cli precast_pjrt_wrapper

install: build
	cmake --install build --prefix "$(PREFIX)"

demo: build
	@build/venv/bin/python examples/ranker/demo.py

demo-train:
	@tools/setup packages jax-venv train-venv configure
	cmake --build --preset release --target precast_python_jax-venv
	@build/train-venv/bin/python examples/flax/demo.py

test:
	@tools/setup packages test-venv jax-venv client-sources configure
	cmake --build --preset release
	ctest --preset release
	@tools/setup configure-asan
	cmake --build --preset asan
	ctest --preset asan
	@echo '[test] all passed'

# Nothing else should run on the machine meanwhile. BENCH_OPTIONS='--repeat 30' takes longer and spreads less.
bench:
	@tools/setup packages bench-packages venv jax-venv configure
	cmake --build --preset release --target precast_cli precast_bench precast_fake_plugin precast_pjrt_wrapper
	@build/jax-venv/bin/python benchmarks/bench.py $(BENCH_OPTIONS)

bench-jax:
	@tools/setup packages jax-venv configure
	cmake --build --preset release --target precast_python_jax-venv
	@build/jax-venv/bin/python benchmarks/bench_jax.py $(BENCH_OPTIONS)

test-long:
	@tools/setup packages test-venv jax-venv client-sources newer-jax-venvs train-venv accelerator-venv configure
	cmake --build --preset release
	ctest --preset long

coverage:
	@tools/setup dev-packages test-venv jax-venv configure-coverage
	cmake --build --preset coverage
	@tools/coverage

clean:
	@if [ -e build ]; then \
	  echo '[clean] removing build/: what was built and both virtual environments'; \
	  rm -rf build; \
	else \
	  echo '[clean] nothing to remove: there is no build/'; \
	fi
	@echo '[clean] installed Debian packages stay'

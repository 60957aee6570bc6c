# Everything is set up on first use: `make test` and `make figure` need Python >= 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# One thread per process: the kernels are small, and timings are of one core.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# A file's tests need the same kernels: in one process these are compiled once.
SHARED := -n 2 --dist loadfile

.PHONY: help install test quick boundscheck check coverage uncovered figure bench reliability regret docs gallery picture release-check clean

help:
	@echo "make figure   run the main job, ending in a figure and a table"
	@echo "make test     style, types, layers, and every test"
	@echo "make quick    style, types, layers, and the tests nearest to what changed, in a minute"
	@echo "make boundscheck  the tests of compiled code, compiled to check every index (an hour)"
	@echo "make bench    side-by-side benchmarks, one table each (QUICK=1 for a short run)"
	@echo "make reliability  the reliability table and its page: kills, full disks, lost connections (half an hour)"
	@echo "make regret   the regret grid and its page, docs/regret.md (hours; SHARE=0.1 for a tenth)"
	@echo "make coverage how much of solvers and structures the tests run; fails below 95 %"
	@echo "make check    style, types and layers only"
	@echo "make docs     the documentation site, in site/; warnings are errors"
	@echo "make gallery  run the bundled experiments and write their pages (hours; ONLY=name for one)"
	@echo "make picture  draw the README's pictures (the second needs Chromium)"
	@echo "make release-check  build the wheel and run the quick start from it, outside the repository"
	@echo "make clean    remove the environment and what was built"

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

install: $(VENV)/installed

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest $(SHARED)

quick: install
	$(BIN)/python tools/quick.py $(if $(SECONDS_FOR_TESTS),--seconds $(SECONDS_FOR_TESTS))

# Compiled code reads and writes where an index points, right or wrong; so compiled it raises.
boundscheck: install
	OSSB_BOUNDSCHECK=1 $(BIN)/pytest $(SHARED) tests/families tests/graves_lai tests/models tests/policies \
		tests/simulation tests/structures tests/experiments tests/numerics tests/campaigns/test_trajectory.py \
		tests/campaigns/test_player.py tests/campaigns/test_deciding.py \
		tests/campaigns/test_wrong_decisions.py tests/test_kernels.py tests/test_records.py

COVERING := tests/graves_lai tests/structures tests/models tests/test_golden.py tests/test_certificates.py

# Solvers and structures through the interpreted path: compiled code leaves no trace.
coverage: install
	$(BIN)/pytest $(SHARED) -q $(COVERING) --cov=ossb.graves_lai --cov=ossb.structures \
		--cov-report=term:skip-covered --cov-fail-under=95

# All other tests: with `make check` and `make coverage` this is `make test`, and no test runs twice.
uncovered: install
	$(BIN)/pytest $(SHARED) $(addprefix --ignore=,$(COVERING))

figure: install
	$(BIN)/ossb run figure1

bench: install
	@for benchmark in $(filter-out benchmarks/reliability.py,$(wildcard benchmarks/*.py)); do \
		echo "== $$benchmark"; $(BIN)/python $$benchmark $(if $(QUICK),--quick) || exit 1; \
	done

reliability: install
	$(BIN)/python benchmarks/reliability.py $(if $(QUICK),--quick,--page docs/reliability-table.md)

regret: install
	$(BIN)/python tools/regret.py $(if $(SHARE),--share $(SHARE) --long-share $(SHARE) --variants-share $(SHARE))

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

gallery: install
	$(BIN)/python tools/gallery.py $(ONLY)

picture: install
	$(BIN)/python tools/readme_picture.py
	$(BIN)/python tools/page_picture.py

release-check: install
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) build dist results site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

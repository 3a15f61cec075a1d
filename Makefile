# The commands of this project; `make help` lists them. Needs Python 3.11 or newer and make (GNU make 3.81 is enough).

VENV := .venv
PY := $(VENV)/bin/python
OUT := out
LOWEST := tests/cli tests/evidence tests/report tests/gate tests/audit
# An interpreter that is gone or broken means that nothing is set up, whatever the stamps say. One that works is used,
# whoever made it; what make did not make ($(VENV)/.made is missing), it never deletes.
ifneq ($(shell $(PY) -c "print('works')" 2>/dev/null),works)
RENEW := renew
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help audit check-file docs gate museum test test-nightly test-lowest test-adapters test-backends test-training lint format bench reports verified clean renew

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-13s %s\n", $$1, $$2}'

audit: $(VENV)/.installed ## audit the Laplace mechanism and the penguin count, and print where the pages are
	@mkdir -p $(OUT)
	$(PY) -m dpaudit audit laplace --seed 0 --html $(OUT)/laplace.html --json $(OUT)/laplace.json
	$(PY) examples/penguins.py --out $(OUT)
	@echo
	@echo "The pages are in $(OUT)/:" && ls $(OUT)/*.html

test: $(VENV)/.installed-test ## run the tests
	$(PY) -m pytest -n 2 --dist worksteal

test-nightly: $(VENV)/.installed-test ## run all tests, also the longest and all rows of tables (half an hour)
	$(PY) -m pytest -n 2 --dist worksteal --nightly

test-lowest: $(VENV)/.created ## run tests with the lowest versions that pyproject.toml allows, in an environment of their own
	$(PY) -m pip install --quiet --disable-pip-version-check uv
	$(VENV)/bin/uv venv --quiet --clear --python $(PY) $(VENV)-lowest
	$(VENV)/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python --resolution lowest-direct --editable '.[test,learn]'
	$(VENV)-lowest/bin/python -m pytest -W default $(LOWEST)

test-adapters: $(VENV)/.created ## audit libraries of differential privacy in environments of their own (half an hour, and gigabytes)
	$(PY) benchmarks/adapters/run.py

test-training: $(VENV)/.created ## watch training loops of PyTorch, Opacus and JAX in an environment of their own (half an hour, and gigabytes)
	$(PY) -m venv --clear $(VENV)-training
	$(VENV)-training/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/training/requirements.txt --editable '.[test]'
	$(VENV)-training/bin/python -m pytest tests/training
	$(VENV)-training/bin/python docs/notebooks.py
	$(VENV)-training/bin/python benchmarks/training/measure.py
	$(VENV)-training/bin/python benchmarks/training/measure_jax.py
	$(VENV)-training/bin/python benchmarks/training/measure_canaries.py

test-backends: $(VENV)/.created ## audit on Dask, Ray and submitit, and kill workers, in an environment of its own (ten minutes)
	$(PY) -m venv --clear $(VENV)-backends
	$(VENV)-backends/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/backends/requirements.txt --editable .
	$(VENV)-backends/bin/python benchmarks/backends/measure.py

check-file: $(VENV)/.installed ## build out/dpaudit-check.pyz, which checks evidence where nothing is installed; prints its digest
	@mkdir -p $(OUT)
	$(PY) -m dpaudit.checker.archive $(OUT)/dpaudit-check.pyz

docs: $(VENV)/.installed-docs ## build the site of the documentation in out/docs; every example is run (two minutes)
	$(PY) -m sphinx --quiet --fail-on-warning --keep-going --builder html docs $(OUT)/docs
	@echo "The site is $(OUT)/docs/index.html"

lint: $(VENV)/.installed-test $(VENV)/.installed-lint ## style, types and import contracts
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

gate: $(VENV)/.installed-test ## the catalogue keeps its promises, and its mistakes are found (a minute or two)
	$(VENV)/bin/dpaudit gate --fresh

format: $(VENV)/.installed-lint ## put the code into the project's format
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

verified: ## build the checker with a theorem, and compare with what is kept (needs Coq; see verified/README.md)
	$(MAKE) --no-print-directory -C verified compare

bench: $(VENV)/.installed-test ## measure what the documentation promises (minutes; see benchmarks/README.md)
	$(PY) benchmarks/overhead.py
	$(PY) benchmarks/startup.py

museum: $(VENV)/.installed-test ## give every reported mistake of the museum to dpaudit, and keep the answers (ten minutes)
	$(PY) benchmarks/museum/run.py

reports: $(VENV)-reports/.installed ## make the reference reports again, under reports/constraints.txt
	$(VENV)-reports/bin/python reports/regenerate.py

clean: ## remove everything that make made
	@if [ -e $(VENV)/.made ]; then rm -rf $(VENV); \
	elif [ -d $(VENV) ]; then rm -f $(VENV)/.created $(VENV)/.installed*; \
	  echo "$(VENV) stays: make did not make it. To remove it: rm -r $(VENV)"; fi
	rm -rf $(VENV)-reports $(VENV)-lowest $(VENV)-backends $(VENV)-training $(OUT) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# --- setting up: each stamp is written only after everything before it has succeeded ---

# Where uv is there, it installs in a tenth of the time that pip takes.
define install
	@uv=$$(command -v $(VENV)/bin/uv || command -v uv) && $$uv pip install --quiet --compile-bytecode --python $(PY) --editable '$(1)' \
	|| $(PY) -m pip install --quiet --disable-pip-version-check --editable '$(1)'
	@touch $@
endef

renew:

$(VENV)/.created: $(RENEW)
	@rm -f $(VENV)/.installed*
	@if $(PY) -m pip --version >/dev/null 2>&1; then echo "Using $(VENV) as it is"; touch $@; exit 0; fi; \
	if [ -d $(VENV) ] && [ ! -e $(VENV)/.made ]; then \
	  echo "$(VENV) does not work, or has no pip, and make did not make it. Move it away, or name another place:" >&2; \
	  echo "  make VENV=.venv-make" >&2; exit 1; \
	fi; \
	found=; \
	for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if $$candidate -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found=$$candidate; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "No Python 3.11 or newer with venv and ensurepip was found (on Debian: apt install python3-venv)." >&2; \
	  echo "Name one with: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$found"; \
	$$found -m venv --clear $(VENV) && touch $(VENV)/.made $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(call install,.)

$(VENV)/.installed-test: $(VENV)/.installed
	$(call install,.[test])

$(VENV)/.installed-lint: $(VENV)/.installed
	$(call install,.[lint])

$(VENV)/.installed-docs: $(VENV)/.installed
	$(call install,.[docs])

$(VENV)-reports/.installed: $(VENV)/.created reports/constraints.txt pyproject.toml
	$(PY) -m venv --clear $(VENV)-reports
	$(VENV)-reports/bin/python -m pip install --quiet --disable-pip-version-check --constraint reports/constraints.txt --editable '.[proof]'
	@touch $@

"""What all tests share: seeds, examples and drawings that are the same every time, and no slower than they need be."""

from __future__ import annotations

import compileall
import functools
import gc
import itertools
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

gc.disable()  # until all tests are collected: what that makes is no garbage
# To rewrite the assertions of all tests takes seven seconds: until they are collected, what is compiled is kept.
_unkept = sys.dont_write_bytecode
sys.dont_write_bytecode = False

from hypothesis import HealthCheck, settings  # noqa: E402  (its assertions are rewritten as well)

# Nothing that is written here has to outlive the machine, and thousands of files that wait for the disk take a minute.
# Before dpaudit is imported: later it would notice.
os.fsync = lambda _: None

from support import drawings  # noqa: E402

# Two workers on two cores: threads of linear algebra would wait for each other. Read when NumPy is first imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from dpaudit.reading.universe import second  # noqa: E402
from dpaudit.tracing import search  # noqa: E402

WORK, LEAST_OF_MANY = search._WORK, search._LEAST_OF_MANY

# a busy machine draws slowly, and that is no finding
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    """Compile once what every worker, and every process that tests start, would compile again."""
    # pytest also rewrites the packages of its plugins: of dpaudit alone as many modules as there are tests
    config.pluginmanager.rewrite_hook._must_rewrite.discard("dpaudit")
    if not hasattr(config, "workerinput"):
        for package in ("dpaudit", "mechanisms"):
            compileall.compile_dir(Path(__file__).parents[1] / package, quiet=1)


class _Backwards(pytest.Dir):
    """Collected from the end."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return reversed([*super().collect()])


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Dir | None:
    """Two workers begin at both ends: each rewrites half of the tests, and finds the others kept."""
    backwards = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw1"
    return _Backwards.from_parent(parent, path=path) if backwards else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """What takes long, and is there in part without it."""
    parser.addoption("--nightly", action="store_true", help="also the tests that are marked nightly")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every worker has the tests in one order again, and what is for the night at night alone."""
    items.sort(key=lambda item: item.path.parts)
    if not config.getoption("--nightly"):
        later = {*_for_the_night(items)}
        config.hook.pytest_deselected(items=[*later])
        items[:] = [item for item in items if item not in later]


def _for_the_night(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """What is marked nightly; and of a slow table of six rows and more, of which no row is marked, five of six.

    But where it says ``slow(rows="all")``, as tables of attacks do.
    """
    tables: dict[object, list[pytest.Item]] = {}
    for item in items:
        tables.setdefault((item.path, getattr(item, "cls", None), getattr(item, "originalname", item.name)), []).append(
            item
        )
    for rows in tables.values():
        marked = [row for row in rows if row.get_closest_marker("nightly")]
        slow = rows[0].get_closest_marker("slow")
        if marked or len(rows) < 6 or slow is None or slow.kwargs.get("rows") == "all":
            yield from marked
        else:
            yield from (row for number, row in enumerate(rows) if number % 6)


def pytest_collection_finish() -> None:
    """What tests write is not kept; thousands of them are looked through for garbage no more."""
    sys.dont_write_bytecode = _unkept
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # a twentieth of the time went into looking for circles


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What a function draws without a seed is the same in every run of a test, so that none is red by chance.

    Generators of NumPy without a seed begin at 0, 1, …, anew in each test: where NumPy asks for bits, a count answers,
    which is no function of the user's.
    """
    np.random.bit_generator.randbits = functools.partial(next, itertools.count())
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture(scope="session", autouse=True)
def _no_fresh_seed() -> Iterator[None]:
    """Where a test names no seed, it gets the same one every time: tests end as they ended before.

    It is the operating system that is replaced, and so for every module that has imported `fresh_seed` by its name.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.auditing.question.secrets", SimpleNamespace(randbits=lambda bits: 0))
        yield


@pytest.fixture(scope="session", autouse=True)
def _few_own_functions() -> Iterator[None]:
    """After a run only the functions that make runs are compared, not ten thousand: a tenth of the time of audits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.settings._PACKAGES", ("dpaudit.sampling.", "dpaudit.settings."))
        yield


@pytest.fixture(name="all_own_functions")
def _all_own_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is replaced in any module is noticed, as it is outside of tests."""
    monkeypatch.setattr("dpaudit.settings._PACKAGES", ("dpaudit.",))


@pytest.fixture(scope="session", autouse=True)
def _few_pairs(request: pytest.FixtureRequest) -> Iterator[None]:
    """By day a reading is held against runs on a pair of each size: most of the time of a proof goes into them."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--nightly"):
            patch.setitem(second.disagreement.__kwdefaults__, "pairs", len(second.SIZES))
            patch.setattr(second, "MORE", 2)
        yield


@pytest.fixture(name="all_pairs")
def _all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many pairs as outside of tests, where runs have to find something."""
    monkeypatch.setitem(second.disagreement.__kwdefaults__, "pairs", second.PAIRS)
    monkeypatch.setattr(second, "MORE", 8)


@pytest.fixture(scope="session", autouse=True)
def _few_candidates(request: pytest.FixtureRequest) -> Iterator[None]:
    """By day a trace looks at a few neighbours of the data: most of the time of an audit of data goes into them."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--nightly"):
            patch.setattr(search, "_WORK", 0)
            patch.setattr(search, "_LEAST_OF_MANY", 12)
        yield


@pytest.fixture(name="all_candidates")
def _all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many neighbours as outside of tests, where the right one has to be among them."""
    monkeypatch.setattr(search, "_WORK", WORK)
    monkeypatch.setattr(search, "_LEAST_OF_MANY", LEAST_OF_MANY)


@pytest.fixture(name="undrawn")
def _undrawn() -> Iterator[None]:
    """Pages have frames for drawings."""
    with drawings.undrawn():
        yield


def _chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of pages; they are skipped, with the reason, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[test]'")
    path = _chromium()
    if path is None:
        pytest.skip("no Chromium was found: install one (on Debian: apt install chromium), or name it in CHROMIUM")
    with playwright.sync_playwright() as running:
        # without a sandbox, so that it starts for root too; the pages are our own
        started = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()

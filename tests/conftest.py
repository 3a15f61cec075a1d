"""What all tests share: seeds, examples and drawings that are the same every time, and no slower than they need be."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Nothing that is written here has to outlive the machine, and thousands of files that wait for the disk take a minute.
# Before dpaudit is imported: later it would notice.
os.fsync = lambda _: None

from support import drawings  # noqa: E402

# Two workers on two cores: threads of linear algebra would wait for each other. Read when NumPy is first imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# To rewrite the assertions of all tests takes ten seconds: until they are collected, what is compiled is kept.
_unkept = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# a busy machine draws slowly, and that is no finding
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_collection_finish() -> None:
    """What tests write is not kept; thousands of them are looked through for garbage no more."""
    sys.dont_write_bytecode = _unkept
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # a twentieth of the time went into looking for circles


@pytest.fixture(scope="session", autouse=True)
def _no_fresh_seed() -> Iterator[None]:
    """Where a test names no seed, it gets the same one every time: tests end as they ended before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.auditing.seeds.fresh_seed", lambda: 0)
        yield


@pytest.fixture(name="undrawn")
def _undrawn() -> Iterator[None]:
    """Pages have frames for drawings."""
    with drawings.undrawn():
        yield

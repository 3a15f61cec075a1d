"""Where a test names no seed, it gets the same one every time: tests end as they ended before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _no_fresh_seed() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.seeds.fresh_seed", lambda: 0)
        yield

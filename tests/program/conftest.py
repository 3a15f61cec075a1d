"""The twin of the batch reading, for the tests of this folder."""

from __future__ import annotations

import pytest
from support.replaying import Replay


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Replay:
    return Replay(monkeypatch)

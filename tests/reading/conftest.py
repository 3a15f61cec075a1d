"""What programs of these tests leave behind is gone before others run."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _no_generators_left() -> Iterator[None]:
    """Generators that were never finished end here, and whatever they raise then is nobody's."""
    yield
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda _: None)
        gc.collect()

"""Lets the tests of this folder import what is made beside them, and the evidence of the reports' tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "report")]


@pytest.fixture(autouse=True)
def _words_alone(undrawn: None) -> None:
    """The tests of this folder read what a page says; its drawings have tests of their own."""

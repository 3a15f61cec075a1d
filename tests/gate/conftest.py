"""Lets the tests of this folder import what is made beside them, and the evidence of the reports' tests."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "report")]

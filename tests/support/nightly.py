"""Which rows of a table are tried at night alone? Some stay in every run of the tests; `make test-nightly` has all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_at_night(rows: Iterable[Any], *, every: int = 5, stay: Iterable[Any] | None = None) -> list[Any]:
    """Mark the rows of a table for the night, but each fifth, or those that are named."""
    kept = None if stay is None else set(stay)
    return [
        row if (number % every == 0 if kept is None else row in kept) else _at_night(row)
        for number, row in enumerate(rows)
    ]


def _at_night(row: Any) -> Any:
    if isinstance(row, type(pytest.param())):
        return row._replace(marks=(*row.marks, pytest.mark.nightly))
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.nightly)

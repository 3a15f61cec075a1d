"""SmartNoise SQL: every mechanism that its options name, behind queries; slow, so gross things show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd
from seat import Audited, Left, Seat, shown
from snsql.sql._mechanisms.base import Mechanism

from dpaudit.adapters.snsql import mechanism_of

TABLE = {"row_privacy": True, "rows": 10, "age": {"type": "float", "lower": 0, "upper": 100}, "sex": {"type": "string"}}
BASE = pd.DataFrame({"age": [50.0] * 3, "sex": ["a"] * 3})
QUERIES = {
    "COUNT(*)": 50.0,
    "COUNT(DISTINCT age)": 70.0,
    "SUM(age)": 100.0,
    "AVG(age)": 100.0,
    "VAR(age)": 100.0,
    "STDDEV(age)": 100.0,
}


def made(query: str, epsilon: float) -> Any:
    """The mechanism of a query."""
    return mechanism_of(query, metadata={"": {"": {"people": TABLE}}}, epsilon=epsilon, delta=1e-2)


def found() -> Iterator[Seat]:
    """Every aggregate of the dialect, and the mechanisms that it draws from, which are reached through it."""
    yield from (Left(each.name, "reached by queries alone, which choose it") for each in Mechanism)
    for what, age in QUERIES.items():
        for group in ("", "sex"):
            for epsilon in (1.0, 4.0):
                more = f" GROUP BY {group}" if group else ""
                query = f"SELECT {group + ', ' if group else ''}{what} AS n FROM people{more}"
                one = pd.DataFrame([{"age": age, "sex": "a"}])
                pair = (pd.concat([BASE, one], ignore_index=True), BASE)
                yield Audited(shown(query, {"epsilon": epsilon}), partial(made, query, epsilon), [pair], {})

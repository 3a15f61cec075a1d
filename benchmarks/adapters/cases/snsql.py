"""SmartNoise SQL: counts, sums, thresholds of groups, and rows that are odd. Slow, so that only gross things show."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
from case import Case

from dpaudit.adapters.snsql import mechanism_of

TABLE = {
    "row_privacy": True,
    "rows": 10,
    "age": {"type": "float", "lower": 0, "upper": 100},
    "sex": {"type": "string"},
    "children": {"type": "int", "lower": 0, "upper": 10},
}
METADATA = {"": {"": {"people": TABLE}}}
BASE = pd.DataFrame({"age": [50.0] * 3, "sex": ["a"] * 3, "children": [1] * 3})


def made(query: str, **options: Any) -> Any:
    """The mechanism of a query."""
    return mechanism_of(query, metadata=METADATA, **{"epsilon": 1.0, "delta": 1e-2, **options})


def _with(**row: Any) -> list[Any]:
    return [
        (pd.concat([BASE, pd.DataFrame([{"age": 50.0, "sex": "a", "children": 1, **row}])], ignore_index=True), BASE)
    ]


GROUPS = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
RUNS = 500

CASES = [
    Case("count", partial(made, "SELECT COUNT(*) AS n FROM people"), _with(), RUNS),
    Case("sum beyond its bounds", partial(made, "SELECT SUM(age) AS s FROM people"), _with(age=1e9), RUNS),
    Case("sum with NaN", partial(made, "SELECT SUM(age) AS s FROM people"), _with(age=float("nan")), RUNS),
    Case("sum with infinity", partial(made, "SELECT SUM(age) AS s FROM people"), _with(age=float("inf")), RUNS),
    Case("groups, a new one", partial(made, GROUPS), _with(sex="z"), RUNS),
    Case("groups, a fourth row", partial(made, GROUPS), _with(), RUNS),
    Case("count of nothing", partial(made, "SELECT COUNT(*) AS n FROM people"), [(BASE.iloc[:1], BASE.iloc[:0])], RUNS),
    Case("average", partial(made, "SELECT AVG(age) AS m FROM people"), _with(age=100.0), RUNS),
]

"""Does a query of SmartNoise SQL keep what its reader says that it costs?

    python examples/adapters/smartnoise_query.py
    dpaudit audit examples/adapters/smartnoise_query.py:release --runs 2e3

Needs SmartNoise SQL: pip install 'smartnoise-sql>=1.0,<1.1'. A query takes tens of milliseconds, so that an audit of
a few minutes sees only gross violations; the evidence says from which ε on.
"""

from __future__ import annotations

import pandas as pd

import dpaudit as dp
from dpaudit.adapters.snsql import mechanism_of

people = pd.DataFrame({"age": [41.0, 35.0, 62.0]})
table = {"row_privacy": True, "rows": 3, "age": {"type": "float", "lower": 0, "upper": 100}}

release = mechanism_of(
    "SELECT COUNT(*) AS n FROM people",
    metadata={"": {"": {"people": table}}},
    epsilon=1.0,
    delta=1e-2,
    pairs=[(people, people.iloc[:-1])],
    name="count of people",
)

if __name__ == "__main__":
    evidence = dp.audit(release, runs=500)
    print(f"claim {evidence.claim} between {evidence.relation} neighbours: {evidence.verdict}")
    print(evidence.reason)

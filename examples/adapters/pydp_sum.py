"""Does a bounded sum of PyDP keep its ε?

    python examples/adapters/pydp_sum.py
    dpaudit audit examples/adapters/pydp_sum.py:release

Needs PyDP: pip install 'python-dp>=1.1,<1.2'. An algorithm is a target by itself; its dataset is a list of numbers.
"""

from __future__ import annotations

from pydp.algorithms.laplacian import BoundedSum

import dpaudit as dp
from dpaudit.adapters.pydp import mechanism_of

PAIRS = [([41.0, 100.0], [41.0])]

total = BoundedSum(epsilon=1.0, lower_bound=0, upper_bound=100, dtype="float")
release = mechanism_of(total, pairs=PAIRS)

if __name__ == "__main__":
    evidence = dp.audit(total, pairs=PAIRS, runs=20_000, confidence=0.999)
    print(f"claim {evidence.claim} between {evidence.relation} neighbours: {evidence.verdict}")
    print(f"epsilon is at least {evidence.lower.value:.3f}, by {evidence.runs:,} runs of {evidence.target.source}")

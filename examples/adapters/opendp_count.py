"""Does a count by OpenDP keep what its own map states?

    python examples/adapters/opendp_count.py
    dpaudit audit examples/adapters/opendp_count.py:release

Needs OpenDP: pip install 'opendp>=0.14,<0.17'. A `Measurement` is a target by itself: the claim is its map at one
record, the relation is that of its input metric.
"""

from __future__ import annotations

import opendp.prelude as odp

import dpaudit as dp
from dpaudit.adapters.opendp import mechanism_of

odp.enable_features("contrib", "honest-but-curious")

ages = odp.vector_domain(odp.atom_domain(T=int)), odp.symmetric_distance()
count = ages >> odp.t.then_count() >> odp.m.then_laplace(scale=1.0)

# with a pair of its own, the command line needs no file
release = mechanism_of(count, pairs=[([41, 35, 62], [41, 35])], name="count")

if __name__ == "__main__":
    evidence = dp.audit(count, data=[41, 35, 62], domain=(0, 120), runs=20_000, confidence=0.999)
    print(f"claim {evidence.claim} between {evidence.relation} neighbours: {evidence.verdict}")
    print(f"epsilon is at least {evidence.lower.value:.3f}, by {evidence.runs:,} runs of {evidence.target.source}")

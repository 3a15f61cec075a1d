"""Does a measurement of Tumult Core keep what its privacy function states?

    python examples/adapters/tumult_noise.py
    dpaudit audit examples/adapters/tumult_noise.py:release

Needs Tumult Core: on Python 3.13 and later pip install 'tmlt.core>=0.18,<0.21'. On Python 3.11 and 3.12 it asks for
NumPy 1, and dpaudit for NumPy 2 or newer: benchmarks/adapters/README.md says how they are brought together there.
"""

from __future__ import annotations

from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

import dpaudit as dp
from dpaudit.adapters.tmlt_core import mechanism_of

noise = AddGeometricNoise(alpha=1)
release = mechanism_of(noise, pairs=[(3, 4)])

if __name__ == "__main__":
    evidence = dp.audit(noise, pairs=[(3, 4)], runs=10_000, confidence=0.999)
    print(f"claim {evidence.claim} between {evidence.relation} neighbours: {evidence.verdict}")
    print(f"epsilon is at least {evidence.lower.value:.3f}, by {evidence.runs:,} runs of {evidence.target.source}")

"""Do a mechanism and a mean of diffprivlib keep what the library's accountant states?

    python examples/adapters/diffprivlib_mean.py
    dpaudit audit examples/adapters/diffprivlib_mean.py:release
    dpaudit audit examples/adapters/diffprivlib_mean.py:careless          # VIOLATED, as the library warns

Needs diffprivlib: pip install 'diffprivlib>=0.6,<0.7' 'scikit-learn<1.7'. A mechanism is a target by itself; of a tool
the claim is what one call spends by the library's own accountant.
"""

from __future__ import annotations

import numpy as np
from diffprivlib import mechanisms, tools

import dpaudit as dp
from dpaudit.adapters.diffprivlib import release_of

PAIRS = [(np.array([41.0, 35, 62, 18]), np.array([41.0, 35, 62, 99]))]

release = release_of(tools.mean, relation="replace", pairs=PAIRS, epsilon=1.0, bounds=(0, 100))
careless = release_of(tools.mean, relation="replace", pairs=PAIRS, epsilon=1.0)  # bounds from the data
laplace = mechanisms.Laplace(epsilon=1.0, sensitivity=1)

if __name__ == "__main__":
    for name, evidence in (
        ("laplace", dp.audit(laplace, pairs=[(0.0, 1.0)], runs=20_000)),
        ("mean", dp.audit(release, runs=4_000)),
        ("mean without bounds", dp.audit(careless, runs=4_000)),
    ):
        print(f"{name}: claim {evidence.claim}, {evidence.verdict}, epsilon is at least {evidence.lower.value:.3f}")

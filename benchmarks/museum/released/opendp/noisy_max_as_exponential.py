"""`make_noisy_max` was reported to flip and permute, and to say the ρ of the exponential mechanism.

In this release for Python it chooses the second of [1, -1] with 1/(1 + e²) = 0.119, as the exponential mechanism does
(permute-and-flip: 0.068), and keeps the ρ = 1/2 that it claims at scale 1.
"""

import opendp.prelude as dp

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2911",)
REPORTED = "2026-08"
PAIR = [[[0, 0], [1, -1]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim rho=0.5 --runs 40000"
LOSS = {"reported": 0.5}
SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
mechanism = dp.m.make_noisy_max(*SPACE, dp.zero_concentrated_divergence(), scale=1.0)


def reported(scores):
    return mechanism(scores)

"""`make_report_noisy_max_gumbel` returns the smallest score: a mistake, and none of privacy.

It claims ε = 1 at scale 2, and keeps it.
"""

import warnings

import opendp.prelude as dp

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2912",)
REPORTED = "2026-08"
PAIR = [[[3, 2, 2], [2, 3, 3]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1 --runs 40000"
LOSS = {"reported": 1}
SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mechanism = dp.m.make_report_noisy_max_gumbel(*SPACE, scale=2.0)


def reported(scores):
    return mechanism(scores)

"""Counts at the threshold are released, and δ is that of counts above it.

At scale 1 and threshold 5 it claims δ = 0.004926; a key of one person shows with P(noise ≥ 4) = 0.0134, by hand.
"""

import math

import opendp.prelude as dp

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2922",)
REPORTED = "2026-09"
PAIR = [["a", "a", "a", "b"], ["a", "a", "a"]]
COMMAND = "audit {} --pair pair.json --relation add-remove --claim 'epsilon=1, delta=0.004926' --runs 60000"
LOSS = {"wrong": math.inf}
NAMED = ("'b': ",)
counts = dp.t.make_count_by(dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance())
release = counts >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)


def wrong(rows):
    return dict(release(rows))

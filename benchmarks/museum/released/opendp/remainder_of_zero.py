"""A count of remainders is released without noise, as there is said to be one for every record.

The remainder of a division by zero is missing: the number of zeros is exact, and charged ε = 0.
"""

import math

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2940",)
REPORTED = "2026-09"
PAIR = [[0] + [3] * 15, [3] * 16]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1 --runs 4000"
LOSS = {"wrong": math.inf}
NAMED = ("output that is int = 1[56]",)
whole = dp.option_domain(dp.atom_domain(T="i64"))
release = dp.m.make_private_lazyframe(
    dp.with_margin(
        dp.lazyframe_domain([dp.series_domain("n", whole), dp.series_domain("m", whole)]),
        dp.polars.Margin(max_length=16, invariant="lengths"),
    ),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema={"n": pl.Int64, "m": pl.Int64}).select(
        (pl.col("n").fill_null(0) % pl.col("m").fill_null(0)).count().dp.noise()
    ),
    global_scale=1.0,
)


def wrong(divisors):
    return release(pl.LazyFrame({"n": list(range(16)), "m": divisors})).collect().item()

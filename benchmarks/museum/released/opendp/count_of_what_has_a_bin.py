"""A count of values that were put into bins is released without noise, as no value is said to be missing after it.

The length of 16 is public, the number that is not NaN is not: it is charged ε = 0, and exact.
"""

import math

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2939",)
REPORTED = "2026-09"
PAIR = [[float("nan")] + [1.0] * 15, [1.0] * 16]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1 --runs 4000"
LOSS = {"wrong": math.inf}
NAMED = ("output that is int = 1[56]",)
column = dp.series_domain("x", dp.option_domain(dp.atom_domain(T=float)))
release = dp.m.make_private_lazyframe(
    dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=16, invariant="lengths")),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema={"x": pl.Float64}).select(pl.col("x").fill_null(0.0).cut([1.5]).count().dp.noise()),
    global_scale=1.0,
)


def wrong(values):
    return release(pl.LazyFrame({"x": values}, schema={"x": pl.Float64})).collect().item()

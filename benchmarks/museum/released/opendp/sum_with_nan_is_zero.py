"""Missing values are filled with NaN, a sum of NaN is taken for 0, and gets the noise of a sum.

The sensitivity is claimed to be 1: ε = 1 at scale 1. One missing value takes the sum of 20 ones to 0.
"""

import math

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2936", "opendp/opendp#2935")
REPORTED = "2026-09"
PAIR = [[None] + [1.0] * 19, [1.0] * 20]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=2 --runs 4000"
LOSS = {"wrong": math.inf}
NAMED = ("a move of|moves by|NaN",)
column = dp.series_domain("x", dp.option_domain(dp.atom_domain(T=float, nan=False)))
release = dp.m.make_private_lazyframe(
    dp.with_margin(dp.lazyframe_domain([column]), dp.polars.Margin(max_length=100)),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema={"x": pl.Float64}).select(
        pl.col("x").fill_null(float("nan")).clip(0.0, 1.0).sum().dp.noise(scale=1)
    ),
    global_scale=1.0,
)


def wrong(values):
    return release(pl.LazyFrame({"x": values}, schema={"x": pl.Float64})).collect().item()

"""Categories of `cut` get their codes in the order in which they appear, and are taken for one value a record.

A record of another bin in front turns the sum of 20 codes from 0 to 20; ε = 1 is claimed.
"""

import math

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2944",)
REPORTED = "2026-09"
PAIR = [[0.5] * 20, [2.0] + [0.5] * 20]
COMMAND = "audit {} --pair pair.json --relation declared --claim epsilon=1 --runs 4000"
LOSS = {"wrong": math.inf}
NAMED = ("a move of|moves by",)
release = dp.m.make_private_lazyframe(
    dp.with_margin(
        dp.lazyframe_domain([dp.series_domain("x", dp.atom_domain(T=float, nan=False))]),
        dp.polars.Margin(max_length=101),
    ),
    dp.frame_distance(dp.symmetric_distance()),
    dp.max_divergence(),
    pl.LazyFrame(schema={"x": pl.Float64}).select(pl.col("x").cut([1.0]).to_physical().dp.sum((0, 1), scale=1.0)),
)


def wrong(values):
    return release(pl.LazyFrame({"x": values}, schema={"x": pl.Float64})).collect().item()

"""A bound on groups per person survives that all groups become one.

One record per group and nine groups per person are kept, then the groups are merged: a person moves the count by 9.
ρ = 1/2 is claimed for a person at scale 1; it is 81/2, by hand.
"""

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

SOURCES = ("opendp/opendp#2949",)
REPORTED = "2026-09"
PAIR = [[[[0, g] for g in range(9)] + [[1, 0]], [[1, 0]]]]
COMMAND = "audit {} --pair pair.json --relation declared --claim rho=0.5 --runs 4000"
LOSS = {"wrong": 40.5}
NAMED = ("a move of|moves by",)
counts = (
    pl.LazyFrame(schema={"id": pl.Int64, "g": pl.Int64})
    .filter(pl.int_range(pl.len()).over("id", "g") < 1)
    .filter(pl.struct("g").rank("dense").over("id") < 10)
    .with_columns(g=pl.lit(0, dtype=pl.Int64))
    .group_by("g")
    .agg(dp.len(scale=1.0))
)
whole = dp.atom_domain(T="i64")
release = dp.m.make_private_lazyframe(
    dp.lazyframe_domain([dp.series_domain("id", whole), dp.series_domain("g", whole)]),
    dp.symmetric_id_distance(identifier=pl.col("id")),
    dp.zero_concentrated_divergence(),
    pl.LazyFrame({"g": [0]}).join(counts, on="g", how="left"),
)


def wrong(rows):
    frame = pl.LazyFrame({"id": [row[0] for row in rows], "g": [row[1] for row in rows]})
    return release(frame).collect()["len"].item()

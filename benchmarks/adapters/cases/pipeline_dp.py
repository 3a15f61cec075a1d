"""PipelineDP: metrics, private and public partitions, and rows that are odd."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pipeline_dp
from case import Case

from dpaudit.adapters.pipeline_dp import mechanism_of

EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def made(*metrics: str, epsilon: float = 1.0, delta: float = 0.0, public: Any = ("a",), **options: Any) -> Any:
    """An aggregation of values between 0 and 2, one partition and one row a user unless told otherwise."""
    given = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1, "min_value": 0, "max_value": 2}
    params = pipeline_dp.AggregateParams(
        metrics=[getattr(pipeline_dp.Metrics, metric) for metric in metrics], **{**given, **options}
    )
    partitions = None if public is None else list(public)
    return mechanism_of(params, EXTRACTORS, epsilon=epsilon, delta=delta, public_partitions=partitions)


def selecting() -> Any:
    """The names of partitions."""
    params = pipeline_dp.SelectPartitionsParams(max_partitions_contributed=1)
    return mechanism_of(params, EXTRACTORS, epsilon=1.0, delta=1e-2)


def gaussian(*metrics: str, **options: Any) -> Any:
    """The same with Gaussian noise."""
    return made(*metrics, delta=1e-2, noise_kind=pipeline_dp.NoiseKind.GAUSSIAN, **options)


_OTHER = (9, "b", 1.0)  # a row that both sides hold: the engine refuses an empty collection
_PAIR = [([(1, "a", 2.0), (2, "a", 2.0)], [(1, "a", 2.0)])]
_MANY = [([(user, "a", 1.0) for user in range(4)], [(user, "a", 1.0) for user in range(3)])]


def _vector_pair(common: float, more: float) -> list[Any]:
    rows = [(user, "a", np.array([common])) for user in range(20)]
    return [([*rows, (20, "a", np.array([more]))], rows)]


def _with(value: float) -> list[Any]:
    return [([(1, "a", 1.0), (2, "a", value)], [(1, "a", 1.0)])]


_NAN = (
    "Values are clipped with np.clip, which hands NaN on (combiners.py), and NaN + noise is NaN: one record tells the "
    "sides apart for certain."
)
_EMPTY = (
    "An empty collection raises 'col must be non-empty' (dp_engine.py), without noise, though the partitions are "
    "public: the first user shows."
)

_GRID = "PyDP's GaussianMechanism, see there."

CASES = [
    *(
        Case(metric.lower(), partial(made, metric), _PAIR, runs=10_000)
        for metric in ("COUNT", "SUM", "MEAN", "VARIANCE", "PRIVACY_ID_COUNT")
    ),
    *(
        Case(f"{metric.lower()}, gaussian", partial(gaussian, metric), _PAIR, runs=10_000, grid=_GRID)
        for metric in ("COUNT", "SUM", "MEAN", "PRIVACY_ID_COUNT")
    ),
    Case("count and sum", partial(made, "COUNT", "SUM"), _PAIR, runs=10_000),
    Case(
        "sum of nothing",
        partial(made, "SUM"),
        [([(1, "a", 2.0)], [])],
        runs=10_000,
        note=_EMPTY,
        documented="no, but the message says it",
    ),
    Case("vector sum", lambda: _vectors(), _vector_pair(0.0, 1.0), runs=10_000),
    Case(
        "vector sum, one long vector",
        lambda: _vectors(),
        _vector_pair(-0.1, 4.0),
        runs=10_000,
    ),
    Case(
        "sum of a bounded partition",
        lambda: _summed(),
        [([(1, "a", 2.0), (2, "a", 2.0)], [(1, "a", 2.0)])],
        runs=10_000,
    ),
    Case("percentile", lambda: _percentile(), _PAIR, runs=2_000),
    Case("sum with NaN", partial(made, "SUM"), _with(math.nan), runs=2_000, note=_NAN, documented="no"),
    Case("sum with inf", partial(made, "SUM"), _with(math.inf), runs=2_000),
    Case("mean with NaN", partial(made, "MEAN"), _with(math.nan), runs=2_000, note=_NAN, documented="no"),
    Case("mean with inf", partial(made, "MEAN"), _with(math.inf), runs=2_000),
    Case("variance with NaN", partial(made, "VARIANCE"), _with(math.nan), runs=2_000, note=_NAN, documented="no"),
    Case(
        "count, private partitions, first user",
        partial(made, "COUNT", delta=1e-2, public=None),
        [([_OTHER, (1, "a", 1.0)], [_OTHER])],
        runs=10_000,
    ),
    Case("count, private partitions, fourth user", partial(made, "COUNT", delta=1e-2, public=None), _MANY, runs=10_000),
    Case("partitions alone, first user", selecting, [([_OTHER, (1, "a", 1.0)], [_OTHER])], runs=10_000),
    Case(
        "count of many rows of one user",
        partial(made, "COUNT"),
        [([(1, "a", 1.0)] * 5 + [(2, "a", 1.0)], [(2, "a", 1.0)])],
        relation="add-remove(group=5)",
        runs=10_000,
        options={"claim": "epsilon=1"},
    ),
    Case(
        "sum of many rows of one user",
        partial(made, "SUM"),
        [([(1, "a", 2.0)] * 5 + [(2, "a", 1.0)], [(2, "a", 1.0)])],
        relation="add-remove(group=5)",
        runs=10_000,
        options={"claim": "epsilon=1"},
    ),
    Case(
        "count over two partitions",
        partial(made, "COUNT", public=("a", "b")),
        [([_OTHER, (1, "a", 1.0), (1, "b", 1.0)], [_OTHER])],
        relation="add-remove(group=2)",
        runs=10_000,
        options={"claim": "epsilon=1"},
    ),
]


def _summed() -> Any:
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.SUM],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_sum_per_partition=0,
        max_sum_per_partition=2,
    )
    return mechanism_of(params, EXTRACTORS, epsilon=1.0, public_partitions=["a"])


def _percentile() -> Any:
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.PERCENTILE(50)],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=2,
    )
    return mechanism_of(params, EXTRACTORS, epsilon=1.0, public_partitions=["a"])


def _vectors() -> Any:
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.VECTOR_SUM],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        vector_size=1,
        vector_max_norm=1.0,
        vector_norm_kind=pipeline_dp.aggregate_params.NormKind.Linf,
    )
    return mechanism_of(params, EXTRACTORS, epsilon=2.0, delta=1e-2)  # half for the partitions

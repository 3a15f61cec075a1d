"""PipelineDP: every metric with every kind of noise, and every strategy of selecting partitions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pipeline_dp
from seat import Audited, Seat, shown, without_recipe

from dpaudit.adapters.pipeline_dp import mechanism_of

EXTRACTORS = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)
BOTH = [([(1, "a", 2.0), (2, "a", 2.0)], [(1, "a", 2.0)])]
MANY = [([(user, "a", 1.0) for user in range(4)], [(user, "a", 1.0) for user in range(3)])]
METRICS = ("COUNT", "PRIVACY_ID_COUNT", "SUM", "MEAN", "VARIANCE")


def made(metric: str, noise: str, epsilon: float, more: dict[str, Any]) -> Any:
    """A metric of values between 0 and 2 in one public partition."""
    params = pipeline_dp.AggregateParams(
        metrics=[getattr(pipeline_dp.Metrics, metric)],
        noise_kind=pipeline_dp.NoiseKind[noise],
        min_value=0,
        max_value=2,
        **{"max_partitions_contributed": 1, "max_contributions_per_partition": 1, **more},
    )
    delta = 1e-2 if noise == "GAUSSIAN" else 0.0
    return mechanism_of(params, EXTRACTORS, epsilon=epsilon, delta=delta, public_partitions=["a"])


def selecting(strategy: str, epsilon: float) -> Any:
    """The names of partitions."""
    params = pipeline_dp.SelectPartitionsParams(
        max_partitions_contributed=1, partition_selection_strategy=pipeline_dp.PartitionSelectionStrategy[strategy]
    )
    return mechanism_of(params, EXTRACTORS, epsilon=epsilon, delta=1e-2)


def found() -> Iterator[Seat]:
    """Every metric and every strategy."""
    yield from without_recipe((name for name in vars(pipeline_dp.Metrics) if name.isupper()), METRICS)
    for metric in METRICS:
        for noise in (each.name for each in pipeline_dp.NoiseKind):
            for epsilon in (0.5, 4.0):
                for more in ({}, {"max_contributions_per_partition": 2}):
                    title = shown(metric, {"noise": noise, "epsilon": epsilon, **more})
                    yield Audited(title, partial(made, metric, noise, epsilon, more), BOTH, {})
    for strategy in (each.name for each in pipeline_dp.PartitionSelectionStrategy):
        for epsilon in (1.0, 4.0):
            yield Audited(shown(strategy, {"epsilon": epsilon}), partial(selecting, strategy, epsilon), MANY, {})

"""Uses of PipelineDP."""

from __future__ import annotations

import pipeline_dp
from case import Case

DISTRIBUTION = "pipeline-dp"
VISITS = ([(1, "a"), (2, "a"), (3, "b")], [(1, "a"), (2, "a"), (3, "b"), (4, "b")])


def counted(epsilon, public=True):
    def release(data):
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-6)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        parameters = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.LAPLACE, metrics=[pipeline_dp.Metrics.COUNT],
            max_partitions_contributed=1, max_contributions_per_partition=1)  # fmt: skip
        extract = pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        )
        found = engine.aggregate(data, parameters, extract, public_partitions=["a", "b"] if public else None)
        budget.compute_budgets()
        return {key: row.count for key, row in sorted(found)}

    return release


CASES = [
    Case("COUNT with twice the budget", counted(2.0), VISITS, "epsilon=1, delta=1e-6", "twice the budget",
         "add-remove"),
    Case("COUNT", counted(1.0), VISITS, "epsilon=1, delta=1e-6", relation="add-remove"),
    Case("COUNT with private partitions", counted(1.0, public=False), VISITS, "epsilon=1, delta=1e-6",
         relation="add-remove"),
]  # fmt: skip

"""Do counts by PipelineDP keep the budget that its accountant was given?

    python examples/adapters/pipeline_dp_count.py
    dpaudit audit examples/adapters/pipeline_dp_count.py:release

Needs PipelineDP: pip install 'pipeline-dp>=0.3,<0.4'. A dataset is a list of rows; here one row is one visitor.
"""

from __future__ import annotations

import pipeline_dp

import dpaudit as dp
from dpaudit.adapters.pipeline_dp import mechanism_of

extractors = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: 0,
)
params = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.COUNT], max_partitions_contributed=1, max_contributions_per_partition=1
)
VISITS = [("ada", "monday"), ("bob", "monday"), ("cyn", "tuesday")]

release = mechanism_of(
    params,
    extractors,
    epsilon=1.0,
    public_partitions=["monday", "tuesday"],
    pairs=[(VISITS, VISITS[:-1])],
    name="visits a day",
)

if __name__ == "__main__":
    evidence = dp.audit(release, runs=10_000, confidence=0.999)
    print(f"claim {evidence.claim} between {evidence.relation} neighbours: {evidence.verdict}")
    print(f"epsilon is at least {evidence.lower.value:.3f}, by {evidence.runs:,} runs of {evidence.target.source}")

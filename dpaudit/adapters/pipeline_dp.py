"""What does an aggregation of PipelineDP promise? The budget that its accountant was given.

Every run creates its own engine on the local backend, because a budget accountant spends only once. A dataset is a list
of rows; the extractors say to which user a row belongs, in which partition it is, and with which value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.targets.mechanism import Mechanism, approximate, required, wrapped


def mechanism_of(
    params: Any,
    extractors: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    public_partitions: Sequence[Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str = "add-remove",
    unit: str = "all rows of one privacy id",
    name: str = "aggregate",
) -> Mechanism:
    """Return the mechanism of ``DPEngine.aggregate`` (`AggregateParams`) or ``DPEngine.select_partitions``."""
    library, release = required("pipeline_dp")
    selects = isinstance(params, library.SelectPartitionsParams)
    if delta == 0 and public_partitions is None:
        raise UsageError("private partition selection needs delta above 0; give delta=…, or public_partitions=[…]")

    def aggregate(data: Any) -> Any:
        accountant = library.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        engine = library.DPEngine(accountant, library.LocalBackend())
        if selects:
            partitions = engine.select_partitions(list(data), params, extractors)
            accountant.compute_budgets()
            return set(partitions)
        partitions = engine.aggregate(list(data), params, extractors, public_partitions=public_partitions)
        accountant.compute_budgets()
        return {key: tuple(metrics) for key, metrics in sorted(partitions, key=lambda each: repr(each[0]))}

    shown = f"{params!r:.400}; partitions: {'private' if public_partitions is None else list(public_partitions)}"
    return wrapped(
        "pipeline_dp",
        aggregate,
        name=name,
        shown=" ".join(shown.split()),
        release=release,
        claim=approximate(epsilon, delta),
        relation=relation,
        unit=unit,
        pairs=pairs,
        made_of=(extractors.privacy_id_extractor, extractors.partition_extractor, extractors.value_extractor),
        more=_versions(),
    )


def _versions() -> dict[str, str]:
    """The version of the library that draws the noise."""
    from dpaudit.targets.mechanism import LIBRARIES

    return {LIBRARIES["pydp"].distribution: LIBRARIES["pydp"].release()}

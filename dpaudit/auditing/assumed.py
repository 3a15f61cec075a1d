"""What does a bound from counts rest on that no file shows? Its assumptions, in words; and the bound itself."""

from __future__ import annotations

from dpaudit.evidence.build import sampled_bound
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import Claim
from dpaudit.stats.joint_region import lower_bound

RECORDED = ("scores", "outputs")
"""The values of ``target.asks`` for data that were recorded elsewhere; nothing is run for them."""

SHARE = 0.3  # of recorded outputs choose the event; tuned on other seeds than benchmarks/scores.py reports
_DECLARED = "the two datasets are neighbours: declared, not checked"
SOME_CANARIES = "one-run, not all canaries"
ASSUMED = {
    "independent": (
        "each score comes from its own training run, and all scores of a side are draws of one law",
        "scores of side 0 are of records in the training data, those of side 1 of records that are not",
        _DECLARED,
    ),
    "one-run": (
        "all scores come from one model: a fair coin of its own put each canary into the training data or left it out",
        "no score was computed with knowledge of the coins, and every canary is handed in, on its side",
        "training data that differ by one canary are neighbours: declared, not checked",
    ),
    SOME_CANARIES: (
        "all scores come from one model: a fair coin of its own put each canary into the training data or left it out",
        "no score was computed, and none was left out, with knowledge of the coins; each is on its side, and canaries "
        "without one were guessed wrong",
        "training data that differ by one canary are neighbours: declared, not checked",
    ),
    "outputs": ("outputs of a side are independent draws of one law", _DECLARED),
}
LOST = "outputs were sorted before they were handed in: whether they hang together in time cannot be seen"


def assumed(own_randomness: bool, *, declared: bool, observed: bool, repeated: bool = False) -> tuple[str, ...]:
    """Return the assumptions that bounds rest on.

    Args:
        own_randomness: whether the function has randomness of its own.
        declared: whether the pair is neighbouring by declaration only.
        observed: whether run times are observed.
        repeated: whether the audit was resumed in another process.

    Returns:
        One sentence for each assumption.
    """
    found = ["the pair is neighbouring: declared, not checked"] if declared else []
    if own_randomness:
        found.append("runs are independent: the function's own randomness cannot be seeded or seen")
    else:
        found.append("runs are independent draws of the mechanism's law")
    if observed:
        found.append("the run time of a call depends on its data and its noise, and on nothing that knows the side")
    if repeated and own_randomness:
        found.append("a function with randomness of its own does not begin with the same noise in every process")
    return tuple(found)


def measured_bound(
    method: str,
    counts: Counts,
    notion: Claim,
    *,
    weight: float | tuple[float, ...] | None,
    error: float,
    pair: int,
    assumes: tuple[str, ...],
    event: Event | None = None,
    arithmetic: str = "real",
) -> Bound:
    """Return the lower bound that counts give by a method."""
    confidence = 1 - error
    own = 1 - confidence  # as computed from the confidence in the evidence
    value = lower_bound(method, counts, claim=notion, weight=weight, error=own)
    return sampled_bound(
        value,
        notion,
        method=method,
        confidence=confidence,
        weight=weight,
        counts=counts,
        event=event,
        pair=pair,
        arithmetic=arithmetic,
        assumes=assumes,
    )

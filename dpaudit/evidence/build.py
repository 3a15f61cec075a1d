"""How is evidence put together? Bounds, and whole evidence, by the rules that each must keep.

A bound is rounded so that it stays true. What rests on counts has a confidence below 1 and says what it assumes; what
is certain has confidence 1 and no counts. The headline's bound is meant at the confidence of the whole audit. Runs
that cannot be trusted show nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import (
    Attempt,
    Bound,
    Counts,
    Histogram,
    PairRecord,
    Target,
    Verdict,
    round_outward,
)
from dpaudit.privacy import Claim

NOTHING = "none"
"""The method of a bound where nothing was measured."""


def sampled_bound(
    value: float,
    notion: Claim,
    *,
    method: str,
    confidence: float,
    weight: float | tuple[float, ...] | None = None,
    counts: Counts | None = None,
    event: Event | None = None,
    pair: int | None = None,
    arithmetic: str = "real",
    assumes: tuple[str, ...] = (),
) -> Bound:
    """Return a lower bound that rests on runs, rounded down.

    Args:
        value: the bound of the notion's parameter.
        notion: what is bounded, with its δ or order; its own value is not used.
        method: how counts became the bound (`dpaudit.stats.methods`).
        confidence: 1 − the chance that this bound is wrong.
        weight, counts, event, pair, arithmetic, assumes: as in `Bound`.
    """
    return Bound(
        value=round_outward(value, "lower"),
        side="lower",
        kind="sampled",
        parameter=notion.parameter,
        notion=str(notion),
        confidence=confidence,
        delta=notion.delta,
        method=method,
        weight=weight,
        counts=counts,
        event=event,
        pair=pair,
        arithmetic=arithmetic,
        assumes=assumes,
    )


def no_bound(notion: Claim, confidence: float, arithmetic: str = "real") -> Bound:
    """Return the bound where nothing was measured: 0."""
    return sampled_bound(0.0, notion, method=NOTHING, confidence=confidence, arithmetic=arithmetic)


def certain_bound(
    value: float, notion: Claim, *, side: Literal["lower", "upper"], kind: str, method: str, exact: str | None
) -> Bound:
    """Return a bound of ε that rests on no runs; a lower one is of the evidence's only pair.

    Args:
        value: of ε, rounded outward already; infinite where ε has no limit.
        notion: what is bounded, with its δ.
        side: "lower" or "upper".
        kind: "exact" or "proof".
        method: of the proof.
        exact: the value itself as text, such as "5/8"; None where it has none.
    """
    return Bound(
        value=value,
        side=side,
        kind=kind,
        parameter="epsilon",
        notion=str(notion),
        confidence=1.0,
        delta=notion.delta,
        method=method,
        pair=0 if side == "lower" else None,
        exact=exact,
    )


def at_whole(bound: Bound, confidence: float) -> Bound:
    """Return the same bound at the confidence of the whole audit, of which its own error level is a share."""
    return msgspec.structs.replace(bound, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What evidence is about, known before anything is run; the members are those of `Evidence`.

    Attributes:
        claim: what is claimed, or None; ``notion`` is what is bounded: the claim, where there is one.
    """

    target: Target
    claim: Claim | None
    notion: Claim
    relation: str
    unit: str
    pairs: tuple[PairRecord, ...]
    seed: int
    confidence: float
    versions: dict[str, str]
    assumptions: tuple[str, ...]
    low_bits: str = "ignore"
    learn: str | None = None
    reproducible: bool = True
    observed: tuple[str, ...] = ()
    types: str = "count"

    def evidence(
        self,
        verdict: Verdict,
        reason: str,
        lower: Bound,
        *,
        attempts: tuple[Attempt, ...] = (),
        histogram: Histogram | None = None,
        learning: int = 0,
        measuring: int = 0,
        **found: Any,
    ) -> Evidence:
        """Return evidence of what was found.

        Args:
            verdict, reason: what is concluded, and why.
            lower: the headline's bound.
            attempts, histogram: what was measured.
            learning, measuring: runs of both sides and all pairs.
            found: other members of `Evidence`.
        """
        return Evidence(
            target=self.target,
            claim=None if self.claim is None else str(self.claim),
            relation=self.relation,
            unit=self.unit,
            pairs=self.pairs,
            seed=self.seed,
            confidence=self.confidence,
            learning=learning,
            measuring=measuring,
            verdict=verdict,
            reason=reason,
            lower=lower,
            attempts=attempts,
            histogram=histogram,
            versions=self.versions,
            low_bits=self.low_bits,
            learn=self.learn,
            reproducible=self.reproducible,
            observed=self.observed,
            types=self.types,
            assumptions=self.assumptions,
            **found,
        )

    def nothing(self, verdict: Verdict, reason: str = "", *, learning: int = 0, measuring: int = 0) -> Evidence:
        """Return evidence that shows nothing: of no runs, or of runs that were spent in vain."""
        lower = no_bound(self.notion, self.confidence)
        return self.evidence(verdict, reason, lower, learning=learning, measuring=measuring)

    def invalid(self, why: str, *, learning: int = 0, measuring: int = 0) -> Evidence:
        """Return evidence of runs that cannot be trusted."""
        reason = f"The runs cannot be trusted: {why}."
        return self.nothing(Verdict.INVALID, reason, learning=learning, measuring=measuring)

"""How are bounds and evidence built, and which rules must each follow?

A bound is rounded so that it stays true. A bound from counts has a confidence below 1 and states its assumptions; a
certain bound has confidence 1 and no counts. The bound in the headline holds at the confidence of the whole audit. Runs
that cannot be trusted show nothing.
"""

from __future__ import annotations

import math
import platform
import time
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Literal

import msgspec

from dpaudit.evidence import records
from dpaudit.evidence.event import Event
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim


@cache
def installed_version(package: str) -> str:
    """Return the version; raise `importlib.metadata.PackageNotFoundError` if it is not installed."""
    return version(package)


def installed_versions(*packages: str) -> dict[str, str]:
    """Return the versions that results depend on: dpaudit, its libraries, ``packages``, Python and the machine."""
    versions = {name: installed_version(name) for name in ("dpaudit", "numpy", "scipy", *packages)}
    return {**versions, "python": platform.python_version(), "platform": platform.machine()}


NOTHING = "none"
"""The method of a bound when nothing was measured."""


def sampled_bound(
    value: float,
    notion: Claim,
    *,
    method: str,
    confidence: float,
    weight: float | tuple[float, ...] | None = None,
    counts: records.Counts | None = None,
    event: Event | None = None,
    pair: int | None = None,
    arithmetic: str = "real",
    assumes: tuple[str, ...] = (),
) -> records.Bound:
    """Return a lower bound from runs, rounded down."""
    return records.Bound(
        value=records.round_outward(value, "lower"),
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


def no_bound(notion: Claim, confidence: float, arithmetic: str = "real") -> records.Bound:
    """Return the bound when nothing was measured: 0."""
    return sampled_bound(0.0, notion, method=NOTHING, confidence=confidence, arithmetic=arithmetic)


def certain_bound(
    value: float,
    notion: Claim,
    *,
    side: Literal["lower", "upper"],
    kind: str,
    method: str,
    exact: str | None,
    pair: int = 0,
) -> records.Bound:
    """Return a bound that does not depend on runs."""
    return records.Bound(
        value=value,
        side=side,
        kind=kind,
        parameter=notion.parameter,
        notion=str(notion),
        confidence=1.0,
        delta=notion.delta,
        method=method,
        pair=pair if side == "lower" else None,
        exact=exact,
    )


def exact_bound(value: float, notion: Claim, *, method: str, pair: int) -> records.Bound:
    """Return a lower bound of a notion's parameter that follows from the laws of the noise, and rests on no counts."""
    exact = "infinite" if math.isinf(value) else None
    return certain_bound(value, notion, side="lower", kind="exact", method=method, exact=exact, pair=pair)


def at_whole(bound: records.Bound, confidence: float) -> records.Bound:
    """Return the same bound, stated at the confidence of the whole audit (its own error is a share of that)."""
    return msgspec.structs.replace(bound, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What evidence is about, known before anything is run; the members are those of `Evidence`."""

    target: records.Target
    # the claim, or None; ``notion`` is the privacy notion that is bounded: that of the claim, if there is one
    claim: Claim | None
    notion: Claim
    relation: str
    unit: str
    pairs: tuple[records.PairRecord, ...]
    seed: int
    confidence: float
    versions: dict[str, str]
    assumptions: tuple[str, ...]
    low_bits: str = "ignore"
    learn: str | None = None
    reproducible: bool = True
    observed: tuple[str, ...] = ()
    types: str = "count"
    block_size: int | None = None

    def evidence(
        self,
        verdict: records.Verdict,
        reason: str,
        lower: records.Bound,
        *,
        attempts: tuple[records.Attempt, ...] = (),
        histogram: records.Histogram | None = None,
        learning: int = 0,
        measuring: int = 0,
        **more: Any,
    ) -> Evidence:
        """Return evidence with what was found.

        Args:
            verdict, reason: the conclusion, and why.
            lower: the bound in the headline.
            attempts, histogram: what was measured.
            learning, measuring: how many runs, of both sides and all pairs.
            more: other members of `Evidence`.
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
            block_size=self.block_size,
            assumptions=self.assumptions,
            **more,
        )

    def nothing(self, verdict: records.Verdict, reason: str = "", *, learning: int = 0, measuring: int = 0) -> Evidence:
        """Return evidence that shows nothing, because there were no runs or they cannot be used."""
        lower = no_bound(self.notion, self.confidence)
        return self.evidence(verdict, reason, lower, learning=learning, measuring=measuring)

    def invalid(self, why: str, *, learning: int = 0, measuring: int = 0) -> Evidence:
        """Return evidence with the verdict INVALID, for runs that cannot be trusted."""
        reason = f"The runs cannot be trusted: {why}."
        return self.nothing(records.Verdict.INVALID, reason, learning=learning, measuring=measuring)


def run_info(started: datetime, clock: float, workers: int) -> records.RunInfo:
    """Return when and where some work was done, and how long it took."""
    return records.RunInfo(
        started=started.isoformat(timespec="seconds"),
        duration=round(time.perf_counter() - clock, 3),
        host=platform.node(),
        workers=workers,
    )

"""Is the claim about a loop to be believed, by what was seen of it? Findings, certified losses, a step's audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from dpaudit.accounting import Certified, Events, calibrate, certify
from dpaudit.accounting.events import Event
from dpaudit.accounts.account import at_of
from dpaudit.errors import UsageError
from dpaudit.evidence.further_records import Release, Training, TrainingFact, TrainingLoss, TrainingStep
from dpaudit.privacy import Claim
from dpaudit.training import canaries, per_step
from dpaudit.training.conclude import UNCLAIMED
from dpaudit.training.facts.batches import Sampler
from dpaudit.training.facts.checklist import checklist, several
from dpaudit.training.facts.deliveries import use_of
from dpaudit.training.facts.finding import Finding
from dpaudit.training.facts.noise import Scale, least_update, scale_of
from dpaudit.training.losses import (
    DEPENDENT,
    Parts,
    factors_of,
    groups_of,
    listed,
    refused,
    rounds_of_use,
    steps_of,
    unbounded,
)
from dpaudit.training.seen import Seen

_TOLERANCE = 1e-3  # of the claim's ε, or of 1 where that is more
_WIDE = 0.01
_EXACT = 2  # kinds of steps that are certified so narrowly: many take minutes
_AT_ONCE = 1.0  # σ over the sensitivity, of which many steps are certified in seconds
_FAINT = 1 / 8  # of the noise that is claimed: below, a bound from above is of no use, and takes minutes
_EXCEEDED = "the claim is exceeded from below"
_NEAR = 2e-3  # how far above the least noise that is enough one may be named, relatively
_BEYOND = 50.0  # ε: where nothing is claimed, a loss above is bounded no closer
COARSE = 1e-2  # of the loss if the noise is Gaussian, of which only the lower end is used
_UNKNOWN = "how records come in was not recognised"


def judged(
    seen: Seen,
    claim: Claim | None,
    *,
    clip: float,
    confidence: float,
    false_alarm: float,
    seed: int,
    stated: float | None,
) -> tuple[Training, list[Finding]]:
    """Return what is said of a loop, for evidence, and the findings with the numbers behind them."""
    facts = false_alarm if seen.canaries is None else false_alarm * (1 - canaries.SHARE)
    findings, sampler = checklist(seen, facts, seed)
    by_fact = {each.fact: each for each in findings}
    scale = None if several(seen) else scale_of(seen.squares, seen.counts, 1 - confidence)
    parts = _shown(_parts(seen, by_fact, sampler, facts), claim)
    why, infinite = unbounded(findings)
    low, high, certificates = _losses(parts, claim, why, infinite)
    times, enough = 1.0, None
    if claim is not None and not why and not high.value <= claim.value:
        times, enough, certificates = _enough(parts, claim, certificates)
    right = by_fact["noise"].status in ("right", "note") and by_fact["repetition"].status == "right"
    unclipped = by_fact["clipping"].status == "wrong"
    needs = parts.sampler == "fixed-size"
    training = Training(
        how=seen.how,
        facts=tuple(TrainingFact(f.fact, f.status, f.name, f.text, f.error) for f in findings),
        assumed=seen.assumed,
        sampler=sampler.kind if sampler is not None else "",
        steps=parts.steps,
        groups=None if parts.apart else parts.groups,
        loose=parts.loose,
        rounds=parts.rounds,
        clip=clip,
        low=low,
        high=high,
        certificates=certificates,
        batch=parts.batch if needs else None,
        records=parts.records if needs else None,
        epoch=parts.epoch if parts.sampler in ("shuffled", "fixed order") else None,
        scale=None if scale is None else (scale.low, scale.high),
        values=0 if scale is None else scale.values,
        scales=parts.scale,
        factors=parts.factors,
        together=parts.together,
        gaussian=_if_gaussian(parts, claim, scale) if right and not why and not unclipped else None,
        step=_step(seen, parts, claim, 1 - confidence) if right else None,
        stated=stated,
        partial=seen.partial,
        enough=enough,
        times=times,
        canaries=canaries.shown(seen.canaries, claim or UNCLAIMED, confidence, false_alarm * canaries.SHARE),
    )
    return training, findings


# --- what was seen, as an accounting needs it ---------------------------------------------------------------


def _parts(seen: Seen, by_fact: dict[str, Finding], sampler: Sampler | None, error: float) -> Parts:
    kind = sampler.kind if sampler is not None and sampler.kind else seen.assumed
    rate = seen.sampled
    if kind == "another rate" and seen.batches and seen.records:
        rate = _rate(seen, error)[0]
    low, high = factors_of(seen, by_fact["clipping"])
    if several(seen):  # nobody knows how much noise all of them add
        low = min(low, 1.0)
    batch = None if not seen.batches else int(np.median([len(each) for each in seen.batches]))
    use = use_of(seen)
    groups, loose = groups_of(seen, use, rate)
    epochs = rounds_of_use(seen, use, kind == "fixed order") if kind in ("shuffled", "fixed order") else None
    return Parts(
        kind,
        steps_of(seen, rate),
        _scales(seen, by_fact["noise"], error),
        (low, high),
        groups,
        loose,
        epochs,
        batch,
        seen.records,
        seen.epoch,
        seen.assumed == "fixed-size",
    )


def _rate(seen: Seen, error: float) -> tuple[float, float]:
    """The sampling rate that was seen, from below and above, to two digits (Clopper & Pearson 1934)."""
    assert seen.batches is not None and seen.records is not None
    hits, of = sum(map(len, seen.batches)), seen.records * len(seen.batches)
    low = float(stats.beta.ppf(error / 2, hits, of - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(error / 2, hits + 1, max(1, of - hits)))
    digits = 1 - math.floor(math.log10(max(high, 1e-12)))
    return math.floor(low * 10**digits) / 10**digits, math.ceil(high * 10**digits) / 10**digits


def _scales(seen: Seen, finding: Finding, error: float) -> tuple[float, float]:
    """The noise over σ·C, for the loss from below and from above: as claimed, unless less was seen."""
    if finding.name not in ("too little noise", "more noise than claimed"):
        return 1.0, 1.0
    found = [scale_of(seen.squares[a:b], seen.counts[a:b], error / len(seen.names)) for _, a, b in seen.names]
    least = min((each for each in found if each is not None), key=lambda each: each.high)
    if finding.name == "more noise than claimed":
        return max(1.0, least.high), 1.0
    return least.high, min(least.low, least_update(seen.each_update(), error))


def _shown(parts: Parts, claim: Claim | None) -> Parts:
    """The same parts, of which no more is accounted for from below than it takes to exceed the claim, if there is one.

    A loss far above the claim would take minutes to certify, and larger noise than was seen loses less.
    """
    if not parts.steps or not 0 < parts.factors[0] < math.inf:
        return parts
    at, most = _asked(claim)
    least = min(sigma for sigma, _, _ in parts.steps) / parts.factors[0]
    scale = max(parts.scale[0], _AT_ONCE / least) if least > 0 else parts.scale[0]
    while scale > parts.scale[0]:
        less = replace(parts, scale=(scale, parts.scale[1]))
        events = listed(less, up=False)
        try:
            if events is None or certified(events, at, _WIDE).low > most:
                return less
        except UsageError:
            break
        scale /= math.sqrt(2)
    return parts


def _asked(claim: Claim | None) -> tuple[Claim, float]:
    """At which δ losses are certified, and the ε above which no more has to be known."""
    return (UNCLAIMED, _BEYOND) if claim is None else (claim, claim.value)


def certified(events: Sequence[tuple[Event, int]], claim: Claim, tolerance: float) -> Certified:
    """Return what so many steps lose at the claim's δ, as narrowly as a claim of this size asks for."""
    return certify(Events(tuple(events)), delta=at_of(claim), tolerance=min(1.0, tolerance * max(1.0, claim.value)))


def _losses(
    parts: Parts, claim: Claim | None, why: str, infinite: bool
) -> tuple[TrainingLoss, TrainingLoss, tuple[dict[str, Any], ...]]:
    """What is lost, from below and above, with the certificates."""
    at, most = _asked(claim)
    faint = parts.scale[1] < _FAINT
    below, above = (
        None if why == DEPENDENT else listed(parts, up=False),
        None if why or faint else listed(parts, up=True),
    )
    if infinite:
        low = TrainingLoss((), math.inf, None, why)
        return low, TrainingLoss((), math.inf, None, why), ()
    done: dict[str, Certified] = {}
    certificates: list[dict[str, Any]] = []

    def loss(events: list[tuple[Event, int]] | None, *, up: bool, other: str) -> TrainingLoss:
        nothing = math.inf if up else 0.0
        if events is None:
            return TrainingLoss((), nothing, None, other or _UNKNOWN)
        text = str(Events(tuple(events)))
        try:
            if text not in done:
                done[text] = certified(events, at, _TOLERANCE if len(events) <= _EXACT else COARSE)
                certificates.append(done[text].certificate)
        except UsageError as error:
            return TrainingLoss((), nothing, None, refused(error))
        found = done[text]
        value = found.high if up else found.low
        place = certificates.index(found.certificate) if math.isfinite(value) else None
        return TrainingLoss(_releases(events), value, place)

    low = loss(below, up=False, other=why if why == DEPENDENT else "")
    if low.value > most and str(below) != str(above):
        above, why = None, why or (_EXCEEDED if claim is not None else f"ε is above {_BEYOND:g} from below")
    return low, loss(above, up=True, other=why or _above(parts)), tuple(certificates)


def _enough(
    parts: Parts, claim: Claim, certificates: tuple[dict[str, Any], ...]
) -> tuple[float, TrainingLoss | None, tuple[dict[str, Any], ...]]:
    """How many times σ·C is just enough noise for the claim, in the steps that were seen, and what they lose then."""

    def steps(times: float) -> list[tuple[Event, int]]:
        found = listed(replace(parts, scale=(times, times)), up=True)
        if found is None:
            raise UsageError(_UNKNOWN)
        return found

    try:
        found = calibrate(lambda times: Events(tuple(steps(float(times)))), claim, precision=_NEAR)
    except UsageError:
        return 1.0, None, certificates
    times, certain = float(found.enough), found.decision.certified
    if certain is None:
        return 1.0, None, certificates
    loss = TrainingLoss(_releases(steps(times)), certain.high, len(certificates))
    return times, loss, (*certificates, certain.certificate)


def _above(parts: Parts) -> str:
    if math.isinf(parts.factors[1]):
        return "a record's part of a sum is not bounded"
    if parts.scale[1] < _FAINT:
        return "the noise of some update is far smaller than is claimed"
    return "a record moves a sum by far more than the clip norm" if parts.factors[1] > 2 else ""


def _releases(events: Sequence[tuple[Event, int]]) -> tuple[Release, ...]:
    return tuple(Release(str(event), count) for event, count in events)


def _if_gaussian(parts: Parts, claim: Claim | None, scale: Scale | None) -> float | None:
    """ε from below, of Gaussian noise as large as the interval of its scale allows."""
    if scale is None or len(parts.groups) > _EXACT:
        return None
    events = listed(replace(parts, scale=(scale.high, scale.low)), up=False)
    try:
        return None if events is None else certified(events, claim or UNCLAIMED, COARSE).low
    except UsageError:
        return None


def _step(seen: Seen, parts: Parts, claim: Claim | None, error: float) -> TrainingStep | None:
    """What the noise that was kept says of one step, and of all of them together."""
    kept = seen.kept().ravel()
    if len(parts.steps) != 1 or kept.size < 1000:
        return None
    sigma, rate, steps = parts.steps[0]
    rate = rate if parts.sampler == "poisson" else 1.0
    below = per_step.counted(kept, sigma)
    found = per_step.certified(below, kept.size, sigma, error)
    delta = (claim or UNCLAIMED).delta
    together = parts.sampler == "poisson" and parts.apart
    return TrainingStep(
        sigma,
        rate,
        steps,
        int(kept.size),
        tuple(int(each) for each in below),
        1 - error,
        delta,
        found.mu,
        per_step.composed(found, rate, steps, delta) if together else None,
    )

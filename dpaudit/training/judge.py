"""Is the claim about a loop to be believed, by what was seen of it? Findings, certified losses, a step's audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from dpaudit.accounting import Certified, Events, calibrate, certify
from dpaudit.accounting.events import PrivacyEvent
from dpaudit.accounts.account import at_of
from dpaudit.errors import UsageError
from dpaudit.evidence import evidence, records
from dpaudit.evidence.further_records import Release, Training, TrainingFact, TrainingLoss, TrainingStep
from dpaudit.privacy import ApproxDP, Claim, claims
from dpaudit.training import batches, canaries, clipping, losses, updates
from dpaudit.training.canaries import ASSUMED
from dpaudit.training.losses import (
    DEPENDENT,
    LoopParts,
    factors_of,
    groups_of,
    listed,
    refused,
    rounds_of_use,
    steps_of,
    unbounded,
)
from dpaudit.training.seen import Fact, TrainingRun

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
    seen: TrainingRun,
    claim: Claim | None,
    *,
    clip: float,
    confidence: float,
    false_alarm: float,
    seed: int,
    stated: float | None,
) -> tuple[Training, list[Fact]]:
    """Return what is said of a loop, for evidence, and the findings with the numbers behind them."""
    facts = false_alarm if seen.canaries is None else false_alarm * (1 - canaries.SHARE)
    findings, sampler = updates.checklist(seen, facts, seed)
    by_fact = {each.fact: each for each in findings}
    scale = None if updates.several(seen) else clipping.scale_of(seen.squares, seen.counts, 1 - confidence)
    parts = _enough_from_below(_parts(seen, by_fact, sampler, facts), claim)
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


def _parts(seen: TrainingRun, by_fact: dict[str, Fact], sampler: batches.Sampler | None, error: float) -> LoopParts:
    kind = sampler.kind if sampler is not None and sampler.kind else seen.assumed
    rate = seen.sampled
    if kind == "another rate" and seen.batches and seen.records:
        rate = _rate(seen, error)[0]
    low, high = factors_of(seen, by_fact["clipping"])
    if updates.several(seen):  # nobody knows how much noise all of them add
        low = min(low, 1.0)
    batch = None if not seen.batches else int(np.median([len(each) for each in seen.batches]))
    use = batches.use_of(seen)
    groups, loose = groups_of(seen, use, rate)
    epochs = rounds_of_use(seen, use, kind == "fixed order") if kind in ("shuffled", "fixed order") else None
    return LoopParts(
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


def _rate(seen: TrainingRun, error: float) -> tuple[float, float]:
    """The sampling rate that was seen, from below and above, to two digits (Clopper & Pearson 1934)."""
    assert seen.batches is not None and seen.records is not None
    hits, of = sum(map(len, seen.batches)), seen.records * len(seen.batches)
    low = float(stats.beta.ppf(error / 2, hits, of - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(error / 2, hits + 1, max(1, of - hits)))
    digits = 1 - math.floor(math.log10(max(high, 1e-12)))
    return math.floor(low * 10**digits) / 10**digits, math.ceil(high * 10**digits) / 10**digits


def _scales(seen: TrainingRun, finding: Fact, error: float) -> tuple[float, float]:
    """The noise over σ·C, for the loss from below and from above: as claimed, unless less was seen."""
    if finding.name not in ("too little noise", "more noise than claimed"):
        return 1.0, 1.0
    scales = [clipping.scale_of(seen.squares[a:b], seen.counts[a:b], error / len(seen.names)) for _, a, b in seen.names]
    least = min((each for each in scales if each is not None), key=lambda each: each.high)
    if finding.name == "more noise than claimed":
        return max(1.0, least.high), 1.0
    return least.high, min(least.low, clipping.least_update(seen.each_update(), error))


def _enough_from_below(parts: LoopParts, claim: Claim | None) -> LoopParts:
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


def certified(events: Sequence[tuple[PrivacyEvent, int]], claim: Claim, tolerance: float) -> Certified:
    """Return what so many steps lose at the claim's δ, as narrowly as a claim of this size asks for."""
    return certify(Events(tuple(events)), delta=at_of(claim), tolerance=min(1.0, tolerance * max(1.0, claim.value)))


def _losses(
    parts: LoopParts, claim: Claim | None, why: str, infinite: bool
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

    def loss(events: list[tuple[PrivacyEvent, int]] | None, *, up: bool, other: str) -> TrainingLoss:
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
        account = done[text]
        value = account.high if up else account.low
        place = certificates.index(account.certificate) if math.isfinite(value) else None
        return TrainingLoss(_releases(events), value, place)

    low = loss(below, up=False, other=why if why == DEPENDENT else "")
    if low.value > most and str(below) != str(above):
        above, why = None, why or (_EXCEEDED if claim is not None else f"ε is above {_BEYOND:g} from below")
    return low, loss(above, up=True, other=why or _above(parts)), tuple(certificates)


def _enough(
    parts: LoopParts, claim: Claim, certificates: tuple[dict[str, Any], ...]
) -> tuple[float, TrainingLoss | None, tuple[dict[str, Any], ...]]:
    """How many times σ·C is just enough noise for the claim, in the steps that were seen, and what they lose then."""

    def steps(times: float) -> list[tuple[PrivacyEvent, int]]:
        listed_steps = listed(replace(parts, scale=(times, times)), up=True)
        if listed_steps is None:
            raise UsageError(_UNKNOWN)
        return listed_steps

    try:
        listed_steps = calibrate(lambda times: Events(tuple(steps(float(times)))), claim, precision=_NEAR)
    except UsageError:
        return 1.0, None, certificates
    times, certain = float(listed_steps.enough), listed_steps.decision.certified
    if certain is None:
        return 1.0, None, certificates
    loss = TrainingLoss(_releases(steps(times)), certain.high, len(certificates))
    return times, loss, (*certificates, certain.certificate)


def _above(parts: LoopParts) -> str:
    if math.isinf(parts.factors[1]):
        return "a record's part of a sum is not bounded"
    if parts.scale[1] < _FAINT:
        return "the noise of some update is far smaller than is claimed"
    return "a record moves a sum by far more than the clip norm" if parts.factors[1] > 2 else ""


def _releases(events: Sequence[tuple[PrivacyEvent, int]]) -> tuple[Release, ...]:
    return tuple(Release(str(event), count) for event, count in events)


def _if_gaussian(parts: LoopParts, claim: Claim | None, scale: clipping.Scale | None) -> float | None:
    """ε from below, of Gaussian noise as large as the interval of its scale allows."""
    if scale is None or len(parts.groups) > _EXACT:
        return None
    events = listed(replace(parts, scale=(scale.high, scale.low)), up=False)
    try:
        return None if events is None else certified(events, claim or UNCLAIMED, COARSE).low
    except UsageError:
        return None


def _step(seen: TrainingRun, parts: LoopParts, claim: Claim | None, error: float) -> TrainingStep | None:
    """What the noise that was kept says of one step, and of all of them together."""
    kept = seen.kept().ravel()
    if len(parts.steps) != 1 or kept.size < 1000:
        return None
    sigma, rate, steps = parts.steps[0]
    rate = rate if parts.sampler == "poisson" else 1.0
    below = losses.counted(kept, sigma)
    step_loss = losses.certified(below, kept.size, sigma, error)
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
        step_loss.mu,
        losses.composed(step_loss, rate, steps, delta) if together else None,
    )


# --- What follows from the checklist and the certified losses? Verdict, reason, and the evidence around them. ---
#
# Everything that the evidence says beside findings, counts and certificates follows from these, so that a check
# concludes once more and compares.

ASKS = "training"
METHOD = "training"
CORE = {
    "batches": "how records come in",
    "clipping": "clipping",
    "noise": "the noise",
    "repetition": "whether noise is drawn afresh",
    "steps": "the steps",
    "parameters": "how parameters move",
    "adaptive": "what the clip norm hangs on",
    "machines": "what other machines add",
    "altered": "what changes gradients after the noise",
}
"""Facts without which nothing is said to be kept, in words."""

OTHERS = {
    "independence": "whether noise is independent",
    "divisor": "what the noisy sums are divided by",
    "records": "whether records are kept apart",
    "numbers": "whether gradients are numbers",
    "precision": "digits of sums and noise",
    "generator": "whether the generator of the noise can be predicted",
}
"""The other facts, in words."""
SEES_ALL = "whoever attacks sees every noisy sum, as accountants assume; the last weights alone may tell less"
REAL = "real arithmetic: noise is drawn exactly, and nothing is rounded"
THIS_RUN = "this is about the run that was watched; another run of the same code may differ"
UNCLAIMED = ApproxDP(0.0, 1e-5)
"""What is bounded where nothing is claimed."""
_RELATIONS = {"fixed-size": "replace-one", "shuffled": "zero-out", "fixed order": "zero-out"}


def relation_of(training: Training) -> str:
    """Return which datasets are neighbours in the accounting of what was seen."""
    return _RELATIONS.get(training.sampler or training.assumed, "add-remove")


def verdict_of(training: Training, claim: Claim | None) -> records.Verdict:
    """Return the verdict: VIOLATED needs a certain loss above the claim, NOT VIOLATED every core fact and its bound."""
    if claim is None:
        return records.Verdict.NO_CLAIM
    if training.low.value > claim.value or _found_out(training, claim):
        return records.Verdict.VIOLATED
    if training.partial or any(map(_blocks, training.facts)) or not training.high.value <= claim.value:
        return records.Verdict.INCONCLUSIVE
    return records.Verdict.NOT_VIOLATED


def _found_out(training: Training, claim: Claim) -> bool:
    """Whether canaries alone are surely told apart better than the claim allows."""
    return training.canaries is not None and training.canaries.sure > claim.value


def reason_of(training: Training, claim: Claim | None) -> str:
    """Return why, in a sentence or two. The first names all that was not looked at, the last what was."""
    wrong = [each.name for each in training.facts if each.status == "wrong"]
    unseen = [_words(each.fact) for each in training.facts if each.status == "not seen"]
    looked = [_words(each.fact) for each in training.facts if each.status in ("right", "note")]
    rest = f"; not looked at: {', '.join(unseen)}" if unseen else ""
    what = f"Nothing was seen wrong in what was looked at: {', '.join(looked)}."
    if wrong:
        what = f"Seen wrong: {', '.join(wrong)}."
    elif not looked:
        what = "Nothing was looked at."
    if training.partial:
        what = f"Only a part of the loop was seen: {training.partial}. {what}"
    if claim is None:
        return f"{_between(training)}{rest}. {what}"
    return f"{_because(training, claim)}{rest}. {what}"


def _between(training: Training) -> str:
    """What was seen loses, where nothing was claimed, without a full stop."""
    low, high, near = training.low, training.high, f"δ = {claims.number_text(UNCLAIMED.delta)}"
    what = "the part of the loop that was seen" if training.partial else "what was seen"
    if math.isinf(low.value):
        return f"Nothing was claimed; no ε bounds {what}" + (f" ({low.why})" if low.why else "")
    if math.isinf(high.value) and not low.value > 0:
        return f"Nothing was claimed, and nothing is certified of {what} ({high.why})"
    if math.isfinite(high.value):
        ends = f"ε lies between {_lower(low.value)} and {_upper(high.value)}"
    else:
        ends = f"ε is at least {_lower(low.value)}, and nothing bounds it from above ({high.why})"
    return f"Nothing was claimed; of {what}, {ends} at {near}, as certified for its steps"


def _because(training: Training, claim: Claim) -> str:
    """What decides the verdict, without a full stop."""
    verdict, low, high = verdict_of(training, claim), training.low, training.high
    claimed = claims.number_text(claim.value)
    if verdict is records.Verdict.VIOLATED and not low.value > claim.value:
        assert training.canaries is not None
        least = _lower(training.canaries.sure)
        return f"The canaries of this run show ε ≥ {least}, and ε = {claimed} is claimed"
    if verdict is records.Verdict.VIOLATED:
        least = "any ε" if math.isinf(low.value) else f"at least {_lower(low.value)}"
        why = f" ({low.why})" if low.why else ""
        return f"What was seen loses {least} on some data{why}, and ε = {claimed} is claimed"
    if verdict is records.Verdict.NOT_VIOLATED:
        most = claims.number_text(records.round_outward(high.value, "upper", 7))
        return f"What was seen loses at most {most}, and ε = {claimed} is claimed"
    if not high.value <= claim.value:
        most = f"nothing bounds the loss: {high.why}" if high.why else f"ε may be up to {_upper(high.value)}"
        return f"The claim of ε = {claimed} does not follow from what was seen, for {most}"
    core = [_words(each.fact) for each in training.facts if _blocks(each)]
    return f"The claim rests on what was not seen: {', '.join(core) or 'the rest of the loop'}"


def _words(fact: str) -> str:
    return CORE.get(fact) or OTHERS.get(fact, fact)


def _blocks(fact: TrainingFact) -> bool:
    """Whether nothing is said to be kept without a fact: one of the core, or records that nobody looked at."""
    return fact.status == "not seen" and (fact.fact in CORE or fact.name == clipping.NOT_LOOKED_AT)


def _lower(value: float) -> str:
    return claims.number_text(records.round_outward(value, "lower", 7))


def _upper(value: float) -> str:
    return claims.number_text(records.round_outward(value, "upper", 7)) if math.isfinite(value) else "any number"


def assumptions_of(training: Training) -> tuple[str, ...]:
    """Return what the evidence takes on trust."""
    unseen = tuple(
        f"{CORE.get(each.fact, each.fact)}: not seen" for each in training.facts if each.status == "not seen"
    )
    return SEES_ALL, REAL, THIS_RUN, *(ASSUMED if training.canaries is not None else ()), *unseen


def lowest(training: Training) -> float:
    """Return the best bound of ε from below that is as sure as a violation has to be."""
    return max(training.low.value, 0.0 if training.canaries is None else training.canaries.sure)


def concluded(
    training: Training,
    claim: Claim | None,
    *,
    name: str,
    unit: str,
    seed: int,
    confidence: float,
    false_alarm: float,
    versions: dict[str, str],
) -> evidence.Evidence:
    """Return the evidence of a watched loop."""
    notion = claim if claim is not None else UNCLAIMED
    return evidence.Evidence(
        target=records.Target(name, None, {}, ASKS, training.how),
        claim=None if claim is None else str(claim),
        relation=relation_of(training),
        unit=unit,
        pairs=(),
        seed=seed,
        confidence=confidence,
        learning=0,
        measuring=0,
        verdict=verdict_of(training, claim),
        reason=reason_of(training, claim),
        lower=records.Bound(
            value=records.round_outward(lowest(training), "lower"),
            side="lower",
            kind="sampled",
            parameter="epsilon",
            notion=str(notion),
            confidence=1 - false_alarm,
            delta=notion.delta,
            method=METHOD,
            assumes=(),
        ),
        attempts=(),
        histogram=None,
        versions=versions,
        assumptions=assumptions_of(training),
        reproducible=False,
        false_alarm=false_alarm,
        training=training,
    )

"""What follows from the checklist and the certified losses? The verdict, its reason, and the evidence around them.

Everything that the evidence says beside findings, counts and certificates follows from these, so that a check concludes
once more and compares.
"""

from __future__ import annotations

import math

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training, TrainingFact
from dpaudit.evidence.records import Bound, Target, Verdict, round_outward
from dpaudit.privacy import ApproxDP, Claim
from dpaudit.privacy.claims import number_text
from dpaudit.training.canaries import ASSUMED
from dpaudit.training.facts.records import NOT_LOOKED_AT

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


def verdict_of(training: Training, claim: Claim | None) -> Verdict:
    """Return the verdict: VIOLATED needs a certain loss above the claim, NOT VIOLATED every core fact and its bound."""
    if claim is None:
        return Verdict.NO_CLAIM
    if training.low.value > claim.value or _found_out(training, claim):
        return Verdict.VIOLATED
    if training.partial or any(map(_blocks, training.facts)) or not training.high.value <= claim.value:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_VIOLATED


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
    low, high, near = training.low, training.high, f"δ = {number_text(UNCLAIMED.delta)}"
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
    claimed = number_text(claim.value)
    if verdict is Verdict.VIOLATED and not low.value > claim.value:
        assert training.canaries is not None
        least = _lower(training.canaries.sure)
        return f"The canaries of this run show ε ≥ {least}, and ε = {claimed} is claimed"
    if verdict is Verdict.VIOLATED:
        least = "any ε" if math.isinf(low.value) else f"at least {_lower(low.value)}"
        why = f" ({low.why})" if low.why else ""
        return f"What was seen loses {least} on some data{why}, and ε = {claimed} is claimed"
    if verdict is Verdict.NOT_VIOLATED:
        most = number_text(round_outward(high.value, "upper", 7))
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
    return fact.status == "not seen" and (fact.fact in CORE or fact.name == NOT_LOOKED_AT)


def _lower(value: float) -> str:
    return number_text(round_outward(value, "lower", 7))


def _upper(value: float) -> str:
    return number_text(round_outward(value, "upper", 7)) if math.isfinite(value) else "any number"


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
) -> Evidence:
    """Return the evidence of a watched loop."""
    notion = claim if claim is not None else UNCLAIMED
    return Evidence(
        target=Target(name, None, {}, ASKS, training.how),
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
        lower=Bound(
            value=round_outward(lowest(training), "lower"),
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

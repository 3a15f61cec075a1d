"""Do the bounds of an accounting, or of a watched loop, follow from its certificates and findings?

Certificates go through `dpaudit.checker`, which composes all masses again by another way. Verdicts, headline and reason
are concluded once more and compared. Where python-flint is installed the accounting is carried out again, for the
curve; and other accountants are asked again, where the same versions are installed.

Findings about a loop are observations: nothing in the file can show them again, and the id alone protects them.
Everything that follows from them is concluded once more: what an accounting lists, each bound from its certificate, the
audit of a step from its counts, verdict and reason.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from scipy import stats

from dpaudit.accounting import ADDED, Certified, Events, certify, certify_added
from dpaudit.accounting.certificate import written
from dpaudit.accounting.closed_forms import loses_no_more
from dpaudit.accounting.decide import number
from dpaudit.accounting.losses import outward
from dpaudit.accounts.account import (
    POINTS,
    SENSITIVITY,
    about,
    at_of,
    concluded,
    events_in,
    events_of,
    headline,
    name_of,
    statement,
)
from dpaudit.accounts.plan import parse_events
from dpaudit.accounts.recorded import others_say
from dpaudit.auditing.canaries import is_planned
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, AccountingCurve, Training, TrainingCanaries, TrainingLoss
from dpaudit.evidence.records import Counts, round_outward
from dpaudit.privacy import Claim, GaussianDP, parse_claim
from dpaudit.review.check.against import numbered
from dpaudit.review.check.finding import CheckFinding, agrees, answered, failing, unchecked
from dpaudit.stats.joint_region import lower_bound
from dpaudit.training import canaries, losses
from dpaudit.training.judge import COARSE, UNCLAIMED, certified
from dpaudit.training.judge import concluded as concluded_of_loop
from dpaudit.training.losses import DEPENDENT, factors_of, listed, parts_of, unbounded
from dpaudit.training.updates import FACTS

# --- Do the bounds of an accounting follow from its certificates, and everything else from the bounds? ---

_UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, UsageError)


def accounted(evidence: Evidence, *, again: bool = True) -> Iterator[CheckFinding]:
    """Yield a finding for everything that an accounting states.

    Args:
        evidence: with an accounting.
        again: whether to carry it out again, and ask other accountants again.
    """
    accounting = evidence.accounting
    assert accounting is not None
    try:
        events = events_of(accounting.releases, evidence.relation)
        wrong = _wrong_releases(evidence, accounting, events)
    except _UNREADABLE as error:
        yield failing("releases", f"what was run cannot be read: {error}")
        return
    yield answered("releases", not wrong, wrong or f"{events.steps:,} steps, which every certificate is about")
    for place, each in enumerate(accounting.certificates):
        yield numbered(each, place)
    try:
        yield from _stated(accounting)
        yield from _concluded(evidence, accounting)
        if again:
            yield from _same_curve(accounting, events)
            yield from _others(accounting, events)
    except _UNREADABLE as error:
        yield failing("accounting", f"what it says cannot be read: {error}")


def _wrong_releases(evidence: Evidence, accounting: Accounting, events: Events) -> str:
    """What is wrong with the releases, beside the certificates; empty where nothing is."""
    known = [written(event, count) for event, count in events.parts]
    used = {each.certificate for each in accounting.statements}
    if used != set(range(len(accounting.certificates))):
        return "there is a certificate that no statement rests on, or the other way round"
    if any(not _is_about(each, known) for each in accounting.certificates):
        return "a certificate is about other releases"
    sampled = any(
        ".poisson(" in each.event or ".fixed" in each.event or ".shuff" in each.event for each in accounting.releases
    )
    relations = events.relations if sampled else (*events.relations, SENSITIVITY)
    if evidence.relation not in relations:
        return f"these releases are not accounted for under the relation {evidence.relation!r:.40}"
    name = evidence.target.name
    if name != name_of(accounting.releases):
        try:
            parse_events(name)
        except UsageError:
            return ""
        return f"it is called {name:.80}, and is another list"
    return ""


def _is_about(certificate: dict[str, Any], own: list[dict[str, Any]]) -> bool:
    """Whether a certificate is about these events; or about more noise, from below, or about less, from above."""
    events = certificate.get("events")
    if events == own:
        return True
    open_above = certificate["high"] == "infinity" or (
        certificate["parameter"] == "delta" and certificate["high"] == "1"
    )
    return (open_above and loses_no_more(events, own)) or (
        certificate["low"] == "0" and isinstance(events, list) and loses_no_more(own, events)
    )


def _stated(accounting: Accounting) -> Iterator[CheckFinding]:
    """Whether every statement is what its certificate says, and stands there once."""
    if len(set(accounting.statements)) < len(accounting.statements):
        yield failing("statement", "a statement stands there twice")
    for place, each in enumerate(accounting.statements):
        claim = None if each.claim is None else parse_claim(each.claim)
        certificate = accounting.certificates[each.certificate]
        own = statement(claim, certificate, each.certificate)
        holds = own == each and (claim is None or (own.parameter, Fraction(own.at)) == about(claim))
        which = f"statement {place}" if each.claim is None else f"the claim {each.claim}"
        said = f"{which} is {each.verdict} by its certificate" if holds else f"{which} does not follow"
        yield answered("statement", holds, said)


def _concluded(evidence: Evidence, accounting: Accounting) -> Iterator[CheckFinding]:
    """Whether all that stands around the accounting follows from it."""
    own = concluded(
        accounting,
        name=evidence.target.name,
        unit=evidence.unit,
        relation=evidence.relation,
        versions=evidence.versions,
    )
    before, after = evidence.record(), own.record()
    other = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    same = evidence.versions.get("dpaudit") == installed_version("dpaudit")
    if other == ["reason"] and not same:
        yield unchecked("reason", f"another dpaudit wrote its words; today they are: {own.reason}", decides=False)
        other = []
    said = f"{evidence.verdict} follows from the bounds" if not other else f"other values follow for {', '.join(other)}"
    yield answered("verdict", not other, said)


# --- carried out again ------------------------------------------------------------------------------------


def _same_curve(accounting: Accounting, events: Events) -> Iterator[CheckFinding]:
    """Whether the first accounting with a curve, carried out again, gives the same curve and the same note.

    Where largest losses or variances are added up, as for ε at δ = 0, there is no curve.
    """
    curves = [each for each in accounting.certificates if each["parameter"] not in ADDED]
    curves = [each for each in curves if each["digits"]] or curves
    curve = accounting.curve
    if not curves:
        notes = [certify_added(events, str(each["parameter"])).note for each in accounting.certificates]
        holds = curve is None and (len(notes) > 1 or accounting.note == notes[0])
        yield answered("curve", holds, "μ and ρ add up, without a curve")
        return
    first = curves[0]
    if curve is not None and not (len(curve.epsilons) == len(curve.lows) == len(curve.highs) <= 10 * POINTS):
        yield failing("curve", "the points of the curve do not belong together")
        return
    at = Fraction(str(first["at"]))
    delta, epsilon = (at, None) if first["parameter"] == "epsilon" else (None, at)
    try:
        own = certify(events, delta=delta, epsilon=epsilon, tolerance=accounting.tolerance, points=POINTS)
    except UsageError as error:
        yield unchecked("curve", f"it was not computed again: {error}", decides=False)
        return
    if _contradicts(own, curve):
        yield failing("curve", "the curve lies elsewhere")
    elif own.certificate != first:
        said = "this machine, or these versions, choose another grid; the curve of now does not contradict it"
        yield unchecked("curve", said, decides=False)
    else:
        noted = len(accounting.certificates) > 1 or accounting.note == own.note
        same = _is_curve(own, curve) and noted
        yield answered("curve", same, f"carried out again, the curve is {'the same' if same else 'another'}")


def _is_curve(own: Certified, curve: AccountingCurve | None) -> bool:
    if curve is None:
        return not own.curve
    stated = list(zip(curve.epsilons, curve.lows, curve.highs, strict=True))
    return stated == list(own.curve)


def _contradicts(own: Certified, curve: AccountingCurve | None) -> bool:
    """Whether two intervals of δ at one ε have nothing in common: one of them is wrong."""
    if curve is None:
        return False
    known = {epsilon: (low, high) for epsilon, low, high in own.curve}
    for epsilon, low, high in zip(curve.epsilons, curve.lows, curve.highs, strict=True):
        if not 0 <= low <= high <= 1 or not epsilon >= 0:
            return True
        if epsilon in known and (low > known[epsilon][1] or high < known[epsilon][0]):
            return True
    return False


def _others(accounting: Accounting, events: Events) -> Iterator[CheckFinding]:
    """Whether other accountants say what is stated; only the same versions can tell."""
    if not accounting.others:
        return
    now = {(each.name, each.version): each for each in others_say(events, headline(accounting.statements))}
    for each in accounting.others:
        own = now.get((each.name, each.version))
        if own is None:
            yield unchecked("others", f"{each.name} {each.version} is not installed", decides=False)
            continue
        holds = own.side == each.side and agrees(own.value, each.value)
        yield answered("others", holds, f"{each.name} says {own.value:.10g}, and {each.value:.10g} is stated")


# --- Does what evidence says of a training loop follow from its findings, its counts and its certificates? ---

_STATUSES = ("right", "wrong", "note", "not seen")
_MOST_THRESHOLDS = 10_000
_MOST_STEPS = 10**7
_MOST_CANARIES = 10**7
AS_CLAIMED = "noise as claimed"
_WORD = re.compile(r"\d[\d,.e+-]*\d|\d")


def trained(evidence: Evidence, *, again: bool = True) -> Iterator[CheckFinding]:
    """Yield a finding for everything that follows from what was seen of a loop.

    Args:
        evidence: of a watched loop.
        again: whether to certify again what has no certificate.
    """
    training = evidence.training
    assert training is not None
    try:
        wrong = _facts(training, evidence.false_alarm or 0.0)
        yield answered("facts", not wrong, wrong or f"{len(training.facts)} facts, within the chance of a false alarm")
        wrong = _noise(training, 1 - evidence.confidence)
        yield answered("noise", not wrong, wrong or "its scale, its values and what is said of them agree")
        yield from _losses(training, evidence.claimed)
        yield _concluded_of_loop(evidence, training)
        for place, certificate in enumerate(training.certificates):
            yield numbered(certificate, place)
        yield from _step(training, evidence)
        if training.canaries is not None:
            yield from _canaries(training.canaries, evidence)
        if again:
            yield from _gaussian(training, evidence.claimed)
    except _UNREADABLE as error:
        yield failing("training", f"what it says cannot be read: {error}")


def _facts(training: Training, false_alarm: float) -> str:
    """What is wrong with the checklist; empty where nothing is."""
    names = [each.fact for each in training.facts]
    if names[: len(FACTS)] != [*FACTS] or names[len(FACTS) :] not in ([], ["altered"]):
        return "the checklist has other facts than a watch finds"
    if any(each.status not in _STATUSES or not 0 <= each.error <= 1 for each in training.facts):
        return "a fact has a status that there is none of"
    share = 1.0 if training.canaries is None else 1 - canaries.SHARE
    if sum(each.error for each in training.facts) > share * false_alarm * (1 + 1e-9):
        return "the facts together err more often than is stated"
    by_fact = {each.fact: each for each in training.facts}
    low, high = training.scales  # more noise than was seen loses less
    if by_fact["noise"].name != "too little noise" and not (low >= 1 and high == 1):
        return "the noise is accounted for otherwise than it was seen"
    if by_fact["clipping"].status != "wrong" and training.factors != factors_of(None, by_fact["clipping"]):
        return "clipping is accounted for otherwise than it was seen"
    kinds = {"right": training.sampler == training.assumed, "not seen": not training.sampler}
    if not kinds.get(by_fact["batches"].status, training.sampler != training.assumed):
        return "the sampler is another one than was seen"
    return _grouped(training, by_fact["steps"].status)


def _noise(training: Training, error: float) -> str:
    """What is wrong with the clip norm, the interval of the noise's scale, and what is said of it; empty: nothing.

    Both ends follow from the sum of squares of so many values, which is χ² where the noise is as claimed.
    """
    if not 0 < training.clip < math.inf:
        return f"{training.clip} is no norm to clip to"
    if training.stated is not None and not training.stated >= 0:
        return f"an accountant is said to state ε = {training.stated}"
    if training.scale is None:
        return f"{training.values} values of noise are stated, and no scale" if training.values else ""
    low, high = training.scale
    if training.values < 1 or not 0 <= low <= high:
        return f"a scale between {low} and {high} is stated, from {training.values} values"
    least, most = (float(stats.chi2.ppf(share, training.values)) for share in (error / 2, 1 - error / 2))
    total = low**2 * most, high**2 * least
    if not math.isclose(*total, rel_tol=1e-6):
        return f"the ends of the scale are not those of {training.values} values"
    said = next(each for each in training.facts if each.fact == "noise")
    ratio = math.sqrt(total[0] / training.values)
    if said.name == AS_CLAIMED and not {f"{ratio:.5g}", f"{training.values:,}"} <= set(_WORD.findall(said.text)):
        return (
            f"the noise is {ratio:.5g} of what is claimed, from {training.values:,} values, and {said.text!r} is said"
        )
    if training.step is not None and not 0 < training.step.values <= training.values:
        return "the audit of a step counts more values of noise than were seen"
    return ""


def _grouped(training: Training, status: str) -> str:
    """What is wrong with how updates are put together; empty where nothing is."""
    if training.groups is None:
        alone = training.together == 1
    else:
        made, known = Counter[tuple[float, float]](), Counter[tuple[float, float]]()
        for sigma, rate, updates in training.steps:
            made[sigma, rate] += updates
        for sigma, rate, together, square, groups in training.groups:
            known[sigma, rate] += groups
            if min(together, square, groups) < 1 or max(together, square) > _MOST_STEPS:
                return "updates are put together in a way that there is none of"
        if any(known[each] > made[each] for each in known) or not 0 <= training.loose <= sum(made.values()):
            return "more updates are accounted for than were made"
        alone = all(together == square == 1 for _, _, together, square, _ in training.groups) and not training.loose
        if alone and known != made:
            return "fewer updates are accounted for than were made"
        if training.together != max([1, *(together for _, _, together, _, _ in training.groups)]):
            return "batches are put together otherwise than is stated"
    unlike = any(max(each[:2]) > 1 for each in training.rounds or ())
    if training.loose and not alone and status == "not seen":
        return ""
    return (
        ""
        if (alone and not unlike) or status == "wrong"
        else "batches are used otherwise than once, and the steps are called right"
    )


def _losses(training: Training, claim: Claim | None) -> Iterator[CheckFinding]:
    """Whether each bound is that of its certificate, for the steps that follow from what was seen."""
    why, infinite = unbounded(training.facts)
    enough = training.enough
    used = {each.certificate for each in (training.low, training.high, enough) if each is not None} - {None}
    if used != set(range(len(training.certificates))):
        yield failing("losses", "there is a certificate that no bound rests on, or the other way round")
        return
    for side, loss in (("low", training.low), ("high", training.high)):
        wrong = _loss(training, loss, claim, why, infinite, up=side == "high")
        yield answered("losses", not wrong, wrong or f"the bound from {'above' if side == 'high' else 'below'} follows")

    if enough is not None:
        again = msgspec.structs.replace(training, scales=(training.times, training.times))
        wrong = _loss(again, enough, claim, why, infinite, up=True)
        if claim is None or not enough.value <= claim.value < training.high.value:
            wrong = wrong or "more noise is said to be enough, and is not asked for or not enough"
        yield answered("losses", not wrong, wrong or f"noise of {training.times:g}·σ·C would keep the claim")


def _loss(training: Training, loss: TrainingLoss, claim: Claim | None, why: str, infinite: bool, *, up: bool) -> str:
    """What is wrong with a bound; empty where nothing is."""
    nothing = math.inf if up else 0.0
    if infinite and not up:
        return "" if loss.value == math.inf and not loss.releases else "it is another than follows from the findings"
    claim = claim or UNCLAIMED
    silent = (why and up) or why == DEPENDENT
    seen = None if silent else listed(parts_of(training), up=up)
    if loss.certificate is None:
        if loss.value != nothing:
            return "a bound has no certificate"
        return "" if loss.why or up else "nothing is certified, and why is not said"
    if seen is None:
        return "nothing is accounted for by what was seen, and a bound is stated"
    events = list(zip(events_in(loss.releases), [each.steps for each in loss.releases], strict=True))
    if events != seen:
        return "other steps are accounted for than were seen"
    certificate = training.certificates[loss.certificate]
    own = [written(event, count) for event, count in Events(tuple(events)).parts]
    if certificate.get("events") != own and (up or not loses_no_more(certificate.get("events"), own)):
        return "a certificate is about other steps"
    if certificate["parameter"] != "epsilon" or Fraction(str(certificate["at"])) != at_of(claim):
        return "a certificate is about another δ"
    value = outward(number(str(certificate["high" if up else "low"])), up=up)
    return "" if value == loss.value else "a bound is not that of its certificate"


def _step(training: Training, evidence: Evidence) -> Iterator[CheckFinding]:
    """Whether the audit of a step follows from its counts."""
    step = training.step
    if step is None:
        return
    at, _ = losses.thresholds(step.sigma) if 0.01 < step.sigma < 100 else (np.zeros(0), 1)
    below = np.array(step.below, dtype=np.int64)
    fits = len(at) == len(below) <= _MOST_THRESHOLDS and step.values > 0 and 0 < step.steps <= _MOST_STEPS
    if not fits or np.any(np.diff(below) < 0) or below[0] < 0 or below[-1] > step.values:
        yield failing("step", "its counts are not those of thresholds")
        return
    if (step.sigma, step.steps) not in [(sigma, steps) for sigma, _, steps in training.steps]:
        yield failing("step", "it is about other steps than were seen")
        return
    if not math.isclose(step.confidence, evidence.confidence, rel_tol=1e-9):
        yield failing("step", "its confidence is another than is stated")
        return
    step_loss = losses.certified(below, step.values, step.sigma, 1 - step.confidence)
    yield answered("step", agrees(step_loss.mu, step.mu), f"μ ≥ {step_loss.mu:.10g} follows from the counts")
    if step.epsilon is not None:
        claim = evidence.claimed or UNCLAIMED
        known = step.delta == claim.delta and step.rate in {each for _, each, _ in training.steps}
        own = losses.composed(step_loss, step.rate, step.steps, step.delta)
        holds = known and own is not None and agrees(own, step.epsilon)
        yield answered("step", holds, f"composed, it is {own if own is None else f'{own:.10g}'}")


def _possible(counts: Counts) -> bool:
    """Whether no more canaries of a side are guessed than there are."""
    sides = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    return all(min(a, b) >= 0 and a + b <= runs for runs, a, b in sides)


def _canaries(told: TrainingCanaries, evidence: Evidence) -> Iterator[CheckFinding]:
    """Whether what canaries show follows from their counts, and the counts from as many coins of the seed."""
    notion, error = evidence.claimed or UNCLAIMED, 1 - evidence.confidence
    coins = canaries.coins_of(sum(told.given), evidence.seed) if 0 < sum(told.given) <= _MOST_CANARIES else np.zeros(0)
    known = told.kind in ("gradients", "records") and (int(coins.sum()), len(coins) - int(coins.sum())) == told.given
    yield answered("canaries", known, f"the seed {'gives' if known else 'does not give'} these coins")
    for attempts, wanted, value in (
        (told.attempts, notion, told.epsilon),
        (told.gaussian, GaussianDP(1.0), told.mu),
    ):
        bounds = [each.bound for each in attempts]
        fits = all(
            bound.counts is not None
            and bound.counts.runs == told.given
            and _possible(bound.counts)
            and bound.notion == str(wanted)
            and (bound.parameter, bound.delta, bound.side) == (wanted.parameter, wanted.delta, "lower")
            and bound.assumes == canaries.ASSUMED
            for bound in bounds
        )
        if not fits or not is_planned(attempts, sum(told.given), error):
            yield failing("canaries", f"the guesses about {wanted.parameter} are not those that their number fixes")
            continue
        own = [
            round_outward(
                lower_bound(b.method, b.counts, claim=wanted, weight=b.weight, error=1 - b.confidence), "lower"
            )
            for b in bounds
            if b.counts is not None
        ]
        holds = all(agrees(each, bound.value) for each, bound in zip(own, bounds, strict=True))
        holds = holds and value == canaries.best(attempts)
        yield answered("canaries", holds, f"the counts of guesses give {wanted.parameter} ≥ {max(own):.10g}")
    sure = canaries.surely(told.attempts, notion, error, (evidence.false_alarm or 0.0) * canaries.SHARE)
    yield answered("canaries", agrees(sure, told.sure), f"as surely as a violation has to be, ε ≥ {sure:.10g}")


def _gaussian(training: Training, claim: Claim | None) -> Iterator[CheckFinding]:
    """Whether ε of Gaussian noise with the largest scale that was seen, certified again, is as stated."""
    if training.gaussian is None:
        return
    if training.scale is None:
        yield failing("gaussian", "there is no scale that it could follow from")
        return
    claim = claim or UNCLAIMED
    events = listed(replace(parts_of(training), scale=training.scale[::-1]), up=False)
    try:
        assert events is not None
        own = certified(events, claim, COARSE).low
    except (AssertionError, UsageError) as error:
        yield unchecked("gaussian", f"it was not certified again: {error}", decides=False)
        return
    said = f"certified again, {own:.7g} from below, and {training.gaussian:.7g} is stated"
    yield answered("gaussian", abs(own - training.gaussian) <= COARSE * max(1.0, claim.value), said)


def _concluded_of_loop(evidence: Evidence, training: Training) -> CheckFinding:
    """Whether all that stands around the findings follows from them."""
    own = concluded_of_loop(
        training,
        evidence.claimed,
        name=evidence.target.name,
        unit=evidence.unit,
        seed=evidence.seed,
        confidence=evidence.confidence,
        false_alarm=evidence.false_alarm or 0.0,
        versions=evidence.versions,
    )
    before, after = evidence.record(), own.record()
    other = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    if other == ["reason"] and evidence.versions.get("dpaudit") != installed_version("dpaudit"):
        return unchecked("reason", f"another dpaudit wrote its words; today they are: {own.reason}", decides=False)
    said = (
        f"{evidence.verdict} follows from the findings" if not other else f"other values follow for {', '.join(other)}"
    )
    return answered("verdict", not other, said)

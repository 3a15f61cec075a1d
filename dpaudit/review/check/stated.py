"""Does the verdict follow, and does everything else that one part of the file says about another?"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dpaudit.auditing.assumed import ASSUMED, LOST, RECORDED, SOME_CANARIES, assumed
from dpaudit.auditing.verdict import TwoLooks, decide
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.event import TYPES, types_agree
from dpaudit.evidence.evidence import Evidence, against, lowered
from dpaudit.evidence.records import PairRecord, Target, Verdict
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.answers import ROUNDING
from dpaudit.neighbours.digest import digest, read_kept
from dpaudit.review.check.fields import fields
from dpaudit.review.check.finding import Finding, answered, failing, unchecked
from dpaudit.review.check.sampled import looks_of, searched
from dpaudit.targets.signature import Shape
from dpaudit.verify.proofs.kinds import open_ends

_READINGS = {Shape.PROGRAM: "batch", Shape.SAMPLER: "sampler"}


def stated(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for everything that follows from other parts of the evidence."""
    for number, pair in enumerate(evidence.pairs):
        yield from _pair(evidence, number, pair)
    yield from fields(evidence)
    yield from searched(evidence)
    yield _target(evidence)
    yield _assumptions(evidence)
    yield from _sensitivity(evidence)
    yield from _led(evidence)
    yield from _accuracy(evidence)
    yield from _verdict(evidence)


def _sensitivity(evidence: Evidence) -> Iterator[Finding]:
    """Check what is said of the query's movement and the declared sensitivity, as far as floats allow."""
    moved = evidence.sensitivity
    if moved is None:
        return
    allowed = math.inf if moved.claimed is None else moved.claimed * parse_relation(evidence.relation).group
    last_digits = 1e-12 * allowed if math.isfinite(allowed) else 0.0
    room = max(moved.room, ROUNDING * allowed) if moved.room else 0.0
    too_far = moved.largest > allowed + room + last_digits
    within = moved.largest <= allowed + room - last_digits
    holds = not (too_far and not moved.exceeded) and not (within and moved.exceeded)
    holds = holds and (moved.finite is None or moved.finite <= moved.largest) and 0 <= moved.silent <= moved.tried
    shown = "a" if moved.exceeded else "no"
    if not holds:
        yield failing("sensitivity", f"{shown} counterexample does not follow from the distances")
        return
    said = f"{shown} counterexample follows from the distances; the query, which gave them, is in no file"
    yield unchecked("sensitivity", said, decides=False)


def _accuracy(evidence: Evidence) -> Iterator[Finding]:
    """Look at what is said of errors: learning runs are in no file."""
    found = evidence.accuracy
    if found is None:
        return
    counts = 0 <= found.same <= found.compared <= found.runs and found.numbers >= 0
    if found.pair is None:
        counts = counts and found.side is None and evidence.search is not None
    else:
        counts = counts and found.runs <= evidence.learning
        counts = counts and 0 <= found.pair < len(evidence.pairs) and found.side in (0, 1)
    errors = len(found.errors) in (0, 1, found.numbers) and all(
        all(map(math.isfinite, (each.bias, each.rmse, each.low, each.high)))
        and abs(each.bias) <= each.rmse * (1 + 1e-5)
        and each.low <= each.high
        for each in found.errors
    )
    if not counts or not errors:
        yield failing("accuracy", "such errors cannot be those of the runs")
    else:
        yield unchecked("accuracy", "errors were estimated from runs that are in no file", decides=False)


# --- the verdict ------------------------------------------------------------------------------------------


def _led(evidence: Evidence) -> Iterator[Finding]:
    """Look at what is said of outputs that a trace points to: learning runs are in no file."""
    for led in evidence.led:
        one_sided = led.event.toward(0) != led.event.toward(1)
        met = all(0 <= met <= runs for met, runs in zip(led.met, led.runs, strict=True))
        possible = one_sided and met and (led.needs is None or led.needs >= 1)
        if not 0 <= led.pair < len(evidence.pairs) or not possible:
            yield failing("led", "what a trace points to cannot have come up as often as is said")
        elif evidence.trace is None and (evidence.search is None or evidence.search.led is None):
            yield failing("led", "outputs of a replayed path are named, and nothing was replayed")
        elif sum(led.runs) > evidence.learning:
            yield failing("led", "it came up in more learning runs than were made")
        else:
            said = f"outputs of a replayed path came up in {sum(led.met)} of {sum(led.runs)} learning runs"
            yield unchecked("led", f"{said}; only a replay shows that they did", decides=False)


def _verdict(evidence: Evidence) -> Iterator[Finding]:
    if evidence.verdict is Verdict.INVALID:
        holds = not evidence.attempts and evidence.histogram is None and evidence.detectable is None
        if holds:
            yield unchecked("verdict", "that the runs could not be trusted, only another audit can show", decides=True)
        else:
            yield failing("verdict", "runs that could not be trusted show nothing, and these do")
        return
    lower, upper, looks = evidence.lower, evidence.upper, looks_of(evidence)
    stated = evidence.verdict if evidence.written is None else Verdict(evidence.written["verdict"])
    contradicts = upper is not None and lower.kind == "sampled" and lower.value > upper.value
    try:
        verdict, reason = decide(
            evidence.claimed,
            lower,
            evidence.detectable,
            evidence.floating_point if evidence.low_bits == "verdict" else None,
            looks=looks,
            upper=upper,
            within=_within(evidence),
            scope="" if evidence.proof is None else evidence.proof.scope,
            contradicts=contradicts,
            open_ends=open_ends(evidence.proof),
        )
    except (ValueError, ArithmeticError) as error:
        yield failing("verdict", str(error))
        return
    if contradicts and verdict is Verdict.PROVED:
        verdict, reason = Verdict.VIOLATED, evidence.reason
    finding = against(evidence)
    verdict, reason = lowered(verdict, reason, finding)
    holds = verdict is stated
    how = "follows" if holds else "does not follow"
    also = f", and from what was found: {finding}" if finding and verdict is Verdict.INCONCLUSIVE else ""
    yield answered("verdict", holds, f"{stated} {how} from the bounds and the claim{also}")
    yield from _decided(evidence, looks)
    # other versions may word the reason differently, but not with different numbers
    same = evidence.versions.get("dpaudit") == installed_version("dpaudit")
    same_reason = evidence.reason == reason if same else _numbers(evidence.reason) == _numbers(reason)
    if holds and not same_reason:
        yield failing("reason", f"the sentence of the verdict is: {reason}")
    elif holds and evidence.reason != reason:
        yield unchecked("reason", f"another dpaudit wrote its words; today they are: {reason}", decides=False)


def _decided(evidence: Evidence, looks: TwoLooks | None) -> Iterator[Finding]:
    """Check that a violation rests on the stated bound: that of low-order bits, or that of real numbers."""
    claim = evidence.claimed
    above = claim is not None and evidence.lower.value > claim.value
    by_one_look = "float" if evidence.verdict is Verdict.VIOLATED and not above else "real"
    decided = by_one_look if looks is None else looks.decided_in
    unsaid = evidence.decided_in == "real" and not above  # as in older evidence
    if evidence.decided_in != decided and not unsaid:
        what = {"float": "on low-order bits", "real": "on low-order bits, and they are said to decide"}[decided]
        yield failing("verdict", f"it rests {'' if decided == 'float' else 'not '}{what}")


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d[\d.,/e+-]*", text))


def _within(evidence: Evidence) -> bool:
    """Whether the upper bound is at most the claim, decided exactly."""
    claim, upper = evidence.claimed, evidence.upper
    if claim is None or upper is None or upper.exact is None:
        return False
    if upper.exact.startswith("ln("):
        from dpaudit.program.enumerate import exact, parse_exact
        from dpaudit.verify.exact import exp_of

        return not exact(parse_exact(upper.exact[3:-1])) > exp_of(claim.value, upward=True)
    return fraction(upper.exact) <= limit_of(claim.value, toward=0.0)


def fraction(text: str | None) -> Fraction:
    """Read a fraction; an exponent is refused, since it could demand any number of digits."""
    if text is None or "e" in text.lower():
        raise ValueError(f"{text!r} is no fraction")
    return Fraction(text)


# --- what was audited -------------------------------------------------------------------------------------


def _types(evidence: Evidence) -> str:
    """Say what is wrong with whether types count; empty if nothing is."""
    events = [bound.event for bound in (evidence.lower, *(each.bound for each in evidence.attempts)) if bound.event]
    if evidence.types in TYPES and types_agree(events, evidence.types):
        return ""
    return f"types are said to {evidence.types!r:.40}, and the forms of the events say something else"


def _target(evidence: Evidence) -> Finding:
    """Check that the kind of the target, how it was read, and what follows for the runs agree."""
    target = evidence.target
    wrong = ""
    if target.asks in RECORDED:
        holds = evidence.low_bits == "ignore" and "declared" in evidence.relation and evidence.reproducible
        wrong = _types(evidence)
        return answered("target", holds and not wrong, wrong or f"{target.asks} that were recorded elsewhere")
    try:
        shape = Shape(target.asks)
    except ValueError:
        return failing("target", f"no function is of the kind {target.asks!r}")
    own_randomness = _own_randomness(evidence)
    if _is_rewritten(target):
        return _rewritten(evidence, shape, own_randomness)
    reading = "run by run" if own_randomness or evidence.observed else _READINGS.get(shape, "run by run")
    if target.reading != reading and not target.reading.startswith("run by run: "):
        wrong = f"a function of the kind {shape} is not read as {target.reading!r}"
    elif own_randomness != (shape is Shape.OPAQUE) and shape in (Shape.OPAQUE, Shape.PROGRAM):
        wrong = f"a {shape} is said {'' if own_randomness else 'not '}to have randomness of its own"
    elif evidence.reproducible != (not own_randomness and not evidence.observed):
        watched = ", whose run time is observed," if evidence.observed else ""
        own = ", of which randomness of its own is assumed," if own_randomness else ""
        called = "" if evidence.reproducible else "not "
        wrong = f"a function of the kind {shape}{own}{watched} is called {called}reproducible"
    elif _types(evidence):
        wrong = _types(evidence)
    elif evidence.low_bits not in ("ignore", "report", "verdict") or (
        shape is Shape.PROGRAM and evidence.low_bits != "ignore"
    ):
        wrong = f"low-order bits of a {shape} count for {evidence.low_bits!r}"
    elif (evidence.floating_point is None) != (evidence.low_bits == "ignore") and _judged(evidence):
        wrong = "low-order bits are examined, and nothing is said of them, or the other way round"
    elif parse_relation(evidence.relation).kind == "declared" and not any(
        "declared" in it for it in evidence.assumptions
    ):
        wrong = "the relation is declared, and it is not assumed"
    elif min(evidence.seed, evidence.learning, evidence.measuring) < 0:
        wrong = "a seed and numbers of runs are not negative"
    return answered("target", not wrong, wrong or f"a {shape}, read as {target.reading.partition(':')[0]}")


def _rewritten(evidence: Evidence, shape: Shape, own_randomness: bool) -> Finding:
    """Check what follows where the source of a function was read: every draw hangs on the seed, but a library's own."""
    wrong, called = _types(evidence), evidence.target.reading != "rewritten"
    if shape not in (Shape.OPAQUE, Shape.SEEDED) or evidence.observed:
        wrong = f"a function of the kind {shape} is not read as 'rewritten'"
    elif called and (not own_randomness or evidence.reproducible):
        wrong = "a library that is called in each run has randomness of its own, which no seed repeats"
    elif not called and (own_randomness or not evidence.reproducible):
        wrong = "where the source is read, every draw hangs on the seed"
    elif evidence.low_bits not in ("ignore", "report", "verdict"):
        wrong = f"low-order bits of a {shape} count for {evidence.low_bits!r}"
    elif (evidence.floating_point is None) != (evidence.low_bits == "ignore") and _judged(evidence):
        wrong = "low-order bits are examined, and nothing is said of them, or the other way round"
    elif min(evidence.seed, evidence.learning, evidence.measuring) < 0:
        wrong = "a seed and numbers of runs are not negative"
    return answered("target", not wrong, wrong or f"a {shape}, its source read")


def _is_rewritten(target: Target) -> bool:
    return target.reading == "rewritten" or target.reading.startswith("rewritten; called in each run: ")


def _own_randomness(evidence: Evidence) -> bool:
    """Whether the runs depend on more than the seed, as those of opaque functions and some others do."""
    return any("own randomness" in it for it in evidence.assumptions)


def _assumptions(evidence: Evidence) -> Finding:
    """Check that the assumptions follow from the kind of the target, the relation and what is observed."""
    asks, stated = evidence.target.asks, evidence.assumptions
    if asks in RECORDED:
        design = "outputs" if evidence.scores is None else evidence.scores.design
        some = evidence.scores is not None and evidence.scores.canaries is not None
        design = SOME_CANARIES if some else design
        known = [ASSUMED[design]] if design.startswith("one-run") else [ASSUMED[design], (*ASSUMED[design], LOST)]
    else:
        declared = parse_relation(evidence.relation).kind == "declared"
        own = Shape(asks) is Shape.OPAQUE or (Shape(asks) is not Shape.PROGRAM and _own_randomness(evidence))
        own = _own_randomness(evidence) if _is_rewritten(evidence.target) else own
        known = [
            assumed(own, declared=declared, observed=bool(evidence.observed), repeated=repeated)
            for repeated in (False, True)
        ]
    holds = stated in known
    return answered("assumptions", holds, "; ".join(stated) if holds else f"what is assumed is: {'; '.join(known[0])}")


def _judged(evidence: Evidence) -> bool:
    return evidence.verdict is not Verdict.INVALID and bool(evidence.attempts)


def _pair(evidence: Evidence, number: int, pair: PairRecord) -> Iterator[Finding]:
    """Yield findings for a pair whose data are in the file: their digests, and that they are neighbours."""
    if pair.origin not in ("mechanism", "given", "found", "made"):
        yield failing("pair", f"pair {number}: nothing comes from {pair.origin!r}")
    data = []
    for kept, shown, own in ((pair.data0, pair.shown0, pair.digest0), (pair.data1, pair.shown1, pair.digest1)):
        for found in [*([] if kept is None else [read_kept(kept)]), *_read(shown)]:
            if digest(found) != own:
                yield failing("pair", f"pair {number}: data that it shows have another digest")
                return
        data += [read_kept(kept)] if kept is not None else _read(shown)
    if len(data) < 2:
        said = f"pair {number}: its data are there by digest alone, so that nothing shows that they are neighbours"
        yield unchecked("pair", said, decides=False)
        return
    try:
        parse_relation(evidence.relation).check(*data)
    except UsageError as error:
        yield failing("pair", f"pair {number}: {error}")
    else:
        yield answered(
            "pair", True, f"pair {number}: the data have these digests, under the relation {evidence.relation}"
        )


def _read(text: str | None) -> list[Any]:
    """Return the data in a text, as the only member of a list; empty if the text does not show all of them."""
    try:
        return [] if text is None else [ast.literal_eval(text)]
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return []

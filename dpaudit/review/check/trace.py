"""Does what is certain of a trace follow from its steps? The loss of noises that move is computed again.

Which noises move, and how far, was recorded in runs that are in no file, as counts are: only a replay shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpaudit.auditing.verdict import LEAK, TRACE
from dpaudit.evidence.build import exact_bound
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Trace
from dpaudit.evidence.records import Verdict, round_outward
from dpaudit.privacy import PureDP
from dpaudit.review.check.finding import Finding, answered, failing, unchecked
from dpaudit.tracing.certain import CertainStep, loss_of
from dpaudit.tracing.laws import LAWS
from dpaudit.tracing.pair import WORDS, Word

_NEAR = 1e-4  # relative: prices are kept with 6 digits
_ALL = 40  # lines of draws that a record holds at most
_RECOGNISED = 0.031  # relative: the scale of recognised noise is an estimate


def traced(evidence: Evidence) -> Iterator[Finding]:
    """Yield findings about the record of a trace."""
    trace, exact = evidence.trace, evidence.exact
    assert trace is not None
    yield answered("trace", *_worded(trace))
    wrong = _impossible(trace, evidence)
    if wrong:
        yield failing("trace", wrong)
    said = "which draws there were, how far they move, and what was not followed"
    yield unchecked("runs of the trace", f"{said}, its runs showed, which are in no file; a replay does", decides=False)
    loss = trace.loss
    if loss is None or not loss.value > 0:
        if exact is not None:
            yield failing("certain", "a lower bound is called exact, and the trace found no loss that is certain")
        return
    notion = evidence.claimed or PureDP(0.0)
    wanted = exact_bound(loss.value, notion, method=LEAK if loss.leaks else TRACE, pair=trace.pair)
    if exact != wanted:
        yield failing("certain", "the exact bound is not the loss that the trace found")
    elif not loss.steps:
        tried = loss.why.startswith("all ways") and not trace.calls
        if not math.isinf(loss.value) and (loss.leaks or not tried):
            yield failing("certain", "a finite loss is stated, and neither shifts of noise nor choices that lose it")
            return
        said = "it is the loss that the trace states; what its runs returned is in no file, and only a replay shows it"
        yield unchecked("certain", said, decides=evidence.verdict is Verdict.VIOLATED and _rests_on(evidence))
    else:
        try:
            steps = [CertainStep(LAWS[each.law], each.scale, each.by, each.where, each.other) for each in loss.steps]
        except KeyError as error:
            yield failing("certain", f"no law of noise is called {error}")
            return
        again = loss_of(steps, evidence.claimed)
        value = None if again is None else round_outward(again.epsilon, "lower")
        holds = value is not None and (value == loss.value or math.isclose(value, loss.value, rel_tol=1e-6))
        yield answered(
            "certain", holds, f"the shifts of the noise give a loss of at least {value}; {loss.value} is stated"
        )


def _worded(trace: Trace) -> tuple[bool, str]:
    """Whether the word of a trace is the worst of its findings, and what certain loss there is agrees with it."""
    words = {text: word for word, text in WORDS.items()}
    if trace.word not in words or any(each.word not in words for each in trace.findings):
        return False, f"a trace finds one of {', '.join(words)}"
    if trace.findings and words[trace.word] != max(words[each.word] for each in trace.findings):
        return False, "its word is not the worst of what it found"
    sure = words[trace.word] in (Word.LEAKS, Word.VIOLATED)
    if sure and (trace.loss is None or not trace.loss.value > 0):
        return False, f"{trace.word!r} is said, and no loss is certain"
    return True, f"{trace.word}, as its findings say"


def _impossible(trace: Trace, evidence: Evidence) -> str:
    """Say what of a trace cannot be; empty if nothing is wrong."""
    if min(trace.runs, trace.tried, trace.paths, trace.limit) < 1 or min(trace.left_out, trace.drawn) < 0:
        return "its numbers of runs, pairs and paths cannot be"
    if not trace.findings:
        return "it found nothing, not even that nothing was seen"
    if len(set(trace.findings)) < len(trace.findings):
        return "it found one thing twice"
    if not 0 <= trace.pair < max(len(evidence.pairs), 1):
        return "what it found is on a pair that is not there"
    found = trace.source in ("data", "domain")
    if trace.source not in ("given", "mechanism", "data", "domain") or found != bool(trace.found):
        return "where its pair comes from, and how that was found, do not agree"
    if (trace.source == "data") != (trace.data is not None) or (trace.source == "domain" and trace.domain is None):
        return "its data, or their domain, are not what its source says"
    if trace.drawn and (trace.domain is None or trace.drawn > trace.tried):
        return "pairs were drawn over a domain that it does not name, or more than it would"
    if trace.loss is not None and trace.unseen:
        return "a loss is called certain, and not everything was followed"
    if (trace.epsilon is None) != (trace.mu is None) and trace.mu is None:
        return "its price has no part of Gaussian noise"
    if any(value is not None and not 0 <= value < math.inf for value in (trace.epsilon, trace.mu)):
        return "its price is none"
    return _unlike_checked(trace) or _unlike_calls(trace) or _over(trace, evidence)


def _rests_on(evidence: Evidence) -> bool:
    """Whether no runs show what the trace calls certain."""
    return evidence.exact is not None and evidence.lower == evidence.exact


def _unlike_checked(trace: Trace) -> str:
    """Say where a run with shifted noise, or none, does not go with the word."""
    if trace.word != str(Word.SUPPORTED) or trace.findings[0].text.startswith("all ways"):
        return ""
    if trace.checked is False:
        return "a run with shifted noise returned something else, and the path is called supported"
    moved = any(call.moved for call in trace.calls)
    if trace.checked is None and moved and not any(call.recognised for call in trace.calls):
        return "a path on which noise moves is called supported, and no run with shifted noise was made"
    return ""


def _unlike_calls(trace: Trace) -> str:
    """Say where the price of a path is not that of its draws."""
    pure, squares, stated = 0.0, 0.0, False
    for call in trace.calls:
        cost, law = call.cost, LAWS.get(call.law)
        stated |= call.law.endswith("as stated")
        if call.moved < 0 or call.draws < max(call.moved, 1) or (not call.moved and (call.by or cost)):
            return f"{call.where} moves by {call.by}, and {call.moved} of its {call.draws} draws move"
        if cost is None or law is None or not call.moved:
            continue
        each = abs(call.by) / call.scale if call.scale > 0 else math.inf
        most = each * (math.sqrt(call.moved) if law.cost == "gaussian" else call.moved)
        if not each * (1 - _NEAR) <= cost <= most * (1 + _NEAR):
            return f"{call.where} costs {each:.6g} at least, and {cost:.6g} is stated"
        if law.cost == "gaussian":
            squares += cost**2
        elif law.cost == "pure":
            pure += cost
    whole = not stated and len(trace.calls) < _ALL and all(call.cost is not None for call in trace.calls)
    if whole and trace.mu is not None and not math.isclose(trace.mu, math.sqrt(squares), rel_tol=_NEAR, abs_tol=1e-9):
        return f"its draws cost μ = {math.sqrt(squares):.6g}, and {trace.mu:.6g} is stated"
    total = max(pure + (trace.chance or 0.0), 0.0)
    known = whole and trace.chance is not None and trace.epsilon is not None
    if known and not math.isclose(trace.epsilon or 0.0, total, rel_tol=_NEAR, abs_tol=1e-9):
        return f"its draws and choices cost ε = {total:.6g}, and {trace.epsilon} is stated"
    return ""


def _over(trace: Trace, evidence: Evidence) -> str:
    """Say where a path is called supported, and costs more than a plain claim allows."""
    claim = evidence.claimed
    if trace.word != str(Word.SUPPORTED) or trace.epsilon is None or not isinstance(claim, PureDP):
        return ""
    if trace.findings[0].text.startswith("all ways"):  # the loss itself is known, and is less than the price of a path
        return ""
    if trace.epsilon > claim.value * (1 + _RECOGNISED) or trace.mu:
        return f"ε = {trace.epsilon:.6g} is called supported, and {claim} is claimed"
    return ""

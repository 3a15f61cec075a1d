"""What did recorded and replayed runs show, in words? A finding beside the verdict, with the line.

The words are those of a trace and no others: leaks; violated, given the stated laws; not supported; supported on this
path; not priced; not seen. None of them says that a mechanism is private.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.evidence.event import DATASETS
from dpaudit.evidence.evidence import SPEAKS_AGAINST, Evidence
from dpaudit.evidence.further_records import Trace, TracedCall, TraceFinding
from dpaudit.evidence.records import Bound
from dpaudit.privacy.claims import number_text
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import TRACED

_LONGEST_PAIR = 160  # characters of the answers of a pair in a sentence

MEANINGS = {
    "leaks": "certain, by the flow of data alone, whatever the laws of the noise are",
    "violated, given the stated laws": "certain, if the noise has the laws and scales that the code asks for",
    "not supported": "this accounting of this path does not support the claim; it refutes nothing by itself, because "
    "another accounting may",
    "not priced": "a law, an operation or a branch that this accounting does not know",
    "supported on this path": "the shift that hides the change costs no more than is claimed, on the paths and the "
    "pair that were looked at; nothing is said of others",
    "not seen": "no noise that is followed was met, or every run raised",
}


@dataclass(frozen=True, slots=True)
class TracePart:
    """The section on a trace."""

    sentences: list[str]  # what was found, and what its word means
    findings: list[tuple[str, str, str]]  # (word, what was found, line) of each
    # rows of the draws: line, law and scale, how far it moved, what it cost, where data came to it
    calls: list[tuple[str, str, str, str, str]]
    facts: list[tuple[str, str]]  # names and texts beside


def trace_line(evidence: Evidence, *, told: bool = False) -> str | None:
    """Return what was found in one line; None without a trace."""
    trace = evidence.trace
    if trace is None:
        return None
    first = trace.findings[0] if trace.findings else None
    if first is None:
        return trace.word
    tried = f" ({_tried(trace)})" if trace.found else ""
    story = [] if told else trace_story(evidence)
    said = " ".join(story) or f"{_told(first)}{'; not all was followed' if _left_out(trace) else ''}"
    return "; ".join([f"{trace.word}{tried}: {said}", *trace.beside])


def _tried(trace: Trace) -> str:
    """How many of how many neighbours were tried."""
    of = f" of {count_text(trace.tried + trace.left_out)}" if trace.left_out else ""
    return f"{count_text(trace.tried)}{of} neighbours tried"


def trace_story(evidence: Evidence) -> list[str]:
    """What speaks against the claim, in sentences: the two datasets, what moves at which price, what to write."""
    trace = evidence.trace
    if trace is None or trace.word not in SPEAKS_AGAINST:
        return []
    change = _change(evidence, trace)
    found = [f"The pair: {change}."] if change else []
    moved = [call for call in trace.calls if call.moved]
    parts = [_moving(call) for call in moved]
    if len(moved) > 1 and trace.epsilon is not None and (trace.epsilon or trace.mu):
        price = _price(trace)
        claim = evidence.claimed
        parts.append(
            f"together {price}"
            + ("" if claim is None else f" for a claim of {claim.symbol} = {number_text(claim.value)}")
        )
    scales = trace.loss is not None and any(step.other is not None for step in trace.loss.steps)
    said = _told(trace.findings[0]) if scales or not parts else "; ".join(parts)
    found.append(f"{said[0].upper()}{said[1:]}.")
    return [*found, trace.instead] if trace.instead else found


def traced_pair(evidence: Evidence, bound: Bound) -> str:
    """Return what differs in the pair of the trace, where a bound is about that pair; else empty."""
    trace = evidence.trace
    if trace is None:
        return ""
    by_trace = bound.kind == "exact" and bound.method in TRACED
    same = evidence.search is None and (len(evidence.pairs) < 2 if bound.pair is None else bound.pair == trace.pair)
    return _change(evidence, trace) if by_trace or same else ""


def _change(evidence: Evidence, trace: Trace) -> str:
    """Return the two datasets of a trace in words: answers as they are, for they have no records."""
    if not evidence.relation.startswith("queries"):
        return trace.change
    pair = evidence.pairs[trace.pair] if trace.pair < len(evidence.pairs) else None
    if pair is None or pair.shown0 is None or pair.shown1 is None or len(pair.shown0 + pair.shown1) > _LONGEST_PAIR:
        return ""
    return f"the answers {pair.shown0} and {pair.shown1}"


def _moving(call: TracedCall) -> str:
    """What moves at a line, what hides it, and at which price."""
    what = f"'{call.name}'" if call.name else "what is released"
    several = f" {count_text(call.moved)} times, by up to {abs(call.by):,.6g}" if call.moved > 1 else ""
    by = several or f" by {abs(call.by):,.6g}"
    letter = "μ" if "Gaussian" in call.law else "ε"
    cost = "" if call.cost is None else f": {letter} = {number_text(call.cost)}"
    where = call.where.partition(" (")[0]
    about = "about " if call.recognised else ""
    return f"{what} moves{by}, hidden by {call.law} noise of scale {about}{call.scale:,.6g}{cost}, at {where}"


def _price(trace: Trace) -> str:
    parts = [f"ε = {number_text(trace.epsilon or 0.0)}"] if trace.epsilon or not trace.mu else []
    parts += [f"μ = {number_text(trace.mu)}"] if trace.mu else []
    return " and ".join(parts)


def _left_out(trace: Trace) -> list[str]:
    """What was not seen or not priced beside paths that are supported."""
    if trace.word != "supported on this path":
        return []
    found = [_told(each) for each in trace.findings if each.word in ("not seen", "not priced")]
    return [*found, *trace.unseen]


def _told(finding: TraceFinding) -> str:
    return f"{finding.text}, at {finding.where}" if finding.where else finding.text


def trace_part(evidence: Evidence) -> TracePart | None:
    """Return the section on a trace; None without one."""
    trace = evidence.trace
    if trace is None:
        return None
    sentences = [f"{trace.word.capitalize()}: {MEANINGS.get(trace.word, '')}."]
    told = [f"{_told(trace.findings[0])}."] if trace.findings else []
    story = trace_story(evidence)
    sentences = [*story, *(each for each in told if each[1:] not in {one[1:] for one in story}), *sentences]
    met = next((each.met for each in trace.findings if each.met and each.met != each.where), "")
    if met:
        sentences.append(f"The first operation that brought data which differ to the noise is at {met}.")
    sentences += [f"Not all was followed: {_left_out(trace)[0]}."] if _left_out(trace) else []
    sentences += [f"{each}." for each in trace.beside]
    sentences += led_sentences(evidence)
    return TracePart(
        sentences=[text[0].upper() + text[1:] for text in sentences],
        findings=[(each.word, each.text, each.where) for each in trace.findings],
        calls=[_call(each) for each in trace.calls],
        facts=list(_facts(evidence, trace)),
    )


def led_sentences(evidence: Evidence) -> list[str]:
    """Say why measuring runs did not show what a replayed path points to."""
    found = []
    for led in evidence.led:
        times = " and ".join(
            f"{count_text(met)} of {count_text(runs)} learning runs on {DATASETS[side]}"
            for side, (met, runs) in enumerate(zip(led.met, led.runs, strict=True))
        )
        side = 0 if led.event.toward(0) else 1
        which = f" on pair {led.pair}" if len(evidence.pairs) > 1 else ""
        after = (
            "so few do not say how many measuring runs would show more than is claimed"
            if led.needs is None
            else f"if it is so frequent, about {count_text(led.needs)} measuring runs would show more than is claimed"
        )
        found.append(
            f"The measuring runs did not confirm it{which}. What tells most of such a path is "
            f"{led.event.describe(side)}. It came up in {times}; {after}."
        )
    return found


def _call(call: TracedCall) -> tuple[str, str, str, str, str]:
    about = "about " if call.recognised else ""
    law = f"{call.law}, scale {about}{number_text(call.scale)}" if call.scale == call.scale else call.law
    law += f" ({count_text(call.draws)} draws)" if call.draws > 1 else ""
    several = f", {count_text(call.moved)} of them" if call.moved > 1 else ""
    by = f"{number_text(abs(call.by))}{several}" if call.moved else "not at all"
    letter = "μ" if "Gaussian" in call.law else "ε"
    cost = "not known" if call.cost is None else f"{letter} = {number_text(call.cost)}" if call.moved else "0"
    return call.where, law, by, cost, call.met


def _facts(evidence: Evidence, trace: Trace) -> list[tuple[str, str]]:
    facts = []
    if trace.found:
        facts.append(("Pair", trace.found))
    elif len(evidence.pairs) > 1:
        facts.append(("Pair", f"{trace.pair + 1} of {len(evidence.pairs)}"))
    drawn = f", {_many(trace.drawn, 'pair')} drawn over the domain" if trace.drawn else ""
    left = f"; {count_text(trace.left_out)} more were thought of and not tried" if trace.left_out else ""
    facts.append(("Tried", f"{_many(trace.tried, 'pair')}{drawn}, {_many(trace.paths, 'path')} on this one{left}"))
    facts.append(("Runs", count_text(trace.runs)))
    if trace.epsilon is not None and (trace.epsilon or trace.mu):
        facts.append(("Price of the shift", f"{_price(trace)}, of one way to hide the change"))
    if trace.checked is not None:
        facts.append(
            ("Checked", "a run with the shifted noise returned the recorded output" if trace.checked else
             "a run with the shifted noise returned something else: not everything was followed")
        )  # fmt: skip
    if trace.loss is not None and trace.loss.value > 0:
        on = "whatever the noise is" if trace.loss.leaks else "given the stated laws"
        facts.append(("Certain", f"{trace.loss.why} ({on})"))
    facts += [("Not followed", each) for each in trace.unseen]
    facts += [("Beside", each) for each in trace.beside]
    return facts


def _many(count: int, what: str) -> str:
    return f"{count_text(count)} {what}{'' if count == 1 else 's'}"

"""What is exact, what is certified of what was listed or seen, and which numbers are on the ε line? Each kind apart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from markupsafe import Markup

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Statement, Training, TrainingLoss, TrainingStep
from dpaudit.evidence.records import Bound, Counterexample, Counts, Verdict
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.document import (
    BREAK,
    Block,
    Cells,
    Content,
    Group,
    Heading,
    Section,
    Span,
    Text,
    TextCell,
    Verbatim,
    code,
    head,
    note,
    number,
    plainly,
    said,
    section,
    strong,
    table,
    texts,
)
from dpaudit.report.figures import canvas, curves
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.event import LineMark, line_figure
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.text.chain import CHECK
from dpaudit.report.text.listed import (
    accounting_of,
    canaries_words,
    claim_of,
    decisive_statement,
    fact_name,
    high_text,
    letter_of,
    loss_text,
    low_text,
    neighbours_words,
    other_place,
    pitfalls,
    release_words,
    status_words,
    updates_of,
    where,
)
from dpaudit.report.text.phrases import (
    NBSP,
    claim_text,
    claim_words,
    confidence_text,
    contradicting,
    count_text,
    counterexample_attempt,
    detectable_sentence,
    enclosure_text,
    estimate_text,
    exact_lower,
    exact_value,
    full_text,
    is_proof,
    kind_words,
    sampled_lower,
    share_text,
    symbol,
    upper_text,
    value_text,
    without_bound,
    yardstick,
)
from dpaudit.report.view import View

# --- the exact counterexample ----------------------------------------------------------------------------


def exact_section(shown: View) -> Iterator[Section]:
    """Yield the section on the certain lower bound, if there is one and details are recorded."""
    evidence, claim = shown.evidence, shown.evidence.claimed
    counterexample, bound = evidence.counterexample, exact_lower(evidence)
    if bound is None or (counterexample is None and evidence.proof is None):
        return
    refutes = claim is not None and bound.value > claim.value
    title = "Exact counterexample" if refutes else "Exact lower bound"
    if counterexample is None:
        pair = "" if bound.pair is None else f", on pair {bound.pair}"
        yield section("exact", Text(said("exact.alone", bound=full_text(bound, claim), pair=pair)), title=title)
        return
    attempt = counterexample_attempt(evidence)
    rows = [_exact_row(counterexample, bound, claim)]
    if attempt is not None and attempt.bound.counts is not None:
        rows.append(_sampled_row(attempt.bound, attempt.bound.counts, claim))
    heads = (
        "Kind",
        TextCell("● On the first dataset, p₀", "side0"),
        TextCell("■ On the second, p₁", "side1"),
        "Lower bound",
    )
    yield section(
        "exact",
        Text(said("exact.lead", then=plainly("exact.refutes" if refutes else "exact.below"))),
        Group(
            "pair",
            [sided(side, [data]) for side, data in enumerate(differences(counterexample.data0, counterexample.data1))],
        ),
        Text(said("exact.event", event=counterexample.event.describe(0))),
        table("exact", rows, kind="kinds", heads=(*heads, "Confidence")),
        Text(_note(bound, sampled=len(rows) > 1), "note"),
        title=title,
    )


def sided(side: int, blocks: Sequence[Block]) -> Group:
    """Return blocks under the name of one of the two datasets."""
    return Group(f"side side{side}", [Text(f"{'Second' if side else 'First'} dataset", "side-name"), *blocks])


def _note(bound: Bound, *, sampled: bool) -> str:
    top = "p₀ − δ" if bound.delta > 0 else "p₀"
    ratio = f"({top})/p₁" if bound.delta > 0 else f"{top}/p₁"
    text = plainly("exact.infinite") if math.isinf(bound.value) else plainly("exact.finite", ratio=ratio)
    return f"{text} {plainly('exact.runs') if sampled else 'No runs of this event were made.'}"


def _exact_row(counterexample: Counterexample, bound: Bound, claim: Claim | None) -> Cells:
    sides = (enclosure_text(*counterexample.probability0), enclosure_text(*counterexample.probability1))
    kind = head(("exact", BREAK, note("computed")), "exact")
    return kind, *sides, number(full_text(bound, claim)), number("certain")


def _sampled_row(bound: Bound, counts: Counts, claim: Claim | None) -> Cells:
    hits, runs = counts.toward0, counts.runs
    low, high = frequency_interval(hits, runs)
    sides: list[Content] = []
    for own in (0, 1):
        ends = f"{share_text(float(low[own]), rounding='lower')} to {share_text(float(high[own]), rounding='upper')}"
        seen = f"{share_text(hits[own] / runs[own])}, interval {ends}" if runs[own] else "–"
        sides.append((f"{count_text(hits[own])} of {count_text(runs[own])}", BREAK, note(seen)))
    text = full_text(bound, claim) if bound.value > 0 else "none above 0"
    kind = head(("sampled", BREAK, note("counted in runs")), "sampled")
    return kind, *sides, number(text), number(confidence_text(bound.confidence))


# --- Where do two displayed datasets differ? ---

_MOST_TOKENS = 2000  # the comparison is quadratic in them
_CONTEXT = 12  # equal tokens shown on either side of a difference, about a line


def differences(text0: str, text1: str) -> tuple[Verbatim, Verbatim]:
    """Return both texts, with differences marked and long equal pieces left out."""
    tokens0, tokens1 = _tokens(text0), _tokens(text1)
    if max(len(tokens0), len(tokens1)) > _MOST_TOKENS:
        return Verbatim((text0,), "data"), Verbatim((text1,), "data")
    pieces: tuple[list[Content], list[Content]] = ([], [])
    opcodes = SequenceMatcher(None, tokens0, tokens1, autojunk=False).get_opcodes()
    for place, (kind, start0, end0, start1, end1) in enumerate(opcodes):
        for own, part in ((pieces[0], tokens0[start0:end0]), (pieces[1], tokens1[start1:end1])):
            if kind == "equal":
                own += _same(part, first=place == 0, last=place == len(opcodes) - 1)
            elif part:
                own.append(Span("differs", "".join(part)))
    return Verbatim(tuple(pieces[0]), "data"), Verbatim(tuple(pieces[1]), "data")


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\s,;\[\](){}]+|\s+|.", text)


def _same(tokens: list[str], *, first: bool, last: bool) -> list[Content]:
    before, after = max(0 if first else _CONTEXT, 4), max(0 if last else _CONTEXT, 4)
    if len(tokens) <= before + after + 10:
        return ["".join(tokens)]
    out = sum(1 for token in tokens[before:-after] if re.match(r"[^\s,;\[\](){}]", token))
    return ["".join(tokens[:before]), note(f" … {out} equal … "), "".join(tokens[-after:])]


# --- What was listed, what is certified of it, and what do others say? -----------------------------------

_MOST_RELEASES = 100  # rows of a table
_KINDS = {"upper": "upper bound", "estimate": "estimate"}


def accounting_section(shown: View) -> Iterator[Section]:
    """Yield the sections of an accounting; none of other evidence."""
    evidence, accounting = shown.evidence, accounting_of(shown.evidence)
    if accounting is None:
        return
    statements = table("accounting", [_statement(each) for each in accounting.statements[:_MOST_RELEASES]])
    width = Text(accounting.note, "note") if accounting.note else None
    yield section("accounting", Text(said("accounting.theorems")), statements, width)
    rows: list[Cells] = []
    for each in accounting.releases[:_MOST_RELEASES]:
        meaning = note(release_words(each))
        named = (each.name, BREAK, meaning) if each.name else meaning
        rows.append((named, number(count_text(each.steps)), code(each.event)))
    left = len(accounting.releases) - len(rows)
    rows += [(f"and {left} more in the raw evidence", "", "")] if left else []
    values = {
        "steps": count_text(sum(each.steps for each in accounting.releases)),
        "neighbours": neighbours_words(evidence.relation, accounting),
        "by": f" The list is a record of {accounting.recorded_by}." if accounting.recorded_by else "",
    }
    yield section("releases", Text(said("releases.numbers", **values)), table("releases", rows))
    others: list[Cells] = []
    for other in accounting.others[:_MOST_RELEASES]:
        place = other_place(other, decisive_statement(accounting, evidence.verdict))
        value = number(estimate_text(other.value, 7))
        others.append((f"{other.name} {other.version}", value, _KINDS.get(other.side, other.side), place))
    if others:
        yield section("others", Text(said("others.asked")), table("others", others))
    many = "one certificate" if len(accounting.certificates) == 1 else f"{len(accounting.certificates)} certificates"
    size = _kilobytes(accounting.certificates, (",", ":"))
    yield section("checking", Text(said("checking.check", many=many, size=size)), CHECK)


def _kilobytes(certificates: Any, separators: tuple[str, str] | None = None) -> str:
    size = len(json.dumps(certificates, ensure_ascii=False, separators=separators).encode("utf-8", "replace"))
    return f"{count_text(max(1, round(size / 1000)))} kB of JSON"


def _statement(stated: Statement) -> Cells:
    letter = letter_of(stated)
    low = f"{letter} = ∞" if math.isinf(stated.low) else f"{letter} ≥ {low_text(stated)}"
    high = "none" if math.isinf(stated.high) else f"{letter} ≤ {high_text(stated)}"
    at = where(stated).removeprefix(" at ")
    return claim_of(stated), str(stated.verdict), number(low), number(high), number(at)


def curve_drawing(accounting: Accounting) -> Markup | None:
    """Return the drawing of the certified curve; None without one that can be drawn."""
    curve = accounting.curve
    if curve is None or len(curve.epsilons) < 2 or not len(curve.epsilons) == len(curve.lows) == len(curve.highs):
        return None
    if not all(map(math.isfinite, (*curve.epsilons, *curve.lows, *curve.highs))) or not max(curve.highs) > 0:
        return None
    claims = [claim for each in accounting.statements for claim in _claims(each)]
    return canvas.alone(curves.accounting_figure(curve, claims))


def _claims(stated: Statement) -> list[Claim]:
    try:
        return [] if stated.claim is None else [parse_claim(stated.claim)]
    except UsageError:
        return []


# --- What was seen of a training loop, and which pitfalls does that show? --------------------------------

_MOST = 20  # releases in a table


def training_section(shown: View) -> Iterator[Section]:
    """Yield the checklist of a watched loop; nothing of other evidence."""
    evidence, training = shown.evidence, shown.evidence.training
    if training is None:
        return
    facts: list[Cells] = []
    for each in training.facts:
        seen = status_words(each.status)
        facts.append((fact_name(each), strong(seen) if each.status == "wrong" else seen, each.text))
    losses = [_loss("from below, on some data", training.low), _loss("from above, for all data", training.high)]
    losses += [] if training.enough is None else [_loss("with just enough noise for the claim", training.enough)]
    step = training.step is not None and [Heading("The audit of a step"), Text(_step(training, training.step))]
    coins = training.canaries is not None and texts(canaries_words(training.canaries, evidence))
    yield section(
        "training",
        Text(said("training.facts", alarm=number_text(evidence.false_alarm or 0.0))),
        table("training", facts, kind="checklist"),
        Heading("What it loses"),
        Text(said("training.lost", all=loss_text(training))),
        table("training.losses", losses),
        Text(f"Certificates: {_kilobytes(training.certificates) if training.certificates else 'none'}."),
        *(step or ()),
        *([Heading("Canaries of one run"), *coins] if coins else ()),
    )


def pitfalls_section(shown: View) -> Iterator[Section]:
    """Yield what reviewers ask of a watched loop; nothing of other evidence."""
    if shown.evidence.training is not None:
        listed = table("pitfalls", pitfalls(shown.evidence.training), kind="checklist")
        yield section("pitfalls", Text(said("pitfalls.named")), listed)


def _loss(side: str, loss: TrainingLoss) -> Cells:
    """What is lost, from one side."""
    value = "not bounded" if math.isinf(loss.value) else number_text(float(f"{loss.value:.7g}"))
    listed = "; ".join(release_words(each) for each in loss.releases[:_MOST])
    return side, number(value), listed or loss.why


def _step(training: Training, step: TrainingStep) -> str:
    text = plainly("training.step", many=count_text(step.values), mu=number_text(float(f"{step.mu:.4g}")))
    if step.epsilon is not None:
        epsilon = number_text(float(f"{step.epsilon:.4g}"))
        text += plainly("training.steps", updates=count_text(updates_of(training)), epsilon=epsilon)
    if training.gaussian is not None:
        text += plainly("training.gaussian", epsilon=number_text(float(f"{training.gaussian:.5g}")))
    return text


# --- Which numbers are on the ε line? --------------------------------------------------------------------


Numbers: TypeAlias = tuple[str, str, str, str, str]
"""Name, value, where it comes from, confidence and meaning of a number."""


def line(evidence: Evidence) -> list[Numbers]:
    """Return the numbers of an audit: sampled and exact lower bounds, claim, upper bound and yardsticks."""
    return [row for row, _ in _entries(evidence, evidence.claimed)]


def line_drawing(evidence: Evidence, *, narrow: bool = False) -> Markup | None:
    """Return the drawing, wide or for half of a page; None if there are no numbers."""
    marks = _marks(_entries(evidence, evidence.claimed))
    if not marks:
        return None
    drawing = line_figure(marks, symbol(evidence), narrow=narrow)
    return alone(drawing) if narrow else Markup(drawing)


def line_reading(evidence: Evidence) -> str:
    """Say how to read the drawing, for those of its marks that are there; empty without a bound."""
    letter, marks = symbol(evidence), _marks(_entries(evidence, evidence.claimed))
    kinds = {mark.kind for mark in marks if mark.value > 0}
    said = []
    if kinds & {"lower", "exact"}:
        said.append(f"{letter} is at least what a bar reaches")
    if kinds & {"upper", "proved"}:
        said.append(f"{'at most' if said else f'{letter} is at most'} where the hatching begins")
    if not said:
        return ""
    if "claim" in kinds:
        said.append("the dashed line is the claim")
    if "true" in kinds:
        said.append("the circle is the true loss, known from theory")
    by_verdict = evidence.verdict is Verdict.NOT_VIOLATED  # the box of the verdict says it
    rest = detectable_sentence(evidence) if "detectable" in kinds and not by_verdict else ""
    return f"How to read this: {'; '.join(said)}. {rest}".strip()


def _marks(entries: list[tuple[Numbers, LineMark | None]]) -> list[LineMark]:
    return [mark for _, mark in entries if mark is not None and not math.isnan(mark.value)]


def _entries(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, LineMark | None]]:
    if evidence.training is not None:
        return _watched(evidence, evidence.training, claim)
    if evidence.accounting is not None:
        return _certified(evidence, claim)
    entries: list[tuple[Numbers, LineMark | None]] = []
    entries += _lower(evidence, claim)
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of the mechanism")
        entries.append((row, LineMark("claim", "claim", claim.value, claim_text(claim.value))))
    entries += _upper(evidence, claim)
    return entries + _price(evidence) + _yardsticks(evidence)


def _certified(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, LineMark | None]]:
    """Return both bounds of an accounting, and the claim between, below or above them."""
    letter, lower, upper = symbol(evidence), evidence.lower, evidence.upper
    meaning = f"{letter} is certainly at least this, on some data"
    row = _row("certified from below", lower, claim, meaning, letter)
    entries: list[tuple[Numbers, LineMark | None]] = [
        (row, LineMark("exact", "from below", lower.value, _short(lower, claim))),
    ]
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of what is listed")
        entries.append((row, LineMark("claim", "claim", claim.value, claim_text(claim.value))))
    if upper is None:
        return entries
    row = _row("certified from above", upper, claim, f"{letter} is certainly at most this, for every pair", letter)
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [*entries, (row, LineMark(kind, "from above", upper.value, _short(upper, claim)))]


def _watched(evidence: Evidence, training: Training, claim: Claim | None) -> list[tuple[Numbers, LineMark | None]]:
    """Return what a watched loop loses from below and above, and its claim."""
    lower, entries = evidence.lower, list[tuple[Numbers, LineMark | None]]()
    row = _row("as seen, from below", lower, claim, "what was seen loses at least this, on some data", "ε")
    row = (*row[:2], "certified for what was seen", *row[3:])
    entries.append((row, LineMark("lower", "as seen, from below", lower.value, _short(lower, claim))))
    if claim is not None:
        row = ("claim", claim_words(claim), "stated", "–", "what somebody says of the loop")
        entries.append((row, LineMark("claim", "claim", claim.value, claim_text(claim.value))))
    high = training.high.value
    if math.isfinite(high):
        text = upper_text(high, claim=None if claim is None else claim.value, digits=7)
        meaning = "what was seen loses at most this"
        row = (
            "as seen, from above",
            f"ε ≤ {text}",
            "certified for what was seen",
            confidence_text(lower.confidence),
            meaning,
        )
        entries.append((row, LineMark("upper", "as seen, from above", high, text)))
    return entries


def _lower(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, LineMark | None]]:
    letter, apart = symbol(evidence), is_proof(evidence)
    entries: list[tuple[Numbers, LineMark | None]] = []
    sampled, exact = sampled_lower(evidence), exact_lower(evidence)
    if evidence.verdict is Verdict.INVALID:
        pass  # numbers from invalid runs are not shown
    elif sampled is not None:
        name = "sampled lower bound" if apart else "lower bound"
        row = _row(name, sampled, claim, f"{letter} is at least this", letter)
        entries.append((row, LineMark("lower", "sampled" if apart else name, sampled.value, _short(sampled, claim))))
    elif evidence.proof is not None:
        meaning = "nothing was run"
        entries.append((("sampled lower bound", "none", "no runs", "–", meaning), None))
    if exact is not None:
        name = "exact lower bound" if apart else "lower bound"
        meaning = f"{letter} is certainly at least this, on one pair of datasets"
        if math.isinf(exact.value):
            meaning = f"no {letter} is enough: the event is impossible on one side, and possible on the other"
        row = _row(name, exact, claim, meaning, letter)
        entries.append((row, LineMark("exact", "exact" if apart else name, exact.value, _short(exact, claim))))
    return entries


def _upper(evidence: Evidence, claim: Claim | None) -> list[tuple[Numbers, LineMark | None]]:
    letter, upper, proof = symbol(evidence), evidence.upper, evidence.proof
    name = "proved upper bound" if is_proof(evidence) else "upper bound"
    if upper is None:
        if proof is None:
            return []
        how = f"{proof.method} gave no {'bound that is accepted' if proof.is_refused else 'finite bound'}"
        return [((name, "none found", how, "–", without_bound(evidence)), None)]
    row = _row(name, upper, claim, f"{letter} is certainly at most this, within the scope of the proof", letter)
    if proof is not None and proof.given:
        row = (*row[:4], f"{row[4]}, {proof.granted}")
    if proof is not None:
        by = "every output enumerated" if proof.method == "enumeration" else f"proved by {proof.method}"
        row = (*row[:2], by, *row[3:])
    if contradicting(evidence) is not None:
        row = (*row[:3], "contradicted", "runs show more: this or the implementation is wrong")
    # only the verdict PROVED has the colour of a proof
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [(row, LineMark(kind, "proved" if is_proof(evidence) else name, upper.value, _short(upper, claim)))]


def _row(name: str, bound: Bound, claim: Claim | None, meaning: str, letter: str) -> Numbers:
    nothing = bound.side == "lower" and bound.value <= 0
    text = f"none above 0 for {letter}" if nothing else full_text(bound, claim)
    sure = confidence_text(bound.confidence) if bound.kind == "sampled" else "certain"
    return (name, text, kind_words(bound), sure, meaning)


def _short(bound: Bound, claim: Claim | None) -> str:
    """Return the short text next to a marker."""
    if bound.side == "lower" and bound.value <= 0:
        return "none above 0"
    if math.isinf(bound.value):
        return "infinite"
    text = value_text(bound, claim)
    return f"{'≥' if bound.side == 'lower' else '≤'} {text}{exact_value(bound, text)}".replace(NBSP, " ")


def _price(evidence: Evidence) -> list[tuple[Numbers, LineMark | None]]:
    """Return what the shift costs that a trace found: an upper bound of one way, on one path and pair."""
    trace, claim = evidence.trace, evidence.claimed
    if trace is None or trace.epsilon is None or claim is None or (trace.mu and claim.parameter == "epsilon"):
        return []
    value = trace.mu if claim.parameter == "mu" else trace.epsilon
    if not value or claim.parameter not in ("epsilon", "mu"):
        return []
    text = f"{symbol(evidence)} = {number_text(value)}"
    meaning = "what hiding the change costs on the path that shows most, one way; more than the claim refutes nothing"
    return [(("price of the shift", text, "traced", "–", meaning), None)]


def _yardsticks(evidence: Evidence) -> list[tuple[Numbers, LineMark | None]]:
    letter = symbol(evidence)
    entries: list[tuple[Numbers, LineMark | None]] = []
    detectable = evidence.detectable
    if detectable is not None and evidence.verdict is not Verdict.INVALID:
        text = "none of any size" if math.isinf(detectable) else f"from {upper_text(detectable)}"
        entries.append(
            (
                _detectable_row(detectable, letter, yardstick(evidence)),
                LineMark("detectable", "detectable", detectable, text),
            )
        )
    true = evidence.target.true_loss
    if true is not None:
        meaning = "from theory, for these pairs; not used by the audit"
        row = ("true loss", f"{letter} = {estimate_text(true, 6)}", "stated by the catalogue", "–", meaning)
        entries.append((row, LineMark("true", "true loss", true, estimate_text(true, 4))))
    return entries


def _detectable_row(value: float, letter: str, where: str) -> Numbers:
    how = "computed from the counts"
    if math.isinf(value):
        return ("detectable", "none", how, "–", "no violation of any size could be counted on to be found")
    meaning = f"a violation so large would have been found, had it shown {where}"
    return ("detectable", f"{letter} ≥ {upper_text(value)}", how, "probability 0.9", meaning)

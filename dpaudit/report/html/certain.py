"""What is proved, exact, or certified of what was listed or seen, and what did runs show? Each kind of number apart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Statement, Training, TrainingLoss, TrainingStep
from dpaudit.evidence.records import DOES_NOT_HOLD, NOT_ACCEPTED, Bound, Counterexample, Counts, Proof, Verdict
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.document import (
    BREAK,
    Block,
    Bullets,
    Cell,
    Cells,
    Content,
    Facts,
    Group,
    Heading,
    Section,
    Span,
    Steps,
    Text,
    Verbatim,
    code,
    head,
    note,
    number,
    plainly,
    points,
    said,
    section,
    strong,
    table,
    texts,
    words,
)
from dpaudit.report.figures import canvas, curves
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.text.chain import chain
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
    answers,
    confidence_text,
    contradicting,
    count_text,
    counterexample_attempt,
    enclosure_text,
    estimate_text,
    exact_lower,
    full_text,
    proved_for,
    share_text,
    symbol,
    without_bound,
)
from dpaudit.report.view import View


def proof_section(shown: View) -> Iterator[Section]:
    """Yield the section on the proof, if one was tried."""
    evidence, proof, upper = shown.evidence, shown.evidence.proof, shown.evidence.upper
    if proof is None:
        return
    facts, check = (
        list(_proof_facts(evidence, proof)),
        Text(said("proof.unchecked", finite=" without a finite bound" * (upper is None))),
    )
    if proof.certificate is not None:
        size = _size(proof.certificate)
        facts.append(("Certificate", f"{size} of JSON, in the raw evidence below"))
        check = Text(said("proof.checked", size=size))
    yield section(
        "proof",
        Text(_sentence(evidence, proof, upper, evidence.claimed)),
        steps(evidence),
        Facts(facts),
        Heading(plainly("proof.how")),
        Text(words()["proof"]["methods"].get(proof.method, "")),
        Heading(plainly("proof.outside")),
        points(_outside(proof, bounded=upper is not None)),
        Heading(plainly("proof.check")),
        check,
        None if proof.certificate is None else CHECK,
    )


CHECK = Verbatim("dpaudit check FILE", "command")


def _size(certificate: Any) -> str:
    """Return the length of a certificate as JSON."""
    size = len(json.dumps(certificate, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return f"{count_text(size)} bytes" if size < 2000 else f"{count_text(round(size / 1000))} kB"


def _proof_facts(evidence: Evidence, proof: Proof) -> Iterator[tuple[str, str]]:
    yield "Holds for" if evidence.upper is not None else "Tried for", proof.scope
    if proof.method not in ("enumeration", "releases", "moves"):
        yield "Answers", _many(proof)
    yield "Method", proof.method
    yield "Paths through the program", f"{count_text(proof.paths)}, all of them"
    compared = proof.comparison
    if compared is not None and compared.runs:
        runs = f"{count_text(compared.runs)} runs"
        told = (
            f"{count_text(compared.compared)} of {count_text(compared.paths)} paths, by {runs} that agree; "
            f"{count_text(compared.passed_over)} more came too close to a branch to say"
        )
        if proof.method == "moves":
            told = f"{runs} without noise compute what was read"
        elif proof.method == "releases":
            told = (
                runs
                if compared.open_ends
                else f"{runs} on neighbouring data frames: nothing moved farther than was derived"
            )
        yield "Compared with runs", told
    for each in proof.given:
        yield "Taken for granted", f"{each} and does nothing else: whoever asked stated it"
    for each in proof.computed:
        yield "Taken for granted", f"{each}, as runs of it say"
    if proof.derived is not None:
        yield "Computed again", "from the columns of the data to the bound, by the checker alone"
    words = {NOT_ACCEPTED: "Not accepted", DOES_NOT_HOLD: "Refuted by runs"}
    for each in () if compared is None else compared.open_ends:
        yield next((word for begin, word in words.items() if each.startswith(begin)), "Not read"), each


def steps(evidence: Evidence) -> Steps | None:
    """Return the way of a proof from records to the claim; None if there is no such proof."""
    links = chain(evidence)
    if links is None:
        return None
    releases = []
    for each in links.releases:
        place = (code(each.code), Span("place", each.place))
        releases.append(Group("", [Text(place, "where"), Text(each.moves), Text(each.law), Text(each.price, "price")]))
    named: list[tuple[str, list[Block]]] = [
        ("Records", [Bullets([*links.data, f"neighbours: {links.neighbours}"], "")]),
        (
            "Releases",
            [Bullets([*releases, *([Group("", [Text(links.left_out)])] if links.left_out else [])], "releases")],
        ),
        ("Composition", [Bullets(links.composition, "")]),
        ("Bound", [Text(links.bound, "price")]),
    ]
    if links.claim:
        named.append(("Claim", [Text(links.claim)]))
    many = f"{len(releases)} release{'' if len(releases) == 1 else 's'}"
    spoken = plainly("proof.spoken", many=many)
    return Steps(plainly("proof.chain"), spoken, named, "kept" if links.keeps_claim else "")


def _sentence(evidence: Evidence, proof: Proof, upper: Bound | None, claim: Claim | None) -> str:
    letter = symbol(evidence)
    open_ends = () if proof.comparison is None else proof.comparison.open_ends
    if open_ends:
        why = open_ends[0] if proof.is_refused or proof.is_refuted else "not all that can run of the program was read"
        return f"Nothing is proved of {letter}: {why}."
    if upper is None:
        text = f"No finite upper bound of {letter} was found; {without_bound(evidence)}."
        exact = exact_lower(evidence)
        infinite = exact is not None and math.isinf(exact.value)
        return text if infinite else f"{text} A proof of another kind may still find one."
    if contradicting(evidence) is not None:
        return (
            f"{full_text(upper, claim)} was proved {proved_for(proof)}, and runs contradict it: the implementation, "
            "its arithmetic, or the prover is wrong."
        )
    text = f"{full_text(upper, claim)} {proved_for(proof)}. This is certain in its scope; no run had a part in it."
    decided = evidence.verdict in {Verdict.PROVED, Verdict.VIOLATED}
    if claim is not None and upper.value > claim.value and not decided:
        text += " It does not reach the claim, which refutes nothing: the bound need not be tight."
    return text


def _many(proof: Proof) -> str:
    if proof.length is None:
        return "any number of them" if proof.method == "induction" else "as the scope says"
    return f"exactly {count_text(proof.length)}, of any value"


def _outside(proof: Proof, *, bounded: bool) -> list[tuple[str, str]]:
    """Return (name, text) of what a proof does not cover."""
    method, many = proof.method, "" if proof.length is None else answers(proof.length)
    named = ["real"]
    if method == "releases":
        named.append("frames")
    if method == "enumeration":
        named.append("enumerated")
    elif method == "moves":
        named.append("length" if proof.length is not None else "range")
        many = str(proof.length)
    elif proof.length is not None:
        named.append("answers")
    named += ["code", *(["tight"] if bounded and method != "enumeration" else [])]
    named += ["noise"] if method not in ("enumeration", "releases", "moves") else []
    limits = words()["proof"]["limits"]
    return [(name, text.format(many=many)) for name, text in (limits[each] for each in (*named, "program", "channels"))]


# --- the exact counterexample ----------------------------------------------------------------------------


def exact_section(shown: View) -> Iterator[Section]:
    """Yield the section on the certain lower bound, if there is one and details are recorded."""
    evidence, claim = shown.evidence, shown.evidence.claimed
    found, bound = evidence.counterexample, exact_lower(evidence)
    if bound is None or (found is None and evidence.proof is None):
        return
    refutes = claim is not None and bound.value > claim.value
    title = "Exact counterexample" if refutes else "Exact lower bound"
    if found is None:
        pair = "" if bound.pair is None else f", on pair {bound.pair}"
        yield section("exact", Text(said("exact.alone", bound=full_text(bound, claim), pair=pair)), title=title)
        return
    attempt = counterexample_attempt(evidence)
    rows = [_exact_row(found, bound, claim)]
    if attempt is not None and attempt.bound.counts is not None:
        rows.append(_sampled_row(attempt.bound, attempt.bound.counts, claim))
    heads = ("Kind", Cell("● On the first dataset, p₀", "side0"), Cell("■ On the second, p₁", "side1"), "Lower bound")
    yield section(
        "exact",
        Text(said("exact.lead", then=plainly("exact.refutes" if refutes else "exact.below"))),
        Group("pair", [sided(side, [data]) for side, data in enumerate(differences(found.data0, found.data1))]),
        Text(said("exact.event", event=found.event.describe(0))),
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


def _exact_row(found: Counterexample, bound: Bound, claim: Claim | None) -> Cells:
    sides = (enclosure_text(*found.probability0), enclosure_text(*found.probability1))
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

"""What is proved, exact, or certified of what was listed or seen, and what did runs show? Each kind of number apart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from markupsafe import Markup

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Statement, Training, TrainingLoss
from dpaudit.evidence.records import DOES_NOT_HOLD, NOT_ACCEPTED, Attempt, Bound, Counterexample, Proof, Verdict
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures import canvas, curves
from dpaudit.report.figures.loss import frequency_interval
from dpaudit.report.html.templates import Section
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


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections on the proof and on the exact counterexample, if there are any."""
    evidence = shown.evidence
    proof, exact = proof_part(evidence, evidence.claimed), exact_part(evidence, evidence.claimed)
    if proof is not None:
        yield Section("proof", "Proof", {"proof": proof})
    if exact is not None:
        yield Section("exact", exact["title"], {"exact": exact})


def proof_part(evidence: Evidence, claim: Claim | None) -> dict[str, Any] | None:
    """Return the section on the proof; None if no proof was tried."""
    proof, upper = evidence.proof, evidence.upper
    if proof is None:
        return None
    facts = [("Holds for" if upper is not None else "Tried for", proof.scope)]
    if proof.method not in ("enumeration", "releases", "moves"):
        facts.append(("Answers", _many(proof)))
    facts += [
        ("Method", proof.method),
        ("Paths through the program", f"{count_text(proof.paths)}, all of them"),
    ]
    compared = proof.comparison
    if compared is not None and compared.runs and proof.method == "moves":
        facts.append(("Compared with runs", f"{count_text(compared.runs)} runs without noise compute what was read"))
    elif compared is not None and compared.runs and proof.method == "releases":
        told = f"{count_text(compared.runs)} runs on neighbouring data frames: nothing moved farther than was derived"
        facts.append(("Compared with runs", told if not compared.open_ends else f"{count_text(compared.runs)} runs"))
    elif compared is not None and compared.runs:
        facts.append(
            (
                "Compared with runs",
                f"{count_text(compared.compared)} of {count_text(compared.paths)} paths, by "
                f"{count_text(compared.runs)} runs that agree; "
                f"{count_text(compared.passed_over)} more came too close to a branch to say",
            )
        )
    facts += [("Taken for granted", f"{each} and does nothing else: whoever asked stated it") for each in proof.given]
    facts += [("Taken for granted", f"{each}, as runs of it say") for each in proof.computed]
    if proof.derived is not None:
        facts.append(("Computed again", "from the columns of the data to the bound, by the checker alone"))
    if compared is not None:
        words = {NOT_ACCEPTED: "Not accepted", DOES_NOT_HOLD: "Refuted by runs"}
        facts += [
            (next((word for begin, word in words.items() if each.startswith(begin)), "Not read"), each)
            for each in compared.open_ends
        ]
    certificate = None
    if proof.certificate is not None:
        size = len(json.dumps(proof.certificate, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        certificate = f"{count_text(size)} bytes" if size < 2000 else f"{count_text(round(size / 1000))} kB"
        facts.append(("Certificate", f"{certificate} of JSON, in the raw evidence below"))
    return {
        "sentence": _sentence(evidence, proof, upper, claim),
        "facts": facts,
        "method": _METHODS.get(proof.method, ""),
        "outside": _outside(proof, bounded=upper is not None),
        "certificate": certificate,
        "chain": chain(evidence),
    }


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


_METHODS = {
    "alignment": (
        "The program is followed along every path through it, with the data and the noise as unknowns. Paths with the "
        "same output form a class. For each class the noise is shifted so that a run on one dataset becomes a run on "
        "its neighbour with the same output; what the shifts cost, in units of the noise's scale, limits ε "
        "(randomness alignment: Zhang & Kifer 2017; Wang, Ding, Kifer & Zhang 2020). All numbers are fractions, so "
        "nothing is rounded."
    ),
    "releases": (
        "The program is read on one row for every kind of record that the domain allows: every value is public, or "
        "private with the most that one record of each kind can move it, or released, because noise was added. "
        "Branches and outputs depend on public and released values only, so that what is lost is the sum of the "
        "releases along a path, for the kind of record for which it is largest; of all paths the largest sum counts. "
        "Prices and sums are computed in fractions, and again by a checker of its own. How far an operation moves a "
        "value rests on the reading and its tests, and on runs on neighbouring frames that were compared with it."
    ),
    "moves": (
        "The function is read on so many unknown numbers: what it computes of them is an expression. How far an "
        "expression moves when one number is replaced is bounded by cutting the box of all numbers into parts, until "
        "the movement is small enough on each (branch and bound with interval arithmetic). What noise costs follows "
        "from the movement; a checker of its own verifies every part. That the function computes these expressions "
        "rests on the reading and its tests, and on runs that were compared with it. Scales of noise are floats, and "
        "count as larger by one part in 10⁹."
    ),
    "induction": (
        "The program reads one answer after the other. For every step the noise is shifted so that a run on one "
        "dataset becomes a run on its neighbour with the same output, and what all steps together can cost, however "
        "many there are, limits ε (randomness alignment: Zhang & Kifer 2017; Wang, Ding, Kifer & Zhang 2020). All "
        "numbers are fractions, so nothing is rounded."
    ),
    "enumeration": (
        "The noise is discrete, so that every way in which the draws can fall out was followed, for every dataset of "
        "the domain. The probabilities of all outputs are then known exactly, and so is the largest ratio between "
        "two neighbours."
    ),
}


def _outside(proof: Proof, *, bounded: bool) -> list[tuple[str, str]]:
    listed = [
        (
            "Real arithmetic and perfect sampling",
            "The proof is about real numbers and noise that is drawn exactly. Floating-point numbers can leak through "
            "their last bits; only a sampler that is exact inherits the proof.",
        )
    ]
    if proof.method == "releases":
        listed.append(
            (
                "Other data",
                "It is about records within the declared domain, and sums that stay within what numbers of the "
                "frame's types can hold; values that the domain excludes, such as NaN, are not looked at.",
            )
        )
    if proof.method == "enumeration":
        listed.append(("Other data", "A dataset that is not in the domain was not looked at."))
    elif proof.method == "moves":
        listed.append(
            (
                "Other data",
                "It is about numbers within the range, and not about NaN."
                if proof.length is None
                else f"It is about exactly {proof.length} numbers within the range; nothing is said of fewer or more, "
                "nor of NaN.",
            )
        )
    elif proof.length is not None:
        listed.append(
            ("Other lengths", f"It is about exactly {answers(proof.length)}; nothing is said of fewer or more.")
        )
    listed.append(("Other parameters and code", "It is about these parameters and this source, and no others."))
    if bounded and proof.method != "enumeration":
        listed.append(("How tight it is", "The loss may be smaller. A bound above a claim does not refute the claim."))
    if proof.method not in ("enumeration", "releases", "moves"):
        listed.append(
            (
                "Other kinds of noise",
                "The method knows Laplace, exponential, Gumbel, uniform and discrete Laplace noise whose scale does "
                "not depend on the data. It gives no bound for Gaussian noise, nor for what sampling of records gains.",
            )
        )
    return [
        *listed,
        (
            "The program itself",
            "Runs of the program were compared with what was read of it, and what its code came through; code of "
            "libraries was not followed. What only another machine, interpreter or library does could still escape.",
        ),
        ("Side channels", "Running time and memory are outside."),
    ]


# --- the exact counterexample ----------------------------------------------------------------------------


def exact_part(evidence: Evidence, claim: Claim | None) -> dict[str, Any] | None:
    """Return the section on the certain lower bound; None if there is none, or no details are recorded."""
    found, bound = evidence.counterexample, exact_lower(evidence)
    if bound is None or (found is None and evidence.proof is None):
        return None
    refutes = claim is not None and bound.value > claim.value
    title = "Exact counterexample" if refutes else "Exact lower bound"
    if found is None:
        pair = "" if bound.pair is None else f", on pair {bound.pair}"
        lead = (
            f"The probability of every output was computed exactly; the largest ratio gives {full_text(bound, claim)}"
            f"{pair}. No run had a part in it."
        )
        return {"title": title, "lead": lead, "data": None, "event": "", "rows": [], "note": ""}
    attempt = counterexample_attempt(evidence)
    rows = [_exact_row(found, bound, claim)]
    if attempt is not None and attempt.bound.counts is not None:
        rows.append(_sampled_row(attempt, claim))
    return {
        "title": title,
        "lead": _lead(refutes=refutes),
        "data": differences(found.data0, found.data1),
        "event": found.event.describe(0),
        "rows": rows,
        "note": _note(bound, sampled=len(rows) > 1),
    }


def _lead(*, refutes: bool) -> str:
    text = (
        "Two neighbouring datasets and one set of outputs, whose probabilities are computed to certain limits from "
        "the program as it was read, in real arithmetic. "
    )
    if refutes:
        return text + "They refute the claim with certainty; no run had a part in it."
    return text + "They do not exceed the claim: they say how large the loss is at least, with certainty."


def _note(bound: Bound, *, sampled: bool) -> str:
    top = "p₀ − δ" if bound.delta > 0 else "p₀"
    ratio = f"({top})/p₁" if bound.delta > 0 else f"{top}/p₁"
    text = f"The exact bound is ln({ratio}), with p₀ rounded down and p₁ rounded up."
    if math.isinf(bound.value):
        text = "The event is impossible on the second dataset and possible on the first, so that no finite bound holds."
    if not sampled:
        return text + " No runs of this event were made."
    return text + (
        " The runs are a second, independent look: fresh runs of the same event, which was fixed before them. Their "
        "intervals are exact, at 95\N{NO-BREAK SPACE}% each by itself."
    )


def _exact_row(found: Counterexample, bound: Bound, claim: Claim | None) -> dict[str, Any]:
    sides = (enclosure_text(*found.probability0), enclosure_text(*found.probability1))
    return {
        "kind": "exact",
        "how": "computed",
        "sides": sides,
        "notes": ("", ""),
        "bound": full_text(bound, claim),
        "confidence": "certain",
    }


def _sampled_row(attempt: Attempt, claim: Claim | None) -> dict[str, Any]:
    bound, counts = attempt.bound, attempt.bound.counts
    assert counts is not None
    hits, runs = counts.toward0, counts.runs
    low, high = frequency_interval(hits, runs)
    sides = [f"{count_text(hits[own])} of {count_text(runs[own])}" for own in (0, 1)]
    notes = [
        f"{share_text(hits[own] / runs[own])}, interval {share_text(float(low[own]), rounding='lower')} to "
        f"{share_text(float(high[own]), rounding='upper')}"
        if runs[own]
        else "–"
        for own in (0, 1)
    ]
    text = full_text(bound, claim) if bound.value > 0 else "none above 0"
    sure = confidence_text(bound.confidence)
    return {
        "kind": "sampled",
        "how": "counted in runs",
        "sides": (sides[0], sides[1]),
        "notes": (notes[0], notes[1]),
        "bound": text,
        "confidence": sure,
    }


# --- Where do two displayed datasets differ? ---

_MOST_TOKENS = 2000  # the comparison is quadratic in them
_CONTEXT = 12  # equal tokens shown on either side of a difference, about a line


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of one side's text; ``kind`` is "same", "differs" or "left out"."""

    kind: str
    text: str


def differences(text0: str, text1: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, with differences marked and long equal pieces left out."""
    tokens0, tokens1 = _tokens(text0), _tokens(text1)
    if max(len(tokens0), len(tokens1)) > _MOST_TOKENS:
        return [Piece("same", text0)], [Piece("same", text1)]
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    steps = SequenceMatcher(None, tokens0, tokens1, autojunk=False).get_opcodes()
    for number, (kind, start0, end0, start1, end1) in enumerate(steps):
        for own, part in ((pieces[0], tokens0[start0:end0]), (pieces[1], tokens1[start1:end1])):
            if kind == "equal":
                own += _same(part, first=number == 0, last=number == len(steps) - 1)
            elif part:
                own.append(Piece("differs", "".join(part)))
    return pieces


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\s,;\[\](){}]+|\s+|.", text)


def _same(tokens: list[str], *, first: bool, last: bool) -> list[Piece]:
    before, after = (0 if first else _CONTEXT), (0 if last else _CONTEXT)
    before, after = max(before, 4), max(after, 4)
    if len(tokens) <= before + after + 10:
        return [Piece("same", "".join(tokens))]
    out = sum(1 for token in tokens[before:-after] if re.match(r"[^\s,;\[\](){}]", token))
    return [
        Piece("same", "".join(tokens[:before])),
        Piece("left out", f" … {out} equal … "),
        Piece("same", "".join(tokens[-after:])),
    ]


# --- What was listed, what is certified of it, and what do others say? -----------------------------------

_MOST_RELEASES = 100  # rows of a table
_KINDS = {"upper": "upper bound", "estimate": "estimate"}


def accounting_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections of an accounting; none of other evidence."""
    accounting = accounting_of(shown.evidence)
    if accounting is None:
        return
    yield Section("accounting", "What is certified", {"accounting": accounting_part(shown.evidence, accounting)})
    yield Section("releases", "What was listed", {})
    if accounting.others:
        yield Section("others", "What others say", {})
    yield Section("checking", "How to check it", {})


def accounting_part(evidence: Evidence, accounting: Accounting) -> dict[str, Any]:
    """Return what the sections of an accounting show."""
    decisive = decisive_statement(accounting, evidence.verdict)
    size = len(
        json.dumps(accounting.certificates, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    )
    many = "one certificate" if len(accounting.certificates) == 1 else f"{len(accounting.certificates)} certificates"
    return {
        "statements": [_statement(each) for each in accounting.statements[:_MOST_RELEASES]],
        "releases": [
            {"name": each.name, "words": release_words(each), "event": each.event, "steps": count_text(each.steps)}
            for each in accounting.releases[:_MOST_RELEASES]
        ],
        "left_out": max(0, len(accounting.releases) - _MOST_RELEASES),
        "steps": count_text(sum(each.steps for each in accounting.releases)),
        "neighbours": neighbours_words(evidence.relation, accounting),
        "recorded_by": accounting.recorded_by,
        "others": [
            {
                "name": f"{each.name} {each.version}",
                "kind": _KINDS.get(each.side, each.side),
                "value": estimate_text(each.value, 7),
                "place": other_place(each, decisive),
            }
            for each in accounting.others[:_MOST_RELEASES]
        ],
        "note": accounting.note,
        "certificates": f"{many}, {count_text(max(1, round(size / 1000)))} kB of JSON",
    }


def _statement(stated: Statement) -> dict[str, Any]:
    letter = letter_of(stated)
    low = f"{letter} = ∞" if math.isinf(stated.low) else f"{letter} ≥ {low_text(stated)}"
    high = "none" if math.isinf(stated.high) else f"{letter} ≤ {high_text(stated)}"
    return {
        "claim": claim_of(stated),
        "verdict": str(stated.verdict),
        "low": low,
        "high": high,
        "where": where(stated).removeprefix(" at "),
    }


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


def training_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections of a watched loop; none of other evidence."""
    training = shown.evidence.training
    if training is None:
        return
    yield Section("training", "What was seen", {"training": training_part(shown.evidence, training)})


def reviewed(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what reviewers ask of a watched loop; none of other evidence."""
    if shown.evidence.training is not None:
        yield Section("pitfalls", "Twelve pitfalls", {})


def training_part(evidence: Evidence, training: Training) -> dict[str, Any]:
    """Return what the sections of a watched loop show."""
    size = len(json.dumps(training.certificates, ensure_ascii=False).encode("utf-8", "replace"))
    return {
        "facts": [
            {"name": fact_name(f), "status": status_words(f.status), "tone": f.status.replace(" ", "-"), "text": f.text}
            for f in training.facts
        ],
        "false_alarm": number_text(evidence.false_alarm or 0.0),
        "losses": [
            _loss("from below, on some data", training.low),
            _loss("from above, for all data", training.high),
            *([] if training.enough is None else [_loss("with just enough noise for the claim", training.enough)]),
        ],
        "all": loss_text(training),
        "step": _step(training),
        "gaussian": "" if training.gaussian is None else number_text(float(f"{training.gaussian:.5g}")),
        "canaries": None if training.canaries is None else canaries_words(training.canaries, evidence),
        "pitfalls": pitfalls(training),
        "certificates": f"{count_text(max(1, round(size / 1000)))} kB of JSON" if training.certificates else "none",
    }


def _loss(side: str, loss: TrainingLoss) -> dict[str, str]:
    """What is lost, from one side."""
    value = "not bounded" if math.isinf(loss.value) else number_text(float(f"{loss.value:.7g}"))
    listed = "; ".join(release_words(each) for each in loss.releases[:_MOST])
    return {"side": side, "value": value, "steps": listed or loss.why}


def _step(training: Training) -> str:
    step = training.step
    if step is None:
        return ""
    text = (
        f"From {count_text(step.values)} values of noise: whoever sees a coordinate along which a record moves the sum "
        "by C tells the two datasets apart at least as well as "
        f"μ = {number_text(float(f'{step.mu:.4g}'))} allows, in one step."
    )
    if step.epsilon is None:
        return text
    return (
        f"{text} If steps are independent and records come in as was seen, all {count_text(updates_of(training))} lose "
        f"at least ε = {number_text(float(f'{step.epsilon:.4g}'))} at the claim's δ, "
        "without taking the noise for Gaussian."
    )

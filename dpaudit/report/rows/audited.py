"""What was audited, why is this the verdict, and how is it run again? The rows without bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy.claims import number_text
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.about import parameter_text
from dpaudit.report.text.accounting import accounting_of
from dpaudit.report.text.cite import citation
from dpaudit.report.text.command import reproduce_command, reproduce_notes
from dpaudit.report.text.headline import decisive, reason_says_more
from dpaudit.report.text.phrases import ASKS, claim_meaning, claim_words, limits, relation_words, shortened
from dpaudit.report.text.search import search_line

_DATA = re.compile(r", sha256:[0-9a-f]{64}$")  # a parameter that is a table or an array


def reason(evidence: Evidence) -> Iterator[Row]:
    """Yield the recorded reason, if it says more than the headline."""
    if evidence.reason and reason_says_more(evidence):
        yield Row("reason", "reason", "Reason", evidence.reason, importance=Importance.BRIEF)


def scope(evidence: Evidence) -> Iterator[Row]:
    """Yield what was audited, as it was recorded, with explanations."""
    target, claim, unit = evidence.target, evidence.claimed, evidence.unit
    values = ", ".join(f"{name} = {parameter_text(value)}" for name, value in target.parameters.items())
    yield _scope("target", "Mechanism", target.name, target.summary, "target", _named(evidence), Importance.BRIEF)
    how = search_line(evidence)
    if how is not None:
        yield Row("search", "pair", "How the pair was found", how, importance=Importance.SUMMARY)
    yield _scope("parameters", "Parameters", values or "none")
    tables = [name for name, value in target.parameters.items() if isinstance(value, str) and _DATA.search(value)]
    if tables:
        fixed = f"{' and '.join(tables)}, the same on both sides: of what it holds nothing is said"
        yield _scope("fixed", "Held fixed", fixed, label="held fixed", importance=Importance.SUMMARY)
    cell = "none" if claim is None else claim_words(claim)
    promised = cell if claim is None else f"{cell} ({claim.notion})"
    note = "" if claim is None else f"{claim.notion} ({claim}). {claim_meaning(claim)}"
    yield Row(
        "claim",
        "claim",
        "Claim",
        cell,
        promised,
        note=note,
        importance=Importance.BRIEF,
        section="scope",
        order=math.nan if claim is None else claim.value,
    )
    unknown = "" if unit else "What one record stands for was not recorded."
    yield _scope("unit", "Unit of privacy", unit or "not stated", unknown)
    words = relation_words(evidence.relation) or evidence.relation
    if target.asks == "scores":
        words = "a record that is a member, and one that is not"
    yield Row("relation", "neighbours", "Neighbours", words, words, importance=Importance.BRIEF, section="scope")
    yield from _attacker(evidence)
    digest = "SHA-256 of the function's code" if target.digest else ""
    own = target.digest or "not available"
    yield Row("digest", "code digest", "Code digest", own, note=digest, section="scope", code=True)
    yield from _conditions(evidence)


def _scope(
    key: str,
    name: str,
    cell: str,
    note: str = "",
    label: str = "",
    line: str = "",
    importance: Importance = Importance.FULL,
) -> Row:
    return Row(key, label, name, cell, line, note=note, importance=importance, section="scope")


def _named(evidence: Evidence) -> str:
    parameters = ", ".join(
        f"{name}={number_text(value) if isinstance(value, float) else value}"
        for name, value in evidence.target.parameters.items()
    )
    name = shortened(evidence.target.name, 80)
    return f"{name} ({parameters})" if parameters else name


def _attacker(evidence: Evidence) -> Iterator[Row]:
    """Yield the attacker's view: what is observed, and from which kind of function."""
    target = evidence.target
    timed = ", and how long the call took" if "time" in evidence.observed else ""
    sees = f"sees one output of the mechanism{timed}"
    knows = "and knows the code, its parameters and both datasets of the pair, but not which of them was used."
    if target.asks == "scores":
        sees, knows = (
            "sees a score that one attack gives a record",
            ("and guesses by the score alone whether it was in the training data."),
        )
    yield _scope("attacker", "Attacker", sees, knows, importance=Importance.OWN)
    words, reading = ASKS.get(target.asks, ""), target.reading
    read = f"{words}; read as: {reading}" if reading and reading != target.asks else words
    yield _scope("asks", "Kind of function", target.asks, read, importance=Importance.OWN)


def _conditions(evidence: Evidence) -> Iterator[Row]:
    own = Importance.OWN
    if evidence.target.source:
        yield _scope("source", "Source", evidence.target.source, importance=own)
    if "time" in evidence.observed:
        note = "In seconds, the last number of each output."
        yield _scope("observed", "Observed", "the run time of every call", note, importance=own)
    if not evidence.reproducible:
        seeded = evidence.target.asks != "opaque"
        why = "No call takes as long twice" if seeded else "The function's randomness cannot be seeded"
        yield _scope("reproducible", "Reproducible", "no", f"{why}; another run gives other counts.", importance=own)
    for text in evidence.assumptions:
        yield _scope("trust", "Taken on trust", text)


def pair(evidence: Evidence) -> Iterator[Row]:
    """Yield the pair that the verdict rests on, if there is one."""
    number, pairs = decisive(evidence).pair, evidence.pairs
    if number is not None and number < len(pairs):
        found, trace = pairs[number], evidence.trace
        searched = trace is not None and trace.source in ("data", "domain")
        own = found.change or (trace.change if trace is not None and searched else f"{found.shown0} and {found.shown1}")
        known = searched or found.origin in ("mechanism", "made")
        place = f"{number + 1} of {len(pairs)}{': ' if known else ', '}" if len(pairs) > 1 else ""
        cell = shortened(f"{place}{own if known and own else 'as it was given'}", 300)
        # one that a trace found stands in the headline
        told = found.origin == "made" and evidence.trace is None and evidence.verdict is Verdict.VIOLATED
        yield Row("pair", "pair", "Pair", cell, importance=Importance.SUMMARY if told else Importance.OWN)


def uncovered(evidence: Evidence) -> Iterator[Row]:
    """Yield what the audit cannot show."""
    for name, text in limits(evidence):
        yield Row("limit", "", name, text, importance=Importance.OWN, section="limits")


def again(evidence: Evidence) -> Iterator[Row]:
    """Yield how the evidence is identified, reproduced and cited."""
    command, identity = reproduce_command(evidence), evidence.id
    yield _again("id", "id", "Evidence", identity, Importance.SUMMARY, code=True)
    kept = Importance.SUMMARY if command is None else Importance.FULL
    if accounting_of(evidence) is None:
        yield _again("seed", "seed", "Seed", str(evidence.seed), kept)
    if command is not None:
        yield _again("reproduce", "reproduce", "Run it again", command, Importance.BRIEF, code=True)
    for note in reproduce_notes(evidence):
        yield _again("note", "", "To run it again", note, Importance.BRIEF)
    yield _again("cite", "cite as", "Cite as", citation(evidence, identity), Importance.FULL)


def _again(key: str, label: str, name: str, text: str, importance: Importance, *, code: bool = False) -> Row:
    return Row(key, label, name, text, importance=importance, section="again", code=code)

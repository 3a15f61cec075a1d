"""What stands on the page of an audit, and in which order?

Everything that the template shows is computed here; the template only lays it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import PairRecord
from dpaudit.report.figures.number_line import line
from dpaudit.report.html.attempts import attempt_rows, methods
from dpaudit.report.html.change import change_part
from dpaudit.report.html.curves import curves_part
from dpaudit.report.html.difference import Piece, differences
from dpaudit.report.html.embedded_json import BLOCK_ID, drawn_with, embedded_json
from dpaudit.report.html.loss import loss_part
from dpaudit.report.html.measured import event_part, low_bits_part
from dpaudit.report.html.posterior import posterior_part
from dpaudit.report.html.power import power_part
from dpaudit.report.html.proof import exact_part, proof_part
from dpaudit.report.html.scope_layers import layers
from dpaudit.report.html.templates import environment
from dpaudit.report.text.bound_kinds import is_proof
from dpaudit.report.text.cite import bibtex, citation, sources
from dpaudit.report.text.command import reproduce_command, reproduce_notes
from dpaudit.report.text.method_text import counted, method_sentence
from dpaudit.report.text.numerals import confidence_text, count_text, error_text
from dpaudit.report.text.phrases import low_bits_sentence, symbol
from dpaudit.report.text.plain_words import meaning
from dpaudit.report.text.search import search_part
from dpaudit.report.text.sensitivity import sensitivity_part
from dpaudit.report.view import view

_LONGEST_SHOWN = 120_000  # characters of the record that the page also shows as text


def render(evidence: Evidence, baseline: Evidence | None = None) -> str:
    """Return the page of an audit; with a baseline also what changed since."""
    context = _context(evidence, baseline)
    return environment().get_template("template.html.j2").render(**context, sections=_sections(context))


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of the page: its anchor, which is also the name of its template, and how the contents list it."""

    name: str
    title: str


def _sections(context: dict[str, Any]) -> list[_Section]:
    """Return the sections that the evidence fills, in their order."""
    curves, exact = context["curves"], context["exact"]
    posterior = context["posterior"].figure
    listed = [
        ("line", f"Where {context['symbol']} lies", True),
        ("words", "In plain words", True),
        ("proof", "Proof", context["proof"]),
        ("exact", "" if exact is None else exact.title, exact),
        ("scope", "Scope", True),
        ("limits", "What it cannot show", True),
        ("pair", "The pair", True),
        ("search", "How the pair was found", context["search"]),
        ("event", "The event", True),
        ("low-bits", "Low-order bits", context["low_bits"]),
        ("sensitivity", "Sensitivity", context["sensitivity"]),
        ("loss", "Privacy loss", True),
        ("tradeoff", "Trade-off curve", curves),
        ("profile", "Privacy profile", curves),
        ("posterior", "What an attacker can believe", posterior),
        ("power", "What it would have found", context["power"]),
        ("attempts", "Every attempt", True),
        ("change", "Change", context["change"]),
        ("method", "Method", True),
        ("reproduce", "Reproduce", True),
        ("cite", "Cite", True),
        ("glossary", "Glossary", True),
        ("raw", "Raw evidence", True),
    ]
    return [_Section(name, title) for name, title, filled in listed if filled]


def _context(evidence: Evidence, baseline: Evidence | None) -> dict[str, Any]:
    claim, shown = evidence.claimed, view(evidence)
    record, exact = evidence.to_json(), exact_part(evidence, claim)
    return {
        "evidence": evidence,
        "identity": evidence.id,
        "head": shown.headline,
        "reason": _reason(shown.cell("reason", "")),
        "symbol": symbol(evidence),
        "beside": shown.beside,
        "low_bits": low_bits_sentence(evidence),
        "low_event": low_bits_part(evidence),
        "sensitivity": sensitivity_part(evidence),
        "search": search_part(evidence),
        "line": line(evidence, claim),
        "apart": is_proof(evidence),
        "meaning": meaning(evidence),
        "posterior": posterior_part(evidence, claim),
        "curves": curves_part(evidence, claim),
        "power": power_part(evidence),
        "change": change_part(baseline, evidence),
        "proof": proof_part(evidence, claim),
        "exact": exact,
        "scope": shown.section("scope"),
        "layers": layers(evidence),
        "limits": shown.section("limits"),
        "pairs": [
            _pair(number, pair, shown_above=exact is not None and exact.data is not None, asks=evidence.target.asks)
            for number, pair in enumerate(evidence.pairs)
        ],
        "event": event_part(evidence),
        "counted": counted(evidence),
        "method": method_sentence(evidence),
        "loss": loss_part(evidence, claim),
        "of_score": evidence.histogram is not None and evidence.histogram.axis == "score",
        "attempts": attempt_rows(evidence, claim),
        "methods": methods(evidence),
        "sources": sources(evidence),
        "command": reproduce_command(evidence),
        "notes": reproduce_notes(evidence),
        "bibtex": bibtex(evidence),
        "citation": citation(evidence),
        "drawn_with": drawn_with(beside=baseline),
        "block_id": BLOCK_ID,
        "embedded": Markup(embedded_json(evidence)),
        "record": record if len(record) <= _LONGEST_SHOWN else None,
        "record_size": count_text(len(record.encode("utf-8")) // 1000),
        "count": count_text,
        "confidence": confidence_text,
        "error": error_text,
    }


def _reason(reason: str) -> str:
    """The recorded reason as a sentence of its own."""
    return reason[:1].upper() + reason[1:] if reason[:1].isascii() else reason  # not ε, which would become Ε


# --- pairs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    number: int
    digests: tuple[str, str]
    origin: str
    shown: tuple[list[Piece], list[Piece]] | None
    where: str


_ORIGINS = {
    "mechanism": "named by the mechanism as its worst case",
    "given": "given by whoever ran the audit",
    "found": "found by a search",
    "counterexample": "found together with the event whose probabilities are computed exactly",
}


_RECORDED = {
    "scores": "recorded elsewhere: scores of members (side 0) and of others (side 1)",
    "outputs": "recorded elsewhere: outputs of either side",
}


def _pair(number: int, pair: PairRecord, *, shown_above: bool, asks: str) -> _Pair:
    shown, origin, where = None, pair.origin, "Its data are not part of the evidence; the digests identify them."
    if shown_above:  # whoever asks for a proof gives no pair
        origin, where = "counterexample", "Its data stand above, beside the exact numbers."
    elif pair.shown0 is not None and pair.shown1 is not None:
        shown, where = differences(pair.shown0, pair.shown1), ""
    words = _RECORDED.get(asks) or _ORIGINS.get(origin, origin)
    return _Pair(number, (pair.digest0, pair.digest1), words, shown, where)

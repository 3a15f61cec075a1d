"""How does evidence read as Markdown? A table for all of it, and the findings of each, for a pull request or a wiki.

Names, reasons and data come from the outside: whatever Markdown or HTML would obey is written as a character
reference, so that it is shown as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.report.html.cite import citation
from dpaudit.report.text.bound_kinds import exact_lower, is_proof, proved_for, sampled_lower, without_bound
from dpaudit.report.text.command import reproduce_command
from dpaudit.report.text.findings import beside, pressing_lines
from dpaudit.report.text.headline import NO_PROOF, headline
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import (
    bound_text,
    certainty,
    claim_words,
    detectable_text,
    full_text,
    relation_words,
    shortened,
    visible,
    yardstick,
)
from dpaudit.report.text.second_look import second_text

_SENTENCE, _NAME, _COMMAND = 800, 160, 4_000
_OBEYED = re.compile(r"[\\`*_{}\[\]<>#|~@&!$\"]|:(?=//|[\w+-]+:)|(?<=[wW])\.")  # never at the start of a line


def escaped(text: str, length: int = _SENTENCE) -> str:
    """Return one line in which nothing is markup, cut to a length."""
    return _OBEYED.sub(lambda mark: f"&#{ord(mark[0])};", shortened(text, length))


def markdown(evidences: Sequence[Evidence]) -> str:
    """Return a summary of one or several audits in GitHub's Markdown, in the order in which they are given."""
    parts = [_details(evidence) for evidence in evidences]
    if len(evidences) > 1:
        parts.insert(0, _overview(evidences))
    if any(evidence.verdict is Verdict.NOT_VIOLATED for evidence in evidences) and len(evidences) > 1:
        parts.append(f"Not violated means that no violation was found. {NO_PROOF}")
    return "\n\n".join(parts) + "\n"


def _overview(evidences: Sequence[Evidence]) -> str:
    lines = [
        f"# {count_text(len(evidences))} audits of differential privacy",
        "",
        "| Mechanism | Verdict | Claim | Lower bound | Upper bound | Beside the verdict |",
        "|---|---|---|---|---|---|",
    ]
    for evidence in evidences:
        claim = evidence.claimed
        cells = (
            str(evidence.verdict).upper(),
            "none" if claim is None else claim_words(claim),
            _lower(evidence.lower, evidence),
            "none" if evidence.upper is None else _full(evidence.upper, evidence),
            "; ".join(pressing_lines(evidence)) or "–",
        )
        lines.append(f"| {_code(evidence.target.name)} | {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines)


def _details(evidence: Evidence) -> str:
    head = headline(evidence)
    lines = [f"## {_code(evidence.target.name)}: {head.word}", "", escaped(head.sentence), ""]
    lines += [f"**{escaped(head.caution)}**", ""] if head.caution else []
    lines += ["| What | Stated |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in _rows(evidence)]
    return "\n".join(lines)


def _rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return names and cells; the cells are Markdown already."""
    claim, target, proof = evidence.claimed, evidence.target, evidence.proof
    exact, sampled = exact_lower(evidence), sampled_lower(evidence)
    relation, also = relation_words(evidence.relation), beside(evidence)
    parameters = ", ".join(f"{name} = {value}" for name, value in sorted(target.parameters.items()))
    rows = [
        ("Claim", escaped("none" if claim is None else claim_words(claim))),
        ("Unit of privacy", escaped(evidence.unit or "not stated")),
        ("Neighbours", escaped(f"{evidence.relation}: {relation}" if relation else evidence.relation)),
        ("Parameters", escaped(parameters or "none")),
    ]
    if evidence.verdict is Verdict.INVALID:
        rows.append(("Reason", escaped(evidence.reason)))
    elif sampled is not None:
        rows.append(("Lower bound, counted in runs", escaped(_lower(sampled, evidence))))
    if exact is not None:
        rows.append(("Lower bound, exact", escaped(_full(exact, evidence))))
    if evidence.upper is not None:
        scope = "" if proof is None else f", {proved_for(proof)}: {proof.scope}"
        kind = "proved" if evidence.upper.kind == "proof" else evidence.upper.kind
        rows.append((f"Upper bound, {escaped(kind)}", escaped(_full(evidence.upper, evidence) + scope)))
    elif is_proof(evidence) and proof is not None:
        rows.append(("Upper bound, proved", escaped(f"none; {without_bound(evidence)}")))
    second = second_text(evidence)
    rows += [] if second is None else [("Second look", escaped(second))]
    rows += [(found.name, f"**{escaped(found.text)}**" if found.presses else escaped(found.text)) for found in also]
    smallest = detectable_text(evidence)
    if smallest is not None and evidence.verdict is not Verdict.INVALID:
        how = "" if math.isinf(evidence.detectable or 0.0) else f", {yardstick(evidence)}, with probability 0.9"
        rows.append(("Would have been found", escaped(smallest + how)))
    runs = f"{count_text(evidence.runs)} ({count_text(evidence.measuring)} of them measured)"
    rows += [("Runs", runs), ("Seed", str(evidence.seed)), ("Code digest", _code(target.digest or "not available"))]
    if evidence.assumptions:
        rows.append(("Taken on trust", escaped("; ".join(evidence.assumptions))))
    command = reproduce_command(evidence)
    if command is not None:
        rows.append(("Run it again", _code(visible(command, one_line=True), _COMMAND)))
    return [*rows, ("Evidence", _code(evidence.id)), ("Cite as", escaped(citation(evidence)))]


def _lower(bound: Bound, evidence: Evidence) -> str:
    return "none above 0" if bound.value <= 0 else _full(bound, evidence)


def _full(bound: Bound, evidence: Evidence) -> str:
    text = full_text(bound, evidence.claimed) if bound.exact else bound_text(bound, evidence.claimed)
    return f"{text} {certainty(bound)}"


def _code(text: str, length: int = _NAME) -> str:
    return f"<code>{escaped(text, length)}</code>"

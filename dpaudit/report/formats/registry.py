"""Which questions of a public registry of deployments does evidence answer?

The fields are those of the Differential Privacy Deployments Registry, by its published schema (after Nanayakkara,
Ghazi & Vadhan 2025, Practitioners' perspectives on a differential privacy deployment registry, arXiv 2509.13509).
Evidence is about a mechanism, but a record is about a deployment. People can answer what evidence does not know in
``[tool.dpaudit.context]`` (`dpaudit.report.formats.context`); unanswered fields contain the question, a text that
starts with "?". Nothing is invented, and every record is a draft.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.formats.context import ASKED, FIELDS, OF_MECHANISM, Answer, Field
from dpaudit.report.text.cite import citation
from dpaudit.report.text.phrases import claim_words, one_line, relation_words, visible
from dpaudit.report.view import view

_HEAD = """\
# A draft for the Differential Privacy Deployments Registry, drawn by dpaudit from evidence
# {identity}.
# A text that starts with "?" is a question that the evidence does not answer: answer it in [tool.dpaudit.context],
# or here, or leave the field out. The evidence is about one mechanism, not about the deployment around it.
"""


def registry_record(evidence: Evidence, answers: Mapping[str, Answer] | None = None) -> dict[str, Any]:
    """Return the record as nested values, in the registry's order; an unanswered field is a question."""
    given = dict(answers or {})
    known = dict(_known(evidence, given))
    record: dict[str, Any] = {}
    for field in FIELDS:
        if field.path:
            _put(record, field.path, _answer(field, given, known))
    _put(record, ("deployment", "privacy_loss", "privacy_parameters"), _parameters(evidence))
    _put(record, ("deployment", "implementation", "mechanisms"), _mechanisms(evidence, given))
    record["deployment"]["administrative"] = _administrative(evidence, given, record)
    return record


def registry_yaml(evidence: Evidence, answers: Mapping[str, Answer] | None = None) -> str:
    """Return the record as YAML; every text is quoted, so that it cannot be read as another type."""
    lines = _HEAD.format(identity=evidence.id) + "\n".join(_yaml(registry_record(evidence, answers), 0))
    return lines + "\n"


# --- answers ----------------------------------------------------------------------------------------------


def _answer(field: Field, given: Mapping[str, Answer], known: Mapping[str, Any]) -> Any:
    """Return the answer of people, else that of the evidence, else the question."""
    if field.key in given:
        answer = given[field.key]
        return _texts(answer) if isinstance(answer, tuple) else answer
    return known.get(field.key, field.asked)


def _known(evidence: Evidence, given: Mapping[str, Answer]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that evidence answers, by their keys."""
    claim = evidence.claimed
    if claim is not None:
        yield "variant_name", claim.variant
        yield "privacy_parameters_details", one_line(f"{_promise(evidence, claim)} {_found(evidence)}")
    if evidence.unit:
        moved = evidence.relation.startswith("queries")  # differences of answers, not of anybody's data
        hint = f"{ASKED['privacy_unit']} In the audit: {evidence.unit}"
        yield "privacy_unit", one_line(hint if moved else evidence.unit)
    meaning = relation_words(evidence.relation)
    neighbours = f"In the audit, neighbours under {evidence.relation}" + (f": {meaning}." if meaning else ".")
    yield "privacy_unit_details", one_line(neighbours)
    curator = ("data_curator_name", "data_curator_type")
    yield "data_curators", [{key: given.get(key, ASKED[key]) for key in curator}]


_PLACES = ("epsilon", "delta", "rho")  # the registry's fields for the numbers of a claim


def _parameters(evidence: Evidence) -> dict[str, Any]:
    """Return the claimed numbers that the registry has fields for, unless the evidence refutes the claim."""
    claim = evidence.claimed
    if claim is None:
        return {"epsilon": "? No claim was given to the audit. What is claimed?"}
    if evidence.verdict is Verdict.VIOLATED:
        return {"epsilon": f"? The evidence refutes the claim {claim}. What is claimed of the deployment?"}
    return {name: value for name, value in claim.numbers.items() if name in _PLACES}


def _promise(evidence: Evidence, claim: Claim) -> str:
    return f"Claimed of the mechanism {evidence.target.name}: {claim_words(claim)} ({claim.notion})."


def _found(evidence: Evidence) -> str:
    """Return the verdict with its caution."""
    shown = view(evidence)
    head, found = shown.headline, " ".join(f"{row.name}: {row.text}" for row in shown.pressing)
    return f"Evidence {evidence.id}: {head.word}. {head.sentence} {head.caution} {found}".strip()


def _mechanisms(evidence: Evidence, given: Mapping[str, Answer]) -> str:
    """Return the list of mechanisms in the registry's form, with known facts and open questions."""
    target = evidence.target
    values = evidence.record()["target"]["parameters"]
    parameters = ", ".join(f"{name} = {json.dumps(value)}" for name, value in sorted(values.items()))
    lines = [
        f"- Mechanism: {target.name}" + (f" with {parameters}" if parameters else ""),
        f"- Code: SHA-256 of the function's code {target.digest}" if target.digest else "- Code: ? Where is it?",
    ]
    if target.source:
        lines.append(f"- Published as: {target.source}")
    lines += [f"- {row.name}, by the audit: {row.text}" for row in view(evidence).beside]
    if "mechanisms" in given:
        lines.insert(0, f"- {given['mechanisms']}")
    lines += [
        f"- {key.replace('_', ' ').capitalize()}: {given[key]}" if key in given else f"- {ASKED[key]}"
        for key in OF_MECHANISM
    ]
    return "\n".join(map(one_line, lines))


def _administrative(evidence: Evidence, given: Mapping[str, Answer], record: Mapping[str, Any]) -> dict[str, Any]:
    kind = given.get("evidence_source_type", ASKED["evidence_source_type"])
    article = {"howpublished": "dpaudit evidence", "note": evidence.id, "title": one_line(citation(evidence))}
    if "evidence_url" in given:
        article["url"] = str(given["evidence_url"])
    authors = given.get("registry_authors", ASKED["registry_authors"])
    return {
        "evidence_sources": {"dpaudit_evidence": {"evidence_source_type": kind, "misc": article}},
        "status": "Draft",
        "registry_authors": _texts(authors),
        "tier": _tier(record),
    }


def _tier(record: Mapping[str, Any]) -> int:
    """Return the completeness: the highest tier up to which no question is open, at least 1."""
    open_tiers = [field.tier for field in FIELDS if field.path and _has_question(_get(record, field.path))]
    return max(1, min(open_tiers, default=4) - 1)


def _has_question(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_question(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_question(item) for item in value)
    return isinstance(value, str) and re.search(r"^(- )?\?", value, re.MULTILINE) is not None


def _texts(value: Answer) -> list[str]:
    return list(value) if isinstance(value, tuple) else [str(value)]


def _put(record: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        record = record.setdefault(name, {})
    record[path[-1]] = value


def _get(record: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = record
    for name in path:
        value = value[name]
    return value


# --- YAML -------------------------------------------------------------------------------------------------

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _yaml(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield the lines of a mapping; texts are in double quotes, which YAML reads like JSON."""
    for key, item in value.items():
        yield from _entry(f"{'  ' * depth}{key}:", item, depth + 1)


def _entry(head: str, item: Any, depth: int) -> Iterator[str]:
    if isinstance(item, dict) and item:
        yield head
        yield from _yaml(item, depth)
    elif isinstance(item, list):
        yield head
        for element in item:
            if isinstance(element, dict):
                yield "  " * depth + "-"
                yield from _yaml(element, depth + 1)
            else:
                yield f"{'  ' * depth}- {_scalar(element)}"
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)  # YAML 1.1 reads 1e-06 as text, and 1.0e-06 as a number
        return re.sub(r"^(-?\d+)e", r"\1.0e", text)
    quoted = json.dumps(visible(str(value)), ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda mark: f"\\u{ord(mark[0]):04x}", quoted)

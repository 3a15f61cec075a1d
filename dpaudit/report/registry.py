"""Which questions of a public registry of deployments does evidence answer, and which do people?

The fields are those of the Differential Privacy Deployments Registry, by its published schema (after Nanayakkara,
Ghazi & Vadhan 2025, Practitioners' perspectives on a differential privacy deployment registry, arXiv 2509.13509).
Evidence is about a mechanism, but a record is about a deployment. People can answer what evidence does not know in
``[tool.dpaudit.context]``, of which every type is checked and no unknown key accepted; unanswered fields contain the
question, a text that starts with "?". Nothing is invented, and every record is a draft.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.text.phrases import claim_words, one_line, relation_words, visible
from dpaudit.report.text.reproduce import citation
from dpaudit.report.view import view

# --- What do people know about a deployment that evidence does not? --------------------------------------

Answer = str | int | tuple[str, ...]

_BASIC = ("deployment", "basic")
_VARIANT = ("deployment", "dp_variant")
_LOSS = ("deployment", "privacy_loss")
_MODEL = ("deployment", "deployment_model")
_HOW = ("deployment", "implementation")


@dataclass(frozen=True, slots=True)
class Field:
    """A question, with the place and the kind of its answer in the record."""

    key: str  # its name in the context
    path: tuple[str, ...]  # the place of the answer, in the registry's order; empty if it is part of another field
    question: str  # the question for people
    tier: int  # the lowest tier of completeness at which the registry expects it
    choices: tuple[str, ...] = ()  # the words that the registry accepts; empty for any text
    # "text", "whole" for a number, "date", "texts" for a list; "evidence" if people are not asked
    kind: Literal["text", "whole", "date", "texts", "evidence"] = "text"

    @property
    def asked(self) -> str:
        """The question as written into a record that does not answer it."""
        return f"? {self.question}" + (f" One of: {', '.join(self.choices)}" if self.choices else "")


def _field(place: tuple[str, ...], key: str, question: str, tier: int, *choices: str, kind: Any = "text") -> Field:
    return Field(key, (*place, key), question, tier, choices, kind)


FIELDS = (
    Field("url_slug", ("url_slug",), "What is the record to be called in its address?", 1),
    _field(_BASIC, "name", "What is the data product called?", 1),
    _field(_BASIC, "data_curators", "", 1, kind="evidence"),
    _field(_BASIC, "description", "What is the data product?", 1),
    _field(_BASIC, "intended_use", "What is it to be used for?", 1),
    _field(
        _BASIC,
        "data_product_type",
        "What kind of product is it?",
        1,
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    ),
    _field(_BASIC, "data_product_region", "Which region do the data describe, or whose laws apply?", 1),
    _field(
        _BASIC,
        "data_product_sector",
        "Which sector is it about?",
        1,
        "Technology",
        "Healthcare",
        "Education",
        "Government",
        "Energy",
        "Finance",
    ),
    _field(_BASIC, "publication_date", "When was it published first (YYYY-MM-DD)?", 1, kind="date"),
    _field(_VARIANT, "variant_name", "Which variant of differential privacy?", 2, kind="evidence"),
    _field(_VARIANT, "data_domain", "Which datasets are eligible for protection?", 3),
    _field(_VARIANT, "unprotected_quantities", "Which quantities are released without protection?", 3),
    _field(_LOSS, "privacy_unit", "Whose data changes between neighbouring datasets: what is one record?", 2),
    _field(_LOSS, "privacy_unit_details", "When exactly are two datasets neighbours?", 3),
    _field(_LOSS, "number_of_privacy_units", "How many units do the data hold?", 3, kind="whole"),
    _field(_LOSS, "privacy_parameters", "", 2, kind="evidence"),
    _field(_LOSS, "privacy_parameters_details", "What else is to be said of the parameters?", 3),
    _field(
        _MODEL,
        "model_name",
        "Where is the noise added, and who is trusted?",
        2,
        "Local",
        "Central",
        "Shuffle",
        "Federated",
        "Varies",
    ),
    _field(_MODEL, "model_name_details", "What else is to be said of the model?", 3),
    _field(_MODEL, "trust_assumptions", "Who is trusted with what, and why?", 3),
    _field(_MODEL, "actors", "Who sees the data or the product?", 3),
    _field(_MODEL, "release_type", "How often is it released?", 2, "One release", "Many releases"),
    _field(_MODEL, "release_type_details", "Is more to be released, and how does the loss add up over time?", 3),
    _field(_MODEL, "data_source_type", "Do new data come in?", 2, "Static", "Dynamic"),
    _field(_MODEL, "data_source_type_details", "How are the data collected?", 3),
    _field(_MODEL, "access_type", "Can people ask queries of their own?", 2, "Interactive", "Non-interactive"),
    _field(_MODEL, "access_type_details", "How is the budget shared among those who ask?", 3),
    _field(
        _HOW,
        "preprocessing_and_hyperparameter_tuning",
        "What was done to the data before, and did it count toward the loss?",
        3,
    ),
    _field(_HOW, "mechanisms", "", 3),
    _field(_HOW, "composition", "How is the loss of several releases accounted for?", 3),
    _field(_HOW, "post_processing", "What is done to the output before it is published?", 3),
    _field(_HOW, "justification", "How were these choices made?", 3),
    _field(_HOW, "utility", "How useful is the product?", 3),
    _field(_HOW, "additional_information", "What else is to be known, and where does it stand?", 1),
    Field("data_curator_name", (), "Who publishes the data product?", 1),
    Field("data_curator_type", (), "What kind of body is that?", 1, ("Government", "Industry", "Nonprofit")),
    Field("library", (), "Which library and version draws the noise?", 3),
    Field("contribution_bounds", (), "How much can one unit contribute, and how is that enforced?", 3),
    Field("random_source", (), "Where does the randomness come from, and can it be predicted?", 3),
    Field("floating_point", (), "What protects against leaks through floating-point arithmetic?", 3),
    Field("timing", (), "What protects against leaks through running time?", 3),
    Field("data_security", (), "How are the data secured before privacy is applied, and who has access?", 3),
    Field("registry_authors", (), "Who fills in this record?", 1, kind="texts"),
    Field(
        "evidence_source_type",
        (),
        "How was the evidence published?",
        1,
        (
            "Peer-reviewed publication",
            "Formal publication by the deploying organization",
            "Authorized organizational attestation",
            "Other public source",
        ),
    ),
    Field("evidence_url", (), "Where can the evidence be found?", 1),
)
ASKED = {field.key: field.asked for field in FIELDS}
OF_MECHANISM = ("library", "contribution_bounds", "random_source", "floating_point", "timing", "data_security")
"""Questions that the registry combines in one field for each mechanism."""

_ASKABLE = {field.key: field for field in FIELDS if field.kind != "evidence"}


def read_context(text: str, name: str) -> dict[str, Answer]:
    """Return the answers in a TOML text: in its table ``[tool.dpaudit.context]``, or ``[context]``, or all of it."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot read the context {name!r}: {error}") from None
    tool = document.get("tool")
    dpaudit = tool.get("dpaudit") if isinstance(tool, dict) else None
    table = dpaudit.get("context") if isinstance(dpaudit, dict) else document.get("context")
    if table is None and ("tool" in document or "project" in document):
        raise UsageError(
            f"{name} has no table [tool.dpaudit.context]; write one, for example\n"
            '[tool.dpaudit.context]\nmodel_name = "Central"'
        )
    return checked(document if table is None else table, name)


def checked(table: Any, name: str = "the context") -> dict[str, Answer]:
    """Return the answers after checking their kinds; raise `UsageError` that names the key of a wrong one."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{name}: the context is a table of answers, not {table!r:.60}")
    return {key: _checked(key, value, name) for key, value in table.items()}


def _checked(key: str, value: Any, name: str) -> Answer:
    field = _ASKABLE.get(key)
    if field is None:
        raise UsageError(f"{name}: there is no question {key!r} in the context; {nearest(key, _ASKABLE)}")
    if field.kind == "whole":
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UsageError(f"{name}: {key} is a whole number, not {value!r:.60}")
        return value
    if field.kind == "texts":
        texts = [value] if isinstance(value, str) else value
        if (
            not isinstance(texts, list)
            or not texts
            or not all(isinstance(text, str) and text.strip() for text in texts)
        ):
            raise UsageError(f"{name}: {key} is a list of texts, not {value!r:.60}")
        return tuple(texts)
    if field.kind == "date":
        return _date(key, value, name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name}: {key} is a text, not {value!r:.60}; leave out what is not known")
    if field.choices and value not in field.choices:
        raise UsageError(f"{name}: {key} is one of {', '.join(map(repr, field.choices))}, not {value!r:.60}")
    return value


def _date(key: str, value: Any, name: str) -> str:
    try:
        date = value if type(value) is datetime.date else datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: {key} is a date such as 2025-12-31, not {value!r:.60}") from None
    return date.isoformat()


# --- Which questions of a public registry of deployments does evidence answer? ---------------------------

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
    head, pressing = shown.headline, " ".join(f"{row.name}: {row.text}" for row in shown.pressing)
    return f"Evidence {evidence.id}: {head.word}. {head.sentence} {head.caution} {pressing}".strip()


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

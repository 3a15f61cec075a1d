"""What do people know about a deployment that evidence does not? The table ``[tool.dpaudit.context]``.

Its keys are the questions of a registry of deployments. The type of every answer is checked, and unknown keys are
refused.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.errors import UsageError, nearest

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
        found = value if type(value) is datetime.date else datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: {key} is a date such as 2025-12-31, not {value!r:.60}") from None
    return found.isoformat()

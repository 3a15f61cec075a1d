"""What does a reviewer ask of a release, and does any evidence answer it?

The questions are those of NIST SP 800-226 (Near, Darais, Lefkovitz & Howarth 2025, Guidelines for evaluating
differential privacy guarantees), of the public registry of deployments (`dpaudit.report.formats.registry`), and of
ISO/IEC 27559:2022, clause 8.2.3. An answer comes from evidence, or from people who know; else the question stands, and
where evidence could be made, it says that this was not examined. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.text.accuracy import accuracy_line
from dpaudit.report.text.drawn import released
from dpaudit.report.text.phrases import claim_words, low_bits_sentence, one_line, relation_words

_LISTED = 3  # releases of one program of which an answer says how far their noise goes
ANSWERED, ASKED, NOT_EXAMINED = "answered", "asked", "not examined"

NIST, REGISTRY, ISO = "NIST SP 800-226", "registry", "ISO/IEC 27559"

KINDS = {
    "accounting": ("The number", "dpaudit account"),
    "proof": ("The program, for all data", "dpaudit prove"),
    "audit": ("The program, by running it", "dpaudit audit"),
    "trace": ("Where noise is added", "dpaudit trace"),
    "training": ("The training run", "dpaudit train"),
}
"""What each kind of evidence is about, and the command that makes it."""


def kinds_of(evidence: Evidence) -> tuple[str, ...]:
    """Return what one piece of evidence examined, in the order of `KINDS`."""
    if evidence.accounting is not None:
        return ("accounting",)
    if evidence.training is not None:
        return ("training",)
    found = (("proof", evidence.proof is not None), ("audit", evidence.measuring > 0), ("trace", evidence.trace))
    return tuple(name for name, is_there in found if is_there) or ("audit",)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer: who asks it, the status, the answer or what would answer it."""

    question: str
    asked_by: str
    status: str
    text: str
    from_people: bool = False


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    asked_by: tuple[str, ...]
    keys: tuple[str, ...]  # of the context, where people answer
    examined: Callable[[Sequence[Evidence]], str] | None = None  # "" where no evidence answers it
    by: str = ""  # the command that could examine it


def _claims(all_evidence: Sequence[Evidence]) -> str:
    claims = dict.fromkeys(claim_words(each.claimed) for each in all_evidence if each.claimed is not None)
    return "; ".join(claims)


def _units(all_evidence: Sequence[Evidence]) -> str:
    known = [each for each in all_evidence if not each.relation.startswith("queries")]
    units = dict.fromkeys(each.unit for each in known if each.unit)
    relations = dict.fromkeys(relation_words(each.relation) or each.relation for each in known)
    return "; ".join([*units, *relations])


def _by_kind(kind: str) -> Callable[[Sequence[Evidence]], str]:
    def found(all_evidence: Sequence[Evidence]) -> str:
        own = [each for each in all_evidence if kind in kinds_of(each)]
        return "; ".join(f"{each.target.name}: {each.verdict}" for each in own)

    return found


def _implemented(all_evidence: Sequence[Evidence]) -> str:
    """Return what was found of functions as they run; a program with dpaudit's noise stands for its mathematics."""
    return _by_kind("audit")([each for each in all_evidence if each.target.asks != "program"])


def _low_bits(all_evidence: Sequence[Evidence]) -> str:
    return " ".join(
        dict.fromkeys(
            one_line(low_bits_sentence(each) or "") for each in all_evidence if each.floating_point is not None
        )
    )


def _timing(all_evidence: Sequence[Evidence]) -> str:
    names = [each.target.name for each in all_evidence if "time" in each.observed]
    return f"run time is part of every output of {', '.join(names)}" if names else ""


def _bounds(all_evidence: Sequence[Evidence]) -> str:
    said = []
    for each in all_evidence:
        moved = each.sensitivity
        if moved is not None:
            how = "more than is declared" if moved.exceeded else "no more than is declared"
            said.append(f"{each.target.name}: on {moved.tried} pairs the query moved {how}")
        if each.proof is not None and each.upper is not None and not each.relation.startswith("queries"):
            said.append(f"{each.target.name}: bounded for all data in the scope of its proof")
    return "; ".join(said)


def _utility(all_evidence: Sequence[Evidence]) -> str:
    said = [f"{each.target.name}: {accuracy_line(each.accuracy)}" for each in all_evidence if each.accuracy is not None]
    for each in all_evidence:
        drawn = None if each.accuracy is not None else released(each)
        listed = [] if drawn is None else [one for one in drawn.releases if one.within][:_LISTED]
        own = each.target.name
        said += [f"{own}: in 95 % of draws the noise of {one.place} stays within ± {one.within}" for one in listed]
    return "; ".join(dict.fromkeys(said))


def _randomness(all_evidence: Sequence[Evidence]) -> str:
    return ""  # what an audit hands in is not what a deployment uses


QUESTIONS = (
    _Question("What is promised, in which variant?", (NIST, REGISTRY, ISO), (), _claims),
    _Question("Who or what is protected, against which change of the data?", (NIST, REGISTRY, ISO), (), _units),
    _Question("Is the number right?", (NIST,), (), _by_kind("accounting"), KINDS["accounting"][1]),
    _Question("Does the algorithm keep the promise?", (NIST, ISO), (), _by_kind("proof"), KINDS["proof"][1]),
    _Question("Does the implementation that is deployed?", (NIST, ISO), (), _implemented, KINDS["audit"][1]),
    _Question(
        "How much can one unit contribute?", (NIST, REGISTRY), ("contribution_bounds",), _bounds, "dpaudit prove"
    ),
    _Question(
        "What else is released from the same data, and what does it add up to?",
        (NIST, REGISTRY, ISO),
        ("composition", "release_type_details"),
    ),
    _Question("How useful is the release?", (NIST, REGISTRY, ISO), ("utility",), _utility, "dpaudit audit"),
    _Question("Where is the noise added, and who is trusted?", (NIST, REGISTRY), ("model_name", "trust_assumptions")),
    _Question("Where does the randomness come from?", (NIST, REGISTRY), ("random_source",), _randomness),
    _Question(
        "Do low-order bits leak?", (NIST, REGISTRY), ("floating_point",), _low_bits, "dpaudit audit --floating-point"
    ),
    _Question("Does running time leak?", (NIST, REGISTRY), ("timing",), _timing, "dpaudit audit --observe time"),
    _Question(
        "What was done to the data before, and did it count?",
        (NIST, REGISTRY),
        ("preprocessing_and_hyperparameter_tuning",),
    ),
    _Question("What is done to the output before it is published?", (REGISTRY,), ("post_processing",)),
    _Question("Can people ask queries of their own?", (NIST, REGISTRY), ("access_type", "access_type_details")),
    _Question("How are the data secured, and who has access?", (NIST, REGISTRY, ISO), ("data_security", "actors")),
    _Question("How were these choices made?", (NIST, REGISTRY, ISO), ("justification",)),
)


def answers(all_evidence: Sequence[Evidence], context: Mapping[str, Any]) -> list[Answered]:
    """Return every question with its answer.

    Args:
        all_evidence: about one release.
        context: answers of people, by key (`dpaudit.report.formats.context.read_context`).
    """
    return [_answered(question, all_evidence, context) for question in QUESTIONS]


def _answered(question: _Question, all_evidence: Sequence[Evidence], context: Mapping[str, Any]) -> Answered:
    asked_by = ", ".join(question.asked_by)
    found = "" if question.examined is None else question.examined(all_evidence)
    given = "; ".join(one_line(str(context[key])) for key in question.keys if key in context)
    if found or given:
        text = "; ".join(filter(None, (found, given and f"by those who publish it: {given}")))
        return Answered(question.text, asked_by, ANSWERED, text, from_people=not found)
    if question.by:
        return Answered(question.text, asked_by, NOT_EXAMINED, f"{question.by} examines it")
    how = f"answer {' or '.join(question.keys)} in the context" if question.keys else "no evidence says it"
    return Answered(question.text, asked_by, ASKED, how)

"""What does a reviewer ask of a release, and does any evidence answer it?

The questions are those of NIST SP 800-226 (Near, Darais, Lefkovitz & Howarth 2025, Guidelines for evaluating
differential privacy guarantees), of the public registry of deployments (`dpaudit.report.registry`), and of
ISO/IEC 27559:2022, clause 8.2.3. An answer comes from evidence, or from people who know; else the question stands, and
where evidence could be made, it says that this was not examined. Nothing is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.evidence import further_records, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim
from dpaudit.report.text.chain import chain, released
from dpaudit.report.text.findings import accuracy_line, traced_pair
from dpaudit.report.text.listed import accounting_of, neighbours_words, status_words
from dpaudit.report.text.phrases import (
    claim_words,
    confidence_text,
    error_text,
    full_text,
    low_bits_sentence,
    one_line,
    relation_words,
    visible,
)
from dpaudit.report.text.verdict import decisive

# --- Of what does evidence speak, for whom, and how sure is it? ------------------------------------------

_LONGEST = 160  # characters of a pair in one line; a longer one is shown in its own section


def about(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield (name, text): the promise, whom it protects, the pair, parameters, and what made the evidence."""
    claim, accounting = evidence.claimed, accounting_of(evidence)
    yield "Claim", "none was given" if claim is None else f"{claim_words(claim)} ({claim.notion})"
    yield "Neighbours", _neighbours(evidence)
    upper, is_proved = evidence.upper, evidence.verdict is records.Verdict.PROVED
    # the verdict says what a proof holds for, but where columns are declared
    if evidence.proof is not None and upper is not None and not (is_proved and chain(evidence) is None):
        data = _proved_for(evidence)
        bound = full_text(upper, claim)
        yield ("Proved for", f"{data[:1].upper()}{data[1:]}") if is_proved else ("Proved", f"{bound}, for {data}")
    pair = "" if accounting is not None else pair_line(evidence)
    if pair:
        yield "Run on" if is_proved else "The pair", pair
    if accounting is None:
        values = ", ".join(f"{name} = {parameter_text(value)}" for name, value in evidence.target.parameters.items())
        yield "Parameters", values or "none"
    made = [f"{name} {evidence.versions[name]}" for name in ("dpaudit", "python") if name in evidence.versions]
    yield "Made with", ", ".join(made) or "not recorded"


def _neighbours(evidence: Evidence) -> str:
    words = neighbours_words(evidence.relation, accounting_of(evidence))
    step = f" Unit of privacy: {evidence.unit}." if evidence.unit else ""
    return f"{words[:1].upper()}{words[1:]}.{step}"


def _proved_for(evidence: Evidence) -> str:
    """The data that a proof is about, with what the columns may hold where they are declared."""
    links = chain(evidence)
    scope = "" if evidence.proof is None else evidence.proof.scope
    granted = "" if links is None or evidence.proof is None else evidence.proof.granted
    return f"{scope.rstrip('.') if links is None else '; '.join(links.data)}{', ' * bool(granted)}{granted}."


def parameter_text(value: object) -> str:
    """Return a parameter as it is shown."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pair_line(evidence: Evidence) -> str:
    """Return the two datasets that the numbers are about, in one line; empty where nothing is about a pair.

    Values of the data stand in it only where the evidence has them.
    """
    counterexample, bound = evidence.counterexample, decisive(evidence)
    traced = traced_pair(evidence, bound)
    if traced:
        return f"{traced[:1].upper()}{traced[1:]}."
    if counterexample is not None and evidence.exact is not None:
        return _both(evidence, counterexample.data0, counterexample.data1)
    if evidence.target.asks in ("scores", "outputs") or not evidence.pairs:
        return ""
    pair = evidence.pairs[bound.pair if bound.pair is not None and bound.pair < len(evidence.pairs) else 0]
    if pair.change:
        return f"{pair.change[:1].upper()}{pair.change[1:]}."
    if pair.shown0 is not None and pair.shown1 is not None:
        return _both(evidence, pair.shown0, pair.shown1)
    if evidence.search is not None and evidence.search.found:
        return f"Found by a search: {evidence.search.found}. Its data are not part of the evidence."
    return "A pair whose data are not part of the evidence; their digests are."


def _both(evidence: Evidence, first: str, second: str) -> str:
    what = "answers" if evidence.relation.startswith("queries") else "datasets"
    text = f"The {what} {visible(first, one_line=True)} and {visible(second, one_line=True)}."
    return text if len(text) <= _LONGEST else f"Two {what}, shown under For engineers with what differs."


def sure(evidence: Evidence) -> str:
    """Say in a sentence how often statements like these are wrong; empty where that is not known."""
    alarm = evidence.false_alarm
    if evidence.training is not None:
        return "" if not alarm else f"A right loop is called wrong in at most {error_text(1 - alarm)} of such watches."
    if accounting_of(evidence) is not None:
        return "Both bounds are computed, with proof; chance had no part in them."
    if evidence.verdict is records.Verdict.INVALID:
        return ""
    bounds = (evidence.lower, evidence.floating_point, *(each.bound for each in evidence.attempts))
    if not any(each is not None and each.kind == "sampled" for each in bounds):
        return "Chance had no part in what is stated here: nothing of it was counted in runs."
    wrong = error_text(evidence.confidence)
    text = (
        f"A bound from runs, at {confidence_text(evidence.confidence)} confidence, is wrong in at most {wrong} of such "
        "audits"
    )
    if evidence.claim is not None:
        called = wrong if alarm is None else error_text(1 - alarm)
        text += f", and a mechanism that keeps its claim is called VIOLATED in at most {called} of them"
    return f"{text}.{' What is proved rests on no runs.' if evidence.upper is not None else ''}"


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
    kinds = (("proof", evidence.proof is not None), ("audit", evidence.measuring > 0), ("trace", evidence.trace))
    return tuple(name for name, is_there in kinds if is_there) or ("audit",)


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
    def of_kind(all_evidence: Sequence[Evidence]) -> str:
        own = [each for each in all_evidence if kind in kinds_of(each)]
        return "; ".join(f"{each.target.name}: {each.verdict}" for each in own)

    return of_kind


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
        context: answers of people, by key (`dpaudit.report.registry.read_context`).
    """
    return [_answered(question, all_evidence, context) for question in QUESTIONS]


def _answered(question: _Question, all_evidence: Sequence[Evidence], context: Mapping[str, Any]) -> Answered:
    asked_by = ", ".join(question.asked_by)
    examined = "" if question.examined is None else question.examined(all_evidence)
    given = "; ".join(one_line(str(context[key])) for key in question.keys if key in context)
    if examined or given:
        text = "; ".join(filter(None, (examined, given and f"by those who publish it: {given}")))
        return Answered(question.text, asked_by, ANSWERED, text, from_people=not examined)
    if question.by:
        return Answered(question.text, asked_by, NOT_EXAMINED, f"{question.by} examines it")
    how = f"answer {' or '.join(question.keys)} in the context" if question.keys else "no evidence says it"
    return Answered(question.text, asked_by, ASKED, how)


# --- Which parts of a privacy guarantee does this evidence cover, and what is still to be asked? -----------

_OPEN = "not in this evidence"


@dataclass(frozen=True, slots=True)
class Layer:
    """A question, its answer, and whether this evidence leaves it open."""

    name: str
    answer: str
    is_open: bool = False


def layers(evidence: Evidence) -> list[Layer]:
    """Return the questions in order, from the mathematics to the system around it."""
    claim = evidence.claimed
    if evidence.training is not None:
        return _of_training(claim, evidence.training)
    if evidence.accounting is not None:
        return _of_accounting(claim)
    return [
        Layer("Variant", "no claim was given" if claim is None else claim.notion, claim is None),
        Layer("Algorithm", _algorithm(evidence), evidence.target.asks in ("scores", "outputs")),
        Layer("Implementation", _implementation(evidence), evidence.target.asks == "program"),
        Layer("Random source", _random_source(evidence), evidence.target.asks in ("opaque", "scores", "outputs")),
        Layer("Floating point", low_bits_sentence(evidence) or "not examined", evidence.floating_point is None),
        Layer("Running time", _time(evidence), "time" not in evidence.observed),
        _library(evidence),
        _unknown("Contribution bounds", ": how many records, and which values, one person can add"),
        _unknown("Accounting", ": how this release adds up with others from the same data"),
        _unknown("Post-processing", " beyond what the function itself does"),
        _unknown("Model", ": central or local, and who is trusted with what"),
        _unknown("Data collection and access control", ""),
    ]


def _of_accounting(claim: Claim | None) -> list[Layer]:
    """Return the same of a list of releases, of which nothing was run."""
    untouched = "not touched: nothing was run"
    return [
        Layer("Variant", "no claim was given" if claim is None else claim.notion, claim is None),
        Layer("Accounting", "touched: all listed releases together, from both sides, in real arithmetic"),
        Layer("Algorithm", "as it is listed; that this is what runs was not checked", is_open=True),
        Layer("Implementation", untouched, is_open=True),
        Layer("Random source", untouched, is_open=True),
        Layer("Floating point", untouched, is_open=True),
        _unknown("Contribution bounds", ": that no record moves an answer farther than the sensitivity"),
        _unknown("Sampling", ": that records come in as is listed"),
        _unknown("Other releases", ": what else is released from the same data"),
        _unknown("Model", ": central or local, and who is trusted with what"),
        _unknown("Data collection and access control", ""),
    ]


def _library(evidence: Evidence) -> Layer:
    """Return the layer of the libraries that the versions name, besides those of dpaudit itself."""
    name, own = "Library and its version", {"dpaudit", "numpy", "scipy", "python", "platform"}
    libraries = [f"{library} {version}" for library, version in evidence.versions.items() if library not in own]
    if libraries and evidence.learn is None:
        return Layer(name, ", ".join(libraries))
    return _unknown(name, ": only the function that was run is named, by its source")


def _unknown(name: str, what: str) -> Layer:
    return Layer(name, _OPEN + what, is_open=True)


def _algorithm(evidence: Evidence) -> str:
    if evidence.proof is not None:
        return "touched: read from the program's source, along every path through it, in real arithmetic"
    if evidence.target.asks == "program":
        return "touched: the program was run as it is written, and stands for real arithmetic"
    if evidence.target.asks in ("scores", "outputs"):
        return "not touched: nothing of it is in what was recorded"
    return "touched through the runs alone: the source was not read"


def _implementation(evidence: Evidence) -> str:
    asks = evidence.target.asks
    if asks == "program":
        return "not touched: another implementation of the same algorithm may still be wrong"
    if asks in ("scores", "outputs"):
        return f"touched through its {asks}, as they were recorded"
    return "touched: this function was run, with its own arithmetic, on this machine"


def _random_source(evidence: Evidence) -> str:
    asks = evidence.target.asks
    if asks == "opaque":
        return "the function's own, which was not examined"
    if asks in ("scores", "outputs"):
        return _OPEN
    return "a seeded generator of NumPy, handed in for the audit; that of a deployment was not examined"


def _time(evidence: Evidence) -> str:
    return "observed with every output" if "time" in evidence.observed else "not examined"


def _of_training(claim: Claim | None, training: further_records.Training) -> list[Layer]:
    """Return the same of a training loop that was watched."""
    seen = {each.fact: each for each in training.facts}

    def layer(name: str, *facts: str) -> Layer:
        own = [seen[fact] for fact in facts if fact in seen]
        words = "; ".join(f"{each.name}, {status_words(each.status)}" for each in own)
        return Layer(name, words or "not seen", any(each.status in ("not seen", "wrong") for each in own))

    return [
        Layer("Variant", "no claim was given" if claim is None else claim.notion, claim is None),
        Layer("Accounting", "touched: all updates together, as they were seen, in real arithmetic"),
        layer("Sampling", "batches", "steps"),
        layer("Contribution bounds", "clipping", "records"),
        layer("Noise", "noise", "repetition", "independence"),
        layer("Implementation", "parameters", "divisor", "numbers"),
        Layer("Random source", "values were looked at, the generator was not", is_open=True),
        Layer("Floating point", "not examined", is_open=True),
        _unknown("Other releases", ": losses, metrics, checkpoints and choices made on the same data"),
        _unknown("Model", ": central or local, and who is trusted with what"),
        _unknown("Data collection and access control", ""),
    ]

"""Which parts of a privacy guarantee does this evidence cover, and what would a reviewer of a deployment still ask?

The questions are those of the public registry of deployments, of NIST SP 800-226 and of ISO/IEC 27559, clause 8.2.3.
What the evidence knows is answered; the rest is listed as open and never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.privacy import Claim
from dpaudit.report.text.phrases import low_bits_sentence
from dpaudit.report.text.training import status_words

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
        Layer("Random source", _randomness(evidence), evidence.target.asks in ("opaque", "scores", "outputs")),
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
    found = [f"{library} {version}" for library, version in evidence.versions.items() if library not in own]
    if found and evidence.learn is None:
        return Layer(name, ", ".join(found))
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


def _randomness(evidence: Evidence) -> str:
    asks = evidence.target.asks
    if asks == "opaque":
        return "the function's own, which was not examined"
    if asks in ("scores", "outputs"):
        return _OPEN
    return "a seeded generator of NumPy, handed in for the audit; that of a deployment was not examined"


def _time(evidence: Evidence) -> str:
    return "observed with every output" if "time" in evidence.observed else "not examined"


def _of_training(claim: Claim | None, training: Training) -> list[Layer]:
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

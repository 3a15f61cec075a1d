"""How can the audit be run again?"""

from __future__ import annotations

import json
import shlex
from typing import Any

from dpaudit.evidence import Evidence
from dpaudit.members import Scores
from dpaudit.privacy.claims import number_text
from dpaudit.report.search import data_options
from dpaudit.report.words import visible

_RUNNABLE = {"program", "sampler", "seeded", "opaque"}


def _value(value: Any) -> str:
    """Write a parameter so that the command line reads the same value: JSON, or bare text where that is no JSON."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def reproduce_command(evidence: Evidence) -> str | None:
    """Return the command line that runs the same audit again, quoted for a shell; None where nothing was run.

    Pairs that were given by hand are not in the evidence: ``FILE`` stands for the file that holds them. Nor is the
    domain that was enumerated, so that there is no command for that.
    """
    target, proof = evidence.target, evidence.proof
    if evidence.scores is not None:
        return _scores_command(evidence, evidence.scores)
    if target.asks not in _RUNNABLE or (proof is not None and proof.method == "enumeration"):
        return None
    words = ["dpaudit", "audit" if proof is None else "prove"]
    options: list[str] = []
    for name, value in target.parameters.items():
        options += ["-p", f"{name}={_value(value)}"]
    if evidence.claim is not None:
        options += ["--claim", evidence.claim]
    if proof is not None:
        options += [] if proof.length is None else ["--length", str(proof.length)]
        options += ["--domain", "integer"] if _whole_answers(evidence) else []
    asked = evidence.runs if evidence.asked is None else evidence.asked
    options += ["--runs", str(asked), "--confidence", number_text(evidence.confidence)]
    options += ["--seed", str(evidence.seed), "--relation", evidence.relation]
    examined = target.asks != "program" and evidence.sequential is None and not evidence.observed
    if examined and evidence.low_bits != "report":
        options += ["--floating-point", evidence.low_bits]
    options += [] if evidence.sequential is None else ["--sequential"]
    options += [word for name in evidence.observed for word in ("--observe", name)]
    options += [] if evidence.curve is None else ["--curve"]
    if evidence.learn is not None:
        options += ["--learn", evidence.learn]
    if evidence.search is not None:
        options += data_options(evidence.search)
    elif proof is None and any(pair.origin != "mechanism" for pair in evidence.pairs):
        options += ["--pair", "FILE"]
    # a name that looks like an option must not become one
    words += [*options, "--", target.name] if target.name.startswith("-") else [target.name, *options]
    return visible(shlex.join(words), one_line=True)


def _scores_command(evidence: Evidence, scores: Scores) -> str:
    """``FILE`` stands for the two files of scores, which are not in the evidence."""
    words = ["dpaudit", "scores", "FILE", "FILE"]
    words += [] if evidence.claim is None else ["--claim", evidence.claim]
    words += ["--delta", number_text(scores.delta)]
    words += ["--confidence", number_text(evidence.confidence), "--design", scores.design]
    return visible(shlex.join([*words, "--seed", str(evidence.seed)]), one_line=True)


def _whole_answers(evidence: Evidence) -> bool:
    """Whether a proof is about whole numbers, which its certificate or its counterexample tells."""
    records = [] if evidence.proof is None else [evidence.proof.certificate]
    records += [] if evidence.counterexample is None else [evidence.counterexample.record]
    scopes = [record.get("scope") for record in records if record is not None]
    return any(isinstance(scope, dict) and scope.get("values") == "integer" for scope in scopes)

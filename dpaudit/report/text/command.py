"""How can the audit be run again? With a command line, and notes on what its files must contain."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Trace
from dpaudit.evidence.records import Scores, Search
from dpaudit.privacy.claims import number_text
from dpaudit.report.text.phrases import visible
from dpaudit.request import (
    AccountRequest,
    AuditRequest,
    Option,
    ProofRequest,
    Request,
    TraceRequest,
    default_of,
    options_of,
)

_FALSE_ALARM = default_of(AuditRequest, "false_alarm")
_RUNNABLE = {"program", "sampler", "seeded", "opaque"}
# file names for data whose files are unknown
PAIRS_FILE, DATA_FILE = "pairs.json", "data.json"
_SCORES_FILES = ("in.npy", "out.npy")


def reproduce_command(evidence: Evidence) -> str | None:
    """Return the command line that runs the same audit again, quoted for a shell; None if there is none.

    There is none for recorded outputs, for an enumerated domain, and for a function that the command line cannot find.
    Data that were passed in are not in the evidence: the command names their files, or files to which they must be
    written (`reproduce_notes`).
    """
    target, proof = evidence.target, evidence.proof
    if evidence.training is not None:
        return None
    if evidence.accounting is not None:
        return _account_command(evidence, evidence.accounting)
    if evidence.scores is not None:
        return _scores_command(evidence, evidence.scores)
    if target.asks not in _RUNNABLE or (proof is not None and proof.method == "enumeration"):
        return None
    space = _space(evidence)
    if not _is_named(evidence) or (space is not None and _domain(space.domain) is None):
        return None
    kind: type[Request] = (
        TraceRequest if evidence.trace is not None else AuditRequest if proof is None else ProofRequest
    )
    options = [word for name in options_of(kind) for word in _words(kind, name, evidence)]
    words = ["dpaudit", {TraceRequest: "trace", AuditRequest: "audit"}.get(kind, "prove")]
    # a name that looks like an option must not become one
    words += [*options, "--", target.name] if target.name.startswith("-") else [target.name, *options]
    return visible(shlex.join(words), one_line=True)


def _words(kind: type[Request], name: str, evidence: Evidence) -> list[str]:
    """Return the words of an option as evidence records it; none for its default."""
    if name in _IN_OTHER_WORDS:
        return _IN_OTHER_WORDS[name](evidence)
    option = options_of(kind)[name]
    value = None if option.recorded is None else option.recorded(evidence)
    if value is None or (not option.always and value == default_of(kind, name)):
        return []
    flag = option.flag or f"--{name.replace('_', '-')}"
    if option.kind == "flag":
        return [flag]
    return [word for each in (value if option.several else (value,)) for word in (flag, _text(option, each))]


def _text(option: Option, value: Any) -> str:
    return number_text(value) if option.kind == "number" else str(value)


def reproduce_notes(evidence: Evidence) -> list[str]:
    """Return what one has to know to run the audit again: which files to write, or what to do instead."""
    if evidence.target.asks in _RUNNABLE and not _is_named(evidence):
        return [
            "The function has no name that a command line could find: put it into a file, or replay the evidence from "
            "Python, with dpaudit.replay(evidence, target=the function)."
        ]
    search = _space(evidence)
    if search is not None and _domain(search.domain) is None:
        return ["The domain cannot be typed: replay the evidence from Python, with dpaudit.replay."]
    command = reproduce_command(evidence)
    if evidence.training is not None:
        return ["Train again within dpaudit.watch_training: another run draws other batches and other noise."]
    if evidence.accounting is not None:
        return [] if command is not None else ["The list is too long to be typed: dpaudit replay, with this evidence."]
    if command is None or _files(evidence):
        return []
    kept = (search is not None and search.kept) or all(pair.data0 is not None for pair in evidence.pairs)
    also = " The evidence keeps the data: dpaudit replay, with this evidence, needs no file." if kept else ""
    if evidence.scores is not None:
        return ["The scores came from Python: save them as {} and {}.".format(*_SCORES_FILES)]
    if search is not None and search.source == "data":
        return [f"The data came from Python: save them as {DATA_FILE}, or a frame as .csv or .parquet.{also}"]
    if "--pair" in command.split():
        return [
            f"The pairs came from Python: save them as {PAIRS_FILE}, as [data0, data1] or a list of such pairs, or the "
            f"two sides of arrays or frames as two .npy, .csv or .parquet files, each with a --pair of its own.{also}"
        ]
    return []


def _is_named(evidence: Evidence) -> bool:
    return evidence.run is None or evidence.run.named


def _files(evidence: Evidence) -> tuple[str, ...]:
    """Return the files with the data, as they were typed; empty if the data came from Python, or it is unknown."""
    return () if evidence.run is None else evidence.run.files


def _false_alarm(evidence: Evidence) -> list[str]:
    """Return the option unless it has its default; without a claim, or without runs, it has no meaning."""
    alarm, error = evidence.false_alarm, 1 - evidence.confidence
    if (
        evidence.claim is None
        or not evidence.attempts
        or alarm == _FALSE_ALARM
        or (alarm is None and error <= _FALSE_ALARM)
    ):
        return []
    return ["--false-alarm", number_text(float(f"{error:.12g}") if alarm is None else alarm)]


def _parameters(evidence: Evidence) -> list[str]:
    return [word for name, value in evidence.target.parameters.items() for word in ("-p", f"{name}={_value(value)}")]


def _floating_point(evidence: Evidence) -> list[str]:
    examined = evidence.target.asks != "program" and evidence.sequential is None and not evidence.observed
    return ["--floating-point", evidence.low_bits] if examined and evidence.low_bits != "report" else []


def _pairs(evidence: Evidence) -> list[str]:
    given = any(pair.origin != "mechanism" for pair in evidence.pairs)
    space = _space(evidence)
    searched = space is not None and space.source != "given"
    return _pair_files(evidence) if given and not searched else []


def _data(evidence: Evidence) -> list[str]:
    space = _space(evidence)
    searched = space is not None and space.source == "data"
    return ["--data", *(_files(evidence)[:1] or [DATA_FILE])] if searched else []


def _domain_words(evidence: Evidence) -> list[str]:
    if evidence.proof is not None and evidence.proof.method not in ("releases", "moves"):
        return ["--domain", "integer"] if _whole_answers(evidence) else []
    kept = evidence.proof if evidence.proof is not None else _space(evidence)
    domain = "" if kept is None else _domain(kept.domain) or ""
    return ["--domain", domain] if domain else []


def _keep_data(evidence: Evidence) -> list[str]:
    kept = any(pair.data0 is not None for pair in evidence.pairs) or (evidence.search and evidence.search.kept)
    return ["--keep-data"] if kept else []


def _pair_files(evidence: Evidence) -> list[str]:
    return [word for name in _files(evidence) or (PAIRS_FILE,) for word in ("--pair", name)]


def _space(evidence: Evidence) -> Search | Trace | None:
    """Return the record that says where the pair was searched; None if none was."""
    return evidence.search or evidence.trace


def _domain(kept: str | None) -> str | None:
    """Return the domain as it is typed, in JSON; empty if there is none, None if JSON cannot express it."""
    if kept is None:
        return ""
    read = json.loads(kept)
    columns = isinstance(read, dict) and set(read) != {"values"} and not any(name.startswith("$") for name in read)
    try:
        typed = {name: _allowed(value) for name, value in read.items()} if columns else _allowed(read)
    except ValueError:
        return None
    return json.dumps(typed, ensure_ascii=False)


def _allowed(kept: Any) -> Any:
    """Return the values of a column as the command line reads them: two numbers are a range, other lists values."""
    if isinstance(kept, list) and len(kept) == 2 and isinstance(kept[0], list | dict) and kept[1] is None:
        ends = kept[0] if isinstance(kept[0], list) else _allowed(kept[0])  # of a range in which values may be missing
        return [ends, None]
    marked = isinstance(kept, dict)
    plain = kept.get("$tuple", kept.get("values")) if marked else kept
    if not isinstance(plain, list) or any(isinstance(value, list | dict) for value in plain):
        raise ValueError
    two_numbers = len(plain) == 2 and all(type(value) in (int, float) for value in plain)
    if marked and "$tuple" in kept:
        if not two_numbers:
            raise ValueError
        return plain
    return {"values": plain} if two_numbers or marked else plain


def _value(value: Any) -> str:
    """Return a parameter's text that the command line reads as the same value: JSON, or bare text that is no JSON."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def _scores_command(evidence: Evidence, scores: Scores) -> str:
    words = ["dpaudit", "scores", *(_files(evidence) or _SCORES_FILES)]
    words += [] if evidence.claim is None else ["--claim", evidence.claim]
    words += ["--delta", number_text(scores.delta)]
    words += ["--confidence", number_text(evidence.confidence), "--design", scores.design]
    words += [] if scores.canaries is None else ["--canaries", str(scores.canaries)]
    words += ["--seed", str(evidence.seed), *_false_alarm(evidence)]
    return visible(shlex.join(words), one_line=True)


def _account_command(evidence: Evidence, accounting: Accounting) -> str | None:
    """The command line of an accounting: of its plan file or record, or with the releases as one text."""
    files = _files(evidence)
    if files:
        words = ["--from", shlex.quote(files[0])] if ":" in files[0] else [shlex.quote(files[0])]
    else:
        text = " + ".join(
            each.event if each.steps == 1 else f"{each.event}.times({each.steps})" for each in accounting.releases
        )
        if len(text) > _LONGEST or _SHELL.search(text):
            return None
        words = [f'"{text}"']
    for each in accounting.statements:
        if each.claim is not None:
            words += ["--claim", shlex.quote(each.claim)]
        else:
            words += [f"--{'delta' if each.parameter == 'epsilon' else 'epsilon'}", shlex.quote(each.at)]
    if evidence.relation not in ("sensitivity", "add-remove"):
        words += ["--relation", shlex.quote(evidence.relation)]
    if accounting.tolerance != default_of(AccountRequest, "tolerance"):
        words += ["--tolerance", number_text(accounting.tolerance)]
    return visible(" ".join(["dpaudit", "account", *words]), one_line=True)


_LONGEST = 4_000  # characters of releases that somebody may type
_SHELL = re.compile(r"[^\w.'()+*=,/ -]|\n")  # what a shell obeys within double quotes, and much else

_IN_OTHER_WORDS: dict[str, Callable[[Evidence], list[str]]] = {
    "parameters": _parameters,
    "false_alarm": _false_alarm,
    "floating_point": _floating_point,
    "pairs": _pairs,
    "data": _data,
    "domain": _domain_words,
    "keep_data": _keep_data,
}
"""Options that evidence records in another form than they are typed."""


def _whole_answers(evidence: Evidence) -> bool:
    """Whether a proof is about whole numbers, according to its certificate or its counterexample."""
    records = [] if evidence.proof is None else [evidence.proof.certificate]
    records += [] if evidence.counterexample is None else [evidence.counterexample.record]
    scopes = [record.get("scope") for record in records if record is not None]
    return any(isinstance(scope, dict) and scope.get("values") == "integer" for scope in scopes)

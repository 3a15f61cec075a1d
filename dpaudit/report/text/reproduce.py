"""How was the audit done, how can it be run again, and how is it cited?

Runs of a mechanism, recorded outputs, scores of a model and sequential bets each have their own sentences, so that none
of them claims precautions that only another has taken.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from dpaudit.accounting import ADDED
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Accounting, Trace
from dpaudit.evidence.records import Scores, Search
from dpaudit.privacy import PureDP
from dpaudit.privacy.claims import number_text
from dpaudit.report.document import plainly, words
from dpaudit.report.text.phrases import count_text, visible
from dpaudit.report.text.verdict import second_text
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
from dpaudit.stats.methods import KAIROUZ, METHODS, method_of

# --- How was the audit done, in words? -------------------------------------------------------------------


def counted(evidence: Evidence) -> str:
    """Name what the sides consist of: runs, or recorded values."""
    return evidence.target.asks if evidence.target.asks in ("scores", "outputs") else "runs"


def is_by_rank(evidence: Evidence) -> bool:
    """Whether canaries of one model were guessed by the rank of their scores."""
    return evidence.scores is not None and evidence.scores.design == "one-run"


def how_fixed(evidence: Evidence, pair: int | None, *, computed: bool = False) -> str:
    """Say when the event was fixed, and what measured it."""
    where = "" if pair is None else f" of pair {pair}"
    if computed:
        return (
            "The event was computed with the exact numbers above, before any run of it, and measured on fresh "
            f"runs{where}."
        )
    if is_by_rank(evidence):
        return (
            "How many canaries are guessed was fixed by their number, before any look at the scores; which ones, the "
            "order of the scores says."
        )
    if counted(evidence) != "runs":
        what = counted(evidence)
        return f"The event was fixed on {what} that had been set apart for learning, and measured on the other {what}."
    if evidence.sequential is not None:
        return f"The event was fixed before the runs that were bet on with it{where}."
    return f"The event was fixed after the learning runs and measured on fresh runs{where}."


def how_counted(evidence: Evidence, *, intervals: bool) -> str:
    """Say what the table of counts shows."""
    what = counted(evidence)
    text = f"How many of the measuring {what} on each dataset fell into the event"
    if is_by_rank(evidence):
        text = "How many canaries of each kind were guessed"
    elif what == "runs":
        text = "How often the measuring runs on each dataset fell into the event"
    if intervals:
        return f"{text}; intervals are exact, at 95\N{NO-BREAK SPACE}% each by itself."
    return f"{text}. These counts have no exact intervals of their own; the bound does not need them."


def method_sentence(evidence: Evidence) -> str:
    """Say how counts became a bound, for this kind of audit."""
    if evidence.training is not None:
        return plainly("method.how_watched")
    if evidence.accounting is not None:
        added = all(each.parameter in ADDED for each in evidence.accounting.statements)
        return plainly("method.how_added" if added else "method.how_listed")
    learning, measuring = count_text(evidence.learning), count_text(evidence.measuring)
    valid = "From the counts follows a lower bound that is valid at every number of"
    if is_by_rank(evidence):
        return (
            f"Of {measuring} canaries, each in the training data of one model or not by a coin of its own, those with "
            "the highest and the lowest scores were guessed, in numbers that were fixed before. From the number of "
            "right guesses follows a lower bound that is valid at every number of canaries, without approximation."
        )
    if counted(evidence) != "runs":
        what = counted(evidence)
        return (
            f"{learning} {what}, picked by the seed, chose what to look for; that choice was frozen, and counted in "
            f"{measuring} others; the two never mix. {valid} {what}, without approximation."
        )
    if evidence.sequential is not None:
        return (
            f"All {count_text(evidence.runs)} runs were bet on as they came, by events that only earlier runs had "
            "chosen. What was won gives a lower bound that is valid whenever one looks or stops."
        )
    if not evidence.measuring and evidence.trace is not None:
        return "No runs were measured: what is concluded follows from how the noise of a few runs was used."
    return (
        f"The audit used {learning} learning runs to choose what to look for, froze that choice, and counted it in "
        f"{measuring} fresh measuring runs; the two never mix. {valid} runs, without approximation.{_again(evidence)}"
    )


def _again(evidence: Evidence) -> str:
    """Say how a bound above the claim was treated."""
    text = second_text(evidence)
    if text is None:
        return ""
    return f" Its bound is above the claim, and before that is called a violation it is looked at once more: {text}."


# --- How can the audit be run again? ---------------------------------------------------------------------

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


# --- How is evidence cited, and which publications does it rest on? --------------------------------------

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, even after a backslash
    "}": r"\textbraceright{}",
    **{mark: "\\" + mark for mark in "$&#_%"},
}


def bibtex(evidence: Evidence) -> str:
    """Return a BibTeX entry that cites the evidence by its id."""
    name = "".join(_TEX.get(mark, mark) for mark in visible(evidence.target.name, one_line=True))
    identity, year = evidence.id, _year(evidence)
    lines = [
        f"@misc{{dpaudit-{identity.removeprefix('dpa1:')[:12]},",
        f"  title = {{Differential privacy {_what(evidence)} of {{{name}}}: {evidence.verdict}}},",
        f"  howpublished = {{dpaudit {_version(evidence)}evidence}},",
        f"  note = {{{identity}}},",
    ]
    lines += [f"  year = {{{year}}},"] if year else []
    return "\n".join([*lines, "}"])


def citation(evidence: Evidence, identity: str | None = None) -> str:
    """Return the citation as a plain sentence; ``identity`` is the evidence's id, if it is already known."""
    year = _year(evidence)
    when = f" ({year})" if year else ""
    return (
        f"Differential privacy {_what(evidence)} of {visible(evidence.target.name, one_line=True)}{when}: "
        f"{evidence.verdict}. dpaudit {_version(evidence)}evidence {identity or evidence.id}."
    )


def _what(evidence: Evidence) -> str:
    return "audit" if evidence.accounting is None else "accounting"  # a watched loop is audited too


def _version(evidence: Evidence) -> str:
    version = evidence.versions.get("dpaudit", "")
    return f"{version} " if re.fullmatch(r"[\w.+-]+", version) else ""


def _year(evidence: Evidence) -> str:
    started = "" if evidence.run is None else evidence.run.started
    year = re.match(r"\d{4}(?=-)", started)
    return year[0] if year else ""


# --- sources ---------------------------------------------------------------------------------------------


def sources(evidence: Evidence) -> list[str]:
    """Return the publications that this evidence rests on, each once."""
    definition, known = (evidence.claimed or PureDP(0.0)).words.source, words()["sources"]
    if evidence.training is not None:
        return [definition, *known["training"]]
    if evidence.accounting is not None:
        return [definition, *known["accounting"]]
    used = {attempt.bound.method for attempt in evidence.attempts} | {evidence.lower.method}
    own = [source for method in METHODS.values() if method.name in used for source in method.sources]
    if any(method_of(name).canaries for name in used):
        return [definition, *own]
    listed = [definition, *(each.format(kairouz=KAIROUZ) for each in known["curves"])]
    if evidence.sequential is None and evidence.measuring > 0:
        listed += known["binomial"]
    listed += own
    if evidence.proof is not None and evidence.proof.method in {"alignment", "induction"}:
        listed += known["alignment"]
    if evidence.floating_point is not None or evidence.target.asks == "program":
        listed += known["low_bits"]
    return list(dict.fromkeys(listed))

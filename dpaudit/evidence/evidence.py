"""What did an audit find, in a form that anyone can cite and check?

`Evidence` is the immutable record of an audit; every report is drawn from it. Its id is the SHA-256 of its canonical
JSON (RFC 8785), so the same evidence has the same id everywhere. Details that differ between runs without changing the
findings (start, duration, host, workers) are stored separately in `RunInfo`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from dpaudit.decimals import LEAST_ERROR
from dpaudit.errors import UsageError
from dpaudit.evidence import draw
from dpaudit.evidence.canonical_json import content_id, json_values, read_json, read_text, write_whole
from dpaudit.evidence.further_records import Accounting, Trace, TraceFinding, Training
from dpaudit.evidence.records import (
    Accuracy,
    Attempt,
    Bound,
    Counterexample,
    Curve,
    Histogram,
    Led,
    Moved,
    PairRecord,
    Power,
    Proof,
    RunInfo,
    Scores,
    Search,
    SecondLook,
    Sequential,
    Target,
    Verdict,
    round_outward,
)
from dpaudit.privacy import Claim, parse_claim
from dpaudit.privacy.claims import number_text

# --- How do old records keep their ids while newer records have more members? ---
#
# Two permanent rules. *The id covers the record as it was written*: a reader never rewrites an old record. *A member
# that was added later is left out while it has its default*: the same finding has the same record, whether or not
# dpaudit knew the member at that time. So the version does not change while members are only added, with a default that
# states what was true without them. It is raised when a member changes its meaning or is removed; then `_STEPS` says
# how to read a record of the previous version.

VERSION = 1
"""The version of records that are written now."""

_STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each older version, a function that turns its record into one of the next version."""

_ALWAYS: dict[str, frozenset[str]] = {
    name: frozenset(members.split())
    for name, members in {
        "bound": "weight counts event pair arithmetic assumes exact",
        "evidence": "upper proof exact counterexample floating_point low_bits learn detectable detectable_on "
        "reproducible assumptions version",
        "pair": "shown0 shown1",
        "proof": "certificate",
        "step": "center",
        "target": "summary source true_loss",
    }.items()
}
"""Members that are written even with their default, because the first files did so; by name of the record (`name_of`).

Never add to this table.
"""

_PLAIN = frozenset({type(None), bool, int, float, str})

BESIDE = ("run", "written")  # members of Evidence that are not part of its record


def is_known(version: Any) -> bool:
    """Whether records of this version can be read."""
    return type(version) is int and (version == VERSION or version in _STEPS)


def upgraded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of any known version as one of `VERSION`."""
    record_now = dict(record)
    while record_now["version"] != VERSION:
        before = record_now["version"]
        record_now = {**_STEPS[before](record_now), "version": before + 1}
    return record_now


def as_written(value: Any, *, everything: bool = False) -> Any:
    """Return a struct as plain values, without later members that have their default unless ``everything`` is set."""
    if type(value) in _PLAIN:  # most values are
        return value
    if isinstance(value, msgspec.Struct):
        return _members(value, everything)
    if isinstance(value, Mapping):
        return {key: as_written(item, everything=everything) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_written(item, everything=everything) for item in value]
    return value.value if isinstance(value, Enum) else value


def _members(struct: msgspec.Struct, everything: bool) -> dict[str, Any]:
    kind, config = type(struct), struct.__struct_config__
    written = {} if config.tag is None else {config.tag_field or "type": config.tag}
    name = name_of(kind)
    always = _ALWAYS.get(name, frozenset())
    for member in _fields(kind):
        value = getattr(struct, member.name)
        if member.name in BESIDE and name == "evidence":
            continue
        if everything or member.required or member.name in always or value != default_of(member):
            written[member.encode_name] = as_written(value, everything=everything)
    return written


@cache
def name_of(kind: type[msgspec.Struct]) -> str:
    """Return the name of a record in the rules above, so that renaming its class changes no id."""
    return str(getattr(kind, "stored_as", "") or kind.__struct_config__.tag or "")


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def default_of(member: msgspec.structs.FieldInfo) -> Any:
    """Return the default of a member."""
    if member.default_factory is not msgspec.NODEFAULT:
        return member.default_factory()
    return member.default


def is_part(written: Any, whole: Any) -> bool:
    """Whether every member of a record is in ``whole``, with the same value.

    1 and 1.0 are the same number in JSON; 1 and true, or 1 and "1", are different values.
    """
    if isinstance(written, dict):
        return isinstance(whole, dict) and all(
            name in whole and is_part(value, whole[name]) for name, value in written.items()
        )
    if isinstance(written, list):
        return (
            isinstance(whole, list)
            and len(written) == len(whole)
            and all(is_part(a, b) for a, b in zip(written, whole, strict=True))
        )
    kinds = (bool, str, type(None))
    return bool(written == whole) and all(isinstance(written, kind) == isinstance(whole, kind) for kind in kinds)


# --- Does a finding beside the bounds speak against a green verdict? The worst finding is the verdict ---
#
# Bounds decide a verdict (`dpaudit.auditing.verdict`). Some of what else is found refutes nothing, and still
# contradicts the words "not violated" and "proved": such evidence is at most INCONCLUSIVE. Audits and traces end with
# `settled`, and so does whoever reads a file, so that no format, and no exit code, has a rule of its own.
#
# The low-order bits do not contradict: a verdict is about outputs as real numbers, and says so where they show more.

SPEAKS_AGAINST = ("leaks", "violated, given the stated laws", "not supported")
"""What a trace may find that no claim agrees with."""

SUPPORTED = "supported on this path"

LOWERED = "A finding speaks against the claim, and refutes nothing by itself"
"""How the reason begins where a finding made a green verdict INCONCLUSIVE."""

_GREEN = (Verdict.PROVED, Verdict.NOT_VIOLATED)
_NO_PROOF = " This is not a proof of privacy."


def against(evidence: Evidence) -> str:
    """Return the worst finding that no green verdict may stand above, without a full stop; empty if there is none."""
    try:
        claim, moved = evidence.claimed, evidence.sensitivity
    except UsageError:  # no claim that can be read: a check says so
        return ""
    if claim is None:
        return ""
    if evidence.trace is not None and (worst := _worst_of(evidence.trace)) is not None:
        where = f", at {worst.where}" if worst.where else ""
        what = ": ".join(filter(None, (worst.word, worst.text)))
        return f"{what}, for a claim of {claim.symbol} = {number_text(claim.value)}{where}"
    if moved is not None and moved.exceeded:
        by = number_text(moved.largest) if moved.largest < float("inf") else "any distance"
        most = "" if moved.claimed is None else f", and {number_text(moved.claimed)} is declared"
        return f"the query moves by {by}{most} ({moved.change})"
    beyond = "" if evidence.curve is None else beyond_claim(evidence.curve, claim)
    if beyond and evidence.curve is not None:
        return f"the whole curve shows more than is claimed: {beyond}, at {evidence.curve.confidence:.6g} confidence"
    if evidence.search is not None and evidence.search.led in SPEAKS_AGAINST:
        return (
            f"runs that were replayed on a neighbour found: {evidence.search.led}, for a claim of {claim.symbol} = "
            f"{number_text(claim.value)} (dpaudit trace names the line)"
        )
    return ""


def _worst_of(trace: Trace) -> TraceFinding | None:
    """Return what a trace found against the claim, whether its word or only a finding says so; None if nothing."""
    worst = [each for each in trace.findings if each.word in SPEAKS_AGAINST]
    if not worst and trace.word in SPEAKS_AGAINST:
        return TraceFinding(trace.word, "", "")
    return min(worst, key=lambda each: SPEAKS_AGAINST.index(each.word), default=None)


def beyond_claim(curve: Curve, claim: Claim | None) -> str:
    """Say where the curve exceeds a claim; empty if it does not, or if the two cannot be compared."""
    if claim is not None and claim.parameter == "mu":
        return "" if curve.mu <= claim.value else f"μ ≥ {number_text(round_outward(curve.mu, 'lower', 3))}"
    if claim is None or not claim.is_point:
        return ""
    for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True):
        if epsilon >= claim.value and not delta <= claim.delta:
            return f"δ ≥ {number_text(round_outward(delta, 'lower', 3))} at ε = {number_text(epsilon)}"
    return ""


def qualified(evidence: Evidence) -> str:
    """Return the verdict in words, with the one length and the statements of a proof: it is never told without them."""
    proof = evidence.proof if evidence.verdict is Verdict.PROVED else None
    if proof is None:
        return str(evidence.verdict)
    length = "" if proof.length is None else f"for n = {proof.length}"
    return " ".join(filter(None, (str(evidence.verdict), length, proof.granted)))


def low_bits_show_more(evidence: Evidence) -> bool:
    """Whether the low-order bits, which do not decide, show more than is claimed and than all else shows."""
    bound, claim = evidence.floating_point, evidence.claimed
    if bound is None or bound.method == "none" or evidence.low_bits == "verdict":
        return False
    return not bound.value <= evidence.lower.value and (claim is None or not bound.value <= claim.value)


def is_contradicted(evidence: Evidence) -> bool:
    """Whether the verdict is green, and a finding speaks against it."""
    return evidence.verdict in _GREEN and bool(against(evidence))


def settled(evidence: Evidence) -> Evidence:
    """Return evidence whose verdict no finding in it contradicts: what was green is INCONCLUSIVE, and says why."""
    if not is_contradicted(evidence):
        return evidence
    verdict, reason = lowered(evidence.verdict, evidence.reason, against(evidence))
    return msgspec.structs.replace(evidence, verdict=verdict, reason=reason)


def lowered(verdict: Verdict, reason: str, finding: str) -> tuple[Verdict, str]:
    """Return the verdict and the reason that bounds gave, after a finding; both are as they were where none counts."""
    if verdict not in _GREEN or not finding:
        return verdict, reason
    return Verdict.INCONCLUSIVE, f"{LOWERED}: {finding}. {reason.removesuffix(_NO_PROOF)}"


def exit_code(evidence: Evidence, require: str | None = None) -> int:
    """Return the exit code of a command that found this evidence.

    Args:
        evidence: what was found.
        require: "supported" where the trace has to support the claim: what it finds against the claim is 1 then, and
            what it could not follow or price is 3, as for an inconclusive audit; None for the verdict alone, and 1
            where runs refute what was given for a proof.
    """
    code, trace = evidence.verdict.exit_code, evidence.trace
    if evidence.proof is not None and evidence.proof.is_refuted:
        return 1
    if require is None or evidence.verdict is Verdict.INVALID:
        return code
    if trace is not None and _worst_of(trace) is not None:
        return 1
    supported = trace is not None and trace.word == SUPPORTED
    return code if supported else code or Verdict.INCONCLUSIVE.exit_code


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The record of one audit.

    Attributes:
        target: what was audited.
        claim: the claim as text, such as "epsilon=1, delta=1e-6"; None without one.
        relation: which datasets are neighbours, as text.
        pairs: the neighbouring datasets.
        seed: the root of every random draw; a fresh one where none was given.
        confidence: 1 − the probability that anything sampled is wrong, of the whole.
        verdict, reason: "proved", "not violated", "violated", "inconclusive", "invalid" or "no claim"; and a sentence.
        lower: the headline: the largest lower bound that was shown, at the confidence of the whole; after a second look
            that did not confirm the first, at the confidence at which one look decides; value 0.0 if nothing was shown.
        attempts: every event that was measured, also those that showed nothing, each with its share of the error.
        histogram: measuring runs over cells that learning runs fixed, or None.
        versions: of dpaudit, NumPy, SciPy, Python and the processor, and of a learner's packages.
        upper: an upper bound by proof or exact computation, or None.
        proof: what was read and proved of a program, or None if no proof was tried.
        exact: a certain lower bound, from a counterexample whose probabilities are known, or None. The headline is the
            larger of this and the sampled bound.
        counterexample: two datasets and an event, from which ``exact`` follows.
        floating_point: a lower bound for an attacker who reads the low-order bits, or None if they were not examined.
        low_bits: how these are used: "report", "verdict" or "ignore". With "report" the bound has the confidence of the
            audit to itself; with "verdict" it shares it.
        detectable: the smallest value of the claim's parameter that would have been shown to exceed the claim with
            probability 0.9, or None without a claim.
        detectable_on: where the violation would have to show: in a measured "event", or on a "gaussian" mechanism of
            that loss, the yardstick for δ > 0.
        reproducible: whether the seed determines the runs.
        assumptions: what the bounds take on trust.
        version: of this form: 1.
        power: how many runs would have found smaller violations; empty without a claim.
        curve: bounds on the whole privacy curve from the same measuring runs, at their own confidence; they do not
            affect the verdict. None if it was not asked for.
        types: whether outputs of different types differ ("count"), or are compared by value ("ignore").
        learn: the learner whose score competed with the built-in ones, or None.
        unit: what one record stands for (the unit of privacy).
        learning, measuring: executions for learning and for measuring, of all pairs and sides.
        scores: further statistics of the scores of members and of others, or None for other targets.
        asked: the number of runs that were asked for, if not all of them were made; else None.
        sequential: how a sequential audit went, or None for other audits.
        observed: what else was treated as part of every output, such as "time": the run time in seconds.
        sensitivity: how far the mechanism's query was moved, if it exposes one; does not affect the verdict.
        constant: pairs on which all learning runs of a side returned the same output.
        search: how the pair was found, or None if no pair was searched for.
        false_alarm: the probability with which a mechanism that keeps its claim may be called violated, if the
            confidence of the audit alone does not ensure it; else None.
        second: the second look at a bound above the claim, or None if there was none.
        decided_in: the arithmetic of the sampled bound that decided VIOLATED: "real", or "float" for that of the
            low-order bits. In evidence without it, the headline decided if it is above the claim, else the low-order
            bits.
        accounting: bounds from both sides on what a list of releases loses, or None for audits and proofs.
        trace: what recorded and replayed runs show, or None where none were made.
        training: what was seen of a training loop, or None where none was watched.
        led: where a trace pointed to a violation and measuring runs did not show it: the outputs that would show most,
            of each such pair, and how often learning runs had them.
        accuracy: how far outputs are from the exact answer, or None where that is not known.
        block_size: the largest number of runs in a block, if it was not the usual one; other blocks draw other runs.
        written: the record of an older file as it was written, if this dpaudit would write it differently, so that its
            id stays the same (`dpaudit.evidence.evidence`). Not part of the record.
    """

    stored_as: ClassVar[str] = "evidence"
    target: Target
    claim: str | None
    relation: str
    unit: str
    pairs: tuple[PairRecord, ...]
    seed: int
    confidence: float
    learning: int
    measuring: int
    verdict: Verdict
    reason: str
    lower: Bound
    attempts: tuple[Attempt, ...]
    histogram: Histogram | None
    versions: dict[str, str]
    upper: Bound | None = None
    proof: Proof | None = None
    exact: Bound | None = None
    counterexample: Counterexample | None = None
    floating_point: Bound | None = None
    low_bits: Annotated[str, msgspec.Meta(pattern="^(report|verdict|ignore)$")] = "ignore"
    learn: str | None = None
    detectable: float | None = None
    detectable_on: Annotated[str, msgspec.Meta(pattern="^(event|gaussian)$")] = "event"
    power: tuple[Power, ...] = ()
    reproducible: bool = True
    assumptions: tuple[str, ...] = ()
    version: int = VERSION
    curve: Curve | None = None
    run: RunInfo | None = None
    scores: Scores | None = None
    asked: int | None = None
    sequential: Sequential | None = None
    observed: tuple[str, ...] = ()
    sensitivity: Moved | None = None
    search: Search | None = None
    constant: tuple[int, ...] = ()
    false_alarm: Annotated[float, msgspec.Meta(gt=LEAST_ERROR / 2, lt=1)] | None = None
    second: SecondLook | None = None
    types: Annotated[str, msgspec.Meta(pattern="^(count|ignore)$")] = "count"
    decided_in: Annotated[str, msgspec.Meta(pattern="^(real|float)$")] = "real"
    accounting: Accounting | None = None
    trace: Trace | None = None
    training: Training | None = None
    led: tuple[Led, ...] = ()
    accuracy: Accuracy | None = None
    block_size: int | None = None
    written: dict[str, Any] | None = None

    @property
    def runs(self) -> int:
        """The number of executions: both sides, all pairs, for learning, measuring, search and second look."""
        again = 0 if self.second is None else sum(self.second.counts.runs)
        return self.learning + self.measuring + (0 if self.search is None else self.search.runs) + again

    @property
    def budget(self) -> int:
        """The runs that were asked for with ``runs`` or ``--runs``, which do not include a second look."""
        again = 0 if self.second is None else sum(self.second.counts.runs)
        return self.runs - again if self.asked is None else self.asked

    @property
    def claimed(self) -> Claim | None:
        """The claim as a value."""
        return None if self.claim is None else parse_claim(self.claim)

    @cached_property
    def id(self) -> str:
        """``dpa1:`` and the SHA-256 of the canonical JSON of the record, without `run`."""
        return content_id(self.record())

    def record(self) -> dict[str, Any]:
        """Return the hashed record as JSON values (infinities and large integers as text)."""
        own = dict(json_values(as_written(self)))
        if self.written is not None and json_values(as_written(settled(_understood(self.written)))) == own:
            return self.written
        return own

    def document(self) -> dict[str, Any]:
        """Return the evidence file: id, evidence and run."""
        run = None if self.run is None else json_values(msgspec.to_builtins(self.run))
        return {"id": self.id, "evidence": self.record(), "run": run}

    def to_json(self) -> str:
        """Return the evidence file as text."""
        return json.dumps(self.document(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the evidence file atomically."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Evidence:
        """Read an evidence file; raise `UsageError` if it is unreadable, altered, or of an unknown version."""
        return cls.from_json(read_text(path), name=str(path))

    @classmethod
    def from_json(cls, text: str, *, name: str = "the evidence") -> Evidence:
        """Read an evidence file from its text; error messages call it ``name``."""
        try:
            document = read_json(text)
            if document.keys() != {"id", "evidence", "run"}:
                raise ValueError
            record, run, identity = document["evidence"], document["run"], document["id"]
            version = record["version"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(
                f"{name} is no evidence file: expected a JSON object with exactly the members id, evidence and run"
            ) from None
        if not is_known(version):
            raise UsageError(
                f"{name} has evidence version {version!r:.40}; this dpaudit reads version {VERSION}: "
                "install the dpaudit that wrote it"
            )
        if content_id(record) != identity:
            raise UsageError(
                f"{name} was altered after it was written: it says {identity!r:.80} "
                f"but its record hashes to {content_id(record)!r}"
            )
        try:
            evidence = _understood(record)
            told = None if run is None else msgspec.convert(run, RunInfo, strict=False)
            again = json_values(as_written(evidence))
            same = record == again and is_part(record, again)  # 1 == True, and one is no part of the other
            same = same or is_part(upgraded(record), json_values(as_written(evidence, everything=True)))
        except (msgspec.ValidationError, TypeError, ValueError, KeyError, RecursionError) as error:
            raise UsageError(f"{name} is not the evidence that this dpaudit reads: {error}") from None
        if not same:
            raise UsageError(
                f"{name} is not the evidence that this dpaudit reads: a value stands there in another type"
            )
        # a file may be older than the rule that the worst finding is the verdict: its record stays, its word does not
        meant = settled(evidence)
        kept = None if again == record and meant is evidence else record
        read = msgspec.structs.replace(meant, run=told, written=kept)
        vars(read)["id"] = identity  # it was computed above
        return read

    def with_files(self, names: Sequence[str]) -> Evidence:
        """Return the same evidence with the names of its data files, for the command that reproduces it.

        They are not part of the record, so the id stays the same.
        """
        if self.run is None or not names:
            return self
        return msgspec.structs.replace(self, run=msgspec.structs.replace(self.run, files=tuple(names)))

    def to_html(self, path: str | Path) -> None:
        """Write the report as one self-contained HTML page."""
        write_whole(path, draw("page", self))

    def __str__(self) -> str:
        """The summary that a terminal shows; `repr` has the record."""
        return draw("summary", self)

    def _repr_html_(self) -> str:
        """Return what a notebook displays: a compact card."""
        return draw("card", self)


def _understood(record: dict[str, Any]) -> Evidence:
    """Return the evidence in a record of any known version."""
    return msgspec.convert(upgraded(record), Evidence, strict=False)

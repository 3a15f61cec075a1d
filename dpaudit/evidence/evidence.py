"""What did an audit find, written down so that anyone can cite it and check it?

`Evidence` is the one frozen record of an audit; every report is drawn from it. Its id is the SHA-256 of
its canonical JSON (RFC 8785), so the same evidence has the same id everywhere. What differs from run to
run without changing what was found (start, duration, host, workers) stands beside it in `RunInfo`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id, json_values, read_json, read_text, write_whole
from dpaudit.evidence.migrations import VERSION, as_written, is_known, is_part, upgraded
from dpaudit.evidence.records import (
    Attempt,
    Bound,
    Counterexample,
    Curve,
    Histogram,
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
)
from dpaudit.evidence.renderers import draw
from dpaudit.privacy import Claim, parse_claim


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The record of one audit.

    Attributes:
        verdict: see `Verdict`; ``reason`` says in a sentence why.
        lower: the headline lower bound (value 0.0 where nothing was shown).
        upper: an upper bound by proof or exact computation, or None.
        proof: what was read and proved of a program, or None where nothing was tried.
        exact: a lower bound that is certain, from a counterexample whose probabilities are known, or None; its
            numbers are in ``counterexample``. The headline is the larger of it and what was sampled.
        floating_point: a lower bound for an attacker who reads the low-order bits, or None where they were not
            examined; ``low_bits`` says what they counted for: "report", "verdict" or "ignore". In a report the
            bound has the confidence of the audit to itself; where it decides the verdict, it shares it.
        detectable: the smallest value of the claim's parameter that would have been shown to exceed the claim
            with probability 0.9, or None without a claim; ``detectable_on`` says where it would have had to
            show: in a measured "event", or on a "gaussian" mechanism of that loss, the yardstick for δ > 0.
        power: how many runs would have found smaller violations there; empty without a claim.
        curve: what is shown of the whole privacy curve, on the same measuring runs: a finding beside the verdict, at a
            confidence of its own. None where it was not asked for.
        types: whether outputs of different types differ ("count"), or count as what they hold ("ignore").
        learn: the learner whose score competed with the built-in ones, or None.
        unit: what one record stands for (the unit of privacy).
        learning, measuring: executions for learning and for measuring, all pairs and sides.
        scores: what scores of members and of others show besides, or None for another target.
        asked: the runs that were asked for, where not all of them were made; None where they were.
        fixed: learning and measuring runs of each pair, where a time budget of an earlier dpaudit decided them.
        sequential: how a sequential audit went, or None for another one.
        observed: what else was taken for a part of every output, such as "time": the run time in seconds.
        sensitivity: how far the mechanism's query was moved, where it exposes one; a finding beside the verdict.
        constant: pairs on which all runs of a side returned the same output, as far as the learning runs say.
        search: how the pair was found, or None where no pair was searched for.
        false_alarm: the chance that a mechanism that keeps its claim is called violated, where a bound at the
            confidence of the audit is too little for that; None where it is enough.
        second: the second look at a bound above the claim, or None where there was none.
        decided_in: the arithmetic of the sampled bound that a VIOLATED rests on: "real", or "float" where it is that of
            the low-order bits. Evidence that does not say so rests on the headline where that is above the claim, and
            else on the low-order bits.
        written: the record of an older file as it stands there, where this dpaudit would write it differently: its
            id stays what it was (`dpaudit.evidence.migrations`). Not part of the record.
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
    fixed: tuple[tuple[int, int], ...] = ()
    sequential: Sequential | None = None
    observed: tuple[str, ...] = ()
    sensitivity: Moved | None = None
    search: Search | None = None
    constant: tuple[int, ...] = ()
    false_alarm: float | None = None
    second: SecondLook | None = None
    types: Annotated[str, msgspec.Meta(pattern="^(count|ignore)$")] = "count"
    decided_in: Annotated[str, msgspec.Meta(pattern="^(real|float)$")] = "real"
    written: dict[str, Any] | None = None

    @property
    def runs(self) -> int:
        """Executions spent: both sides, learning, measuring, search and second look, every pair."""
        again = 0 if self.second is None else sum(self.second.counts.runs)
        return self.learning + self.measuring + (0 if self.search is None else self.search.runs) + again

    @property
    def budget(self) -> int:
        """The runs that were asked for, as ``runs`` and ``--runs`` take them: a second look is beyond them."""
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
        if self.written is not None and json_values(as_written(_understood(self.written))) == own:
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
        """Write the evidence file, whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Evidence:
        """Read an evidence file; raises `UsageError` where it is unreadable, altered or of another version."""
        return cls.from_json(read_text(path), name=str(path))

    @classmethod
    def from_json(cls, text: str, *, name: str = "the evidence") -> Evidence:
        """Read an evidence file from its text; ``name`` stands in error messages."""
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
            same = is_part(upgraded(record), json_values(as_written(evidence, everything=True)))
        except (msgspec.ValidationError, TypeError, ValueError, KeyError, RecursionError) as error:
            raise UsageError(f"{name} is not the evidence that this dpaudit reads: {error}") from None
        if not same:
            raise UsageError(
                f"{name} is not the evidence that this dpaudit reads: a value stands there in another type"
            )
        found = msgspec.structs.replace(evidence, run=told, written=None if again == record else record)
        vars(found)["id"] = identity  # it was computed above
        return found

    def with_files(self, names: Sequence[str]) -> Evidence:
        """Return the same evidence, knowing which files its data came from: the command that runs it again names them.

        They are no part of the record, so the id stays.
        """
        if self.run is None or not names:
            return self
        return msgspec.structs.replace(self, run=msgspec.structs.replace(self.run, files=tuple(names)))

    def to_html(self, path: str | Path) -> None:
        """Write the report: one HTML page that needs nothing else."""
        write_whole(path, draw("page", self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a compact card."""
        return draw("card", self)


def _understood(record: dict[str, Any]) -> Evidence:
    """Return what a record of any known version says."""
    return msgspec.convert(upgraded(record), Evidence, strict=False)

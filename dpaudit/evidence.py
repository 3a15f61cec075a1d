"""What did an audit find, written down so that anyone can cite it and check it?

`Evidence` is the one frozen record of an audit; every report is drawn from it. Its id is the SHA-256 of
its canonical JSON (RFC 8785), so the same evidence has the same id everywhere. What differs from run to
run without changing what was found (start, duration, host, workers) stands beside it in `RunInfo`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import tempfile
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import msgspec

from dpaudit.errors import UsageError
from dpaudit.event import Event, Record
from dpaudit.privacy import Claim, parse_claim
from dpaudit.versions import VERSION, as_written, is_known, is_part, upgraded

_LARGEST_INTEGER = 2**53  # from here on a float does not tell integers apart


class Verdict(Enum):
    """What an audit concludes; ``str(verdict)`` is the word in lower case."""

    PROVED = "proved"
    NOT_VIOLATED = "not violated"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    NO_CLAIM = "no claim"

    def __str__(self) -> str:
        return self.value

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 1 only for VIOLATED, 3 inconclusive, 4 invalid, else 0."""
        return {Verdict.VIOLATED: 1, Verdict.INCONCLUSIVE: 3, Verdict.INVALID: 4}.get(self, 0)


class Counts(Record, frozen=True):
    """Measuring runs of both sides, and how many of each fell into the event; pairs are (side 0, side 1).

    ``bins``: for an event with degrees, how many runs speak to each, from the largest label to −1 and on to the
    smallest. Runs that speak for neither side stand with −1, so that all runs are there.
    """

    runs: tuple[int, int]
    toward0: tuple[int, int]
    toward1: tuple[int, int]
    bins: tuple[tuple[int, ...], tuple[int, ...]] | None = None


class Bound(Record, frozen=True):
    """A bound of the claim's parameter, with everything that is needed to check it.

    Attributes:
        value: the bound, rounded outward to 10 digits.
        side: "lower" or "upper".
        kind: "sampled", "exact" or "proof".
        parameter: what is bounded: "epsilon", "mu" or "rho".
        notion: the claim whose parameter it is, as text (its own value is not used), so that δ or an
            order that the bound holds at is known.
        confidence: 1 − the chance that this statement is wrong; 1.0 for a proof.
        delta: the δ at which ε is meant.
        method: "guess", "joint", "two-sided joint" (these two also "enumerated"), "multinomial", "swapped
            multinomial" or "none".
        weight: the share of the joint bound's statistic that the first count carries, or all weights of a
            multinomial bound; fixed before measuring.
        counts, event: what was counted, and of what; None where nothing was measured.
        pair: the index of the pair in the evidence.
        arithmetic: "real" or "float".
        assumes: what is taken on trust.
        exact: the value itself as text where it is a rational number or infinite, such as "5/8"; None elsewhere.
    """

    value: float
    side: str
    kind: str
    parameter: str
    notion: str
    confidence: float
    delta: float
    method: str
    weight: float | tuple[float, ...] | None = None
    counts: Counts | None = None
    event: Event | None = None
    pair: int | None = None
    arithmetic: str = "real"
    assumes: tuple[str, ...] = ()
    exact: str | None = None


class Candidate(Record, frozen=True):
    """An event that was considered on the learning runs, and the bound that was predicted for it."""

    family: str
    method: str
    predicted: float


class Attempt(Record, frozen=True):
    """One measured event on one pair: its bound, its share of the error, and what else was considered."""

    pair: int
    name: str
    bound: Bound
    considered: tuple[Candidate, ...]


class Power(Record, frozen=True):
    """A violation smaller than the detectable one, and how many runs in all would find it with probability 0.9."""

    value: float
    runs: int


class PairRecord(Record, frozen=True):
    """Two neighbouring datasets, by digest; the data itself only where it is public, or was asked to be kept.

    ``origin`` is "mechanism", "given" or "found" (by a search). ``shown0`` and ``shown1`` are public data for people to
    read, perhaps cut off; ``data0`` and ``data1`` are data that were kept on request, as JSON text
    (`dpaudit.neighbours.kept`).
    """

    digest0: str
    digest1: str
    origin: str
    shown0: str | None = None
    shown1: str | None = None
    data0: str | None = None
    data1: str | None = None


class Cell(Record, frozen=True):
    """A set of outputs and how many measuring runs of each side fell into it.

    ``low`` and ``high`` are the interval [low, high) of the output (or score) where the cell is one, with
    None for an open end; both are None for a category.
    """

    label: str
    low: float | None
    high: float | None
    count0: int
    count1: int


class Histogram(Record, frozen=True):
    """Counts over cells that were frozen on learning runs, for the headline's pair.

    ``axis`` is "output", "score" or "category"; ``runs`` are the measuring runs counted (side 0, side 1). ``exact`` is,
    for each side, the probability of each cell where the mechanism states the law of its outputs: to look at beside
    what was counted, rounded to 10 decimals.
    """

    pair: int
    axis: str
    runs: tuple[int, int]
    cells: tuple[Cell, ...]
    exact: tuple[tuple[float, ...], tuple[float, ...]] | None = None


class Target(Record, frozen=True):
    """What was audited.

    ``asks`` is "program", "sampler", "seeded" or "opaque"; ``reading`` says how a program was run.
    ``digest`` is the SHA-256 of the source of the function (None where there is none).
    """

    name: str
    digest: str | None
    parameters: dict[str, Any]
    asks: str
    reading: str
    summary: str = ""
    source: str = ""
    true_loss: float | None = None


class Proof(Record, frozen=True):
    """What was read of a program, and what of it is proved.

    Attributes:
        method: "alignment" for data of one length, "induction" for every length, "enumeration" of a whole domain.
        scope: what an upper bound holds for, as a sentence.
        length: how many answers, or None for any number of them or where that says nothing.
        paths: how many ways through the program were read.
        certificate: the proof for whoever wants to check it (``docs/certificate.md``); None without a finite bound.
        domain: all datasets that were enumerated, where they were to be kept, as JSON text.
    """

    method: str
    scope: str
    length: int | None
    paths: int
    certificate: dict[str, Any] | None = None
    domain: str | None = None


class Counterexample(Record, frozen=True):
    """Two neighbouring datasets and an event whose probabilities are known for certain.

    Attributes:
        data0, data1: the data of both sides, as text.
        event: what speaks for side 0.
        probability0, probability1: the event's probability on each side, as (low, high) in decimals.
        record: everything that these were computed from.
    """

    data0: str
    data1: str
    event: Event
    probability0: tuple[str, str]
    probability1: tuple[str, str]
    record: dict[str, Any]


class RocPoint(Record, frozen=True):
    """One threshold of the scores: how many (members, others) score at least as much, and how often they would.

    ``limits`` of the true positive rate, low and high, then of the false positive rate; those of all thresholds hold
    together. None where no exact limits are known.
    """

    threshold: float
    counts: tuple[int, int]
    limits: tuple[float, float, float, float] | None = None


class Rate(Record, frozen=True):
    """The true positive rate at a false positive rate, as estimated, and its exact limits where there are any.

    ``counts`` are the members above the two scores of others between which the threshold certainly lies.
    """

    at: float
    estimate: float
    counts: tuple[int, int] | None = None
    limits: tuple[float, float] | None = None


class Scores(Record, frozen=True):
    """What scores of members (side 0) and of others (side 1) show beside the bound; it decides nothing.

    Attributes:
        design: "independent" (a training run for every score) or "one-run" (all scores from one model).
        given: scores of members and of others; measured: those of them that the ROC counts.
        delta: the δ at which ``epsilon_if_gaussian`` is meant.
        roc: the ROC at thresholds that learning scores chose, counted on measuring scores.
        rates: the true positive rate at a few false positive rates, from all scores.
        mu: the distance of the means in standard deviations, or None where there is none.
        epsilon_if_gaussian: ε at δ, were the scores those of a Gaussian mechanism with this μ. An estimate on a
            condition that nobody checked.
    """

    design: str
    given: tuple[int, int]
    measured: tuple[int, int]
    delta: float
    roc: tuple[RocPoint, ...]
    rates: tuple[Rate, ...]
    mu: float | None = None
    epsilon_if_gaussian: float | None = None


class Curve(Record, frozen=True):
    """What is shown of the whole privacy curve, all of it at once, at one confidence.

    Attributes:
        confidence: that every number here is true; each statement has a share of the error.
        statements: bounds of δ at an ε, of μ, or of an attacker's power at a false positive rate (``parameter`` and
            ``notion`` say which), each by an event that was fixed before measuring. Every region of probabilities
            that a statement rests on says something of the whole curve, and the best of them stands below.
        epsilons, deltas: δ(ε) is at least ``deltas`` at each of ``epsilons``.
        fprs, fnrs: no trade-off curve that the mechanism keeps lies above ``fnrs`` at each of ``fprs``.
        mu: if the mechanism keeps μ-GDP, then μ is at least this.
    """

    confidence: float
    statements: tuple[Bound, ...]
    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    fprs: tuple[float, ...]
    fnrs: tuple[float, ...]
    mu: float


class Stake(Record, frozen=True):
    """An event that was bet on in an epoch.

    Attributes:
        name: "stable", "rare", "unseen" or "middle".
        event: which outputs speak for which side, in words.
        speaks: whether any output speaks for side 0, and for side 1.
        past: what all runs before the epoch come to, from which the event was chosen.
        own: what the runs of the epoch come to, up to the end of the audit.
    """

    name: str
    event: str
    speaks: tuple[bool, bool]
    past: Counts
    own: Counts


class Epoch(Record, frozen=True):
    """Runs of one pair that were bet on with the same events."""

    pair: int
    stakes: tuple[Stake, ...]


class Sequential(Record, frozen=True):
    """How a sequential audit went.

    Attributes:
        log_wealth: natural logarithm of the wealth at the end of whoever bet against the claim (against ε = 0 without
            a claim), having started with 1. Its exponential is an e-value: those of independent audits multiply.
        stopped: whether the claim was refuted, which ended the audit.
        epochs: all that was bet on, in order; the wealth follows from it.
    """

    log_wealth: float
    stopped: bool
    epochs: tuple[Epoch, ...]


class Moved(Record, frozen=True):
    """How far the deterministic query of a mechanism was moved by one pair of neighbours; it decides no verdict.

    Attributes:
        norm: "1", "2" or "inf", in which distances are meant.
        claimed: the declared sensitivity, for one neighbouring step; None where none is declared.
        largest: the largest distance found; infinite where the query gives no number on one side alone.
        finite: the largest distance among the pairs on which the query gives numbers, by ``finite_change``; None where
            there are none.
        exceeded: whether it is larger than the claim allows under the relation, by more than rounding explains.
        change: what changes between the two datasets that show it, without a value of the data.
        tried: on how many pairs the query was asked; silent: on how many of them both sides gave no number.
        room: the room for rounding in the distance; 0.0 where all numbers are exact.
        troubles: what the query did on one side alone in place of a number, and where.
        digests: of the two datasets.
    """

    norm: str
    claimed: float | None
    largest: float
    finite: float | None
    finite_change: str
    exceeded: bool
    change: str
    tried: int
    silent: int
    room: float
    troubles: tuple[str, ...]
    digests: tuple[str, str]


class Tried(Record, frozen=True):
    """A pair that a search looked at: what changes in it, the runs spent on it, and the bound predicted from them."""

    name: str
    runs: int
    predicted: float


class Search(Record, frozen=True):
    """How the pair was found, on search runs alone, which no bound looks at.

    Attributes:
        source: what was searched: neighbours of one dataset ("data"), datasets over a "domain" alone, or pairs that
            were "given" or are the "mechanism"'s own.
        candidates: how many pairs were compared; raised: how many of them were dropped, because every run of both
            sides raised the same.
        runs: executions for the search, both sides, all pairs.
        found: what changes in the pair that was chosen, without a value of the data.
        tried: the pairs that were left longest, best first.
        climbed: how many datasets over the domain were tried beyond the candidates; None where that was not done.
        shrunk: how often a simpler pair took the place of the chosen one.
        records: how many records each side of that simpler pair has; None where there is none, or what has no size.
        data: the digest of the dataset, or of all pairs; None for the mechanism's own, and over a domain alone.
        domain: the declared domain as JSON text; beyond: whether what lies outside it was tried.
        kept: the dataset or all pairs as JSON text, where data were to be kept.
    """

    source: str
    candidates: int
    raised: int
    runs: int
    found: str
    tried: tuple[Tried, ...]
    climbed: int | None = None
    shrunk: int = 0
    records: tuple[int, int] | None = None
    data: str | None = None
    domain: str | None = None
    beyond: bool = False
    kept: str | None = None


class RunInfo(Record, frozen=True):
    """When, how long, where and with how many workers: not part of the id."""

    started: str
    duration: float
    host: str
    workers: int


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
        learn: the learner whose score competed with the built-in ones, or None.
        unit: what one record stands for (the unit of privacy).
        learning, measuring: executions for learning and for measuring, all pairs and sides.
        scores: what scores of members and of others show besides, or None for another target.
        asked: the runs that were asked for, where not all of them were made; None where they were.
        fixed: learning and measuring runs of each pair, where a time budget decided them.
        sequential: how a sequential audit went, or None for another one.
        observed: what else was taken for a part of every output, such as "time": the run time in seconds.
        sensitivity: how far the mechanism's query was moved, where it exposes one; a finding beside the verdict.
        search: how the pair was found, or None where no pair was searched for.
        written: the record of an older file as it stands there, where this dpaudit would write it differently: its
            id stays what it was (`dpaudit.versions`). Not part of the record.
    """

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
    low_bits: str = "ignore"
    learn: str | None = None
    detectable: float | None = None
    detectable_on: str = "event"
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
    written: dict[str, Any] | None = None

    @property
    def runs(self) -> int:
        """Executions spent: both sides, learning, measuring and search, every pair."""
        return self.learning + self.measuring + (0 if self.search is None else self.search.runs)

    @property
    def claimed(self) -> Claim | None:
        """The claim as a value."""
        return None if self.claim is None else parse_claim(self.claim)

    @property
    def id(self) -> str:
        """``dpa1:`` and the SHA-256 of the canonical JSON of the record, without `run`."""
        return content_id(self.record())

    def record(self) -> dict[str, Any]:
        """Return the hashed record as JSON values (infinities and large integers as text)."""
        own = dict(_json_values(as_written(self)))
        if self.written is not None and _json_values(as_written(_understood(self.written))) == own:
            return self.written
        return own

    def document(self) -> dict[str, Any]:
        """Return the evidence file: id, evidence and run."""
        run = None if self.run is None else _json_values(msgspec.to_builtins(self.run))
        record = self.record()
        return {"id": content_id(record), "evidence": record, "run": run}

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
            document = json.loads(text, object_pairs_hook=_members, parse_int=_integer, parse_constant=_refuse_constant)
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
            again = _json_values(as_written(evidence))
            same = is_part(upgraded(record), _json_values(as_written(evidence, everything=True)))
        except (msgspec.ValidationError, TypeError, ValueError, KeyError, RecursionError) as error:
            raise UsageError(f"{name} is not the evidence that this dpaudit reads: {error}") from None
        if not same:
            raise UsageError(
                f"{name} is not the evidence that this dpaudit reads: a value stands there in another type"
            )
        return msgspec.structs.replace(evidence, run=told, written=None if again == record else record)

    def to_html(self, path: str | Path) -> None:
        """Write the report: one HTML page that needs nothing else."""
        from dpaudit.report import html_page

        write_whole(path, html_page(self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a compact card."""
        from dpaudit.report import evidence_card

        return evidence_card(self)


def _understood(record: dict[str, Any]) -> Evidence:
    """Return what a record of any known version says."""
    return msgspec.convert(upgraded(record), Evidence, strict=False)


def read_text(path: str | Path) -> str:
    """Return the text of an evidence file or page; raises `UsageError` where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise UsageError(f"cannot read the evidence {str(path)!r}: {getattr(error, 'strerror', None) or why}") from None


def content_id(record: Any) -> str:
    """Return ``dpa1:`` and the SHA-256 of the RFC 8785 form of JSON values."""
    import rfc8785

    try:
        return "dpa1:" + hashlib.sha256(rfc8785.dumps(record)).hexdigest()
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise UsageError(f"a record that has no canonical JSON: {error}") from None


def plain_value(value: Any) -> Any:
    """Return a parameter as a JSON value (a NumPy scalar as a plain one), or else its repr."""
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))  # an address would change the id from run to run


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; one that names a member twice says two things, so it is refused."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands there twice")
    return members


def _integer(text: str) -> int | float:
    """A number without a point. Larger integers are written as text, so that one above 2^53 is a real number."""
    number = float(text)
    return number if abs(number) >= _LARGEST_INTEGER else int(text)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _json_values(value: Any) -> Any:
    """Replace what JSON cannot hold: infinities, NaN, large integers and lone surrogates become text."""
    if isinstance(value, dict):
        return {_json_text(str(key)): _json_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_values(item) for item in value]
    if isinstance(value, str):
        return _json_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LARGEST_INTEGER:
        return str(value)
    return value


def _json_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_DIGITS = 10


def round_outward(value: float, side: Literal["lower", "upper"], digits: int = _DIGITS) -> float:
    """Round a bound so that it stays true: a lower bound down, an upper bound up, to ``digits`` digits."""
    if not math.isfinite(value) or value == 0:
        return value
    rounding = {"lower": ROUND_FLOOR, "upper": ROUND_CEILING}[side]
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file so that it appears whole or not at all; a device or a pipe is written as it is."""
    target = Path(path)
    try:
        target = target.resolve()  # behind a symbolic link stands the file that is meant
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", newline="\n")
            return
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _default_mode()
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".dpaudit-", suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None


def _default_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask

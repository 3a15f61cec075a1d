"""What is kept between gates? What each target lost when it was reviewed, or over many nights, and what is unchanged.

``dpaudit-baseline.json`` is a file to be reviewed like code: sorted, with one entry for each target, which holds its
most revealing event and the counts of that event. A later gate counts the same event on fresh runs. It does not compare
two numbers: each version of the code has an interval for the loss of that event, both hold simultaneously at the
target's confidence, and the target is leakier if the new interval is above the old one. A list of releases has
certified intervals instead of counts.

Every night each target is audited sequentially with a fresh seed. The wealth of the night's bets is an e-value:
under the claim its expectation is at most 1, whenever it was stopped. Nights are independent, so the product over
nights is a test martingale, and it ever exceeds 1/a with probability at most a (Ville 1939; Shafer 2021, Testing by
betting). A target fails once its product does.

What is tested must stay the same. When code, claim, parameters or pairs change, a target starts again with wealth 1
and a new error level, since each start is another chance to err. Level a is that of the whole gate, for all future
nights and all starts of all targets together: the j-th start gets a·(c + 1)/((c + j)(c + j + 1)), which add up to a.
With c targets in the beginning the first starts get nearly equal shares, between a/(c + 2) and a/(4c).

A night that began but left no wealth (it took too long, it crashed, the gate was killed) cannot be skipped: losing
nights take longer than winning ones, so counting only the finished ones would increase the error. Such a night counts
as having lost everything, and the target starts again.

A report is kept with everything that it depends on: the request (target, claim, parameters, pairs, seed, runs,
confidence), dpaudit's own source, the versions of Python and of every installed distribution, the files with its pairs,
and every file of the project that was loaded or read. If one digest differs, the target runs again. Without a
configured seed each commit has its own; then a report with the seed of an earlier commit is still used.
Dependencies on anything else (the network, the clock, the environment) are not detected.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id, read_text, write_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counts, round_outward
from dpaudit.gate.result import BaselineComparison
from dpaudit.gate.target_process import FrozenEvent, Report, Request, files_of, listing
from dpaudit.privacy import claims, parse_claim
from dpaudit.stats import joint_region, methods
from dpaudit.targets.signature import PREFIX

# --- Is a target unchanged since it was last run? --------------------------------------------------------

# --- Which gate may write to a shared file? One at a time, so that concurrent gates lose neither entries nor nights.
#
# The operating system holds the lock and releases it when the process ends, in whatever way, so a lock is never stale.

FOLDER = ".dpaudit"


def own_folder(root: Path, name: str) -> Path:
    """Return a folder of dpaudit in a project, which git ignores; it is created if it is missing."""
    folder = root / FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    ignored = root / FOLDER / ".gitignore"
    if not ignored.exists():
        write_whole(ignored, "*\n")
    return folder


@contextlib.contextmanager
def alone_with(file: Path, *, wait: bool) -> Iterator[None]:
    """Lock a file against other gates; if another gate holds the lock, wait or refuse."""
    try:
        place = own_folder(file.parent, "locks") / f"{file.name}.lock"
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UsageError(f"cannot lock {str(file)!r}: {error.strerror or error}") from None
    try:
        if not _taken(handle, wait=wait):
            raise UsageError(f"another gate is writing {file.name}; wait for it, and call dpaudit gate again")
        yield
    finally:
        os.close(handle)  # this releases the lock


def _taken(handle: int, *, wait: bool) -> bool:
    """Take the lock; return whether it was free."""
    try:
        import fcntl
    except ImportError:
        return _taken_on_windows(handle, wait=wait)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _taken_on_windows(handle: int, *, wait: bool) -> bool:
    import time
    from importlib import import_module

    windows = import_module("msvcrt")
    while True:
        try:
            windows.locking(handle, windows.LK_NBLCK, 1)
        except OSError:
            if not wait:
                return False
            time.sleep(0.1)
        else:
            return True


# --- Is a target unchanged since it was last run? Then it is not run again. ---

_VERSION_OF_CACHE = 1
_NAME = 40  # characters of a target's name in its file name, to stay readable


class Cache:
    """The reports of earlier gates, one file for each target and look; damaged files are ignored."""

    def __init__(self, root: Path, *, any_seed: bool = False) -> None:
        """Open the cache of a project; with ``any_seed``, reports with another seed are used, too."""
        self.folder = root / FOLDER / "gate"
        self._any_seed = any_seed

    def find(self, name: str, look: str, request: Request) -> Report | None:
        """Return the report of a request if nothing that it depends on has changed, else None.

        Args:
            name: of the target.
            look: "first" or "second", or another word for the purpose of the runs.
            request: what is asked for.
        """
        try:
            document = json.loads(self._file(name, look).read_text(encoding="utf-8"))
            record = document["record"]
            if content_id(record) != document["id"] or record["key"] != self._key(request):
                return None
            report = msgspec.convert(record["report"], Report)
            if not _unchanged(report):
                return None
            if report.evidence is not None:
                Evidence.from_json(json.dumps(report.evidence))  # raises for a version that this dpaudit cannot read
            return report
        except (OSError, ValueError, KeyError, TypeError, msgspec.ValidationError, RecursionError):
            return None

    def keep(self, name: str, look: str, request: Request, report: Report) -> None:
        """Store a report, if it has evidence and its files are known."""
        if report.evidence is None or not report.folders:
            return
        record = json.loads(
            json.dumps({"version": _VERSION_OF_CACHE, "key": self._key(request), "report": msgspec.to_builtins(report)})
        )
        try:
            identity = content_id(record)
            own_folder(self.folder.parents[1], self.folder.name)
            write_whole(self._file(name, look), json.dumps({"id": identity, "record": record}) + "\n")
        except (OSError, UsageError):
            return  # without a writable folder a gate is only slower

    def _key(self, request: Request) -> str:
        return key_of(msgspec.structs.replace(request, seed=0) if self._any_seed else request)

    def _file(self, name: str, look: str) -> Path:
        readable = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:_NAME]
        digest = hashlib.sha256(f"{name}\0{look}".encode()).hexdigest()[:16]
        return self.folder / f"{readable}-{digest}.json"


def _unchanged(report: Report) -> bool:
    """Whether every file and folder that a report depends on is as it was."""
    files = all(file_digest(Path(file)) == digest for file, digest in report.files.items())
    return files and all(_listing(Path(folder)) == digest for folder, digest in report.folders.items())


def _listing(folder: Path) -> str | None:
    return listing(folder) if folder.is_dir() else None


def file_digest(file: Path) -> str | None:
    """Return the SHA-256 of a file, None if there is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def key_of(request: Request) -> str:
    """Return a digest of everything that a report depends on and that is known in advance."""
    given = {file: file_digest(Path(request.root) / file) for file in files_of(request)}
    return _digest([msgspec.to_builtins(request), given, environment()])


@lru_cache(maxsize=1)
def environment() -> str:
    """Return a digest of dpaudit's source, of Python, the machine, and all installed distributions."""
    package = Path(__file__).resolve().parents[1]
    source = [(file.relative_to(package).as_posix(), file_digest(file)) for file in sorted(package.rglob("*.py"))]
    installed = sorted({f"{each.metadata['Name']}=={each.version}" for each in distributions()})
    return _digest([source, sys.version, platform.machine(), installed, os.environ.get("PYTHONPATH", "")])


def with_seed_of(report: Report, request: Request) -> Request:
    """Return the request with the seed of a report."""
    record = (report.evidence or {}).get("evidence")
    seed = record.get("seed") if isinstance(record, dict) else None
    return msgspec.structs.replace(request, seed=seed) if isinstance(seed, int) else request


def code_digest(report: Report) -> str:
    """Return a digest of the code that a report is about: its files and everything installed."""
    return _digest([sorted(report.files.items()), environment()])


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


# --- What did each target lose when it was last reviewed, and what do many nights show together? ---------

# --- What did each target lose when it was last reviewed, and does it lose more now? ---------------------

BASELINE_FILE = "dpaudit-baseline.json"
_VERSION_OF_BASELINE = 1
_LONGEST = 300  # characters of a list of releases
_EVEN = 0.7071  # 1/√2: equal weights for both counts of an event for which no weight was chosen


class BaselineEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fixed event of a baseline, and how often it occurred."""

    pair: tuple[str, str]  # digests of its two datasets
    # method, weight: how counts become a bound, fixed before they were measured
    method: str
    weight: float | None
    considered: int  # how many events were measured, of which it was the most revealing
    # event, counts: as in evidence
    event: dict[str, Any]
    counts: dict[str, Any]
    notion: str  # the claim whose parameter is compared


class BaselineInterval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a list of releases certainly lost: the interval of ``parameter`` at ``at``, as in evidence."""

    parameter: str
    at: str
    low: float
    high: float


class BaselineEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The baseline of one target."""

    target: str
    # claim, relation, parameters, code: of the target at that time; ``code`` is the digest of its function's source
    claim: str | None
    relation: str
    parameters: dict[str, Any]
    code: str | None
    # verdict, lower, confidence: of its evidence, whose id is ``evidence``
    verdict: str
    lower: Any
    confidence: float
    evidence: str
    measured: BaselineEvent | None  # the event to compare with; None if nothing was measured
    releases: str = ""  # of a list of releases, what it was; empty where that takes many words
    accounted: tuple[BaselineInterval, ...] = ()  # of a list of releases, the finite intervals to compare with


def read_baseline(path: Path) -> dict[str, BaselineEntry]:
    """Return the entries of a baseline by name, none if there is no file; refuse a file that was altered."""
    if not path.exists():
        return {}
    rewrite = "restore the file from version control, or write it again with --update-baseline after deleting it"
    try:
        document = json.loads(read_text(path, "the baseline"))
        record = document["baseline"]
        if document.keys() != {"id", "baseline"} or record["version"] != _VERSION_OF_BASELINE:
            raise ValueError
        if content_id(record) != document["id"]:
            raise UsageError(f"{path.name} was altered after it was written: its id is another one; {rewrite}")
        entries = msgspec.convert(record["targets"], dict[str, BaselineEntry])
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        raise UsageError(f"{path.name} is no baseline of this version of dpaudit; {rewrite}") from None
    return entries


def write_baseline(path: Path, entries: Mapping[str, BaselineEntry]) -> None:
    """Write a baseline, sorted, atomically."""
    targets = {name: msgspec.to_builtins(entries[name]) for name in sorted(entries)}
    record = json.loads(json.dumps({"version": _VERSION_OF_BASELINE, "targets": targets}))
    document = {"id": content_id(record), "baseline": record}
    write_whole(path, json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def entry_of(target: str, evidence: Evidence, own: Evidence | None = None) -> BaselineEntry:
    """Return the baseline entry of evidence; ``own`` measured the baseline's own pair, where there are data."""
    record = evidence.record()  # as JSON values
    return BaselineEntry(
        target=target,
        claim=evidence.claim,
        relation=evidence.relation,
        parameters=record["target"]["parameters"],
        code=evidence.target.digest,
        verdict=str(evidence.verdict),
        lower=record["lower"]["value"],
        confidence=evidence.confidence,
        evidence=evidence.id,
        measured=_measured(evidence if own is None else own),
        releases=_releases(evidence),
        accounted=_accounted(evidence),
    )


def _releases(evidence: Evidence) -> str:
    listed = () if evidence.accounting is None else evidence.accounting.releases
    text = " + ".join(each.event if each.steps == 1 else f"{each.event}.times({each.steps})" for each in listed)
    return text if len(text) <= _LONGEST else ""


def _accounted(evidence: Evidence) -> tuple[BaselineInterval, ...]:
    """Return the finite intervals of a list of releases, one of each kind."""
    stated = () if evidence.accounting is None else evidence.accounting.statements
    intervals = {
        (each.parameter, each.at): BaselineInterval(each.parameter, each.at, each.low, each.high)
        for each in stated
        if math.isfinite(each.high)
    }
    return tuple(intervals.values())


def _measured(evidence: Evidence) -> BaselineEvent | None:
    """Return the most revealing event in real arithmetic."""
    record = evidence.record()
    measured = [
        (attempt.bound, as_json["bound"])
        for attempt, as_json in zip(evidence.attempts, record["attempts"], strict=True)
        if _comparable(attempt.bound)
    ]
    if not measured:
        return None
    bound, as_json = max(measured, key=lambda pair: pair[0].value)
    pair = evidence.pairs[bound.pair or 0]
    method, weight = _interval_method(bound)
    return BaselineEvent(
        pair=(pair.digest0, pair.digest1),
        method=method,
        weight=weight,
        considered=len(measured),
        event=as_json["event"],
        counts=as_json["counts"],
        notion=bound.notion,
    )


def _comparable(bound: Bound) -> bool:
    """Whether an event was counted on a fixed number of runs, so that its counts give an interval."""
    counted = bound.counts is not None and bound.event is not None and bound.arithmetic == "real"
    return counted and (methods.method_of(bound.method).interval or isinstance(bound.weight, tuple))


def _interval_method(bound: Bound) -> tuple[str, float | None]:
    """Return method and weight of the interval: those of the bound, or of an event with two sides for many degrees."""
    if isinstance(bound.weight, tuple):
        return methods.BOTH_SIDES, _EVEN
    return methods.plain(bound.method), bound.weight  # the method for many runs, since there may be more here


def frozen(entry: BaselineEntry, times: int = 1) -> FrozenEvent | None:
    """Return the event to be counted again, on ``times`` as many runs as in the baseline."""
    if entry.measured is None:
        return None
    runs = times * sum(entry.measured.counts["runs"])
    return FrozenEvent(event=entry.measured.event, digests=entry.measured.pair, runs=runs)


def compare(entry: BaselineEntry, counts: Mapping[str, Any] | None, error: float) -> BaselineComparison | None:
    """Return both intervals of the fixed event's loss, each at half of the error; None if nothing was counted.

    The baseline kept the most revealing of several events, so each of those had a share of the baseline's half.

    Args:
        entry: the baseline of the target.
        counts: of the event on fresh runs, as JSON values, or None.
        error: of the comparison, 1 − confidence.
    """
    measured = entry.measured
    if measured is None or counts is None:
        return None
    claim = parse_claim(measured.notion)

    def interval(counted: Mapping[str, Any], level: float) -> tuple[float, float]:
        low, high = joint_region.loss_interval(
            measured.method, msgspec.convert(counted, Counts), claim=claim, weight=measured.weight, error=level
        )
        return round_outward(low, "lower"), round_outward(high, "upper")

    return BaselineComparison(interval(measured.counts, error / 2 / measured.considered), interval(counts, error / 2))


def compare_accounts(entry: BaselineEntry, evidence: Evidence) -> BaselineComparison | None:
    """Return the certified intervals before and now: those that grew, else the first; None if none can be compared."""
    before = {(each.parameter, each.at): (each.low, each.high) for each in entry.accounted}
    compared = [
        BaselineComparison(before[parameter, at], (each.low, each.high), _about(parameter, at))
        for each in _accounted(evidence)
        if (parameter := each.parameter, at := each.at) in before
    ]
    return next((each for each in compared if each.leakier), compared[0] if compared else None)


def _about(parameter: str, at: str) -> str:
    near = claims.number_text(float(Fraction(at)))
    return {"epsilon": f"ε at δ = {near}", "delta": f"δ at ε = {near}", "mu": "μ", "rho": "ρ"}[parameter]


def changes(entry: BaselineEntry, evidence: Evidence) -> tuple[str, ...]:
    """Say what differs from the baseline: claim, relation, parameters, code."""
    now = entry_of(entry.target, evidence)
    notes = []
    for what, old, new in (
        ("claim", entry.claim, now.claim),
        ("relation", entry.relation, now.relation),
        ("parameters", _parameters_text(entry.parameters), _parameters_text(now.parameters)),
        ("list of releases", entry.releases, now.releases),
    ):
        if old != new:
            notes.append(f"Since the baseline the {what} changed from {old or 'none'} to {new or 'none'}.")
    kinds = {(code or PREFIX).startswith(PREFIX) for code in (entry.code, now.code)}
    if entry.code != now.code and len(kinds) == 1:  # not comparable if an older baseline has another kind of digest
        notes.append("Since the baseline the source of the function changed.")
    return tuple(notes)


def _parameters_text(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(parameters.items()))


# --- What do many nights show together that no single night shows? ---------------------------------------

NIGHTLY_FILE = "dpaudit-nightly.json"
_VERSION = 1


class Nights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has accumulated for one target since its last start."""

    start: int  # the number of this start, counted from 1 over all targets
    error: float  # its error level
    claim: str | None  # what is tested, for people; ``tested`` is the digest of everything that must stay the same
    tested: str
    # nights, runs: how many so far
    nights: int = 0
    runs: int = 0
    log_wealth: float = 0.0  # the logarithm of the product of the nights' e-values
    most: float = 0.0  # the largest log_wealth so far; once above ``log(1/error)``, the claim stays rejected

    @property
    def threshold(self) -> float:
        """The log wealth at which the claim is rejected."""
        return -math.log(self.error)

    @property
    def rejected(self) -> bool:
        """Whether the claim is rejected at this target's error level."""
        return self.most >= self.threshold


class Ledger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All nights of a gate."""

    error: float  # of the whole gate; planned: how many targets it had in the beginning (c); starts: how many so far
    planned: int
    starts: int = 0
    targets: dict[str, Nights] = {}
    begun: tuple[str, ...] = ()  # targets whose night has begun but not ended

    def begin(self, names: Iterable[str]) -> Ledger:
        """Return the ledger for the time of the night, in case it never ends."""
        return msgspec.structs.replace(self, begun=tuple(names))

    def ended(self) -> Ledger:
        """Return the ledger after the night: targets without a result have lost, unless they were already decided."""
        kept = {name: each for name, each in self.targets.items() if name not in self.begun or each.rejected}
        return msgspec.structs.replace(self, targets=kept, begun=())

    def next_error(self) -> float:
        """Return the error level of the next start."""
        c, j = self.planned, self.starts + 1
        return self.error * (c + 1) / ((c + j) * (c + j + 1))

    def level(self, name: str) -> float:
        """Return the error level at which a night of this target stops: its own, or that of a new start."""
        known = self.targets.get(name)
        return self.next_error() if known is None else known.error

    def after(self, name: str, *, tested: str, claim: str | None, log_wealth: float, runs: int) -> Ledger:
        """Return the ledger after a night of one target."""
        if math.isnan(log_wealth) or log_wealth == math.inf:
            raise ArithmeticError(f"the wealth of a night is not a number: {log_wealth}")
        known, starts = self.targets.get(name), self.starts
        if known is None or known.tested != tested:
            known, starts = Nights(starts + 1, self.next_error(), claim, tested), starts + 1
        # a night that lost everything ends this start: wealth 0 stays 0, and JSON has no −∞
        wealth = max(known.log_wealth + log_wealth, -1e300)
        grown = msgspec.structs.replace(
            known, nights=known.nights + 1, runs=known.runs + runs, log_wealth=wealth, most=max(known.most, wealth)
        )
        return msgspec.structs.replace(
            self,
            starts=starts,
            targets={**self.targets, name: grown},
            begun=tuple(other for other in self.begun if other != name),
        )


def read_nights(path: Path, *, error: float, targets: int) -> Ledger:
    """Return the ledger of earlier nights, or a new one."""
    if not path.exists():
        return Ledger(error=error, planned=targets)
    renew = "restore it, or delete it to start anew"
    try:
        document: dict[str, Any] = json.loads(read_text(path, "the nights so far, in"))
        record = document["nightly"]
        if document.keys() != {"id", "nightly"} or record["version"] != _VERSION:
            raise ValueError
        if content_id(record) != document["id"]:
            raise UsageError(f"{path.name} was altered after it was written: its id is another one; {renew}")
        ledger = msgspec.convert(record["ledger"], Ledger, strict=False)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError):
        raise UsageError(f"{path.name} holds no nights of this version of dpaudit; {renew}") from None
    if not math.isclose(ledger.error, error, rel_tol=1e-9):
        raise UsageError(
            f"the nights in {path.name} were counted at confidence {1 - ledger.error:g}, and the gate asks for "
            f"{1 - error:g}: keep the confidence, or delete the file to start anew"
        )
    return ledger.ended()


def write_nights(path: Path, ledger: Ledger) -> None:
    """Write the ledger atomically."""
    values: Mapping[str, Any] = msgspec.to_builtins(ledger)
    record = json.loads(json.dumps({"version": _VERSION, "ledger": values}))
    document = {"id": content_id(record), "nightly": record}
    write_whole(path, json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def tested_of(evidence: Evidence, report: Report) -> str:
    """Return the digest of everything that must stay the same over the nights."""
    pairs: list[Any] = [[pair.digest0, pair.digest1] for pair in evidence.pairs]
    if evidence.search is not None:  # every night finds a pair of its own, and bets against the same claim
        pairs = [evidence.search.data, evidence.search.domain, evidence.search.beyond]
    parameters = evidence.record()["target"]["parameters"]
    what = [code_digest(report), evidence.claim, evidence.relation, parameters, pairs]
    what += [] if evidence.types == "count" else [evidence.types]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def sentence(nights: Nights, symbol: str) -> str:
    """Say what the nights show together."""
    times = "1 night" if nights.nights == 1 else f"{nights.nights} nights"
    wealth = f"log wealth {nights.log_wealth:.2f} of the {nights.threshold:.2f} that reject"
    if nights.rejected:
        return (
            f"VIOLATED over {times}: {symbol} is more than claimed ({nights.claim}), at "
            f"{1 - nights.error:.6g} confidence for all nights together; largest log wealth {nights.most:.2f}, and "
            f"{nights.threshold:.2f} reject."
        )
    return f"Not rejected over {times} ({nights.runs:,} runs): {wealth}. This is not a proof of privacy."

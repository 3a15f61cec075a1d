"""What do many nights show together that no single night shows? Evidence that accumulates in a file between nights.

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
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id, read_text, write_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate.cache import code_digest
from dpaudit.gate.target_process import Report

FILE = "dpaudit-nightly.json"
_VERSION = 1


class Nights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has accumulated for one target since its last start.

    Attributes:
        start: the number of this start, counted from 1 over all targets.
        error: its error level.
        claim: what is tested, for people; ``tested`` is the digest of everything that must stay the same.
        nights, runs: how many so far.
        log_wealth: the logarithm of the product of the nights' e-values.
        most: the largest log_wealth so far; once above ``log(1/error)``, the claim stays rejected.
    """

    start: int
    error: float
    claim: str | None
    tested: str
    nights: int = 0
    runs: int = 0
    log_wealth: float = 0.0
    most: float = 0.0

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


def read(path: Path, *, error: float, targets: int) -> Ledger:
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


def write(path: Path, ledger: Ledger) -> None:
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

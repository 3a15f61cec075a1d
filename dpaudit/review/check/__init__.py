"""Is this evidence consistent? Its id, every bound from its counts, and every certificate are checked again.

Nothing is run and no target is loaded: everything that follows from other parts of the file is recomputed. `sampled`
and `curve` recompute bounds from counts, `second` does so by other means, `certain` checks proofs, and `stated`
checks the verdict and everything else that follows. Proofs are checked by `dpaudit.checker`, which shares no code with
the prover. What a file alone cannot reveal is listed in ``tests/evidence/UNREVEALED.md``.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check.finding import CheckFinding, CheckResult, answered, exit_code, failing, passes, unchecked
from dpaudit.stats.methods import MOST_ENUMERATED, ODDS

__all__ = ["TOO_MANY", "CheckFinding", "CheckResult", "against", "check", "check_file", "exit_code", "passes"]

TOO_MANY = "counts"  # the subject of the finding when there are too many runs to compute with
_CERTIFICATE = "dpaudit-certificate"
_MOST_HITS = 10**6  # of an event that is bounded by its odds, where every possible count is weighed
_MOST_ENUMERATED = 40 * MOST_ENUMERATED  # runs of both sides; twenty times as many as an audit enumerates
_MOST_RUNS = 10**12  # checked in seconds; making so many runs takes days


def check_file(path: str | Path, *, target: str | None = None) -> list[CheckFinding]:
    """Check an evidence file, a page that embeds one, or a bare certificate.

    With a ``target`` (its name), its code is loaded and compared with the evidence; if it was proved, it is read again.

    Raises:
        UsageError: if the file is none of these.
    """
    text = read_text(path)
    if text.lstrip().startswith("<"):
        from dpaudit.report import evidence_from_page
    if target is not None:
        from dpaudit.review.check.against import against

        evidence = (
            evidence_from_page(text) if text.lstrip().startswith("<") else Evidence.from_json(text, name=str(path))
        )
        return [*check_file(path), *against(evidence, target)]
    if text.lstrip().startswith("<"):
        try:
            evidence = evidence_from_page(text)
        except UsageError as error:
            raise UsageError(f"cannot read {str(path)!r}: {error}") from None
        from dpaudit.review.check.against import page_finding

        return [page_finding(text, evidence), *check(evidence)]
    if _is_certificate(text):
        from dpaudit.review.check.against import bare_certificate

        return [bare_certificate(text)]
    return list(check(Evidence.from_json(text, name=str(path))))


def _is_certificate(text: str) -> bool:
    """Whether a text is meant to be a certificate; the checker decides how to read it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return f'"{_CERTIFICATE}"' in text and '"evidence"' not in text
    return isinstance(document, dict) and document.get("format") == _CERTIFICATE


def _too_many(evidence: Evidence) -> str:
    """Say which counts would take minutes to compute with; empty if none would."""
    if _largest(msgspec.to_builtins(msgspec.structs.replace(evidence, run=None, written=None))) > _MOST_RUNS:
        return f"more than {_MOST_RUNS:,} runs are stated"
    looks = [(each.bound.method, each.bound.counts) for each in evidence.attempts]
    looks += [] if evidence.second is None else [(evidence.second.method, evidence.second.counts)]
    for method, counts in looks:
        if counts is not None and method == ODDS and sum(counts.toward0) + sum(counts.toward1) > _MOST_HITS:
            return f"an event that is bounded by its odds has more than {_MOST_HITS:,} runs in it"
        if counts is not None and "enumerated" in method and sum(counts.runs) > _MOST_ENUMERATED:
            return f"all outcomes of more than {_MOST_ENUMERATED:,} runs are enumerated"
    return ""


def _largest(values: Any, counted: bool = False) -> int:
    """Return the largest count of runs that is stated anywhere; ``counted`` says whether the values are counts."""
    if isinstance(values, dict):
        return max((_largest(value, name in _COUNTED) for name, value in values.items()), default=0)
    if isinstance(values, list | tuple):
        return max((_largest(value, counted) for value in values), default=0)
    return _count_of(values) if counted else 0


_COUNTED = frozenset(
    {
        "runs",
        "toward0",
        "toward1",
        "bins",
        "count0",
        "count1",
        "learning",
        "measuring",
        "counts",
        "given",
        "measured",
    }
)


def _count_of(value: Any) -> int:
    """Return a count as an int; records write one from 2^53 on as text."""
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value) if len(value) < 400 else _MOST_RUNS + 1
    return int(value) if isinstance(value, int) else 0


def check(evidence: Evidence, *, second: bool = True) -> Iterator[CheckFinding]:
    """Yield a finding for everything in the evidence that can be recomputed; ``second``: by other means too."""
    yield answered("id", True, f"the record hashes to {evidence.id}")
    too_many = _too_many(evidence)
    if too_many:
        yield unchecked(TOO_MANY, f"{too_many}: too many to compute anything from them again", decides=True)
        return
    for part in _parts(evidence):
        module, _, function = _CHECKS[part].partition(".")
        try:
            checks = getattr(importlib.import_module(f"dpaudit.review.check.{module}"), function)
            yield from checks(evidence, **({_AGAIN[part]: second} if part in _AGAIN else {}))
        except ImportError as error:
            said = f"not all of it was computed again: that takes {error.name or error}"
            yield unchecked(function, said, decides=True)
            if part in ("accounting", "training"):
                from dpaudit.review.check.against import certificates

                yield from certificates(evidence)
        except Exception as error:  # an inconsistent record may fail in any way
            yield failing(function, f"what it says cannot be read: {error or type(error).__name__}")


_CHECKS = {
    "sampled": "sampled.sampled",
    "curve": "sampled.curve",
    "certain": "certain.certain",
    "stated": "stated.stated",
    "accounting": "listed.accounted",
    "training": "listed.trained",
}
"""For each part of the checks, its module and function; they are loaded when evidence has what they check."""

_AGAIN = {"sampled": "second", "accounting": "again", "training": "again"}
"""How these functions call it that something is computed a second time."""


def _parts(evidence: Evidence) -> tuple[str, ...]:
    """Return the parts whose checks bear on the evidence."""
    if evidence.training is not None:
        return ("training",)
    if evidence.accounting is not None:
        return ("accounting",)
    proved = (evidence.proof, evidence.upper, evidence.exact, evidence.counterexample, evidence.trace)
    curve = () if evidence.curve is None else ("curve",)
    return ("sampled", *curve, *(("certain",) if any(each is not None for each in proved) else ()), "stated")

"""Which members of a record differ between two runs of the same question, and why may they?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dpaudit.evidence.evidence import Evidence

_LONGEST = 60  # characters of a value in a message, to fit one line
_ORDER = {"verdict": 0, "lower": 0, "histogram": 3, "attempts": 2, "curve": 3}  # the order of differences; others are 1
CHANGED = "the code of the target has changed"
_FITTED = "a fitted score depends in its last bits on the linear algebra of the processor"


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A member of the record that differs; its values as JSON, shortened."""

    member: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.member} was {self.before} and is {self.after}"


def record_of(evidence: Evidence) -> dict[str, Any]:
    """Return the record as this version of dpaudit writes it, also for an older file."""
    return msgspec.structs.replace(evidence, written=None).record()


def differences(before: Evidence, after: Evidence, renamed: Mapping[str, str]) -> Iterator[ReplayDifference]:
    """Yield what differs; ``renamed`` maps digests of today's kind to those in older evidence."""
    old, new = record_of(before), record_of(after)
    for text, older in renamed.items():
        new = json.loads(json.dumps(new).replace(text, older))
    for record in (old, new):
        del record["versions"]
        for named in (
            (record.get("proof") or {}).get("certificate"),
            (record.get("counterexample") or {}).get("record"),
        ):
            (named or {}).get("mechanism", {}).pop("name", None)  # that of the target, as it was called then
    if _query_unknown(before, after):
        del old["sensitivity"]
        for record in (old, new):
            record.pop("accuracy", None)  # errors against another exact answer
    found = _unlike("", old, new)
    yield from sorted(found, key=lambda each: _ORDER.get(re.split(r"[.\[]", each.member)[0], 1))


def _query_unknown(before: Evidence, after: Evidence) -> bool:
    """Whether the query was passed separately from the mechanism, so that it is unknown here."""
    return before.sensitivity is not None and after.sensitivity is None


def _unlike(member: str, old: Any, new: Any) -> Iterator[ReplayDifference]:
    """Yield the differences member by member; lists of different lengths as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            inner = f"{member}.{name}" if member else name
            if name in new:
                yield from _unlike(inner, value, new[name])
            else:
                yield ReplayDifference(inner, _text(value), "not there")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(f"{member}[{place}]", first, second)
    elif old != new:
        yield ReplayDifference(member, _text(old), _text(new))


def _more(old: Any, new: Any, member: str = "") -> Iterator[str]:
    """Yield the members that only the new record has; they were added later and contradict nothing."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in new.items():
            inner = f"{member}.{name}" if member else name
            if name in old:
                yield from _more(old[name], value, inner)
            else:
                yield inner


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def reasons(before: Evidence, after: Evidence, found: Sequence[ReplayDifference]) -> Iterator[str]:
    """Yield possible causes, as far as the evidence shows them."""
    explained = False
    for name in dict.fromkeys([*before.versions, *after.versions]):
        then, now = before.versions.get(name, "none"), after.versions.get(name, "none")
        if then != now:
            explained = True
            yield f"{name} was {then} and is {now}"
    more = list(_more(record_of(before), record_of(after)))
    if more:
        explained = True
        yield f"now the evidence says more: {', '.join(more)}"
    if _query_unknown(before, after):
        yield "the query was given beside the mechanism, so that its sensitivity was not searched again"
    if not found:
        return
    members = {each.member for each in found}
    if "target.digest" in members:
        explained = True
        yield CHANGED
    if any(member.startswith("pairs") for member in members):
        explained = True
        yield "the mechanism's own datasets have changed"
    if any(kind in json.dumps(before.record()) for kind in ('"linear"', '"trees"')):
        explained = True
        yield _FITTED
    if not explained:
        yield (
            "nothing that the evidence tells explains it: the mechanism keeps a state or draws from elsewhere, code "
            "that it calls has changed, or dpaudit has, within one version"
        )

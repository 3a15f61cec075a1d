"""How can a record be forged? By one change at a time: every value in it, and another value for its place."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dpaudit as dp
from dpaudit.evidence import evidence
from dpaudit.review.check import check

ROOT = Path(__file__).resolve().parents[2]
OLD = sorted((ROOT / "tests" / "evidence" / "old").glob("*.json"))
UNREVEALED = ROOT / "tests" / "evidence" / "UNREVEALED.md"

Place = tuple[str | int, ...]

OTHER_WORDS = [
    {"proved", "not violated", "violated", "inconclusive", "invalid", "no claim"},
    {"lower", "upper"},
    {"sampled", "exact", "proof"},
    {"epsilon", "mu", "rho"},
    {"real", "float"},
    {"guess", "joint", "two-sided joint", "none"},
    {"program", "sampler", "seeded", "opaque"},
    {"event", "gaussian"},
    {"report", "ignore", "verdict"},
    {"alignment", "induction", "enumeration"},
]


def leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the places of all values that contain no other values."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))
    elif value is not None:
        yield path


def kind_of(path: Place) -> str:
    """Return a place without its list indices."""
    return ".".join("*" if isinstance(part, int) else part for part in path)


def unrevealed() -> list[str]:
    """Return what, according to UNREVEALED.md, nothing reveals: the first column of its table."""
    _, _, rest = UNREVEALED.read_text(encoding="utf-8").partition("| members | why nothing reveals a change |")
    rows = [line.split("|")[1] for line in rest.split("\n\n")[0].splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def is_unrevealed(path: Place, patterns: list[str]) -> bool:
    """Whether a place is within one of these patterns."""
    parts = ["*" if isinstance(part, int) else part for part in path]
    for pattern in patterns:
        wanted = pattern.split(".")
        if len(wanted) <= len(parts) and all(a in ("*", b) for a, b in zip(wanted, parts, strict=False)):
            return True
    return False


def at(record: Any, path: Place) -> Any:
    for part in path:
        record = record[part]
    return record


def forged(record: Any, path: Place, value: Any) -> Any:
    """Return the record with another value at a place; everything off the path is shared with the original."""
    if not path:
        return value
    made = copy.copy(record)
    made[path[0]] = forged(record[path[0]], path[1:], value)
    return made


def another(value: Any, chance: random.Random) -> Any:
    """Return another value of the same kind: another digit, another word."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        for words in OTHER_WORDS:
            if value in words:
                return chance.choice(sorted(words - {value}))
        if not any(map(str.isdigit, value)):
            return value + "x"
    text = value if isinstance(value, str) else json.dumps(value)
    mantissa = re.search(r"e[+-]?\d+$", text)
    places = [
        place for place, letter in enumerate(text) if letter.isdigit() and not (mantissa and place >= mantissa.start())
    ]
    place = chance.choice(places)
    new = text[:place] + chance.choice([d for d in "0123456789" if d != text[place]]) + text[place + 1 :]
    if isinstance(value, str):
        return new
    try:
        return json.loads(new)
    except ValueError:  # a leading zero
        return json.loads("1" + new)


def noticed(record: Any) -> bool:
    """Whether a record with a matching new id is refused, or fails its check."""
    text = json.dumps({"id": evidence.content_id(record), "evidence": record, "run": None})
    try:
        return any(finding.fails for finding in check(dp.Evidence.from_json(text)))
    except dp.UsageError:
        return True

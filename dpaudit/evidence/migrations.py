"""How do old records keep their ids while newer records have more members?

Two permanent rules. *The id covers the record as it was written*: a reader never rewrites an old record. *A member that
was added later is left out while it has its default*: the same finding has the same record, whether or not dpaudit knew
the member at that time. So the version does not change while members are only added, with a default that states what
was true without them. It is raised when a member changes its meaning or is removed; then `_STEPS` says how to read a
record of the previous version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any

import msgspec

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
    found = dict(record)
    while found["version"] != VERSION:
        before = found["version"]
        found = {**_STEPS[before](found), "version": before + 1}
    return found


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

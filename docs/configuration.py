"""Which keys may a gate's configuration have? Tables for the site, from the JSON Schema that editors read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "dpaudit" / "gate" / "dpaudit.schema.json"
TITLES = {
    "GateSettings": "The whole gate: `[tool.dpaudit]`",
    "TargetSettings": "A target: `[[tool.dpaudit.targets]]`",
    "Accept": "A finding that may stay: `accept = {…}` of a target",
}


def tables() -> str:
    """Return a table of keys for each part of the configuration, as Markdown."""
    parts = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    return "\n\n".join(f"## {title}\n\n{_table(parts[name])}" for name, title in TITLES.items()) + "\n"


def _table(part: dict[str, Any]) -> str:
    needed = part.get("required", ())
    rows = ["| key | what | value |", "|---|---|---|"]
    for name, member in part["properties"].items():
        words = _first(member, "description").replace("|", "\\|").replace("\n", " ")
        default = member.get("default")
        told = "needed" if name in needed else "" if default in (None, {}, [], "") else f"`{json.dumps(default)}`"
        rows.append(f"| `{name}` | {words} | {told} |")
    return "\n".join(rows)


def _first(member: dict[str, Any], key: str) -> str:
    """What a member says of itself, or the first of its forms."""
    if key in member:
        return str(member[key])
    return next((str(form[key]) for form in member.get("anyOf", ()) if key in form), "")


def write() -> None:
    """Write the tables to where the page of the configuration includes them."""
    target = HERE / "generated" / "configuration.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(tables(), encoding="utf-8")

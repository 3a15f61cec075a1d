"""What does a plan file say? Releases and claims in TOML, read with errors that name the place.

    name = "Nightly training"
    unit = "one user"
    claims = ["epsilon=3.2, delta=1e-5"]

    [[release]]
    mechanism = "gaussian"
    sigma = "1.1"
    rate = 0.004
    steps = 14000

A number is the decimal that is written, as a number or as a text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit.accounts.plan import AccountPlan, Run, release
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.canonical_json import read_text

SUFFIX = ".toml"
"""By which a plan file is known."""

_KEYS = ("release", "claims", "delta", "epsilon", "tolerance", "relation", "name", "unit")
_TEXTS = ("relation", "name", "unit")
_LARGEST = 4_000_000  # characters


def is_plan_file(text: str) -> bool:
    """Whether a text names a plan file, and is no list of releases."""
    return text.endswith(SUFFIX)


def read_plan(path: str | Path) -> AccountPlan:
    """Read a plan file.

    Raises:
        UsageError: where it cannot be read, or says what cannot be run; with the place.
    """
    text = read_text(path, "the plan")
    name = Path(path).name
    if len(text) > _LARGEST:
        raise UsageError(f"{name} has {len(text):,} characters, and a plan at most {_LARGEST:,}")
    try:
        # a decimal stays the one that is written
        document = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is no TOML: {error}") from None
    return plan_in(document, name)


def plan_in(document: Mapping[str, Any], place: str) -> AccountPlan:
    """Return the plan that a table holds.

    Args:
        document: the table; its floats are texts, or are the decimals that they are written as.
        place: what it is called in errors.
    """
    for key in document:
        if key not in _KEYS:
            raise UsageError(f"{place}: there is no key {key!r:.60}; {nearest(key, _KEYS)}")
    listed = document.get("release")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{place}: a plan lists at least one [[release]], such as\n{_EXAMPLE}")
    for key in _TEXTS:
        if not isinstance(document.get(key, ""), str):
            raise UsageError(f"{place}, {key}: it is a text, not {document[key]!r:.60}")
    claims = document.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise UsageError(f'{place}, claims: they are a list of texts, such as ["epsilon=3, delta=1e-5"]')
    return AccountPlan(
        tuple(_run(item, f"{place}, release {number}") for number, item in enumerate(listed, 1)),
        tuple(claims),
        _number(document, "delta", place),
        _number(document, "epsilon", place),
        _tolerance(document, place),
        document.get("relation"),
        document.get("name", ""),
        document.get("unit", ""),
    )


_EXAMPLE = '[[release]]\nmechanism = "gaussian"\nsigma = "1.1"\nrate = 0.004\nsteps = 14000'


def _run(item: Any, place: str) -> Run:
    if not isinstance(item, dict):
        raise UsageError(f"{place}: it is a table, such as\n{_EXAMPLE}")
    given = {key: value for key, value in item.items() if key not in ("steps", "epochs", "name")}
    for key, value in item.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{place}, {key}: it is a number or a text, not {value!r:.60}")
    name = item.get("name", "")
    if not isinstance(name, str):
        raise UsageError(f"{place}, name: it is a text, not {name!r:.60}")
    try:
        return release(_decimals(given), item.get("steps"), name, epochs=item.get("epochs"))
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def _decimals(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with floats as the decimals that they are written as."""
    return {key: repr(value) if isinstance(value, float) else value for key, value in given.items()}


def _number(document: Mapping[str, Any], key: str, place: str) -> Any:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise UsageError(f"{place}, {key}: it is a number or a text, not {value!r:.60}")
    return repr(value) if isinstance(value, float) else value


def _tolerance(document: Mapping[str, Any], place: str) -> float | None:
    value = _number(document, "tolerance", place)
    try:
        return None if value is None else float(value)
    except ValueError:
        raise UsageError(f"{place}, tolerance: it is a number, not {value!r:.60}") from None


def settings_plan(settings: Any, folder: str | Path, place: str = "account") -> AccountPlan:
    """Return the plan that the settings of a gate describe.

    Args:
        settings: the name of a plan file; or a table, of a whole plan or of one release.
        folder: where a plan file is looked for.
        place: what the table is called in errors.

    Raises:
        UsageError: for what is no plan.
    """
    if isinstance(settings, str):
        return read_plan(Path(folder) / settings)
    if not isinstance(settings, dict):
        raise UsageError(f"{place}: it is the name of a plan file, or a table, not {settings!r:.60}")
    if "release" in settings:
        return plan_in(settings, place)
    own = {key: value for key, value in settings.items() if key in _OF_ONE}
    release_alone = {key: value for key, value in settings.items() if key not in _OF_ONE}
    return plan_in({**own, "release": [release_alone]}, place)


_OF_ONE = ("claims", "delta", "tolerance", "relation", "unit")

"""In which formats can a gate write its result? There is one entry each, from which the command line takes its options.

A new format is a module in this folder, an entry here, and its test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.gate.result import GateResult


@dataclass(frozen=True, slots=True)
class GateFormat:
    """One way to write the result of a gate."""

    draw: Callable[[GateResult, Path], str]  # (result, configuration file) → text
    help: str  # of its option


def _junit(result: GateResult, _: Path) -> str:
    from dpaudit.gate.junit import junit

    return junit(result)


def _sarif(result: GateResult, configuration: Path) -> str:
    from dpaudit.gate.sarif import sarif_text, seen_from_repository

    return sarif_text(result, configuration=seen_from_repository(configuration))


def _markdown(result: GateResult, _: Path) -> str:
    from dpaudit.gate.markdown import markdown

    return markdown(result)


def _json(result: GateResult, _: Path) -> str:
    from dpaudit.gate.as_json import gate_json

    return gate_json(result)


FORMATS: dict[str, GateFormat] = {
    "junit": GateFormat(_junit, "Write JUnit XML"),
    "sarif": GateFormat(_sarif, "Write SARIF 2.1.0"),
    "markdown": GateFormat(_markdown, "Write a summary"),
    "json": GateFormat(_json, "Write what other programs read"),
}

"""In which formats can a gate write its result? There is one entry each, from which the command line takes its options.

A new format is an entry here, a function in `drawn`, and its test. What draws is loaded when it is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.gate.result import GateResult

FORMATS = {
    "junit": "Write JUnit XML",
    "sarif": "Write SARIF 2.1.0",
    "markdown": "Write a summary",
    "json": "Write what other programs read",
}
"""The help of its option, by the name of a format."""


def written(name: str, result: GateResult, configuration: Path) -> str:
    """Return the result of a gate in a format, as text."""
    from dpaudit.gate import drawn

    if name == "sarif":
        return drawn.sarif_text(result, configuration=drawn.seen_from_repository(configuration))
    return {"junit": drawn.junit, "markdown": drawn.markdown, "json": drawn.gate_json}[name](result)

"""What is a case of the museum, and where are the cases?

A case is a module ``cases/KIND/NAME.py``. Its docstring says what went wrong, and how the true loss is known. It holds

- ``SOURCES``: where it was reported, as ``owner/repository#number``.
- ``REPORTED``: the month of the first report, or the year.
- ``COMMAND``: what a user types; ``{}`` stands for the target.
- ``DATA`` (text of ``people.csv``) or ``PAIR`` (two datasets, ``pair.json``), where the command names them.
- ``LOSS``: the true loss of each side, in the parameter of the claim (at its δ); a side is left out if it is not known.
- ``MISSED``: why an answer is not right, where it is not.
- ``NAMED``: patterns that the answer to the wrong side must hold, in its text or in the lines of source that it names.
- its sides, functions or texts for ``dpaudit account``: ``wrong`` is to be VIOLATED; ``fixed``, and ``reported``, which
  was reported as a mistake and is none, are to keep the claim.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent / "cases"
KINDS = {
    "sensitivity": "Sensitivity",
    "clipping": "Clipping, and its order",
    "noise": "Scale and law of the noise",
    "thresholds": "Thresholds and δ",
    "budget": "Budget and composition",
    "accountants": "Accountants",
    "bounds": "Bounds and scales that are taken from the data",
    "missing": "Missing values",
    "local": "Local privacy",
    "seeds": "Seeds and keys",
    "persons": "Persons with several records",
    "distributed": "Noise of many parties",
    "floats": "Floating point",
    "training": "Training loops",
    "synthetic": "Synthetic data",
    "sql": "SQL and data frames",
}
SIDES = ("wrong", "reported", "fixed")


@dataclass(frozen=True)
class Case:
    """A reported mistake, in our own words.

    Attributes:
        path: of its module.
        kind: a key of `KINDS`.
        name: unique among all cases.
        title, story: the first line of the docstring, and the rest of it.
        sources: where it was reported.
        reported: when it was first reported, ``YYYY-MM`` or ``YYYY``.
        command: what a user types.
        files: text of every file that the command names.
        loss: the true loss of a side.
        named: patterns that name the cause.
        missed: why an answer is not right; empty where none is known.
        sides: target of a side, for the command.
    """

    path: Path
    kind: str
    name: str
    title: str
    story: str
    sources: tuple[str, ...]
    reported: str
    command: str
    files: dict[str, Any]
    loss: dict[str, float]
    named: tuple[str, ...]
    missed: str
    sides: dict[str, str]


def read(path: Path) -> Case:
    """Read the case of a module.

    Raises:
        ValueError: if it lacks what a case holds.
    """
    spec = importlib.util.spec_from_file_location(f"museum_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    held = vars(module)
    missing = {"SOURCES", "REPORTED", "COMMAND", "LOSS"} - held.keys()
    sides = {side: held[side] if isinstance(held[side], str) else f"{path}:{side}" for side in SIDES if side in held}
    if missing or not sides or not module.__doc__:
        raise ValueError(f"{path}: a case holds a docstring, SOURCES, REPORTED, COMMAND, LOSS and {', '.join(SIDES)}")
    if "wrong" in sides and not held.get("NAMED"):
        raise ValueError(f"{path}: NAMED says what the answer to a wrong side must name")
    title, _, story = module.__doc__.partition("\n")
    return Case(
        path=path,
        kind=path.parent.name,
        name=path.stem,
        title=title.strip(),
        story=" ".join(story.split()),
        sources=tuple(held["SOURCES"]),
        reported=held["REPORTED"],
        command=held["COMMAND"],
        files={"people.csv": held.get("DATA"), "pair.json": held.get("PAIR")},
        loss=held["LOSS"],
        named=tuple(held.get("NAMED", ())),
        missed=held.get("MISSED", ""),
        sides=sides,
    )


def cases(*names: str) -> Iterator[Case]:
    """All cases in the order of `KINDS`, or those of which a name or kind is among ``names``."""
    for kind in KINDS:
        for path in sorted((CASES / kind).glob("*.py")):
            if not names or kind in names or path.stem in names:
                yield read(path)

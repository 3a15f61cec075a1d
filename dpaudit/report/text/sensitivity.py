"""How far was the mechanism's query moved, in words? A finding beside the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Moved
from dpaudit.privacy.claims import number_text
from dpaudit.report.text.numerals import count_text


@dataclass(frozen=True, slots=True)
class SensitivityPart:
    """What the page shows of the query's sensitivity."""

    exceeded: bool  # whether it is a counterexample to the declared sensitivity
    sentences: list[str]  # what was found, and what it means
    rows: list[tuple[str, str]]  # (name, text) of everything else


def sensitivity_part(evidence: Evidence) -> SensitivityPart | None:
    """Return what was found about the query; None if the mechanism exposes none."""
    moved = evidence.sensitivity
    if moved is None:
        return None
    rows = [
        ("Declared", "none" if moved.claimed is None else f"{number_text(moved.claimed)}, for one neighbouring step"),
        ("Distance", _NORMS[moved.norm]),
        ("Farthest movement", _distance(moved)),
        ("By", moved.change),
        *_finite(moved),
        ("Datasets", f"SHA-256 {moved.digests[0]} and {moved.digests[1]}"),
        ("Tried", _tried(moved)),
    ]
    if moved.room:
        rows.append(("Room for rounding", f"{moved.room:.2g}: floats that differ by no more are no counterexample"))
    rows += [("No number", text) for text in moved.troubles]
    return SensitivityPart(moved.exceeded, [*_found(moved), _means(moved)], rows)


def sensitivity_line(evidence: Evidence) -> str | None:
    """Say in one line what was found about the query; None if the mechanism exposes none."""
    moved = evidence.sensitivity
    if moved is None:
        return None
    if moved.exceeded:
        return f"COUNTEREXAMPLE: the query moves by {_distance(moved)}, declared is {_declared(moved)} ({moved.change})"
    if moved.claimed is None:
        return f"the query moves by {_distance(moved)} ({moved.change}); none is declared"
    return f"declared {_declared(moved)}; at most {_distance(moved)} found on {_tried(moved)}"


_NORMS = {
    "1": "the sum of how far all its numbers move (norm 1)",
    "2": "the Euclidean distance (norm 2)",
    "inf": "how far the number moves that moves most (norm inf)",
}


def _finite(moved: Moved) -> list[tuple[str, str]]:
    if moved.finite is None or not math.isinf(moved.largest):
        return []
    return [("Where it gives numbers", f"{number_text(moved.finite)}, by: {moved.finite_change}")]


def _declared(moved: Moved) -> str:
    return "none" if moved.claimed is None else number_text(moved.claimed)


def _distance(moved: Moved) -> str:
    return "any distance" if math.isinf(moved.largest) else number_text(moved.largest)


def _tried(moved: Moved) -> str:
    text = f"{count_text(moved.tried)} pair{'' if moved.tried == 1 else 's'} of neighbours"
    return f"{text}; on {count_text(moved.silent)} both datasets gave no number" if moved.silent else text


def _found(moved: Moved) -> list[str]:
    if math.isinf(moved.largest) and moved.troubles:
        return ["On one dataset of some pairs the query answers with no number, which is infinitely far from any."]
    return [f"One neighbour moves the query by {_distance(moved)}."]


def _means(moved: Moved) -> str:
    if moved.claimed is None:
        return "No sensitivity is declared that this could be held against."
    if moved.exceeded:
        return (
            f"Its declared sensitivity is {_declared(moved)}: this is a counterexample, computed without any noise, "
            "and certain. Noise that is scaled to what is declared is too small there. The verdict is about the claim "
            "alone, and rests on runs."
        )
    return (
        f"Its declared sensitivity is {_declared(moved)}, and no counterexample was found. That proves nothing: other "
        "data, or other neighbours, may move it farther."
    )

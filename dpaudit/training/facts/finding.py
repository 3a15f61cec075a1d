"""What is said of one fact of a loop, and how surely?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["right", "wrong", "note", "not seen"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of one fact.

    Attributes:
        fact: which: "batches", "clipping", "noise", "repetition", "independence", "divisor", "steps", "parameters",
            "records", "numbers", "adaptive", "precision", "generator", "machines" or "altered".
        status: "right" where a mistake would have shown; "wrong"; "note" for what costs no privacy that was claimed;
            "not seen".
        name: in a word or two.
        text: a sentence that says nothing of any record, for evidence.
        detail: the numbers behind it, for whoever runs the loop; they may depend on records.
        error: the probability with which a right loop is called wrong here; 0.0 where it cannot be.
    """

    fact: str
    status: Status
    name: str
    text: str
    detail: str = ""
    error: float = 0.0

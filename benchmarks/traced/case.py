"""What is traced of a package: a use of it, on one pair of neighbours, and whether it is known to be a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One use of a package as it is.

    Attributes:
        name: what is called, and how.
        release: from a dataset to what is published.
        pair: two neighbouring datasets.
        claim: what the package says.
        mistake: in words, where the claim is known not to hold; empty for a use that keeps it.
        relation: of the pair.
    """

    name: str
    release: Callable[..., Any]
    pair: tuple[Any, Any]
    claim: str = "epsilon=1"
    mistake: str = ""
    relation: str = "replace"

"""What if one person adds several records? The unit of privacy is the person, not the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from .domain import positive, whole


def person_relation(most: int) -> str:
    """Return the relation of one person more or less, who stands for up to ``most`` records."""
    return f"add-remove(group={whole('most', most, least=1)})"


def person_pairs(most: int) -> list[tuple[list[str], list[str]]]:
    """Return a suggestion box without and with all suggestions of one person."""
    others = ["Ben", "Ben", "Cem"]
    return [(others, others + ["Ada"] * whole("most", most, least=1))]


@mechanism(
    claim=PureDP,
    relation=person_relation,
    pairs=person_pairs,
    true_loss=lambda epsilon: epsilon,
    unit="one person, who adds up to `most` records",
    source="Dwork & Roth (2014), Theorem 3.6 at sensitivity `most`, and section 2.3 (granularity of privacy)",
    family="contributions",
)
def suggestions(data: Sequence[Any], noise: Noise, *, epsilon: float = 1, most: int = 5) -> Any:
    """Count the suggestions in a box, of which one person may add up to ``most``, for that person's privacy.

    The noise is Laplace of scale most/epsilon: a person moves the total by at most ``most``.

    The true loss is epsilon, reached by a person who adds as many as allowed.
    """
    return len(data) + noise.laplace(whole("most", most, least=1) / positive("epsilon", epsilon))

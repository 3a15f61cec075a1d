"""What happens when the unit of privacy is a person, and the noise is made for a record?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from ..contributions import person_pairs, person_relation
from ..domain import positive, whole


@mechanism(
    claim=PureDP,
    relation=person_relation,
    pairs=person_pairs,
    true_loss=lambda epsilon, most: most * epsilon,
    unit="one person, who adds up to `most` records",
    source="Dwork & Roth (2014), Theorem 2.2 (groups) and section 2.3 on the granularity of privacy",
    family="contributions",
    correct=False,
)
def suggestions_per_record(data: Sequence[Any], noise: Noise, *, epsilon: float = 1, most: int = 5) -> Any:
    """Count the suggestions in a box as if every one came from another person.

    What is wrong: the noise is Laplace of scale 1/epsilon, right for one record, and one person adds up to
    ``most``.

    The true loss is most·epsilon, five times the claim at the default: the totals lie ``most`` apart.
    """
    whole("most", most, least=1)
    return len(data) + noise.laplace(1 / positive("epsilon", epsilon))

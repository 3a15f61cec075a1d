"""What protects nobody although it looks careful? Releases without randomness.

Every output is a constant of its dataset. Two neighbours whose outputs differ are told apart with certainty:
no finite ε holds, whatever is claimed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dpaudit import PureDP, mechanism
from dpaudit.program.noise import Noise

from ..domain import positive, whole
from ..losses import of_constants

CROWD = ([1, 0, 1, 1], [1, 0, 1, 1, 1])


def truly(data: Sequence[Any]) -> int:
    """Return how many records are true."""
    return sum(1 for record in data if record)


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=[CROWD],
    true_loss=lambda: of_constants(*map(truly, CROWD)),
    unit="one record",
    source="Dwork & Roth (2014), section 1.1, on differencing attacks",
    family="no privacy",
    correct=False,
)
def exact_count(data: Sequence[Any], noise: Noise, *, epsilon: float = 1) -> int:
    """Count the records that are true, without noise.

    What is wrong: one record more makes the count one larger, and whoever knows all other records reads it
    off.

    The true loss is ∞: both outputs are constants, and they differ.
    """
    positive("epsilon", epsilon)
    return truly(data)


def allowed_count(data: Sequence[Any], minimum: int) -> int | None:
    """Return the count if it is not too small, None otherwise."""
    found = truly(data)
    return found if found >= whole("minimum", minimum, least=1) else None


def tracker_pairs(minimum: int) -> list[tuple[list[int], list[int]]]:
    """Return two crowds that are both large enough and differ by one person."""
    return [([1] * minimum, [1] * (minimum + 1))]


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=tracker_pairs,
    true_loss=lambda minimum: of_constants(*(allowed_count(data, minimum) for data in tracker_pairs(minimum)[0])),
    unit="one record",
    source="Denning, Denning & Schwartz (1979), the tracker",
    family="no privacy",
    correct=False,
)
def count_with_minimum_set_size(
    data: Sequence[Any], noise: Noise, *, epsilon: float = 1, minimum: int = 5
) -> int | None:
    """Count the records that are true, and refuse to answer (None) if they are fewer than ``minimum``.

    What is wrong: two crowds that are both large enough may differ by one person, and so do their counts.
    Asking for both is the tracker attack; it takes two allowed queries.

    The true loss is ∞: both outputs are constants, and they differ.
    """
    positive("epsilon", epsilon)
    return allowed_count(data, minimum)


Row = tuple[int, int, str]


def generalised(data: Sequence[tuple[int, str]], k: int) -> list[Row]:
    """Return rows (youngest, oldest, diagnosis), in the narrowest age groups that k people share.

    The width doubles until every group that is not empty has k people; with fewer than k in all, nothing is
    released.
    """
    if len(data) < whole("k", k, least=1):
        return []
    width, youngest = 1, min(age for age, _ in data)
    while True:
        groups: defaultdict[int, list[str]] = defaultdict(list)
        for age, diagnosis in data:
            groups[(age - youngest) // width].append(diagnosis)
        if all(len(group) >= k for group in groups.values()):
            break
        width *= 2
    return sorted(
        (youngest + number * width, youngest + number * width + width - 1, diagnosis)
        for number, group in groups.items()
        for diagnosis in group
    )


def crowd_pairs(k: int) -> list[tuple[list[tuple[int, str]], list[tuple[int, str]]]]:
    """Return k patients in their forties, and one more."""
    others = [(40 + place % 8, "flu") for place in range(k)]
    return [(others, [*others, (44, "cancer")])]


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=crowd_pairs,
    true_loss=lambda k: of_constants(*(generalised(data, k) for data in crowd_pairs(k)[0])),
    unit="one patient",
    source="Sweeney (2002), k-anonymity",
    family="no privacy",
    correct=False,
)
def k_anonymous_release(data: Sequence[tuple[int, str]], noise: Noise, *, epsilon: float = 1, k: int = 5) -> list[Row]:
    """Release every patient's diagnosis with an age group that at least k patients share.

    What is wrong: k-anonymity is a property of the released table, not of the way it is made. The rare
    diagnosis stands there in plain sight, and whoever knows the other patients knows whose it is.

    The true loss is ∞: both tables are constants, and they differ.
    """
    positive("epsilon", epsilon)
    return generalised(data, k)

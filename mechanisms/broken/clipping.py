"""What happens between a record and the sum? Bounds that are read off the data, forgotten, or overrun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit import PureDP, UsageError, mechanism
from dpaudit.program.noise import Noise

from ..domain import clip, positive, whole
from ..losses import of_laplace
from .calibration import of_two_scales

OUTLIER = ([0, 1, 0, 1], [0, 1, 0, 100])


def mean_and_width(data: Sequence[float]) -> tuple[float, float]:
    """Return the mean of the records, and the width of the range that they lie in."""
    return sum(data) / len(data), max(data) - min(data)


def data_bounds_loss(epsilon: float) -> float:
    """Return the loss of the two laws, each with the scale that its own data suggest."""
    (mean0, width0), (mean1, width1) = map(mean_and_width, OUTLIER)
    return of_two_scales(mean0, width0 / (4 * epsilon), mean1, width1 / (4 * epsilon))


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=[OUTLIER],
    true_loss=data_bounds_loss,
    unit="one record",
    source="Nissim, Raskhodnikova & Smith (2007), section 2.1: noise in proportion to what the data at hand "
    "show is itself a release; the default of several libraries where no bounds are given",
    family="queries",
    correct=False,
)
def data_bounds_mean(data: Sequence[float], noise: Noise, *, epsilon: float = 1) -> Any:
    """Average n records, with Laplace noise of scale (largest − smallest)/(n·epsilon), n public.

    What is wrong: the bounds are the smallest and the largest record of the data themselves. Nothing is ever
    clipped, and an outlier sets the scale of the noise: whoever sees a release far away knows that there is
    one. Where all records agree, there is no noise at all.

    The true loss is ∞: the two laws have different scales, so that their tails part.
    """
    if not len(data):
        raise UsageError("data_bounds_mean needs at least one record: the mean of none is not defined")
    positive("epsilon", epsilon)
    mean, width = mean_and_width(data)
    return mean + noise.laplace(width / (len(data) * epsilon)) if width else mean


RICH = ([2, 3], [2, 3, 1000])


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=[RICH],
    true_loss=lambda epsilon, most: of_laplace([sum(RICH[0])], [sum(RICH[1])], most / epsilon),
    unit="one record",
    source="Dwork, McSherry, Nissim & Smith (2006), Proposition 1: noise is for the sensitivity of what is released",
    family="queries",
    correct=False,
)
def clip_then_forget(data: Sequence[float], noise: Noise, *, epsilon: float = 1, most: float = 5) -> Any:
    """Clip the records to [0, most], sum, and add Laplace noise of scale most/epsilon.

    What is wrong: what is clipped is a copy, the variable of the loop, and the sum is that of the originals.
    Data that lie within the bounds do not show it.

    The true loss is epsilon·outlier/most, 200 times the claim for the record of 1000 here, and has no limit
    over all data.
    """
    scale = positive("most", most) / positive("epsilon", epsilon)
    for record in data:
        record = clip(record, 0, most)
    return sum(data) + noise.laplace(scale)


def wrapped_sum(data: Sequence[int], most: int) -> int:
    """Return the sum of the records, each clipped to [0, most], as a 32-bit integer holds it."""
    clipped = np.array([clip(record, 0, most) for record in data], dtype=np.int32)
    return int(np.sum(clipped, dtype=np.int32))


def brimful_pairs(most: int) -> list[tuple[list[int], list[int]]]:
    """Return as many records as 32 bits can just hold the sum of, and one more."""
    full = [most] * ((2**31 - 1) // limit(most))
    return [(full, [*full, most])]


def limit(most: int) -> int:
    """Return the upper bound of a record, if it is a 32-bit integer itself."""
    if whole("most", most, least=1) >= 2**31:
        raise UsageError(f"most must be below 2^31, not {most!r}: the records are 32-bit integers")
    return int(most)


def overflow_loss(epsilon: float, most: int) -> float:
    """Return the distance of the two wrapped sums over the scale of the noise."""
    data0, data1 = brimful_pairs(most)[0]
    return of_laplace([wrapped_sum(data0, most)], [wrapped_sum(data1, most)], most / epsilon)


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=brimful_pairs,
    true_loss=overflow_loss,
    unit="one record",
    source="Casacuberta, Shoemate, Vadhan & Wagaman (2022), section 5.1: overflow in bounded integers",
    family="queries",
    correct=False,
)
def int_overflow_sum(data: Sequence[int], noise: Noise, *, epsilon: float = 1, most: int = 100_000_000) -> Any:
    """Sum records clipped to [0, most] in 32-bit integers, then add Laplace noise of scale most/epsilon.

    What is wrong: the sensitivity of a sum of integers is most; that of a sum that wraps around at 2^31 is
    not. A record that takes the sum over the edge moves it by 2^32 − most, down to the most negative numbers.

    The true loss is epsilon·(2^32 − most)/most, about 42 times the claim at the default, and the more the
    smaller most is.
    """
    scale = limit(most) / positive("epsilon", epsilon)
    return wrapped_sum(data, most) + noise.laplace(scale)

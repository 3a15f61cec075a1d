"""What can be asked of a table of records: how many, how much, how much on average, how often each?

``data`` is a list of records. How far one record moves the answer depends on the relation: under "add-remove"
it appears or disappears, under "replace" it becomes another one and the number of records stays public.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit import PureDP, UsageError, mechanism
from dpaudit.program.noise import Noise

from .domain import bounds, clip, one_of, positive
from .losses import below_laplace

RELATIONS = ("add-remove", "replace")


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=[([1, 0, 1], [1, 0, 1, 1])],
    true_loss=lambda epsilon: epsilon,
    law=lambda data, epsilon: below_laplace(sum(1 for record in data if record), 1 / epsilon),
    unit="one record",
    source="Dwork & Roth (2014), Example 3.1",
    family="queries",
)
def count(data: Sequence[Any], noise: Noise, *, epsilon: float = 1) -> Any:
    """Count the records that are true, with Laplace noise of scale 1/epsilon.

    One record more or less moves the count by at most 1 (and so does one record replaced).

    The true loss is epsilon: the two counts differ by exactly 1.
    """
    return sum(1 for record in data if record) + noise.laplace(1 / positive("epsilon", epsilon))


def sum_sensitivity(low: float, high: float, relation: str) -> float:
    """Return how far a record moves a sum: max(|low|, |high|) under add-remove, high − low under replace."""
    bounds(low, high)
    one_of("relation", relation, RELATIONS)
    return max(abs(low), abs(high)) if relation == "add-remove" else high - low


def sum_pairs(low: float, high: float, relation: str) -> list[tuple[list[float], list[float]]]:
    """Return the pair whose sums lie as far apart as can be."""
    sum_sensitivity(low, high, relation)
    if relation == "add-remove":
        return [([low, high], [low, high, max(low, high, key=abs)])]
    return [([low, high, low], [low, high, high])]


@mechanism(
    claim=PureDP,
    relation=lambda relation: relation,
    pairs=sum_pairs,
    true_loss=lambda epsilon: epsilon,
    unit="one record",
    source="Dwork, McSherry, Nissim & Smith (2006), Proposition 1, with the sensitivity of a clipped sum",
    family="queries",
)
def bounded_sum(
    data: Sequence[float],
    noise: Noise,
    *,
    epsilon: float = 1,
    low: float = -1,
    high: float = 1,
    relation: str = "add-remove",
) -> Any:
    """Sum the records, each clipped to [low, high], with Laplace noise of scale sensitivity/epsilon.

    The sensitivity is max(|low|, |high|) under add-remove and high − low under replace. Without finite bounds
    there is none, and the sum is refused.

    The true loss is epsilon: the sums of the pair differ by exactly the sensitivity.
    """
    scale = sum_sensitivity(low, high, relation) / positive("epsilon", epsilon)
    return sum(clip(record, low, high) for record in data) + noise.laplace(scale)


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=lambda low, high: [([low, high, low], [low, high, high])],
    true_loss=lambda epsilon: epsilon,
    unit="one record",
    source="Dwork, McSherry, Nissim & Smith (2006), Proposition 1, with the sensitivity of a clipped mean",
    family="queries",
)
def bounded_mean(data: Sequence[float], noise: Noise, *, epsilon: float = 1, low: float = -1, high: float = 1) -> Any:
    """Average n records, each clipped to [low, high], with Laplace noise of scale (high − low)/(n·epsilon).

    The number of records n is public, so that neighbours have the same n: the relation is replace, and can be
    no other. Under add-remove the scale itself would tell n; there, use noisy_average.

    The true loss is epsilon: one record at low becomes one at high, and the means differ by (high − low)/n.
    """
    bounds(low, high)
    positive("epsilon", epsilon)
    if not len(data):
        raise UsageError("bounded_mean needs at least one record: the mean of none is not defined")
    total = sum(clip(record, low, high) for record in data)
    return total / len(data) + noise.laplace((high - low) / (len(data) * epsilon))


Floats = np.ndarray[Any, np.dtype[np.float64]]


def _exponential_moments(x: Floats) -> tuple[Floats, Floats]:
    """Return ∫₀¹ e^(xv) dv and ∫₀¹ v·e^(xv) dv for x ≤ 0, by their series near 0."""
    near = np.abs(x) < 1e-3
    y = np.where(near, 1.0, x)
    first = np.where(near, 1 + x / 2 + x**2 / 6 + x**3 / 24, np.expm1(y) / y)
    second = np.where(near, 1 / 2 + x / 3 + x**2 / 8 + x**3 / 30, (np.exp(y) * (y - 1) + 1) / y**2)
    return first, second


def ratio_density(r: Floats, total: float, n: float, total_scale: float, n_scale: float) -> Floats:
    """Return the density at ``r`` of (total + Laplace(total_scale)) / (n + Laplace(n_scale)).

    It is ∫ |t|·g(t)·h(r·t) dt over the noisy count t, with Laplace densities g at n and h at total. Between
    its corners 0, n and total/r the integrand is a linear function times an exponential, integrated in closed
    form.
    """
    far = 200 * n_scale
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.clip(np.nan_to_num(total / r), -far, n + far)
    ends = np.broadcast_arrays(-far, 0.0, n, crossing, n + far)
    corners = np.sort(np.stack(ends), axis=0)
    density = np.zeros_like(r)
    for start, end in pairwise(corners):
        middle, width = (start + end) / 2, end - start
        slope = -np.sign(middle - n) / n_scale - r * np.sign(r * middle - total) / total_scale
        # integrate from the higher end, so that the exponential only falls
        origin, direction = np.where(slope > 0, end, start), np.where(slope > 0, -1.0, 1.0)
        height = np.exp(-np.abs(origin - n) / n_scale - np.abs(r * origin - total) / total_scale)
        first, second = _exponential_moments(-np.abs(slope) * width)
        density += height * np.abs(origin * width * first + direction * width**2 * second)
    return np.asarray(density / (4 * total_scale * n_scale))


def average_pairs(low: float, high: float) -> list[tuple[list[float], list[float]]]:
    """Return two records at one end, and the same with a third at the other end, the one farther from 0."""
    bounds(low, high)
    here, there = (low, high) if abs(high) >= abs(low) else (high, low)
    return [([here, here], [here, here, there])]


def average_loss(epsilon: float, low: float, high: float) -> float:
    """Return the largest |ln(p/q)| of the two densities of the noisy average, on a grid that is refined."""
    (data0, data1), *_ = average_pairs(low, high)
    reach = max(abs(low), abs(high))
    scales = (2 * reach / epsilon, 2 / epsilon)

    def loss(r: Floats) -> Floats:
        densities = [ratio_density(r, sum(data), len(data), *scales) for data in (data0, data1)]
        return np.abs(np.log(densities[0] / densities[1]))

    angles = np.linspace(-np.pi / 2, np.pi / 2, 4003)[1:-1]
    best = angles[int(np.argmax(loss(reach * np.tan(angles))))]
    step = angles[1] - angles[0]
    near = np.clip(np.linspace(best - step, best + step, 4001), angles[0], angles[-1])
    return float(np.max(loss(reach * np.tan(near))))


@mechanism(
    claim=PureDP,
    relation="add-remove",
    pairs=average_pairs,
    true_loss=average_loss,
    unit="one record",
    source="Dwork & Roth (2014), Theorem 3.14 (composition) and Proposition 2.1 (post-processing)",
    family="queries",
)
def noisy_average(data: Sequence[float], noise: Noise, *, epsilon: float = 1, low: float = -1, high: float = 1) -> Any:
    """Divide a noisy sum by a noisy count, each released at epsilon/2.

    The records are clipped to [low, high]; noise of scale 2·max(|low|, |high|)/epsilon goes to their sum, of
    scale 2/epsilon to their count. Sum and count together are epsilon-DP, and dividing them is
    post-processing.

    The true loss is computed from the two densities of the ratio. It is below epsilon, because the quotient
    hides which of its two parts moved; it comes closer to epsilon for larger datasets, at ever rarer outputs.
    """
    bounds(low, high)
    half = positive("epsilon", epsilon) / 2
    reach = max(abs(low), abs(high))
    noisy_sum = sum(clip(record, low, high) for record in data) + noise.laplace(reach / half)
    noisy_count = len(data) + noise.laplace(1 / half)
    return noisy_sum / noisy_count


EYES = ("blue", "brown", "green")


def counts(data: Sequence[Any], bins: Sequence[Any]) -> list[int]:
    """Return how many records lie in each bin; a record in none of them counts nowhere."""
    found = dict.fromkeys(bins, 0)
    for record in data:
        if record in found:
            found[record] += 1
    return list(found.values())


def histogram_scale(epsilon: float, bins: Sequence[Any], relation: str) -> float:
    """Return sensitivity/epsilon: a record appears in one bin, or leaves one bin for another."""
    if len(bins) == 0 or len(set(bins)) < len(bins):
        raise UsageError(f"bins must be at least one category, each named once, not {bins!r}")
    one_of("relation", relation, RELATIONS)
    return (1 if relation == "add-remove" else 2) / positive("epsilon", epsilon)


def histogram_pairs(bins: Sequence[Any], relation: str) -> list[tuple[list[Any], list[Any]]]:
    """Return a record more in the first bin; or one that moves from the last bin to the first."""
    if relation == "add-remove":
        return [(list(bins), [*bins, bins[0]])]
    return [([*bins, bins[-1] if len(bins) > 1 else None], [*bins, bins[0]])]


def histogram_loss(epsilon: float, bins: Sequence[Any], relation: str) -> float:
    """Return the distance of the counts in the norm 1 over the scale of their noise."""
    (data0, data1), *_ = histogram_pairs(bins, relation)
    sides = zip(counts(data0, bins), counts(data1, bins), strict=True)
    moved: int = sum(abs(before - after) for before, after in sides)
    return moved / histogram_scale(epsilon, bins, relation)


@mechanism(
    claim=PureDP,
    relation=lambda relation: relation,
    pairs=histogram_pairs,
    true_loss=histogram_loss,
    unit="one record",
    source="Dwork & Roth (2014), Example 3.2",
    family="queries",
)
def histogram(
    data: Sequence[Any],
    noise: Noise,
    *,
    epsilon: float = 1,
    bins: Sequence[Any] = EYES,
    relation: str = "add-remove",
) -> dict[Any, Any]:
    """Count the records in each of the given bins, with Laplace noise of scale sensitivity/epsilon each.

    The bins are public and fixed beforehand. A record lies in one bin, so that the counts have sensitivity 1
    under add-remove; under replace one count falls and another rises, and it is 2.

    The true loss is epsilon: the counts move by the whole sensitivity.
    """
    scale = histogram_scale(epsilon, bins, relation)
    return {name: n + noise.laplace(scale) for name, n in zip(bins, counts(data, bins), strict=True)}

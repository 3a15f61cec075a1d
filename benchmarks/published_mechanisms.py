"""Which mechanisms, on which pairs, does the published benchmark of black-box auditors have?

The twenty mechanisms of Bichsel, Steffen, Bogunovic & Vechev (2021, "DP-Sniper: black-box discovery of differential
privacy violations using classifiers"), section VI, as functions that draw many outputs at once, and the list of pairs
that are tried there, which is that of Ding, Wang, Wang, Zhang & Kifer (2018). Numbers in an output that say something
else ("below", "stopped") are those of the publication; only its auditor is told which these are (``flags``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mechanisms import losses
from mechanisms.sparse_vector import above_or_below, numeric_ways

EPSILON = 0.1
Data = list[float]
Array = np.ndarray[Any, np.dtype[Any]]
Sample = Callable[[Data, int, np.random.Generator], Array]
_BELOW, _STOPPED = -1000.0, -2000.0


@dataclass(frozen=True)
class Published:
    """A mechanism of the benchmark.

    Attributes:
        title: its name here; ``published``: its name there.
        sample: draws outputs, of shape (runs,) or (runs, columns).
        dimension: the length of its data; ``every``: whether all numbers may move at once, or one.
        low, high: the range of the data.
        flags: numbers of the output that the published auditor is told to be no quantities.
        theirs: the bounds that are published, by its two classifiers; made of `their_runs`.
        loss: the true loss of a pair, or None if it is not known; or one for the whole list.
    """

    title: str
    published: str
    sample: Sample
    theirs: tuple[float, float]
    dimension: int = 1
    every: bool = False
    low: float = -10
    high: float = 10
    flags: tuple[float, ...] = ()
    loss: float | Callable[[Data, Data], float] | None = None

    @property
    def pairs(self) -> list[tuple[Data, Data]]:
        """The list of pairs, without those that differ in the order of their sides only."""
        return [(self._clipped(a), self._clipped(b)) for a, b in listed(self.dimension, every=self.every)]

    @property
    def worst_loss(self) -> float | None:
        """The largest loss on the list."""
        return max(self.loss(*pair) for pair in self.pairs) if callable(self.loss) else self.loss

    @property
    def their_runs(self) -> int:
        """The runs behind a published bound: for each order of each pair, and for the bound."""
        return 2 * len(self.pairs) * 5 * 10_700_000 + 2 * 200_000_000

    def _clipped(self, data: Data) -> Data:
        return [min(max(value, self.low), self.high) for value in data]


def listed(length: int, *, every: bool) -> list[tuple[Data, Data]]:
    """Return the pairs that are tried on data of a length, where one number moves, or every number may."""
    half, rest = length // 2, length - length // 2
    ones = [1.0] * length
    pairs = [(ones, [0.0, *ones[1:]]), (ones, [2.0, *ones[1:]])]
    if every:
        pairs += [(ones, [2.0] + [0.0] * (length - 1)), (ones, [0.0] + [2.0] * (length - 1))]
        pairs += [(ones, [2.0] * half + [0.0] * rest), (ones, [2.0] * length), (ones, [0.0] * length)]
        pairs += [([1.0] * half + [0.0] * rest, [0.0] * half + [1.0] * rest)]
    return pairs


# --- what is drawn ----------------------------------------------------------------------------------------


def laplace(data: Data, size: int, rng: np.random.Generator, *, scale: float = 1 / EPSILON, copies: int = 0) -> Array:
    """Every number with Laplace noise; or one number several times."""
    if len(data) > 1 or copies:
        return np.resize(data, copies or len(data)) + rng.laplace(0, scale, (size, copies or len(data)))
    return rng.laplace(data[0], scale, size)


def truncated_geometric(data: Data, size: int, rng: np.random.Generator) -> Array:
    """A count between 0 and 5 (Balcer & Vadhan 2018, Algorithm 4.8)."""
    most, count = 5, int(data[0])
    power = 2 ** math.ceil(math.log(2 / EPSILON))
    whole = (2 * power + 1) * (power + 1) ** (most - 1)
    below = [power ** (count - z) * (power + 1) ** (most - count + z) for z in range(count)]
    above = [whole - power ** (z - count + 1) * (power + 1) ** (most - 1 - z + count) for z in range(count, most)]
    return np.searchsorted([*below, *above], rng.integers(1, whole, size, endpoint=True)).astype(float)


def prefix_sums(data: Data, size: int, rng: np.random.Generator) -> Array:
    """Sums of more and more numbers with Laplace noise."""
    return np.cumsum(laplace(data, size, rng), axis=1)


def noisy_max(data: Data, size: int, rng: np.random.Generator, *, noise: str, value: bool = False) -> Array:
    """The place, or the value, of the largest number with noise of scale 2/ε."""
    drawn = (rng.laplace if noise == "laplace" else _exponential(rng))(0, 2 / EPSILON, (size, len(data)))
    return (drawn + data).max(1) if value else (drawn + data).argmax(1).astype(float)


def _exponential(rng: np.random.Generator) -> Callable[[float, float, tuple[int, int]], Array]:
    return lambda _, scale, shape: rng.exponential(scale, shape)


def svt(
    data: Data,
    size: int,
    rng: np.random.Generator,
    *,
    threshold: float,
    level: float,
    answer: float,
    most: float,
    released: str = "above",
    fresh: float = 0,
) -> Array:
    """Sparse vector (Lyu, Su & Li 2017): 1 above, 0 below, −1 after ``most`` above; or values.

    Args:
        data: true answers.
        size: outputs to draw.
        rng: where noise comes from.
        threshold, most: what answers are compared with, and how many may be above.
        level, answer: the scales of the noise of the threshold and of the answers.
        released: "above" for 0 and 1, "value" for the noisy answer that was compared, "fresh" for one with new noise.
        fresh: the scale of that.
    """
    noisy = np.asarray(data) + (rng.laplace(0, answer, (size, len(data))) if answer else np.zeros((size, 1)))
    above = noisy >= threshold + rng.laplace(0, level, (size, 1))
    before = np.cumsum(above, axis=1) - above
    if released == "above":
        return np.where(before >= most, -1.0, above)
    if released == "value":
        return np.where(before >= most, _STOPPED, np.where(above, noisy, _BELOW))
    new = np.asarray(data) + rng.laplace(0, fresh, (size, len(data)))
    return np.where(before >= most, -1000.0, np.where(above, new, 0.0))


# The bits that the values 0, 1 and 2 set in a Bloom filter of 20 bits by MurmurHash3 with the seeds 0 to 3.
_BITS = {0.0: [0, 11, 18], 1.0: [3, 10, 13], 2.0: [7, 10, 11, 19]}


def rappor(data: Data, size: int, rng: np.random.Generator, *, f: float, p: float, q: float) -> Array:
    """A Bloom filter, randomised permanently and then for one report (Erlingsson, Pihur & Korolova 2014)."""
    chance = np.full(20, f / 2)
    chance[_BITS[data[0]]] = 1 - f / 2
    return (rng.random((size, 20)) < p + (q - p) * chance).astype(float)


def svt_both(data: Data, size: int, rng: np.random.Generator) -> Array:
    """Algorithms 3 and 4 side by side, with up to two answers above."""
    e = EPSILON
    third = svt(data, size, rng, threshold=1, level=2 / e, answer=4 / e, most=2, released="value")
    fourth = svt(data, size, rng, threshold=1, level=4 / e, answer=4 / (3 * e), most=2)
    return np.concatenate([third, fourth], axis=1)


# --- the list ---------------------------------------------------------------------------------------------


def _of_threshold(
    first: Data, second: Data, *, ways: Any, threshold: float, level: float, answer: float, most: float
) -> float:
    return losses.of_threshold(
        (first, second), ways(answer), threshold=threshold, scale=level, finest=answer, cutoff=most
    )


def _of_max(first: Data, second: Data, *, law: Callable[[Data, float], Any], scale: float) -> float:
    return losses.of_laws(law(first, scale), law(second, scale))


def _svt(
    title: str,
    published: str,
    theirs: tuple[float, float],
    *,
    threshold: float,
    level: float,
    answer: float,
    most: float = 1,
) -> Published:
    loss = partial(_of_threshold, ways=above_or_below, threshold=threshold, level=level, answer=answer, most=most)
    sample = partial(svt, threshold=threshold, level=level, answer=answer, most=most)
    flags = (-1.0,) if most < math.inf else ()
    return Published(title, published, sample, theirs, 10, every=True, flags=flags, loss=loss)


def benchmark() -> list[Published]:
    """Return the twenty mechanisms, with the bounds of the published reference results."""
    e, wide = EPSILON, {"dimension": 10, "every": True}
    five = {"dimension": 5, "every": True}
    laplace_max = partial(_of_max, law=losses.laplace_argmax_law, scale=2 / e)
    exponential_max = partial(_of_max, law=losses.permutation_law, scale=e / 2)
    numeric = partial(
        _of_threshold, ways=lambda scale: numeric_ways(scale, 6 / e), threshold=1, level=3 / e, answer=12 / e, most=2
    )
    third = partial(svt, threshold=1, level=2 / e, answer=2 / e, most=1, released="value")
    last = partial(svt, threshold=1, level=3 / e, answer=12 / e, most=2, released="fresh", fresh=6 / e)
    inverse = partial(laplace, scale=e)
    six, bits = math.log(0.525 / 0.475), math.log(0.5125 / 0.4875)
    return [
        Published("Laplace", "LaplaceMechanism", laplace, (0.0968, 0.0976), loss=e),
        Published(
            "truncated geometric",
            "TruncatedGeometricMechanism",
            truncated_geometric,
            (0.1155, 0.1156),
            low=0,
            high=5,
            loss=math.log(9 / 8),
        ),
        Published("noisy histogram", "NoisyHist1", laplace, (0.0977, 0.0978), 5, low=0, loss=e),
        Published("… scale inverted", "NoisyHist2", inverse, (4.601, 4.602), 5, low=0, loss=1 / e),
        Published(
            "noisy max, Laplace",
            "ReportNoisyMax1",
            partial(noisy_max, noise="laplace"),
            (0.0923, 0.0925),
            **five,
            loss=laplace_max,
        ),
        Published(
            "noisy max, exponential",
            "ReportNoisyMax2",
            partial(noisy_max, noise="exponential"),
            (0.0975, 0.0979),
            **five,
            loss=exponential_max,
        ),
        Published(
            "… the maximum's value, Laplace",
            "ReportNoisyMax3",
            partial(noisy_max, noise="laplace", value=True),
            (0.2478, 0.2488),
            **five,
            loss=5 * e / 2,
        ),
        Published(
            "… the maximum's value, exponential",
            "ReportNoisyMax4",
            partial(noisy_max, noise="exponential", value=True),
            (0.3463, 0.3534),
            **five,
            loss=math.inf,
        ),
        _svt("SVT 1", "SparseVectorTechnique1", (0.0858, 0.0858), threshold=0.5, level=2 / e, answer=4 / e),
        # with one answer above, a threshold that is drawn anew after it makes no difference
        _svt("SVT 2", "SparseVectorTechnique2", (0.0852, 0.0859), threshold=1, level=2 / e, answer=4 / e),
        Published(
            "SVT 3",
            "SparseVectorTechnique3",
            third,
            (0.1716, 0.1822),
            **wide,
            flags=(_BELOW, _STOPPED),
            loss=10 * e / 2,
        ),
        _svt("SVT 4", "SparseVectorTechnique4", (0.1687, 0.1696), threshold=1, level=4 / e, answer=4 / (3 * e)),
        Published(
            "SVT 5",
            "SparseVectorTechnique5",
            partial(svt, threshold=1, level=2 / e, answer=0, most=math.inf),
            (1.7610, 1.7612),
            **wide,
            loss=math.inf,
        ),
        _svt(
            "SVT 6",
            "SparseVectorTechnique6",
            (0.2698, 0.2720),
            threshold=1,
            level=2 / e,
            answer=2 / e,
            most=math.inf,
        ),
        Published("RAPPOR", "Rappor", partial(rappor, f=0.75, p=0.45, q=0.55), (0.2930, 0.3008), loss=6 * bits),
        Published(
            "one-time RAPPOR", "OneTimeRappor", partial(rappor, f=0.95, p=0, q=1), (0.5978, 0.5999), loss=6 * six
        ),
        Published(
            "20 Laplace at ε/20",
            "LaplaceParallel",
            partial(laplace, scale=200, copies=20),
            (0.0299, 0.0350),
            loss=e,
        ),
        Published(
            "SVT 3 and 4",
            "SVT34Parallel",
            svt_both,
            (0.2610, 0.2616),
            **wide,
            flags=(-1.0, _BELOW, _STOPPED),
        ),
        Published("prefix sum", "PrefixSum", prefix_sums, (0.5040, 0.5774), **wide, loss=10 * e),
        Published("numeric SVT", "NumericalSVT", last, (0.0343, 0.0345), **wide, loss=numeric),
    ]

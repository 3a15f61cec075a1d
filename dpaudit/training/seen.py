"""What was seen of a training run? Plain arrays, in memory alone: nothing of a record leaves it.

A *batch* is what the sampler drew, as records' indices. A *delivery* is a batch that reached the loop, which may train
on it, or not, or twice. An *update* is a step of the optimizer with noise, and holds rows of deliveries. A *replay*
compares a sum of gradients with that of clipped records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.training.canaries import Canaries

KEPT = 8192
"""Coordinates whose noise is kept in every update."""
MOST_KEPT = 2**23
"""Values of noise that are kept in all."""

Signature = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A batch that reached the loop."""

    rows: int  # records in it
    drawn: int | None = None  # which of the batches it is, in the order drawn; None where that is not known


@dataclass(frozen=True, slots=True)
class TakenRows:
    """Rows that an update holds."""

    # whose rows they are, where the tensors themselves showed it; None where only their number is known
    delivery: int | None
    rows: int  # how many; first: from which on
    first: int = 0


@dataclass(slots=True)
class Update:
    """One step with noise."""

    delivered: int = 0  # how many batches had reached the loop
    # the rows that were clipped since the update before; None where nothing of it was seen
    taken: tuple[TakenRows, ...] | None = None
    # sigma, clip: the noise multiplier that was accounted for, and the clip norm; None where neither is known
    sigma: float | None = None
    clip: float | None = None
    rate: float | None = None  # the sampling rate that was accounted for
    divisor: float | None = None  # of the noisy sum; None where it was not seen
    altered: float = 0.0  # how far gradients were changed after the noise, relative
    # noise over σ·C at the kept coordinates, (k,); None where none was seen or enough was kept
    kept: Signature | None = None
    values: int = 0  # how many coordinates got noise
    square: float | None = None  # the sum over these of (noise/σC)²; None where it was not seen

    @property
    def rows(self) -> int | None:
        """How many rows were clipped; None where this was not seen."""
        return None if self.taken is None else sum(each.rows for each in self.taken)


@dataclass(frozen=True, slots=True)
class GradientReplay:
    """A sum of gradients beside the sum of its clipped records."""

    deviation: float  # their distance, relative to the latter
    clipped: bool  # whether some record was above the clip norm, so that clipping showed
    # what the sum is instead, in words of `clipping.LOOKS`; empty where it is right or nothing is known
    looks: str = ""
    norm: float = float("nan")  # the clip norm that explains it, for "another norm"; else NaN
    largest: float = 0.0  # the largest contribution of a record, over the clip norm
    finite: bool = True  # whether all gradients were numbers
    slack: float = 1e-3  # the relative distance that rounding explains

    @property
    def fits(self) -> bool:
        """Whether the sum is that of its clipped records."""
        return self.finite and self.deviation <= self.slack


@dataclass(frozen=True, slots=True)
class Played:
    """What an update showed that was played again with half of its records replaced."""

    where: str = ""  # records are mixed; empty where they are not
    change: float = 0.0  # of what makes the gradients of the other records, relative
    blind: str = ""  # why nothing was seen; empty where something was


@dataclass(slots=True)
class Parameter:
    """A parameter, or other state of the model."""

    size: int  # coordinates
    trained: bool  # whether the optimizer holds it and it asks for gradients
    moved: bool = False  # whether it is another than at the start
    noised: int = 0  # in how many updates it got noise
    bare: int = 0  # in how many updates it had a gradient that certainly has no noise
    unknown: int = 0  # in how many it had one in which no noise was seen
    outside: int = 0  # how often it was another before a step than after the one before
    state: bool = False  # whether it is no parameter but state of a layer, such as a running mean


@dataclass
class TrainingRun:
    """Everything that a watcher recorded."""

    how: str  # the watcher, in words
    records: int | None = None  # in the training set; None where it has no length
    epoch: int | None = None  # batches in an epoch, as the loader says; None where it does not
    rate: float | None = None  # at which the loader says that it samples; None where it does not
    share: float | None = None  # of all records in a batch, where the loader states a size instead
    assumed: str = "poisson"  # the sampling that the claim's accounting assumes: "poisson", "fixed-size" or "shuffled"
    # record indices of each batch, in the order drawn; None where they cannot be seen
    batches: list[Integers] | None = None
    # which batches belong to each pass of the sampler, in the order drawn; empty where it has none
    passes: list[list[int]] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)  # the batches that reached the loop, in that order
    # updates, replays, parameters: see there
    updates: list[Update] = field(default_factory=list)
    replays: list[GradientReplay] = field(default_factory=list)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    # the sum over updates of (noise/σC)², (d,), and how often each coordinate got noise, (d,)
    squares: Floats = field(default_factory=lambda: np.zeros(0))
    counts: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    # which coordinates belong to which parameter: (name, start, stop)
    names: list[tuple[str, int, int]] = field(default_factory=list)
    # noise over σ·C at the same coordinates on several machines, (machines, k); None with one
    ranks: Floats | None = None
    # (noise multiplier, rate, steps) as an accountant recorded them; None without one
    accounted: list[tuple[float, float, int]] | None = None
    played: list[Played] = field(default_factory=list)  # what updates showed that were played again
    # what the training set, and what puts batches together, showed, by name; empty where none was asked
    asked: dict[str, Played] = field(default_factory=dict)
    alone: int = 0  # how many sums were those of their records, each given to the loop's own gradient function alone
    mixing: tuple[str, ...] = ()  # layers that compute across the records of a batch, by kind
    rounded: str = ""  # the type of gradients with fewer digits than float32; empty where there is none
    cast: str = ""  # the type that the forward pass is cast to; empty where it is not
    rounded_after: str = ""  # the type that noisy gradients were rounded to, after the noise; empty where they were not
    secure: bool | None = None  # whether the loop asks for a generator for cryptography; None where it says nothing
    readable: bool = True  # whether the state of its generator can be read, or it holds none
    # counts to which the clip norm adapts, after their noise; None where it adapts to none
    adapting: list[float] | None = None
    planned: int = 0  # noise multipliers of a public plan, one for each update; 0 without one
    # that train together, and devices: that hold parameters of this one; None where not known
    processes: int | None = None
    devices: int = 1
    partial: str = ""  # why not all of the loop was seen; empty where it was
    silent: dict[str, str] = field(default_factory=dict)  # why a fact could not be seen, by its name
    canaries: Canaries | None = None  # those of the loop; None without
    # of the optimizer's steps, which the loop changed between them by no schedule of the library
    options: set[str] = field(default_factory=set)
    followed: bool = False  # whether the rate of learning was computed from losses of the batches
    copies: int = 0  # records of the training set that stand in it more than once, certainly

    @property
    def sampled(self) -> float | None:
        """The rate that the claim takes for granted: as the loader states it, as it was accounted for, or a size."""
        if self.rate is not None:
            return self.rate
        return min((rate for _, rate, _ in self.accounted or ()), default=self.share)

    def each_update(self) -> tuple[Floats, Integers]:
        """Return the sum of (noise/σC)² of each update that has noise, and of how many values, (t,) each."""
        noisy = [each for each in self.updates if each.square is not None]
        squares = np.array([each.square for each in noisy], dtype=np.float64)
        return squares, np.array([each.values for each in noisy], dtype=np.int64)

    def kept(self) -> Floats:
        """Return the kept noise over σ·C, a row for each update, (t, k)."""
        rows = [each.kept for each in self.updates if each.kept is not None]
        return np.stack(rows).astype(np.float64) if rows else np.zeros((0, 0))


# --- What is said of one fact of a loop, and how surely? ---

Status = Literal["right", "wrong", "note", "not seen"]


@dataclass(frozen=True, slots=True)
class Fact:
    """What was seen of one fact."""

    # which: "batches", "clipping", "noise", "repetition", "independence", "divisor", "steps", "parameters", "records",
    # "numbers", "adaptive", "precision", "generator", "machines" or "altered"
    fact: str
    # "right" where a mistake would have shown; "wrong"; "note" for what costs no privacy that was claimed; "not seen"
    status: Status
    name: str  # in a word or two
    text: str  # a sentence that says nothing of any record, for evidence
    detail: str = ""  # the numbers behind it, for whoever runs the loop; they may depend on records
    error: float = 0.0  # the probability with which a right loop is called wrong here; 0.0 where it cannot be

"""What is run, in which parts, so that the same seed gives the same outputs on any number of workers?

Runs come in *blocks* of a constant size. Each block holds equally many runs of both sides, in twos: one of each side,
in an order that a coin picks; so no bound hangs on how coins fell. Every draw of a block hangs on the root seed, the
phase, the pair, the side and the block's number, never on the worker that runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import cloudpickle
import numpy as np

from dpaudit.sampling.progress import Session
from dpaudit.targets.mechanism import Mechanism, Shape

_BLOCK = {Shape.PROGRAM: 2**16, Shape.SAMPLER: 2**18, Shape.SEEDED: 2**11, Shape.OPAQUE: 2**11}
_FIRST_BLOCK = 256
_MOST_NUMBERS = 2**22  # of the outputs of a block


class Phase(IntEnum):
    """What runs are for; each phase has streams of its own."""

    LEARNING = 0
    MEASURING = 1
    WITNESS = 2
    CONFIRMING = 3
    BASELINE = 4
    SEQUENTIAL = 5
    SEARCH = 6
    SECOND_LOOK = 7
    SETTLING = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Some runs of one pair, of both sides together.

    Equally many of both sides, but for one where they are odd; or, where a search wants other shares, of side 1 with
    this ``chance`` for every run.
    """

    phase: Phase
    pair: int
    index: int
    size: int
    chance: float = 0.5


def block_size(shape: Shape, width: int) -> int:
    """Return how many runs a block holds: fewer where a run puts out many numbers, so that memory stays bounded."""
    size = _BLOCK[shape]
    while size > _FIRST_BLOCK and size * width > _MOST_NUMBERS:
        size //= 2
    return size


def blocks_of(shape: Shape, phase: Phase, pair: int, runs: int, first: int = 0, width: int = 1) -> list[Block]:
    """Return the blocks for ``runs`` runs of a pair, numbered from ``first``, for outputs of ``width`` numbers."""
    size = block_size(shape, width)
    count = -(-runs // size)
    return [Block(phase, pair, first + i, min(size, runs - i * size)) for i in range(count)]


def ramp_of(shape: Shape, phase: Phase, pair: int, runs: int, width: int = 1) -> list[Block]:
    """Return blocks that start small and double, so that the speed is known after the first few."""
    sizes, size = [], _FIRST_BLOCK
    while runs > 0:
        sizes.append(min(size, runs))
        runs -= sizes[-1]
        size = min(2 * size, block_size(shape, width))
    return [Block(phase, pair, index, size) for index, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that runs are made of: picklable, unless the mechanism only exists in this process.

    ``digests`` tell whether the data have changed; without any, somebody else looks after that. ``observe`` is what
    joins every output, such as "time". ``made_as`` is the shape that runs are made in, where it is not the mechanism's
    own: one call after another for a sampler that raises, in the order of the coins for what has randomness of its own.
    ``copied`` says that other processes may run copies of a mechanism that has no
    name by which they could load it (`dpaudit.sampling.workers`). ``session`` is what goes on beside, in this process
    alone. ``types`` says whether outputs of other types are other outputs: "count" or "ignore".
    """

    mechanism: Mechanism | str
    parameters: dict[str, Any]
    pairs: Sequence[tuple[Any, Any]] | Mapping[int, tuple[Any, Any]]
    digests: Sequence[tuple[str, str]]
    seed: int
    observe: tuple[str, ...] = ()
    copied: bool = False
    made_as: Shape | None = None
    session: Session | None = field(default=None, compare=False, repr=False)
    types: str = "count"

    def __reduce__(self) -> Any:
        """Pickle an experiment with a named mechanism so that the name is loaded first."""
        asked = (self.parameters, self.pairs, self.digests, self.seed)
        rest = (*asked, self.observe, self.copied, self.made_as, None, self.types)
        if isinstance(self.mechanism, str):
            return _unpickled, (self.mechanism, cloudpickle.dumps(rest))
        return Experiment, (self.mechanism, *rest)


def loaded(reference: str) -> Mechanism:
    """Return the mechanism of a name."""
    from dpaudit.loading.named import load

    return load(reference)


def _unpickled(reference: str, rest: bytes) -> Experiment:
    """Load the target before its pairs, which may hold instances of its classes."""
    loaded(reference)
    return Experiment(reference, *cloudpickle.loads(rest))


def sides_of(experiment: Experiment, block: Block) -> np.ndarray[Any, Any]:
    """Return which side each run of a block is of, in an order that no output has a say in; (runs,) of 0 and 1.

    One run of each side and then again, each two in an order of their own; the last of an odd number is of either.
    """
    coins = generator_of(experiment.seed, block, 2)
    if block.chance != 0.5:
        return (coins.random(block.size) < block.chance).astype(np.int8)
    first = coins.integers(0, 2, -(-block.size // 2), dtype=np.int8)
    return np.stack([first, 1 - first], axis=1).ravel()[: block.size]


def generator_of(seed: int, block: Block, stream: int) -> np.random.Generator:
    """Return the generator of one of a block's streams."""
    key = (int(block.phase), block.pair, stream, block.index)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

"""What is run, and in which parts, so that a seed gives the same outputs on any number of workers?

Runs come in *blocks* of a fixed size. Each block holds equally many runs of both sides, in pairs of one run of each
side, whose order is picked by a coin; so no bound depends on how the coins fell. Every draw of a block depends on the
root seed, the phase, the pair, the side and the block's number, never on the worker that runs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

import cloudpickle
import numpy as np

from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

if TYPE_CHECKING:
    from dpaudit.sampling.checkpoint import Checkpoint


# --- How far has an audit come? A session counts runs, informs a listener, and keeps finished blocks ---
#
# Nothing here affects what is found: an audit without a listener, or one that was interrupted and continues from its
# finished blocks, draws the same runs. The runner (`dpaudit.sampling.play`) counts each block as it comes back.

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with (stage, runs done, runs in all) as an audit goes on."""

RESUMED = "resumed"
"""The stage that is reported while finished blocks are read, which is fast."""

_SECONDS = 0.1  # between two reports within a block
_STAGES = {"SEQUENTIAL": "measuring", "SEARCH": "searching", "SECOND_LOOK": "second look"}  # else the name of the phase


@dataclass(slots=True, eq=False)
class Session:
    """One process's share of an audit, from its start or from an interruption."""

    listen: Listener | None = None  # called with (stage, runs done, runs in all), or None
    total: int = 0  # runs in all, as far as known
    before: int = 0  # runs made before this session
    checkpoint: Checkpoint | None = None  # stores finished blocks, or None
    restored: bool = False  # whether the last block had been finished in an earlier session
    repeated: int = 0  # how many runs such blocks hold in all
    _blocks: dict[tuple[Phase, int, int], int] = field(default_factory=dict)  # runs of each that came back
    _done: int = 0

    def runs_for(self, *phases: Phase) -> int:
        """Return how many runs were made in these phases."""
        return sum(runs for (phase, _, _), runs in self._blocks.items() if phase in phases)

    def count(self, block: RunBlock) -> None:
        """Count a block that came back (once, even if it is run again in another way), and report it."""
        key = block.phase, block.pair, block.index
        self._done += block.size - self._blocks.get(key, 0)
        self._blocks[key] = block.size
        self.tell(RESUMED if self.restored else _stage(block), self.before + self._done)

    def tell(self, stage: str, done: int | None = None, total: int | None = None) -> None:
        """Report how far the audit has come."""
        if self.listen is not None:
            done = self.before + self._done if done is None else done
            self.listen(stage, done, max(self.total, done) if total is None else total)

    def close(self) -> None:
        """Close the file of finished blocks."""
        if self.checkpoint is not None:
            self.checkpoint.close()

    def under_way(self, block: RunBlock, runs: Iterable[Item], begun: int) -> Iterator[Item]:
        """Yield the runs of a block one after another, and report progress from time to time."""
        told = time.perf_counter()
        for made, run in enumerate(runs):
            yield run
            now = time.perf_counter()
            if now - told >= _SECONDS:
                told = now
                self.tell(_stage(block), self.before + self._done + begun + made + 1)


def _stage(block: RunBlock) -> str:
    return _STAGES.get(block.phase.name, block.phase.name.lower())


def heard(session: Session | None, block: RunBlock, runs: Iterable[Item], *, begun: int = 0) -> Iterable[Item]:
    """Return the runs of a block; if there is a listener, the session reports on them."""
    return runs if session is None or session.listen is None else session.under_way(block, runs, begun)


# speed and memory are measured by benchmarks/overhead.py; other sizes would draw other runs
_BLOCK = {Shape.PROGRAM: 2**16, Shape.SAMPLER: 2**18, Shape.SEEDED: 2**11, Shape.OPAQUE: 2**11, Shape.READ: 2**17}
_COMPILED_BLOCK = 2**19  # each is read and checked anew, for which small ones are too short
_FIRST_BLOCK = 256
_FIRST_READ = 2**13  # a pass over the data costs as much for one run as for thousands
LEAST_BLOCK = 32  # of which each side's outputs can still be recognised, should they come again
_MOST_NUMBERS = 2**22  # in the outputs of a block; bounds memory


class Phase(IntEnum):
    """What runs are for; each phase has its own random streams."""

    LEARNING = 0
    MEASURING = 1
    WITNESS = 2
    CONFIRMING = 3
    BASELINE = 4
    SEQUENTIAL = 5
    SEARCH = 6
    SECOND_LOOK = 7
    SETTLING = 8
    ACCURACY = 9


class Reading(Enum):
    """How a program is read; every other function, where it can be, unless each run is to be a call."""

    BATCH = "batch"
    COMPILED = "compiled"
    CALLS = "calls"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class RunBlock:
    """Some runs of one pair, of both sides together.

    Equally many of both sides, except for one run if the size is odd; or, if a search asks for other shares, each run
    is of side 1 with probability ``chance``.
    """

    phase: Phase
    pair: int
    index: int
    size: int
    chance: float = 0.5


def block_size(shape: Shape, width: int, most: int | None = None, reading: Reading = Reading.BATCH) -> int:
    """Return how many runs a block holds: fewer if an output holds many numbers, so that memory stays bounded."""
    usual = _COMPILED_BLOCK if shape is Shape.PROGRAM and reading is Reading.COMPILED else _BLOCK[shape]
    size = usual if most is None else min(usual, most)
    while size > _FIRST_BLOCK and size * width > _MOST_NUMBERS:
        size //= 2
    return size


def blocks_of(
    shape: Shape,
    phase: Phase,
    pair: int,
    runs: int,
    first: int = 0,
    width: int = 1,
    most: int | None = None,
    reading: Reading = Reading.BATCH,
) -> list[RunBlock]:
    """Return the blocks for a number of runs of a pair."""
    size = block_size(shape, width, most, reading)
    count = -(-runs // size)
    return [RunBlock(phase, pair, first + i, min(size, runs - i * size)) for i in range(count)]


def ramp_of(
    shape: Shape,
    phase: Phase,
    pair: int,
    runs: int,
    width: int = 1,
    most: int | None = None,
    reading: Reading = Reading.BATCH,
) -> list[RunBlock]:
    """Return blocks that start small and double, so that the speed is known after the first few."""
    is_read = shape is Shape.READ
    sizes, size = [], min(_FIRST_READ if is_read else _FIRST_BLOCK, block_size(shape, 1, most))
    while runs > 0:
        sizes.append(min(size, runs))
        runs -= sizes[-1]
        size = min((16 if is_read else 2) * size, block_size(shape, width, most, reading))
    return [RunBlock(phase, pair, index, size) for index, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Everything that determines runs; picklable unless the mechanism exists only in this process."""

    mechanism: Mechanism | str  # what is run, or the name by which each process loads it
    parameters: dict[str, Any]  # all of them
    pairs: Sequence[tuple[Any, Any]] | Mapping[int, tuple[Any, Any]]  # of datasets, by number
    # of the datasets, by which changes of the data are detected; empty if the caller checks that
    digests: Sequence[tuple[str, str]]
    seed: int  # the root of all draws
    observe: tuple[str, ...] = ()  # what is observed with every output, such as "time"
    # whether other processes may run copies of a mechanism that has no name to load it by
    # (`dpaudit.sampling.play`)
    copied: bool = False
    # the call style of the runs, if it is not the mechanism's own: one call after another for a sampler that
    # raises, in the order of the coins for a function with its own randomness
    made_as: Shape | None = None
    # progress and finished blocks; exists in this process only
    session: Session | None = field(default=None, compare=False, repr=False)
    types: str = "count"  # whether outputs of different types are different outputs: "count" or "ignore"
    reading: Reading = Reading.BATCH  # of a program

    def __reduce__(self) -> Any:
        """Pickle an experiment with a named mechanism so that the name is loaded first."""
        asked = (self.parameters, self.pairs, self.digests, self.seed)
        rest = (*asked, self.observe, self.copied, self.made_as, None, self.types, self.reading)
        if isinstance(self.mechanism, str):
            return _unpickled, (self.mechanism, cloudpickle.dumps(rest))
        return Experiment, (self.mechanism, *rest)


def loaded(reference: str) -> Mechanism:
    """Return the mechanism of this name."""
    from dpaudit.loading.named import load

    return load(reference)


def _unpickled(reference: str, rest: bytes) -> Experiment:
    """Load the target before its pairs, which may hold instances of its classes."""
    loaded(reference)
    return Experiment(reference, *cloudpickle.loads(rest))


def sides_of(experiment: Experiment, block: RunBlock) -> np.ndarray[Any, Any]:
    """Return the side of each run of a block, independent of all outputs; (runs,) of 0 and 1.

    Runs come in pairs of one run of each side, each pair in its own order; the last run of an odd number is of either
    side.
    """
    coins = generator_of(experiment.seed, block, 2)
    if block.chance != 0.5:
        return (coins.random(block.size) < block.chance).astype(np.int8)
    first = coins.integers(0, 2, -(-block.size // 2), dtype=np.int8)
    return np.stack([first, 1 - first], axis=1).ravel()[: block.size]


def generator_of(seed: int, block: RunBlock, stream: int) -> np.random.Generator:
    """Return the generator of one of a block's random streams."""
    key = (int(block.phase), block.pair, stream, block.index)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

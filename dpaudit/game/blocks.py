"""How is a mechanism run many times, so that the same seed gives the same outputs on any number of workers?

Runs come in *blocks* of a constant size. Each block holds equally many runs of both sides, in twos: one of each side,
in an order that a coin picks; so no bound hangs on how coins fell. Every draw of a block hangs on the root seed, the
purpose, the pair, the side and the block's number, never on the worker that runs it. Workers reduce their outputs to
what is asked for, so measuring keeps counts only.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import cloudpickle
import numpy as np

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.function import Mechanism, Shape
from dpaudit.game.forms import reading_types
from dpaudit.game.outputs import (
    Outputs,
    from_array,
    from_list,
    from_paths,
    how_many,
    information,
    only,
    taken,
    taken_path,
)
from dpaudit.game.settings import kept
from dpaudit.game.sitting import Sitting, told
from dpaudit.game.timed import timed_runs, untimed
from dpaudit.neighbours.digest import digest
from dpaudit.program.batch import run_batch
from dpaudit.program.outcome import raised

if TYPE_CHECKING:
    from dpaudit.game.journal import Journal

Result = TypeVar("Result")

_BLOCK = {Shape.PROGRAM: 2**16, Shape.SAMPLER: 2**18, Shape.SEEDED: 2**11, Shape.OPAQUE: 2**11}
_FIRST_BLOCK = 256
_LARGE = 50_000  # records
_MOST_NUMBERS = 2**22  # of the outputs of a block
_FINGERPRINT_RUNS = (16, 128, 4096)
_SINGLY = 6  # the streams of a sampler that is called for one run at a time
_CHANCE_BITS = 64  # sequences that tell less apart may agree by chance


class Purpose(IntEnum):
    """What runs are for; each purpose has streams of its own."""

    LEARNING = 0
    MEASURING = 1
    WITNESS = 2
    CONFIRMING = 3
    BASELINE = 4
    SEQUENTIAL = 5
    SEARCH = 6
    SECOND_LOOK = 7
    SETTLING = 8


class RaisedTogetherError(InvalidRunsError):
    """A sampler raised in a call for many runs: which of them the exception belongs to cannot be said."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some runs of one pair, of both sides together.

    Equally many of both sides, but for one where they are odd; or, where a search wants other shares, of side 1 with
    this ``chance`` for every run.
    """

    purpose: Purpose
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


def blocks_of(shape: Shape, purpose: Purpose, pair: int, runs: int, first: int = 0, width: int = 1) -> list[Block]:
    """Return the blocks for ``runs`` runs of a pair, numbered from ``first``, for outputs of ``width`` numbers."""
    size = block_size(shape, width)
    count = -(-runs // size)
    return [Block(purpose, pair, first + i, min(size, runs - i * size)) for i in range(count)]


def ramp_of(shape: Shape, purpose: Purpose, pair: int, runs: int, width: int = 1) -> list[Block]:
    """Return blocks that start small and double, so that the speed is known after the first few."""
    sizes, size = [], _FIRST_BLOCK
    while runs > 0:
        sizes.append(min(size, runs))
        runs -= sizes[-1]
        size = min(2 * size, block_size(shape, width))
    return [Block(purpose, pair, index, size) for index, size in enumerate(sizes)]


@dataclass(frozen=True, slots=True)
class Game:
    """Everything that runs are made of: picklable, unless the mechanism only exists in this process.

    ``digests`` tell whether the data have changed; without any, somebody else looks after that. ``observe`` is what
    joins every output, such as "time". ``made_as`` is the shape that runs are made in, where it is not the mechanism's
    own: one call after another for a sampler that raises, in the order of the coins for what has randomness of its own.
    ``copied`` says that other processes may run copies of a mechanism that has no
    name by which they could load it (`dpaudit.game.copies`). ``sitting`` is what goes on beside, in this process alone.
    ``types`` says whether outputs of other types are other outputs: "count" or "ignore".
    """

    mechanism: Mechanism | str
    parameters: dict[str, Any]
    pairs: Sequence[tuple[Any, Any]] | Mapping[int, tuple[Any, Any]]
    digests: Sequence[tuple[str, str]]
    seed: int
    observe: tuple[str, ...] = ()
    copied: bool = False
    made_as: Shape | None = None
    sitting: Sitting | None = field(default=None, compare=False, repr=False)
    types: str = "count"

    def __reduce__(self) -> Any:
        """Pickle a game with a named mechanism so that the name is loaded first."""
        asked = (self.parameters, self.pairs, self.digests, self.seed)
        rest = (*asked, self.observe, self.copied, self.made_as, None, self.types)
        if isinstance(self.mechanism, str):
            return _unpickled, (self.mechanism, cloudpickle.dumps(rest))
        return Game, (self.mechanism, *rest)


@dataclass(frozen=True, slots=True)
class Played(Generic[Result]):
    """What a worker sends back of one block.

    Attributes:
        result: what the reduction made of the outputs of side 0 and side 1.
        sizes: runs of each side.
        fingerprints: a digest of the first outputs of each side, where they vary enough to know them again.
        fell_back: why a program was read run by run, or None.
    """

    block: Block
    result: Result
    sizes: tuple[int, int]
    fingerprints: tuple[bytes | None, bytes | None]
    fell_back: str | None


def _load(reference: str) -> Mechanism:
    from dpaudit.loading import load

    return load(reference)


def _unpickled(reference: str, rest: bytes) -> Game:
    """Load the target before its pairs, which may hold instances of its classes."""
    _load(reference)
    return Game(reference, *cloudpickle.loads(rest))


def _generator(seed: int, block: Block, stream: int) -> np.random.Generator:
    key = (int(block.purpose), block.pair, stream, block.index)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


def outputs_of(game: Game, block: Block) -> tuple[tuple[Outputs, Outputs], str | None]:
    """Run a block: the outputs of side 0 and of side 1, and why a program was read run by run."""
    with reading_types(game.types):
        return _outputs_of(game, block)


def _outputs_of(game: Game, block: Block) -> tuple[tuple[Outputs, Outputs], str | None]:
    mechanism = _load(game.mechanism) if isinstance(game.mechanism, str) else game.mechanism
    data = game.pairs[block.pair]
    if game.observe:
        return _timed(mechanism, data, game, block, sides_of(game, block)), None
    shape = game.made_as or (Shape.OPAQUE if mechanism.own_randomness else mechanism.shape)
    if shape is Shape.OPAQUE:
        return _interleaved(mechanism, data, game, block, sides_of(game, block)), None
    heads = int(np.count_nonzero(sides_of(game, block)))  # the order of the sides does not matter to independent runs
    sides, reasons = [], []
    for side, size in enumerate((block.size - heads, heads)):
        runs = told(game.sitting, block, range(size), begun=side * (block.size - heads))
        rng = _generator(game.seed, block, side)
        singly = _generator(game.seed, block, _SINGLY + side)  # draws that nobody has seen, where others were given up
        try:
            own = rng if shape is mechanism.shape else singly
            outputs, reason = _run(mechanism, shape, data[side], game.parameters, runs, size, own)
        except RaisedTogetherError:
            if block.purpose is not Purpose.SEARCH:
                raise
            # a search looks for a pair, which is then measured afresh
            outputs, reason = _run(mechanism, Shape.SEEDED, data[side], game.parameters, runs, size, singly)
        _protect(game, block, side)
        sides.append(outputs)
        reasons.append(reason)
    return (sides[0], sides[1]), reasons[0] or reasons[1]


def sides_of(game: Game, block: Block) -> np.ndarray[Any, Any]:
    """Return which side each run of a block is of, in an order that no output has a say in; (runs,) of 0 and 1.

    One run of each side and then again, each two in an order of their own; the last of an odd number is of either.
    """
    coins = _generator(game.seed, block, 2)
    if block.chance != 0.5:
        return (coins.random(block.size) < block.chance).astype(np.int8)
    first = coins.integers(0, 2, -(-block.size // 2), dtype=np.int8)
    return np.stack([first, 1 - first], axis=1).ravel()[: block.size]


def _protect(game: Game, block: Block, side: int) -> None:
    """Refuse data that are not what they were. Large ones are looked at ever more rarely, and when all blocks are done.

    A digest of a million records takes as long as thousands of runs may.
    """
    doubling = block.index & (block.index - 1) == 0
    if game.digests and (doubling or not _is_large(game.pairs[block.pair][side])):
        _refuse_if_changed(game, block.pair, side)


def _is_large(data: Any) -> bool:
    return hasattr(data, "__len__") and len(data) > _LARGE


def _refuse_if_changed(game: Game, pair: int, side: int) -> None:
    if digest(game.pairs[pair][side]) != game.digests[pair][side]:
        raise UsageError(
            f"the mechanism changes its data (side {side} of pair {pair}): later runs would see other data; "
            "let it work on a copy"
        )


def _run(
    mechanism: Mechanism,
    shape: Shape,
    data: Any,
    parameters: dict[str, Any],
    runs: Iterable[int],
    size: int,
    rng: np.random.Generator,
) -> tuple[Outputs, str | None]:
    if shape is Shape.PROGRAM:
        result = run_batch(lambda noise: mechanism.function(data, noise=noise, **parameters), size, rng, taken_path)
        return from_paths(result.paths, size), result.fell_back
    if shape is Shape.SAMPLER:
        return _sampled(mechanism, data, parameters, size, rng), None
    call = _one_run(mechanism, data, parameters, rng)
    return from_list([taken(call()) for _ in runs]), None if shape is mechanism.shape else _RAISED


_RAISED = "a sampler that raises, of which every exception belongs to one run"


def _one_run(
    mechanism: Mechanism, data: Any, parameters: dict[str, Any], rng: np.random.Generator
) -> Callable[[], Any]:
    """Return what makes one run: a call, of a sampler for one output; an exception is its output."""
    filled = {name: {"rng": rng, "size": 1}[name] for name in mechanism.asked}
    function, sampler = partial(mechanism.function, data, **filled, **parameters), mechanism.shape is Shape.SAMPLER

    def call() -> Any:
        outer = sys.exception()
        try:
            output = function()
        except (Exception, SystemExit) as error:
            return raised(error, outer)
        return only(output) if sampler else output

    return call


def _sampled(
    mechanism: Mechanism, data: Any, parameters: dict[str, Any], size: int, rng: np.random.Generator
) -> Outputs:
    if size == 1:
        return from_list([taken(_one_run(mechanism, data, parameters, rng)())])
    try:
        outputs = mechanism.function(data, size=size, rng=rng, **parameters)
    except (Exception, SystemExit) as error:
        raise RaisedTogetherError(
            f"{mechanism.name} raised {type(error).__name__} in a call for {size:,} runs, where no learning run had "
            "raised, and nobody can say which of them it belongs to; return such an output instead of raising, or ask "
            "for rng alone, so that every call is one run"
        ) from None
    count = how_many(outputs)
    if count != size:
        given = f"{outputs!r:.80}" if count is None else f"{count} outputs"
        raise UsageError(f"{mechanism.name} was asked for size={size} outputs and returned {given}")
    if not isinstance(outputs, np.ndarray):
        rows = hasattr(outputs, "itertuples")  # of a data frame; a list of it would hold its labels
        return from_list(list(outputs.itertuples(index=False, name=None) if rows else outputs))
    fresh = np.empty(0)
    alone = outputs.base is None and sys.getrefcount(outputs) == sys.getrefcount(fresh)
    return from_array(outputs if alone else outputs.copy())  # whoever else holds it may fill it anew


def _interleaved(
    mechanism: Mechanism, data: tuple[Any, Any], game: Game, block: Block, coins: np.ndarray[Any, Any]
) -> tuple[Outputs, Outputs]:
    """Run what has randomness of its own in the order of the coins, so that its own state cannot pass for a leak."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    calls = [_one_run(mechanism, data[side], game.parameters, _generator(game.seed, block, side)) for side in (0, 1)]
    for coin in told(game.sitting, block, coins):
        sides[int(coin)].append(taken(calls[int(coin)]()))
    for side in (0, 1):
        _protect(game, block, side)
    return from_list(sides[0]), from_list(sides[1])


def _timed(
    mechanism: Mechanism, data: tuple[Any, Any], game: Game, block: Block, coins: np.ndarray[Any, Any]
) -> tuple[Outputs, Outputs]:
    """Run any mechanism in the order of the coins, with the time of every run."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    streams = [_generator(game.seed, block, stream) for stream in (0, 1, 4, 5)]
    runs = timed_runs(mechanism, data, game.parameters, coins, streams[:2], streams[2:])
    for side, output in told(game.sitting, block, runs):
        sides[side].append(taken(output))
    for side in (0, 1):
        _protect(game, block, side)
    return from_list(sides[0]), from_list(sides[1])


def _fingerprint(outputs: Outputs) -> bytes | None:
    """A digest of the first outputs of a side: of as few as no two blocks share by chance; None if all may."""
    for length in _FINGERPRINT_RUNS:
        start = outputs.first(length)
        if len(outputs) >= length and information(start) >= _CHANCE_BITS:
            state = hashlib.blake2b(repr((length, start.forms)).encode(), digest_size=16)
            state.update(start.codes.tobytes())
            for numbers in start.numbers:
                state.update(np.ascontiguousarray(numbers).tobytes())
            return state.digest()
    return None


def play_block(game: Game, block: Block, reduce: Callable[[Outputs, Outputs], Result]) -> Played[Result]:
    """Run one block and reduce its outputs; what a worker does."""
    with kept():
        (side0, side1), reason = outputs_of(game, block)
    known = (untimed(side0), untimed(side1)) if game.observe else (side0, side1)
    fingerprints = (_fingerprint(known[0]), _fingerprint(known[1]))
    return Played(block, reduce(side0, side1), (len(side0), len(side1)), fingerprints, reason)


@dataclass(slots=True)
class Watch:
    """Notices blocks that repeat one another: a generator that was copied into workers, or seeded anew."""

    _seen: set[tuple[int, int, bytes]] = field(default_factory=set)

    def see(self, played: Played[Any]) -> None:
        """Raise `InvalidRunsError` where a block repeats the varying outputs of an earlier one."""
        for side, fingerprint in enumerate(played.fingerprints):
            if fingerprint is None:
                continue
            key = (played.block.pair, side, fingerprint)
            if key in self._seen:
                raise InvalidRunsError(
                    "blocks with different seeds return the same varying sequence of outputs: the "
                    "mechanism does not draw its randomness from the generator that it is given"
                )
            self._seen.add(key)


def play(
    game: Game,
    blocks: Sequence[Block],
    reduce: Callable[[Outputs, Outputs], Result],
    *,
    workers: int = 1,
    watch: Watch | None = None,
) -> Iterator[Played[Result]]:
    """Run blocks and yield their results in order.

    Raises:
        InvalidRunsError: if a worker dies, or blocks repeat one another.
        UsageError: if the mechanism changes its data or does not depend on its noise alone.
    """
    for played in play_each([(game, block) for block in blocks], reduce, workers=workers):
        if watch is not None:
            watch.see(played)
        yield played
    if game.digests and not _shareable(game, workers):  # workers have copies of their own
        for pair, side in itertools.product({block.pair for block in blocks}, (0, 1)):
            if _is_large(game.pairs[pair][side]):
                _refuse_if_changed(game, pair, side)


def play_each(
    parts: Iterable[tuple[Game, Block]], reduce: Callable[[Outputs, Outputs], Result], *, workers: int = 1
) -> Iterator[Played[Result]]:
    """Run blocks, each of a game of its own, and yield their results in order; games may be made as they are needed.

    Raises as `play` does.
    """
    coming = iter(parts)
    first = next(coming, None)
    if first is None:
        return
    every = itertools.chain([first], coming)
    sitting = first[0].sitting
    if sitting is not None and sitting.journal is not None:
        yield from _kept(every, reduce, workers, sitting, sitting.journal)
    else:
        yield from _fresh(every, reduce, workers)


def _fresh(
    parts: Iterable[tuple[Game, Block]], reduce: Callable[[Outputs, Outputs], Result], workers: int
) -> Iterator[Played[Result]]:
    """Run blocks here or in workers, and yield their results in order."""
    coming = iter(parts)
    first = next(coming, None)
    if first is None:
        return
    every = itertools.chain([first], coming)
    if _shareable(first[0], workers):
        yield from _in_workers(every, reduce, workers)
    else:
        yield from (play_block(game, block, reduce) for game, block in every)


def _kept(
    parts: Iterable[tuple[Game, Block]],
    reduce: Callable[[Outputs, Outputs], Result],
    workers: int,
    sitting: Sitting,
    journal: Journal,
) -> Iterator[Played[Result]]:
    """Yield what was kept of blocks, and run the others: those of the same question have the same draws."""
    waiting: deque[tuple[Game, Played[Result] | None]] = deque()

    def unfinished() -> Iterator[tuple[Game, Block]]:
        for game, block in parts:
            found = journal.find(game, block, reduce)
            waiting.append((game, found))
            if found is None:
                yield game, block

    def restored() -> Iterator[Played[Result]]:
        while waiting and waiting[0][1] is not None:
            found = waiting.popleft()[1]
            assert found is not None
            sitting.restored = True
            sitting.repeated += found.block.size
            yield found

    parts = iter(parts)
    for game, block in parts:  # most were finished from the first on: they need not wait for a fresh one
        waiting.append((game, journal.find(game, block, reduce)))
        if waiting[0][1] is None:
            waiting.clear()
            parts = itertools.chain([(game, block)], parts)
            break
        yield from restored()
    for played in _fresh(unfinished(), reduce, workers):
        yield from restored()
        sitting.restored = False
        journal.add(waiting.popleft()[0], played, reduce)
        yield played
    yield from restored()


def _shareable(game: Game, workers: int) -> bool:
    return workers > 1 and not game.observe and (game.copied or isinstance(game.mechanism, str))


def _in_workers(
    parts: Iterable[tuple[Game, Block]], reduce: Callable[[Outputs, Outputs], Result], workers: int
) -> Iterator[Played[Result]]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        # loky's processes are started afresh, never forked; and no setting of the user's own may choose others
        yield from Parallel(n_jobs=workers, backend="loky", return_as="generator")(
            delayed(play_block)(game, block, reduce) for game, block in parts
        )
    except BrokenProcessPool as error:
        raise InvalidRunsError(f"a worker process died while running the mechanism: {error}") from error

"""How is a mechanism run many times, here or in other processes?

Workers reduce their outputs to what is asked for, so measuring keeps counts only. What was finished before, in a file
of blocks, is not run again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpaudit.arrays import Integers
from dpaudit.errors import InvalidRunsError
from dpaudit.sampling.blocks import Block, Experiment
from dpaudit.sampling.outputs import Outputs, information
from dpaudit.sampling.progress import Session
from dpaudit.sampling.runs import is_large, outputs_of, refuse_if_changed
from dpaudit.sampling.timed import untimed
from dpaudit.settings import own_settings

if TYPE_CHECKING:
    from dpaudit.sampling.checkpoint import Checkpoint

Result = TypeVar("Result")
Done = TypeVar("Done")

_FINGERPRINT_RUNS = (16, 128, 4096)
_CHANCE_BITS = 64  # sequences that tell less apart may agree by chance


@dataclass(frozen=True, slots=True)
class BlockResult(Generic[Result]):
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


@dataclass(slots=True)
class RepeatDetector:
    """Notices runs that repeat earlier ones: a generator that was copied, or seeded anew; a store of noise.

    One for all runs of an audit: those that learn, those that measure, and those of a second look.
    """

    _seen: set[tuple[int, int, bytes]] = field(default_factory=set)
    _outputs: dict[tuple[int, int], list[Integers]] = field(default_factory=dict)
    _sides: dict[int, list[Integers]] = field(default_factory=dict)

    def see(self, played: BlockResult[Any]) -> None:
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

    def with_earlier(self, pair: int, side: int, outputs: Integers) -> Integers:
        """Return outputs, as numbers in the order of the runs, after those of the same side that were noted before."""
        noted = self._outputs.setdefault((pair, side), [])
        noted.append(outputs)
        return np.concatenate(noted)

    def sides(self, pair: int, sides: Integers) -> Integers:
        """Return of which side each run is, in the order of the calls, after those that were noted before."""
        noted = self._sides.setdefault(pair, [])
        noted.append(sides)
        return np.concatenate(noted)


def play_block(
    experiment: Experiment, block: Block, reduce: Callable[[Outputs, Outputs], Result]
) -> BlockResult[Result]:
    """Run one block and reduce its outputs; what a worker does."""
    with own_settings():
        (side0, side1), reason = outputs_of(experiment, block)
        known = (untimed(side0), untimed(side1)) if experiment.observe else (side0, side1)
        fingerprints = (_fingerprint(known[0]), _fingerprint(known[1]))
        return BlockResult(block, reduce(side0, side1), (len(side0), len(side1)), fingerprints, reason)


def _repeats(experiment: Experiment, block: Block) -> bool:
    with own_settings():
        first, again = (outputs_of(experiment, block)[0] for _ in range(2))
    return all(one.equals(other) for one, other in zip(first, again, strict=True))


def repeats(experiment: Experiment, block: Block, *, workers: int = 1) -> bool:
    """Whether a block that is run twice, in one process, puts out the same: one that makes runs later.

    Raises as `play` does.
    """
    experiment = replace(experiment, session=None)
    if not _shareable(experiment, workers):
        return _repeats(experiment, block)
    return next(_in_workers(_repeats, [(experiment, block)], workers))


def play(
    experiment: Experiment,
    blocks: Sequence[Block],
    reduce: Callable[[Outputs, Outputs], Result],
    *,
    workers: int = 1,
    watch: RepeatDetector | None = None,
) -> Iterator[BlockResult[Result]]:
    """Run blocks and yield their results in order.

    Raises:
        InvalidRunsError: if a worker dies, or blocks repeat one another.
        UsageError: if the mechanism changes its data or does not depend on its noise alone.
    """
    yield from play_each([(experiment, block) for block in blocks], reduce, workers=workers, watch=watch)
    if experiment.digests and not _shareable(experiment, workers):  # workers have copies of their own
        for pair, side in itertools.product({block.pair for block in blocks}, (0, 1)):
            if is_large(experiment.pairs[pair][side]):
                refuse_if_changed(experiment, pair, side)


def play_each(
    parts: Iterable[tuple[Experiment, Block]],
    reduce: Callable[[Outputs, Outputs], Result],
    *,
    workers: int = 1,
    watch: RepeatDetector | None = None,
) -> Iterator[BlockResult[Result]]:
    """Run blocks, each of an experiment of its own, and yield their results in order.

    Experiments may be made as they are needed. Their session counts every block. Raises as `play` does.
    """
    coming = iter(parts)
    first = next(coming, None)
    if first is None:
        return
    every = itertools.chain([first], coming)
    session = first[0].session
    if session is not None and session.checkpoint is not None:
        playing = _kept(every, reduce, workers, session, session.checkpoint)
    else:
        playing = _fresh(every, reduce, workers)
    for played in playing:
        if watch is not None:
            watch.see(played)
        if session is not None:
            session.count(played.block)
        yield played


def _fresh(
    parts: Iterable[tuple[Experiment, Block]], reduce: Callable[[Outputs, Outputs], Result], workers: int
) -> Iterator[BlockResult[Result]]:
    """Run blocks here or in workers, and yield their results in order."""
    coming = iter(parts)
    first = next(coming, None)
    if first is None:
        return
    every = itertools.chain([first], coming)
    if _shareable(first[0], workers):
        yield from _in_workers(partial(play_block, reduce=reduce), every, workers)
    else:
        yield from (play_block(experiment, block, reduce) for experiment, block in every)


def _kept(
    parts: Iterable[tuple[Experiment, Block]],
    reduce: Callable[[Outputs, Outputs], Result],
    workers: int,
    session: Session,
    checkpoint: Checkpoint,
) -> Iterator[BlockResult[Result]]:
    """Yield what was kept of blocks, and run the others: those of the same question have the same draws."""
    waiting: deque[tuple[Experiment, BlockResult[Result] | None]] = deque()

    def unfinished() -> Iterator[tuple[Experiment, Block]]:
        for experiment, block in parts:
            found = checkpoint.find(experiment, block, reduce)
            waiting.append((experiment, found))
            if found is None:
                yield experiment, block

    def restored() -> Iterator[BlockResult[Result]]:
        while waiting and waiting[0][1] is not None:
            found = waiting.popleft()[1]
            assert found is not None
            session.restored = True
            session.repeated += found.block.size
            yield found

    parts = iter(parts)
    for experiment, block in parts:  # most were finished from the first on: they need not wait for a fresh one
        waiting.append((experiment, checkpoint.find(experiment, block, reduce)))
        if waiting[0][1] is None:
            waiting.clear()
            parts = itertools.chain([(experiment, block)], parts)
            break
        yield from restored()
    for played in _fresh(unfinished(), reduce, workers):
        yield from restored()
        session.restored = False
        checkpoint.add(waiting.popleft()[0], played, reduce)
        yield played
    yield from restored()


def _shareable(experiment: Experiment, workers: int) -> bool:
    return workers > 1 and not experiment.observe and (experiment.copied or isinstance(experiment.mechanism, str))


def _in_workers(
    work: Callable[[Experiment, Block], Done], parts: Iterable[tuple[Experiment, Block]], workers: int
) -> Iterator[Done]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        # loky's processes are started afresh, never forked; and no setting of the user's own may choose others
        yield from Parallel(n_jobs=workers, backend="loky", return_as="generator")(
            delayed(work)(experiment, block) for experiment, block in parts
        )
    except BrokenProcessPool as error:
        raise InvalidRunsError(f"a worker process died while running the mechanism: {error}") from error

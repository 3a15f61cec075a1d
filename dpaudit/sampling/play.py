"""How is a mechanism run many times, here or elsewhere?

Workers reduce their outputs to what is asked for, so measuring keeps counts only. Blocks that are already in a file of
finished blocks are not run again.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from dpaudit.arrays import Integers
from dpaudit.errors import InvalidRunsError
from dpaudit.sampling import engines, runs
from dpaudit.sampling.checkpoint import Experiment, RunBlock, Session
from dpaudit.sampling.outputs import Outputs, information
from dpaudit.settings import own_settings
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

if TYPE_CHECKING:
    from dpaudit.sampling.checkpoint import Checkpoint

# --- May other processes make runs with copies of a mechanism? ---
#
# A mechanism that has a name is loaded by each process itself. One that exists only in this process would have to be
# copied, and a copy of a generator, or of any state from which noise comes, produces the same noise in every process:
# dependent runs would pass for independent ones, and the bound would be wrong. So only plain functions are copied, with
# plain data around them; anything that might hold a state runs in one process, and this is reported.

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.ufunc, Enum, ModuleType)


def why_alone(
    mechanism: Mechanism, others: Any = None, *, timed: bool = False, made_as: Shape | None = None
) -> str | None:
    """Say why only this process can make runs of a mechanism, as a sentence; None if others can too."""
    if timed:
        return "run times are measured in one process: others beside it would slow it down"
    if mechanism.own_randomness or made_as is Shape.OPAQUE:
        return (
            f"{mechanism.name} runs in one process: it has randomness of its own, and other processes might make the "
            "same noise again"
        )
    if mechanism.reference is not None:
        return None
    state = _state_in(mechanism.function, set())
    if state is not None:
        return (
            f"{mechanism.name} runs in one process: it only exists in this one, and holds {state}, of which copies "
            "might make the same noise again; define it in a file, as a function with a name"
        )
    try:
        import cloudpickle

        cloudpickle.dumps((mechanism, others))
    except Exception as error:
        return (
            f"{mechanism.name} runs in one process: it only exists in this one, and cannot be copied "
            f"({type(error).__name__}); define it in a file, as a function with a name"
        )
    return None


def _state_in(value: Any, seen: set[int]) -> str | None:
    """Return a description of what might hold a state in a value that would be copied; None if it is plain."""
    if isinstance(value, _PLAIN) or id(value) in seen:
        return None
    seen.add(id(value))
    if isinstance(value, Mechanism):
        return _state_in(value.function, seen)
    if isinstance(value, functools.partial):
        return _first_state([value.func, *value.args, *value.keywords.values()], seen)
    if isinstance(value, FunctionType):
        return None if _is_found(value) else _first_state(_around(value), seen)
    if isinstance(value, BuiltinFunctionType):
        return None if isinstance(value.__self__, ModuleType | None) else _object_text(value.__self__)
    if isinstance(value, type):
        return None if _is_found(value) else f"the class {value.__name__}"
    if isinstance(value, np.ndarray):
        return _object_text(value) if value.dtype.hasobject else None
    if type(value) in (list, tuple, set, frozenset):
        return _first_state(value, seen)
    if type(value) is dict:
        return _first_state([*value.keys(), *value.values()], seen)
    return None if hasattr(value, "to_numpy") else _object_text(value)


def _first_state(values: Any, seen: set[int]) -> str | None:
    return next((state for value in values if (state := _state_in(value, seen)) is not None), None)


def _object_text(value: Any) -> str:
    return f"an object of type {type(value).__name__}"


def _is_found(value: Any) -> bool:
    """Whether another process finds the same object by its name, so that it is not copied."""
    module = sys.modules.get(value.__module__ or "")
    if module is None or value.__module__ == "__main__":
        return False
    target: Any = module
    for part in value.__qualname__.split("."):
        target = getattr(target, part, None)
    return target is value


def _around(function: FunctionType) -> Iterator[Any]:
    """What is copied with a function: its closure, its defaults, and the globals that it names."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # an empty cell
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from _globals_of(function.__code__, function.__globals__)


def _globals_of(code: CodeType, known: Mapping[str, Any]) -> Iterator[Any]:
    """The globals named by a code object, and by functions and comprehensions within it."""
    yield from (known[name] for name in code.co_names if name in known)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant, known)


Result = TypeVar("Result")
Done = TypeVar("Done")

_FINGERPRINT_RUNS = (16, 128, 4096)
_CHANCE_BITS = 64  # sequences with less information may agree by chance


@dataclass(frozen=True, slots=True)
class BlockResult(Generic[Result]):
    """What a worker returns for one block."""

    block: RunBlock  # which runs
    result: Result  # the reduction of the outputs of side 0 and side 1
    sizes: tuple[int, int]  # runs of each side
    # a digest of the first outputs of each side, if they vary enough to be recognised
    fingerprints: tuple[bytes | None, bytes | None]
    fallback_reason: str | None  # why a program was run one call at a time, or None


def _fingerprint(outputs: Outputs) -> bytes | None:
    """A digest of the first outputs of a side, as few as blocks do not share by chance; None if they may."""
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
    """Detects runs that repeat earlier ones: from a generator that was copied or reseeded, or from a buffer of noise.

    One detector serves all runs of an audit: learning, measuring, and a second look.
    """

    _seen: set[tuple[int, int, bytes]] = field(default_factory=set)
    _outputs: dict[tuple[int, int], list[Integers]] = field(default_factory=dict)
    _sides: dict[int, list[Integers]] = field(default_factory=dict)

    def see(self, played: BlockResult[Any]) -> None:
        """Raise `InvalidRunsError` if a block repeats the varying outputs of an earlier one."""
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
        """Append outputs to those recorded earlier."""
        noted = self._outputs.setdefault((pair, side), [])
        noted.append(outputs)
        return np.concatenate(noted)

    def sides(self, pair: int, sides: Integers) -> Integers:
        """Append the side of each run, in the order of the calls, to those recorded earlier, and return all of them."""
        noted = self._sides.setdefault(pair, [])
        noted.append(sides)
        return np.concatenate(noted)


def play_block(
    experiment: Experiment, block: RunBlock, reduce: Callable[[Outputs, Outputs], Result]
) -> BlockResult[Result]:
    """Run one block and reduce its outputs; this is what a worker does."""
    with own_settings():
        (side0, side1), reason = runs.outputs_of(experiment, block)
        known = (runs.untimed(side0), runs.untimed(side1)) if experiment.observe else (side0, side1)
        fingerprints = (_fingerprint(known[0]), _fingerprint(known[1]))
        return BlockResult(block, reduce(side0, side1), (len(side0), len(side1)), fingerprints, reason)


def _repeats(experiment: Experiment, block: RunBlock) -> bool:
    with own_settings():
        first, again = (runs.outputs_of(experiment, block)[0] for _ in range(2))
    return all(one.equals(other) for one, other in zip(first, again, strict=True))


def repeats(experiment: Experiment, block: RunBlock, *, workers: int | engines.Engine = 1) -> bool:
    """Whether a block that is run twice in one process gives the same outputs both times.

    The process is one of those that make runs later. Raises as `play` does.
    """
    experiment, engine = replace(experiment, session=None), _engine(workers)
    if not _shareable(experiment, engine):
        return _repeats(experiment, block)
    return next(iter(engine.run(_repeats, [(experiment, block)])))


def play(
    experiment: Experiment,
    blocks: Sequence[RunBlock],
    reduce: Callable[[Outputs, Outputs], Result],
    *,
    workers: int | engines.Engine = 1,
    watch: RepeatDetector | None = None,
) -> Iterator[BlockResult[Result]]:
    """Run blocks and yield their results in order.

    Args:
        experiment: what is run.
        blocks: which runs.
        reduce: called with the outputs of side 0 and side 1 of each block.
        workers: processes, or an engine.
        watch: detects blocks that repeat one another; None for no check.

    Yields:
        The result of each block.

    Raises:
        InvalidRunsError: if a worker dies, or blocks repeat one another.
        UsageError: if the mechanism changes its data or does not depend on its noise alone.
    """
    yield from play_each([(experiment, block) for block in blocks], reduce, workers=workers, watch=watch)
    if experiment.digests and not _shareable(experiment, _engine(workers)):  # workers have copies of their own
        for pair, side in itertools.product({block.pair for block in blocks}, (0, 1)):
            if runs.is_large(experiment.pairs[pair][side]):
                runs.refuse_if_changed(experiment, pair, side)


def play_each(
    parts: Iterable[tuple[Experiment, RunBlock]],
    reduce: Callable[[Outputs, Outputs], Result],
    *,
    workers: int | engines.Engine = 1,
    watch: RepeatDetector | None = None,
) -> Iterator[BlockResult[Result]]:
    """Run blocks, each of its own experiment, and yield their results in order.

    Experiments may be created as they are needed. Their session counts every block. Raises as `play` does.
    """
    every, first = _seen(parts)
    if first is None:
        return
    session, engine = first[0].session, _engine(workers)
    if session is not None and session.checkpoint is not None:
        playing = _kept(every, reduce, engine, session, session.checkpoint)
    else:
        playing = _fresh(every, reduce, engine)
    for played in playing:
        if watch is not None:
            watch.see(played)
        if session is not None:
            session.count(played.block)
        yield played


def _seen(
    parts: Iterable[tuple[Experiment, RunBlock]],
) -> tuple[Iterable[tuple[Experiment, RunBlock]], tuple[Experiment, RunBlock] | None]:
    """Return all parts, and the first of them, or None; a list stays a list."""
    if isinstance(parts, list):
        return parts, next(iter(parts), None)
    coming = iter(parts)
    first = next(coming, None)
    return itertools.chain([] if first is None else [first], coming), first


def _fresh(
    parts: Iterable[tuple[Experiment, RunBlock]], reduce: Callable[[Outputs, Outputs], Result], engine: engines.Engine
) -> Iterator[BlockResult[Result]]:
    """Run blocks here or by an engine, and yield their results in order."""
    every, first = _seen(parts)
    if first is None:
        return
    if _shareable(first[0], engine):
        yield from engine.run(partial(play_block, reduce=reduce), every)
    else:
        for experiment, block in every:
            yield play_block(experiment, block, reduce)


def _kept(
    parts: Iterable[tuple[Experiment, RunBlock]],
    reduce: Callable[[Outputs, Outputs], Result],
    engine: engines.Engine,
    session: Session,
    checkpoint: Checkpoint,
) -> Iterator[BlockResult[Result]]:
    """Yield stored results of blocks, and run the others; blocks of the same question have the same draws."""
    waiting: deque[tuple[Experiment, BlockResult[Result] | None]] = deque()

    def unfinished() -> Iterator[tuple[Experiment, RunBlock]]:
        for experiment, block in parts:
            stored = checkpoint.find(experiment, block, reduce)
            waiting.append((experiment, stored))
            if stored is None:
                yield experiment, block

    def restored() -> Iterator[BlockResult[Result]]:
        while waiting and waiting[0][1] is not None:
            stored = waiting.popleft()[1]
            assert stored is not None
            session.restored = True
            session.repeated += stored.block.size
            yield stored

    parts = iter(parts)
    for experiment, block in parts:  # yield stored blocks at the start without waiting for a fresh one
        waiting.append((experiment, checkpoint.find(experiment, block, reduce)))
        if waiting[0][1] is None:
            waiting.clear()
            parts = itertools.chain([(experiment, block)], parts)
            break
        yield from restored()
    for played in _fresh(unfinished(), reduce, engine):
        yield from restored()
        session.restored = False
        checkpoint.add(waiting.popleft()[0], played, reduce)
        yield played
    yield from restored()


def _engine(workers: int | engines.Engine) -> engines.Engine:
    return engines.Processes(workers) if isinstance(workers, int) else workers


def _shareable(experiment: Experiment, engine: engines.Engine) -> bool:
    return engine.apart and not experiment.observe and (experiment.copied or isinstance(experiment.mechanism, str))

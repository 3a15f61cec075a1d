"""Which blocks are finished? A file that grows as they finish, so that an interrupted audit can continue.

The file begins with a line that identifies it. Records follow, each preceded by its length and a checksum: first the
question, then a record for each finished block, under a key made of everything that its runs and their reduction depend
on. A record is written at once after its block has finished, so an interruption can damage at most the last one, which
is then dropped and its block run again. Nothing in the file is code: it is read as numbers and texts of known kinds
(MessagePack), and never unpickled. It is not signed: anyone who can write the file can write false runs into it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import cloudpickle
import msgspec
import numpy as np

from dpaudit.errors import Notice, UsageError
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.outputs import Outputs
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

if TYPE_CHECKING:
    from dpaudit.sampling.play import BlockResult

# --- What is run, and in which parts, so that a seed gives the same outputs on any number of workers? ---
#
# Runs come in *blocks* of a fixed size. Each block holds equally many runs of both sides, in pairs of one run of each
# side, whose order is picked by a coin; so no bound depends on how the coins fell. Every draw of a block depends on the
# root seed, the phase, the pair, the side and the block's number, never on the worker that runs it.

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
    TIMING = 10


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


def block_size(shape: Shape, width: int, most: int | None = None) -> int:
    """Return how many runs a block holds: fewer if an output holds many numbers, so that memory stays bounded."""
    size = _BLOCK[shape] if most is None else min(_BLOCK[shape], most)
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
) -> list[RunBlock]:
    """Return the blocks for a number of runs of a pair."""
    size = block_size(shape, width, most)
    count = -(-runs // size)
    return [RunBlock(phase, pair, first + i, min(size, runs - i * size)) for i in range(count)]


def ramp_of(
    shape: Shape,
    phase: Phase,
    pair: int,
    runs: int,
    width: int = 1,
    most: int | None = None,
) -> list[RunBlock]:
    """Return blocks that start small and double, so that the speed is known after the first few."""
    is_read = shape is Shape.READ
    sizes, size = [], min(_FIRST_READ if is_read else _FIRST_BLOCK, block_size(shape, 1, most))
    while runs > 0:
        sizes.append(min(size, runs))
        runs -= sizes[-1]
        size = min((16 if is_read else 2) * size, block_size(shape, width, most))
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

    def __reduce__(self) -> Any:
        """Pickle an experiment with a named mechanism so that the name is loaded first."""
        asked = (self.parameters, self.pairs, self.digests, self.seed)
        rest = (*asked, self.observe, self.copied, self.made_as, None, self.types)
        if isinstance(self.mechanism, str):
            return _unpickled, (self.mechanism, cloudpickle.dumps(rest))
        return Experiment, (self.mechanism, *rest)


def loaded(reference: str) -> Mechanism:
    """Return the mechanism of this name."""
    from dpaudit.loading import load

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


# --- Which blocks are finished? A file that grows as they finish, so that an interrupted audit can continue. ---

# --- How does a finished block stand in a file? Under a key, as numbers and texts ---
#
# The key is made of everything that the runs of a block and their reduction depend on, so that no block can be taken
# for another. Nothing that is read is code: values are of known kinds (MessagePack), and never unpickled.

CHECKSUM = 16  # bytes

_LEGIBLE = 60  # characters of a value that a message quotes; digests are longer
_ARRAYS = ("<f8", "<i4", "<i8", "|b1", "|i1", "<u8")  # kinds of arrays that are kept


class KeptBlocks(msgspec.Struct, array_like=True, frozen=True):
    """A finished block: what a worker returns for it, except the block itself."""

    key: bytes
    sizes: tuple[int, int]
    fingerprints: tuple[bytes | None, bytes | None]
    fallback_reason: str | None
    result: Any


class Keys:
    """The keys of blocks; descriptions of reductions are computed once."""

    def __init__(self) -> None:
        self._reductions: dict[int, tuple[Any, str | None]] = {}

    def of(self, experiment: Experiment, block: RunBlock, reduce: Callable[..., Any]) -> bytes | None:
        """Return the key of a block."""
        known = self._reductions.get(id(reduce))
        if known is None or known[0] is not reduce:
            known = self._reductions[id(reduce)] = (reduce, described(reduce))
        if known[1] is None:
            return None
        of_pair = (
            experiment.digests[block.pair] if experiment.digests else None
        )  # else the question says what the pair is made of
        whose = int(block.phase), block.pair, block.index, block.size, block.chance
        others = [] if experiment.types == "count" else [experiment.types]
        parts = (known[1], of_pair, experiment.seed, experiment.observe, str(experiment.made_as), *whose, *others)
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()


def encoded(key: bytes, played: BlockResult[Any]) -> bytes:
    """Return a finished block as bytes; raise TypeError if its result is of a kind that cannot be kept."""
    kept = KeptBlocks(key, played.sizes, played.fingerprints, played.fallback_reason, plain(played.result))
    return msgspec.msgpack.encode(kept)


def decoded(content: bytes, block: RunBlock) -> BlockResult[Any] | None:
    """Return a finished block from its bytes, or None if they hold none."""
    from dpaudit.sampling.play import BlockResult

    try:
        kept = msgspec.msgpack.decode(content, type=KeptBlocks)
        return BlockResult(block, restored(kept.result), kept.sizes, kept.fingerprints, kept.fallback_reason)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, msgspec.MsgspecError):
        return None


def checksum(content: bytes) -> bytes:
    """A short digest by which damage is noticed."""
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()


def refuse_other(name: str, kept: Any, asked: dict[str, Any]) -> None:
    """Raise `UsageError` if finished blocks belong to another question."""
    kept = kept if isinstance(kept, dict) else {}
    # an option that an earlier dpaudit did not know has its default
    if {part: value for part, value in kept.items() if value is not None} == {
        part: value for part, value in asked.items() if value is not None
    }:
        return
    part = next((part for part in {**asked, **kept} if kept.get(part) != asked.get(part)), "question")
    before, now = _json_text(kept.get(part)), _json_text(asked.get(part))
    other = f"{part} was {before} and is {now}" if max(len(before), len(now)) <= _LEGIBLE else f"it differs in: {part}"
    raise UsageError(
        f"{name!r} holds the finished blocks of another question: {other}; ask the same as before, or name another "
        "file or folder"
    )


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def described(reduce: Callable[..., Any]) -> str | None:
    """A text that identifies a reduction in any process; None if there is none."""
    kind = type(reduce)
    if dataclasses.is_dataclass(reduce):
        return f"{kind.__module__}.{kind.__qualname__} {digest(reduce)}"
    if inspect.isfunction(reduce) and "<" not in reduce.__qualname__:
        return f"{reduce.__module__}.{reduce.__qualname__}"
    return None


# --- results as plain values ------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A result as values that MessagePack can store; raises TypeError for any other."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, Outputs):
        return ["outputs", list(value.forms), plain(value.codes), [plain(numbers) for numbers in value.numbers]]
    if isinstance(value, np.ndarray) and value.dtype.str in _ARRAYS:
        return ["array", value.dtype.str, list(value.shape), value.tobytes()]
    if type(value) in (tuple, list):
        return [type(value).__name__, *map(plain, value)]
    raise TypeError


def restored(value: Any) -> Any:
    """The inverse of `plain`; raises ValueError for anything that `plain` does not produce."""
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind == "array" and rest[0] in _ARRAYS:
        return np.frombuffer(rest[2], dtype=rest[0]).reshape(rest[1]).copy()
    if kind == "outputs":
        return Outputs(tuple(map(str, rest[0])), restored(rest[1]), tuple(map(restored, rest[2])))
    if kind in ("tuple", "list"):
        items = map(restored, rest)
        return tuple(items) if kind == "tuple" else list(items)
    raise ValueError(f"a kept block holds a {kind!r:.40}")


MAGIC = b"dpaudit finished blocks 1\n"

_LENGTH = 8
_LONGEST_QUESTION = 2**30  # bytes


class Checkpoint:
    """The file of finished blocks of one question."""

    def __init__(self, path: str | Path, question: Mapping[str, Any]) -> None:
        """Open a file, or create one."""
        self._name = str(path)
        self._places: dict[bytes, tuple[int, int]] = {}
        self._lock = threading.Lock()  # joblib dispatches blocks to workers from another thread
        self._keys = Keys()
        existed = Path(path).exists()
        try:
            self._file: BinaryIO = open(path, "r+b" if existed else "x+b")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"cannot open {self._name!r} to resume from: {error.strerror or error}") from None
        try:
            self._claim()
            self._read(json.loads(json.dumps(question)), existed)
        except (OSError, ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
            self.close()
            if isinstance(error, UsageError):
                raise
            why = getattr(error, "strerror", None) or "its blocks cannot be read"
            raise UsageError(f"cannot resume from {self._name!r}: {why}; name another file") from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file. What a full disk did not accept is lost, and was reported when it was written."""
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def finished(self) -> int:
        """How many blocks the file holds."""
        return len(self._places)

    def find(self, experiment: Experiment, block: RunBlock, reduce: Callable[..., Any]) -> BlockResult[Any] | None:
        """Return the stored result of a block.

        Args:
            experiment: what is run.
            block: of which runs.
            reduce: the reduction of its outputs.

        Returns:
            The result, or None if the file does not hold it.
        """
        key = self._keys.of(experiment, block, reduce)
        if key is None or key not in self._places:
            return None
        start, length = self._places[key]
        with self._lock:
            self._file.seek(start)
            content = self._file.read(length)
        return decoded(content, block)  # if there is none, the block is run again

    def add(self, experiment: Experiment, played: BlockResult[Any], reduce: Callable[..., Any]) -> None:
        """Store a finished block; a result of a kind that cannot be stored is skipped, and its block run again."""
        key = self._keys.of(experiment, played.block, reduce)
        if key is None or key in self._places:
            return
        try:
            content = encoded(key, played)
        except TypeError:
            return
        with self._lock:
            self._places[key] = self._append(content)

    # --- the file -----------------------------------------------------------------------------------------

    def _claim(self) -> None:
        """Lock the file: two audits must not write to it."""
        try:
            import fcntl
        except ImportError:  # where there is no such lock, nothing is checked
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another audit is writing to {self._name!r}; wait for it, or name another file") from None

    def _read(self, question: dict[str, Any], existed: bool) -> None:
        """Read the file up to the first incomplete record; writing continues from there."""
        begun = self._file.read(len(MAGIC))
        if begun != MAGIC and not MAGIC.startswith(begun):
            raise UsageError(
                f"{self._name!r} holds no finished blocks of an audit (or those of another dpaudit); it is left as it "
                "is: name another file"
            )
        records = list(self._records()) if begun == MAGIC else []
        if not records:
            if existed:
                said = f"{self._name!r} holds no block, as a full disk leaves it: nothing is resumed"
                warnings.warn(said, Notice, stacklevel=2)
            self._file.seek(0)
            self._file.truncate()
            self._file.write(MAGIC)
            self._append(json.dumps(question).encode())
            return
        (start, length), blocks = records[0], records[1:]
        self._file.seek(start)
        refuse_other(self._name, json.loads(self._file.read(length)), question)
        for start, length in blocks:
            self._file.seek(start)
            kept = msgspec.msgpack.decode(self._file.read(length), type=KeptBlocks)
            self._places[kept.key] = start, length
        end = sum(records[-1])
        self._file.truncate(end)

    def _records(self) -> Any:
        """Yield the positions of complete records, as (start, length)."""
        while True:
            head = self._file.read(_LENGTH + CHECKSUM)
            start = self._file.tell()
            length = int.from_bytes(head[:_LENGTH], "little")
            left = os.fstat(self._file.fileno()).st_size - start
            if len(head) < _LENGTH + CHECKSUM or length > left or checksum(self._file.read(length)) != head[_LENGTH:]:
                return
            yield start, length

    def _append(self, content: bytes) -> tuple[int, int]:
        """Append a record and hand it to the operating system, so that it outlives this process."""
        try:
            start = self._file.seek(0, os.SEEK_END) + _LENGTH + CHECKSUM
            self._file.write(len(content).to_bytes(_LENGTH, "little") + checksum(content) + content)
            self._file.flush()
        except OSError as error:
            raise UsageError(f"cannot write the finished block to {self._name!r}: {error.strerror or error}") from None
        return start, len(content)


def question_in(path: str | Path) -> dict[str, Any] | None:
    """Return the question whose finished blocks a file holds; None if it holds none."""
    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
            head = file.read(_LENGTH + CHECKSUM)
            content = file.read(min(int.from_bytes(head[:_LENGTH], "little"), _LONGEST_QUESTION))
        question = json.loads(content) if checksum(content) == head[_LENGTH:] else None
    except (OSError, ValueError):
        return None
    return question if isinstance(question, dict) else None

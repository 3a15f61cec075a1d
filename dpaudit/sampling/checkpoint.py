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
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from dpaudit.errors import Notice, UsageError
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.blocks import Reading
from dpaudit.sampling.outputs import Outputs

if TYPE_CHECKING:
    from dpaudit.sampling.blocks import Experiment, RunBlock
    from dpaudit.sampling.play import BlockResult


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
        others += [] if experiment.reading is Reading.BATCH else [str(experiment.reading)]
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
    before, now = _shown(kept.get(part)), _shown(asked.get(part))
    other = f"{part} was {before} and is {now}" if max(len(before), len(now)) <= _LEGIBLE else f"it differs in: {part}"
    raise UsageError(
        f"{name!r} holds the finished blocks of another question: {other}; ask the same as before, or name another "
        "file or folder"
    )


def _shown(value: Any) -> str:
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

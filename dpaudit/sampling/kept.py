"""How does a finished block stand in a file? Under a key, as numbers and texts.

The key is made of everything that the runs of a block and their reduction depend on, so that no block can be taken for
another. Nothing that is read is code: values are of known kinds (MessagePack), and never unpickled.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.blocks import Reading
from dpaudit.sampling.outputs import Outputs

if TYPE_CHECKING:
    from dpaudit.sampling.blocks import Block, Experiment
    from dpaudit.sampling.play import BlockResult

CHECKSUM = 16  # bytes

_LEGIBLE = 60  # characters of a value that a message quotes; digests are longer
_ARRAYS = ("<f8", "<i4", "<i8", "|b1", "|i1", "<u8")  # kinds of arrays that are kept


class Kept(msgspec.Struct, array_like=True, frozen=True):
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

    def of(self, experiment: Experiment, block: Block, reduce: Callable[..., Any]) -> bytes | None:
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
    kept = Kept(key, played.sizes, played.fingerprints, played.fallback_reason, plain(played.result))
    return msgspec.msgpack.encode(kept)


def decoded(content: bytes, block: Block) -> BlockResult[Any] | None:
    """Return a finished block from its bytes, or None if they hold none."""
    from dpaudit.sampling.play import BlockResult

    try:
        kept = msgspec.msgpack.decode(content, type=Kept)
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

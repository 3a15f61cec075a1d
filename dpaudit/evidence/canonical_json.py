"""How are JSON documents read, hashed and written? In canonical form, and atomically."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import stat
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.errors import UsageError

_PREFIX, _PART = ".dpaudit-", ".part"
_ABANDONED = 600  # seconds after which a part file is taken to be abandoned
_LARGEST_INTEGER = 2**53  # from here on, floats do not distinguish integers


def refuse_device(path: str | Path) -> None:
    """Raise `OSError` for a device, since reading some of them never ends."""
    kind = os.stat(path)
    if stat.S_ISBLK(kind.st_mode) or (stat.S_ISCHR(kind.st_mode) and kind.st_rdev != os.stat(os.devnull).st_rdev):
        with open(path, "rb", buffering=0) as file:
            if not file.isatty():
                raise OSError(errno.EINVAL, "it is a device, and no file")


def read_text(path: str | Path, what: str = "the evidence", hint: str = "") -> str:
    """Return the text of a UTF-8 file, without a leading byte order mark.

    Every text file that a user passes is read by this function.
    """
    try:
        refuse_device(path)
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        why = getattr(error, "strerror", None) or why
        raise UsageError(f"cannot read {what} {str(path)!r}: {why}{hint}") from None


def content_id(record: Any) -> str:
    """Return ``dpa1:`` and the SHA-256 of JSON values in RFC 8785 form."""
    import rfc8785

    try:
        return "dpa1:" + hashlib.sha256(rfc8785.dumps(record)).hexdigest()
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise UsageError(f"a record that has no canonical JSON: {error}") from None


TABLE_NAME = "dpaudit: file and digest"  # in a frame's attrs, if it was read from a file


def plain_value(value: Any) -> Any:
    """Return a parameter as a JSON value (a NumPy scalar as a plain number, a fraction as "1/3"), or else its repr.

    Of a frame there is its digest alone: its rows may be private.
    """
    if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if hasattr(value, "columns") and hasattr(value, "attrs"):
        return value.attrs.get(TABLE_NAME) or f"a table of {len(value)} rows, sha256:{_digest_of(value)}"
    if hasattr(value, "dtype") and getattr(value, "size", 0) > 1000:  # what its repr would leave out counts
        return f"an array of shape {value.shape}, sha256:{hashlib.sha256(repr(value.tolist()).encode()).hexdigest()}"
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))  # addresses would make the id differ between runs


def _digest_of(frame: Any) -> str:
    columns = [(repr(name), str(frame[name].dtype), frame[name].tolist()) for name in frame.columns]
    return hashlib.sha256(repr((frame.index.tolist(), columns)).encode()).hexdigest()


def read_json(text: str) -> Any:
    """Return the values of a JSON text; raise `ValueError` if it is no JSON, or repeats a key."""
    return json.loads(text, object_pairs_hook=_members, parse_int=_integer, parse_constant=_refuse_constant)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; a repeated key is refused, since it would be ambiguous."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands there twice")
    return members


def _integer(text: str) -> int | float:
    """Read a number without a decimal point; above 2^53 it is a real number, since such integers are texts."""
    number = float(text)
    return number if abs(number) >= _LARGEST_INTEGER else int(text)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def json_values(value: Any) -> Any:
    """Replace values that JSON cannot represent: infinities, NaN, large integers and lone surrogates become text."""
    if isinstance(value, dict):
        return {_json_text(str(key)): json_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(item) for item in value]
    if isinstance(value, str):
        return _json_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LARGEST_INTEGER:
        return str(value)
    return value


def _json_text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file atomically; a device or a pipe is written directly."""
    target = Path(path)
    try:
        target = target.resolve()  # write the file that a symbolic link points to
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8", newline="\n")
            return
        replace_whole(target, text.encode())
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise UsageError(f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None


def replace_whole(target: Path, content: bytes) -> None:
    """Replace a file atomically, once the new content is on the disk; remove part files left by killed processes."""
    # remove part files of processes that were killed while writing, after a time that no write takes
    with contextlib.suppress(OSError):
        for part in target.parent.glob(f"{_PREFIX}*{_PART}"):
            with contextlib.suppress(OSError):
                if time.time() - part.stat().st_mtime > _ABANDONED:
                    part.unlink()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _default_mode()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=_PREFIX, suffix=_PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _keep_names(target.parent)


def _keep_names(folder: Path) -> None:
    """Flush a folder's entries to the disk, if the system supports that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _default_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask

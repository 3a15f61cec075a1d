"""Which gate may write to a shared file? One at a time, so that concurrent gates lose neither entries nor nights.

The operating system holds the lock and releases it when the process ends, in whatever way, so a lock is never stale.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import write_whole

FOLDER = ".dpaudit"


def own_folder(root: Path, name: str) -> Path:
    """Return a folder of dpaudit in a project, which git ignores; it is created if it is missing."""
    folder = root / FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    ignored = root / FOLDER / ".gitignore"
    if not ignored.exists():
        write_whole(ignored, "*\n")
    return folder


@contextlib.contextmanager
def alone_with(file: Path, *, wait: bool) -> Iterator[None]:
    """Lock a file against other gates; if another gate holds the lock, wait or refuse."""
    try:
        place = own_folder(file.parent, "locks") / f"{file.name}.lock"
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UsageError(f"cannot lock {str(file)!r}: {error.strerror or error}") from None
    try:
        if not _taken(handle, wait=wait):
            raise UsageError(f"another gate is writing {file.name}; wait for it, and call dpaudit gate again")
        yield
    finally:
        os.close(handle)  # this releases the lock


def _taken(handle: int, *, wait: bool) -> bool:
    """Take the lock; return whether it was free."""
    try:
        import fcntl
    except ImportError:
        return _taken_on_windows(handle, wait=wait)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _taken_on_windows(handle: int, *, wait: bool) -> bool:
    import time
    from importlib import import_module

    windows = import_module("msvcrt")
    while True:
        try:
            windows.locking(handle, windows.LK_NBLCK, 1)
        except OSError:
            if not wait:
                return False
            time.sleep(0.1)
        else:
            return True

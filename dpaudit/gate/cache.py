"""Is a target unchanged since it was last run? Then it is not run again.

A report is stored with everything that it depends on: the request (target, claim, parameters, pairs, seed, runs,
confidence), dpaudit's own source, the versions of Python and of every installed distribution, the files with its pairs,
and every file of the project that was loaded or read. If one digest differs, the target runs again. Without a
configured seed each commit has its own; then a report with the seed of an earlier commit is still used.
Dependencies on anything else (the network, the clock, the environment) are not detected.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import content_id, write_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate.target_process import Report, Request, files_of, listing

# --- Which gate may write to a shared file? One at a time, so that concurrent gates lose neither entries nor nights.
#
# The operating system holds the lock and releases it when the process ends, in whatever way, so a lock is never stale.

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


# --- Is a target unchanged since it was last run? Then it is not run again. ---

_VERSION = 1
_NAME = 40  # characters of a target's name in its file name, to stay readable


class Cache:
    """The reports of earlier gates, one file for each target and look; damaged files are ignored."""

    def __init__(self, root: Path, *, any_seed: bool = False) -> None:
        """Open the cache of a project; with ``any_seed``, reports with another seed are used, too."""
        self.folder = root / FOLDER / "gate"
        self._any_seed = any_seed

    def find(self, name: str, look: str, request: Request) -> Report | None:
        """Return the report of a request if nothing that it depends on has changed, else None.

        Args:
            name: of the target.
            look: "first" or "second", or another word for the purpose of the runs.
            request: what is asked for.
        """
        try:
            document = json.loads(self._file(name, look).read_text(encoding="utf-8"))
            record = document["record"]
            if content_id(record) != document["id"] or record["key"] != self._key(request):
                return None
            report = msgspec.convert(record["report"], Report)
            if not _unchanged(report):
                return None
            if report.evidence is not None:
                Evidence.from_json(json.dumps(report.evidence))  # raises for a version that this dpaudit cannot read
            return report
        except (OSError, ValueError, KeyError, TypeError, msgspec.ValidationError, RecursionError):
            return None

    def keep(self, name: str, look: str, request: Request, report: Report) -> None:
        """Store a report, if it has evidence and its files are known."""
        if report.evidence is None or not report.folders:
            return
        record = json.loads(
            json.dumps({"version": _VERSION, "key": self._key(request), "report": msgspec.to_builtins(report)})
        )
        try:
            identity = content_id(record)
            own_folder(self.folder.parents[1], self.folder.name)
            write_whole(self._file(name, look), json.dumps({"id": identity, "record": record}) + "\n")
        except (OSError, UsageError):
            return  # without a writable folder a gate is only slower

    def _key(self, request: Request) -> str:
        return key_of(msgspec.structs.replace(request, seed=0) if self._any_seed else request)

    def _file(self, name: str, look: str) -> Path:
        readable = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:_NAME]
        digest = hashlib.sha256(f"{name}\0{look}".encode()).hexdigest()[:16]
        return self.folder / f"{readable}-{digest}.json"


def _unchanged(report: Report) -> bool:
    """Whether every file and folder that a report depends on is as it was."""
    files = all(file_digest(Path(file)) == digest for file, digest in report.files.items())
    return files and all(_listed(Path(folder)) == digest for folder, digest in report.folders.items())


def _listed(folder: Path) -> str | None:
    return listing(folder) if folder.is_dir() else None


def file_digest(file: Path) -> str | None:
    """Return the SHA-256 of a file, None if there is none."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def key_of(request: Request) -> str:
    """Return a digest of everything that a report depends on and that is known in advance."""
    given = {file: file_digest(Path(request.root) / file) for file in files_of(request)}
    return _digest([msgspec.to_builtins(request), given, environment()])


@lru_cache(maxsize=1)
def environment() -> str:
    """Return a digest of dpaudit's source, of Python, the machine, and all installed distributions."""
    package = Path(__file__).resolve().parents[1]
    source = [(file.relative_to(package).as_posix(), file_digest(file)) for file in sorted(package.rglob("*.py"))]
    installed = sorted({f"{each.metadata['Name']}=={each.version}" for each in distributions()})
    return _digest([source, sys.version, platform.machine(), installed, os.environ.get("PYTHONPATH", "")])


def with_seed_of(report: Report, request: Request) -> Request:
    """Return the request with the seed of a report."""
    record = (report.evidence or {}).get("evidence")
    seed = record.get("seed") if isinstance(record, dict) else None
    return msgspec.structs.replace(request, seed=seed) if isinstance(seed, int) else request


def code_digest(report: Report) -> str:
    """Return a digest of the code that a report is about: its files and everything installed."""
    return _digest([sorted(report.files.items()), environment()])


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()

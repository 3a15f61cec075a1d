"""How is a target kept from doing harm? By a process of its own, with limits, ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from dpaudit.gate.child import LARGE, SPARE, Report, Request, file_named, memory_of

_LOOK = 0.1  # seconds between looks at a process
_TAIL = 4_000  # bytes of standard error that are kept
_PROCESSOR_TIME = 60  # seconds of it beyond the time limit, after which the system ends the process by itself
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a target may take: seconds, and MiB of memory."""

    seconds: float
    memory: float


def run(request: Request, limits: Limits, stop: threading.Event) -> Report:
    """Carry out a request in a process of its own; why it failed, if it did, is part of the report.

    Raises:
        KeyboardInterrupt: where ``stop`` is set meanwhile.
    """
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="dpaudit-gate-") as folder:
        place = Path(folder) / "report.json"
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dpaudit.gate.child", str(place)],
            cwd=request.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **{name: os.environ.get(name, "1") for name in _THREADS}},
        )
        said = _Tail(process.stderr)
        try:
            _limit(process.pid, limits)
            _hand_over(process.stdin, request)
            error = _watch(process, limits, clock, stop)
        finally:
            _end(process)
        report = _read(place)
    if error is None and report is None:
        error = _death(process.returncode, said.last_line())
    if error is not None or report is None:
        report = Report(error=error, location=file_named(request))
    return msgspec.structs.replace(report, seconds=time.perf_counter() - clock)


def _hand_over(pipe: IO[bytes] | None, request: Request) -> None:
    assert pipe is not None
    with contextlib.suppress(BrokenPipeError):  # it died before it listened
        pipe.write(json.dumps(msgspec.to_builtins(request)).encode() + b"\n")
        pipe.flush()


def _watch(process: subprocess.Popen[bytes], limits: Limits, clock: float, stop: threading.Event) -> str | None:
    """Wait for a process to end; say why where it had to be ended."""
    while True:
        try:
            process.wait(_LOOK)
            return None
        except subprocess.TimeoutExpired:
            pass
        if stop.is_set():
            raise KeyboardInterrupt
        if time.perf_counter() - clock > limits.seconds:
            return (
                f"it took more than {limits.seconds:g} seconds and was ended: raise time_limit, or give it fewer runs"
            )
        if memory_of(process.pid) > limits.memory:
            return LARGE


def _limit(pid: int, limits: Limits) -> None:
    """Let the system, too, end what takes too much: what asks for much memory at once is refused it."""
    try:
        import resource
    except ImportError:
        return
    if not hasattr(resource, "prlimit"):
        return
    wanted = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(limits.seconds) + _PROCESSOR_TIME),
        (resource.RLIMIT_DATA, int(SPARE * limits.memory * 2**20)),
    )
    for kind, most in wanted:
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.prlimit(pid, kind)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (least, least))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything that it started and left in its group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read(place: Path) -> Report | None:
    try:
        return msgspec.convert(json.loads(place.read_text(encoding="utf-8")), Report)
    except (OSError, ValueError):
        return None


def _death(code: int, last: str) -> str:
    """Say how a process ended that left no report."""
    if code < 0:
        try:
            how = f"its process was ended by {signal.Signals(-code).name}"
        except ValueError:
            how = f"its process was ended by signal {-code}"
    else:
        how = f"its process ended by itself with exit code {code}, before the audit was over"
    return how + (f"; it said last: {last}" if last else "")


class _Tail:
    """Reads what a process writes, so that it never waits, and keeps the end."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe, self._kept = pipe, b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe:
            while part := self._pipe.read1(2**16):  # type: ignore[attr-defined]
                self._kept = (self._kept + part)[-_TAIL:]

    def last_line(self) -> str:
        """Return the last line that is not empty, shortened."""
        self._thread.join(1.0)
        lines = self._kept.decode(errors="replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""

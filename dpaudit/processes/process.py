"""How is somebody's code kept from doing harm? By a process of its own, with limits, ended with all that it started.

`run` hands a process its request, waits for the answer that it leaves in a file, and ends it: whatever the code did to
its process, only a whole answer counts. A process that ended by itself has said nothing, whatever its exit code.

A limit of time is for the work that was asked for. A second look (`dpaudit.auditing.second_look`) is beyond that, on up
to twice the runs, and has twice as long to itself, from the moment on at which `second_look_begins`.

What the code started ends with it: everything in its session, and, where Linux shows what a process started, also what
made a session of its own. The functions of the other side, for the process itself, are `received` and `hand_over`.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

FORKED = (
    "it forks: a copy of the process would draw the same noise once more; start other programs with subprocess, "
    "or draw in one process"
)
LONGER = 2  # times the limit of time, for a second look
SPARE = 2  # times the limit of memory, at which the system refuses more

_LOOK = 0.05  # seconds between looks at a process
_ROUNDS = 50  # in which what a process started is looked for, until nothing is left
_PATIENCE = 3.0  # seconds that an interrupted process has for its own last words
_TAIL = 4_000  # bytes of standard error that are kept
_PROCESSOR_TIME = 60  # seconds of it beyond the time limit, after which the system ends the process by itself
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_DATA = 5  # of /proc/…/statm: pages that only this process can write to
_UNHEARD = 92  # the exit code of a process that could not hand over its answer
_SUBREAPER = 36  # of prctl(2): orphans below become children of this process


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may take: seconds, and MiB of memory; None for as much as there is."""

    seconds: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    Attributes:
        answer: what it handed over, as JSON values; None where it handed over nothing.
        over: "time", "second look" (its time) or "memory", where it took more than its limit.
        death: how it ended by itself without an answer, as a sentence.
    """

    answer: Any = None
    over: str | None = None
    death: str | None = None


def run(
    module: str,
    request: Any,
    *,
    limits: Limits,
    folder: str | None = None,
    stop: threading.Event | None = None,
    quiet: bool = True,
) -> Ended:
    """Run a module of dpaudit in a process of its own, with a request that it reads by `received`.

    Args:
        module: its name.
        request: JSON values.
        limits: what it may take.
        folder: its working directory; by default that of this process.
        stop: ends it from another thread.
        quiet: whether what it writes is kept for its last words, rather than shown on standard error.

    Raises:
        KeyboardInterrupt: where ``stop`` is set meanwhile.
    """
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="dpaudit-", ignore_cleanup_errors=True) as own:
        place = Path(own) / secrets.token_hex(8)
        with _CHANGING:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", module],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL if quiet else _standard_error(),
                stderr=subprocess.PIPE if quiet else None,
                close_fds=quiet,  # a shell names what another program writes /dev/fd/63
                start_new_session=True,
                env={**os.environ, **{name: os.environ.get(name, "1") for name in _THREADS}} if quiet else None,
            )
            _RUNNING.add(process.pid)
        said = _Tail(process.stderr) if quiet else None
        try:
            _limit(process.pid, limits)
            _send(process.stdin, {"place": str(place), "request": request})
            over = _watch(process, place, limits, clock, stop)
        except KeyboardInterrupt:
            if stop is None:
                _interrupt(process, place)
            raise
        finally:
            _end(process)
            with _CHANGING:
                _RUNNING.discard(process.pid)
                _end_strays()
        answer = _read(place)
    if over is None and answer is None:
        return Ended(death=_death(process.returncode, "" if said is None else said.last_line()))
    return Ended(answer, over)


def _standard_error() -> int:
    """Where what a target prints goes; nowhere, if this process has no standard error."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    assert pipe is not None
    with contextlib.suppress(BrokenPipeError):  # it died before it listened
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()


def _watch(
    process: subprocess.Popen[bytes], place: Path, limits: Limits, clock: float, stop: threading.Event | None
) -> str | None:
    """Wait for the answer, or for the process to end; say which limit it met."""
    again, over, seconds = _again(place), "time", limits.seconds
    while not place.exists():
        try:
            process.wait(_LOOK)
            return None
        except subprocess.TimeoutExpired:
            pass
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        if limits.seconds is not None and over == "time" and again.exists():
            clock, over, seconds = time.perf_counter(), "second look", LONGER * limits.seconds
        if seconds is not None and time.perf_counter() - clock > seconds:
            return over
        if limits.memory is not None and memory_of(process.pid) > limits.memory:
            return "memory"
    return None


def too_long(over: str, limits: Limits) -> str:
    """Say which limit of time a process met, "time" or that of its "second look"."""
    what, times = ("its second look", LONGER) if over == "second look" else ("it", 1)
    return f"{what} took more than {times * (limits.seconds or 0.0):g} seconds and was ended"


def _again(place: Path) -> Path:
    """Where a process says that a second look begins."""
    return place.with_name(place.name + ".again")


def _interrupt(process: subprocess.Popen[bytes], place: Path) -> None:
    """Let a process end its work in order: put the cursor back, close its files."""
    with contextlib.suppress(KeyboardInterrupt, OSError):
        process.send_signal(signal.SIGINT)
        until = time.monotonic() + _PATIENCE
        while process.poll() is None and not place.exists() and time.monotonic() < until:
            time.sleep(_LOOK)


def _limit(pid: int, limits: Limits) -> None:
    """Let the system, too, end what takes too much: what asks for much memory at once is refused it."""
    try:
        import resource
    except ImportError:
        return
    if not hasattr(resource, "prlimit"):
        return
    wanted = [(resource.RLIMIT_CORE, 0)]
    if limits.seconds is not None:
        wanted.append((resource.RLIMIT_CPU, int((1 + LONGER) * limits.seconds) + _PROCESSOR_TIME))
    if limits.memory is not None:
        wanted.append((resource.RLIMIT_DATA, int(SPARE * limits.memory * 2**20)))
    for kind, most in wanted:
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.prlimit(pid, kind)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (least, least))


def _read(place: Path) -> Any:
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _death(code: int, last: str) -> str:
    """Say how a process ended that left no answer."""
    if code == _UNHEARD:
        how = "its process could not hand over what it found; is there room in the folder for temporary files?"
    elif code < 0:
        try:
            how = f"its process was ended by {signal.Signals(-code).name}"
        except ValueError:
            how = f"its process was ended by signal {-code}"
    else:
        how = f"its process ended by itself with exit code {code}, before the work was over"
    return how + (f"; it said last: {last}" if last else "")


def memory_of(pid: int) -> float:
    """Return the MiB of memory that a process has asked for, or else that it uses; 0 where neither can be told."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        statm = Path(f"/proc/{pid}/statm")
        if statm.exists():
            return int(statm.read_text().split()[_DATA]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return int(listed.stdout) / 1024
    return 0.0


# --- the end ----------------------------------------------------------------------------------------------

_RUNNING: set[int] = set()  # processes that `run` started and has not ended
_CHANGING = threading.Lock()  # held while one is started, lest it be taken for an orphan
_adopts = False


def adopt_orphans() -> None:
    """Make orphans below this process its children, so that they can be ended; for a process that dpaudit owns."""
    global _adopts
    _adopts = _become_subreaper()


def _become_subreaper() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        return ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0  # type: ignore[no-any-return]
    except (OSError, AttributeError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything that it started."""
    if process.poll() is None:
        _signal(process.pid, "SIGSTOP")  # it starts nothing more while the rest is ended
        for _ in range(_ROUNDS):
            below = _below(process.pid)
            if not below:
                break
            for pid in below:
                _signal(pid, "SIGKILL")
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _end_strays() -> None:
    """End the orphans that this process has adopted: they are its children in a session of somebody else's."""
    own = os.getsid(0) if _adopts else 0
    for _ in range(_ROUNDS if _adopts else 0):
        strays = [pid for pid, parent, session in _listed() if parent == os.getpid() and session != own]
        strays = [pid for pid in strays if pid not in _RUNNING]
        if not strays:
            return
        for pid in strays:
            for each in (pid, *_below(pid)):
                _signal(each, "SIGKILL")
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _signal(pid: int, name: str) -> None:
    if hasattr(signal, name):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, getattr(signal, name))


def _below(pid: int) -> list[int]:
    """All living processes that a process started, and those that these started; none where that cannot be told."""
    children: dict[int, list[int]] = {}
    for each, parent, _ in _listed():
        children.setdefault(parent, []).append(each)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    return found


def _listed() -> Iterator[tuple[int, int, int]]:
    """Yield all living processes as (process, its parent, its session)."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    state, parent, _, session = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
                    if state not in ("Z", "X"):
                        yield int(name), int(parent), int(session)


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


# --- in the process itself --------------------------------------------------------------------------------


class Answering:
    """The place where the answer of this process goes, once."""

    def __init__(self, place: str) -> None:
        # what a target replaces later is not what writes the answer
        self._place, self._own = place, os.getpid()
        self._tools = os.open, os.write, os.close, os.rename, os.getpid, os._exit, time.sleep, json.dumps

    def second_look_begins(self) -> None:
        """Say that a second look begins, of which nothing was known when the limit of time was set."""
        with contextlib.suppress(OSError):
            _again(Path(self._place)).touch()

    def hand_over(self, answer: Any) -> NoReturn:
        """Leave an answer, whole, and wait to be ended; a copy of the process leaves none."""
        open_, write, close, rename, getpid, leave, sleep, encode = self._tools
        if getpid() != self._own:
            leave(0)
        try:
            content = encode(answer).encode()
            handle = open_(self._place + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            while content:
                content = content[write(handle, content) :]
            close(handle)
            rename(self._place + ".part", self._place)
        except BaseException:  # such as a full disk
            leave(_UNHEARD)
        while True:  # whoever asked ends this process, and what is below it
            sleep(60)


_answering: Answering | None = None  # of this process, where it was asked for something


def second_look_begins() -> None:
    """Say so to whoever asked, where this process has a limit of time; nothing elsewhere."""
    if _answering is not None:
        _answering.second_look_begins()


def received() -> tuple[Any, Answering]:
    """Read the request of this process from standard input, and keep what the code does from whoever asked.

    Standard input stays open as long as whoever asked lives; afterwards this process ends.
    """
    global _answering
    asked = os.fdopen(os.dup(0), "rb")
    message = json.loads(asked.readline())
    silence = os.open(os.devnull, os.O_RDWR)
    os.dup2(silence, 0)
    _become_subreaper()
    threading.Thread(target=_outlived, args=(asked, os._exit), daemon=True).start()
    _answering = Answering(message["place"])
    return message["request"], _answering


def refuse_forks(answering: Answering, answer: Any) -> None:
    """End a copy of this process at once, and hand over an answer that says so."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os._exit(0), after_in_parent=lambda: answering.hand_over(answer))


def took_too_much() -> bool:
    """Whether this process holds more than its limit, which it reached faster than anyone could look."""
    try:
        import resource
    except ImportError:
        return False
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return most != resource.RLIM_INFINITY and memory_of(os.getpid()) > most / SPARE / 2**20


def _outlived(asked: Any, leave: Any) -> None:
    """End this process when whoever asked has ended: standard input closes."""
    with contextlib.suppress(OSError, ValueError):
        asked.read()
    leave(1)

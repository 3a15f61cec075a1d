"""How is other people's code run in a process of its own, and does its evidence answer what was asked?

`run` sends a request to a process, waits for the answer that it leaves in a file, and ends it: whatever the code did to
its process, only a complete answer counts. A process that ended by itself gave no answer, whatever its exit code.

The time limit is for the requested work. A second look (`dpaudit.auditing.audit`), with up to twice the runs,
comes on top and has twice the time limit, starting with `second_look_begins`.

Everything that the code started ends with it: all processes in its session, and on Linux also descendants in other
sessions. The functions for the process itself are `received` and `hand_over`.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NoReturn

from dpaudit.evidence.canonical_json import json_values, plain_value
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.digest import digest, kept_text, read_kept
from dpaudit.neighbours.domain import is_two_numbers, parse_all
from dpaudit.privacy import parse_claim
from dpaudit.request import AuditRequest, ProofRequest, Request, TraceRequest, options_of, proof_for, trace_for
from dpaudit.settings import is_ours

# --- How is other people's code prevented from doing harm? -----------------------------------------------

FORKED = (
    "it forks: a copy of the process would draw the same noise once more; start other programs with subprocess, "
    "or draw in one process"
)
LONGER = 2  # times the time limit, for a second look
SPARE = 2  # times the memory limit, at which the system refuses more

_AT_MOST = 9  # times the time limit that a process may wait for a processor on top of it
_LOOK = 0.05  # seconds between checks of a process
_ROUNDS = 50  # attempts to find and end all descendants
_PATIENCE = 3.0  # seconds for an interrupted process to clean up
_TAIL = 4_000  # bytes of standard error that are kept, enough for the last line
_PROCESSOR_TIME = 60  # seconds of CPU time beyond the time limit, after which the system ends the process
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_DATA = 5  # of /proc/…/statm: pages that only this process can write to
_UNHEARD = 92  # the exit code of a process that could not hand over its answer
_SUBREAPER = 36  # of prctl(2): orphans below become children of this process


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a process: seconds, and MiB of memory; None for no limit."""

    seconds: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    answer: Any = None  # its answer as JSON values, or None
    over: str | None = None  # the limit that it exceeded: "time", "second look" (its time) or "memory"
    death: str | None = None  # how it ended by itself without an answer, as a sentence


def run(
    module: str,
    request: Any,
    *,
    limits: Limits,
    folder: str | None = None,
    stop: threading.Event | None = None,
    quiet: bool = True,
) -> Ended:
    """Run a module of dpaudit in a separate process, with a request that it reads by `received`.

    Args:
        module: its name.
        request: JSON values.
        limits: of time and memory.
        folder: its working directory; by default that of this process.
        stop: ends it from another thread.
        quiet: keep its output, to quote the last line, instead of showing it on standard error.

    Raises:
        KeyboardInterrupt: if ``stop`` is set in the meantime.
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
                close_fds=quiet,  # a shell may pass pipes as names like /dev/fd/63
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
        answer = _json_in(place)
    if over is None and answer is None:
        return Ended(death=_death(process.returncode, "" if said is None else said.last_line()))
    return Ended(answer, over)


def _standard_error() -> int:
    """Return where the output of a target goes; nowhere, if this process has no standard error."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    assert pipe is not None
    with contextlib.suppress(BrokenPipeError):  # it ended before it read the request
        pipe.write(json.dumps(message).encode() + b"\n")
        pipe.flush()


def _watch(
    process: subprocess.Popen[bytes], place: Path, limits: Limits, clock: float, stop: threading.Event | None
) -> str | None:
    """Wait for the answer, or for the process to end; return the limit that it exceeded, if any."""
    again, over, seconds = _second_look_file(place), "time", limits.seconds
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
        spent = time.perf_counter() - clock
        if (
            seconds is not None
            and spent > seconds
            and spent - min(queued_of(process.pid), _AT_MOST * seconds) > seconds
        ):
            return over
        if limits.memory is not None and memory_of(process.pid) > limits.memory:
            return "memory"
    return None


def too_long(over: str, limits: Limits) -> str:
    """Say which time limit a process exceeded: "time", or that of its "second look"."""
    what, times = ("its second look", LONGER) if over == "second look" else ("it", 1)
    seconds = f"{times * (limits.seconds or 0.0):g} seconds"
    return f"{what} took more than {seconds}, without waits for a busy processor, and was ended"


def _second_look_file(place: Path) -> Path:
    """Return the file by which a process says that a second look begins."""
    return place.with_name(place.name + ".again")


def _interrupt(process: subprocess.Popen[bytes], place: Path) -> None:
    """Let a process clean up before it ends: restore the cursor, close its files."""
    with contextlib.suppress(KeyboardInterrupt, OSError):
        process.send_signal(signal.SIGINT)
        until = time.monotonic() + _PATIENCE
        while process.poll() is None and not place.exists() and time.monotonic() < until:
            time.sleep(_LOOK)


def _limit(pid: int, limits: Limits) -> None:
    """Set the system's own limits as well: it refuses large allocations at once."""
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


def _json_in(place: Path) -> Any:
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _death(code: int, last: str) -> str:
    """Say how a process without an answer ended."""
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


def queued_of(pid: int) -> float:
    """Return the seconds that a process and all below it waited for a processor at most; 0 where that is not known.

    Others who keep the machine busy are no fault of a target.
    """
    most = 0
    for each in (pid, *_below(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError):
            most = max(most, int(Path(f"/proc/{each}/schedstat").read_text().split()[1]))
    return most / 1e9


def memory_of(pid: int) -> float:
    """Return the memory of a process in MiB: what it allocated, or else what it uses; 0 if neither is known."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        statm = Path(f"/proc/{pid}/statm")
        if statm.exists():
            return int(statm.read_text().split()[_DATA]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return int(listed.stdout) / 1024
    return 0.0


# --- the end ----------------------------------------------------------------------------------------------

_RUNNING: set[int] = set()  # processes that `run` has started but not ended
_CHANGING = threading.Lock()  # held while a process is started, so that it is not mistaken for an orphan
_adopts = False


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, so that they can be ended; only if dpaudit owns it."""
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
        _signal(process.pid, "SIGSTOP")  # so that it starts nothing while the others are ended
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
    """End the orphans that this process has adopted: its children in other sessions."""
    own = os.getsid(0) if _adopts else 0
    for _ in range(_ROUNDS if _adopts else 0):
        strays = [pid for pid, parent, session in _living() if parent == os.getpid() and session != own]
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
    """Return all living descendants of a process; empty if they are unknown."""
    children: dict[int, list[int]] = {}
    for each, parent, _ in _living():
        children.setdefault(parent, []).append(each)
    below: list[int] = []
    waiting = [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        below += own
        waiting += own
    return below


def _living() -> Iterator[tuple[int, int, int]]:
    """Yield all living processes as (process, its parent, its session)."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    state, parent, _, session = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
                    if state not in ("Z", "X"):
                        yield int(name), int(parent), int(session)


class _Tail:
    """Reads the output of a process, so that it never blocks, and keeps the end."""

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
    """The file to which this process writes its answer, once."""

    def __init__(self, place: str) -> None:
        # keep the functions that write the answer, in case a target replaces them later
        self._place, self._own = place, os.getpid()
        self._tools = os.open, os.write, os.close, os.rename, os.getpid, os._exit, time.sleep, json.dumps

    def second_look_begins(self) -> None:
        """Announce that a second look begins, which the time limit does not include."""
        with contextlib.suppress(OSError):
            _second_look_file(Path(self._place)).touch()

    def hand_over(self, answer: Any) -> NoReturn:
        """Write the answer atomically and wait to be ended; a forked copy of the process writes none."""
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
        except BaseException:  # for example a full disk
            leave(_UNHEARD)
        while True:  # the parent ends this process and its descendants
            sleep(60)


_answering: Answering | None = None  # of this process, if it has received a request


def second_look_begins() -> None:
    """Announce a second look to the parent, if this process has one; otherwise do nothing."""
    if _answering is not None:
        _answering.second_look_begins()


def received() -> tuple[Any, Answering]:
    """Read the request of this process from standard input, and shield the parent from what the code does.

    Standard input stays open as long as the parent lives; afterwards this process ends.
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
    """End a forked copy of this process at once, and give an answer that says so."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            after_in_child=lambda: None if is_ours() else os._exit(0),
            after_in_parent=lambda: None if is_ours() else answering.hand_over(answer),
        )


def took_too_much() -> bool:
    """Whether this process uses more than its memory limit, which it may have exceeded between two checks."""
    try:
        import resource
    except ImportError:
        return False
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return most != resource.RLIM_INFINITY and memory_of(os.getpid()) > most / SPARE / 2**20


def _outlived(asked: Any, leave: Any) -> None:
    """End this process when the parent has ended, which closes standard input."""
    with contextlib.suppress(OSError, ValueError):
        asked.read()
    leave(1)


# --- Does this evidence answer the request? --------------------------------------------------------------

Digests = Sequence[tuple[str, str]]
Compared = Iterator[tuple[str, Any, Any]]
_READ = ("seeded", "opaque")  # whose source is read, so that an audit may be a trace, or a proof
_NOISE_ALONE = "program"  # stands for its mathematics, so it has no low-order bits


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: an audit, a trace, a proof, or a proof with an audit as the alternative."""

    # audit, proof, trace: the requests that evidence may answer; None if it may not
    audit: AuditRequest | None = None
    proof: ProofRequest | None = None
    trace: TraceRequest | None = None
    folder: str = "."  # where the target was searched
    # digests of the given pairs; None for the mechanism's own pairs, and for pairs that are found
    pairs: Digests | None = None


def other_question(evidence: Evidence, asked: Asked) -> str | None:
    """Say how evidence deviates from the request; None if it answers the request."""
    proved = evidence.proof is not None or evidence.counterexample is not None
    if asked.audit is not None and asked.audit.length is not None:
        asked = replace(asked, audit=None, proof=proof_for(asked.audit))
    elif asked.audit is not None and asked.proof is None and asked.trace is None and evidence.target.asks in _READ:
        trace = trace_for(asked.audit)
        if evidence.trace is not None:
            asked = replace(asked, trace=trace)
        elif trace is not None and proved:
            asked = replace(asked, proof=proof_for(trace))
    if (evidence.trace is not None) != (asked.trace is not None):
        return f"whether it is a trace is {evidence.trace is not None}, and {asked.trace is not None} was asked for"
    request = asked.trace or (asked.proof if proved else asked.audit)
    if request is None:
        return f"whether it is a proof is {proved}, and {not proved} was asked for"
    if not _is_called(evidence.target.name, request.target, asked.folder):
        return f"the target is {evidence.target.name!r}, and {request.target!r} was asked for"
    for what, stated, wanted in _compared(evidence, request, asked.pairs):
        if stated != wanted:
            return f"{what} is {stated!r:.80}, and {wanted!r:.80} was asked for"
    return None


def _compared(evidence: Evidence, request: Request, pairs: Digests | None) -> Compared:
    """Yield (name, found, asked) for everything that must be equal: every option that is part of the request."""
    for name, option in options_of(type(request)).items():
        if not option.asked or not (option.if_invalid or evidence.verdict is not Verdict.INVALID):
            continue
        if name == "pairs" and pairs is not None:
            yield option.asked, [(pair.digest0, pair.digest1) for pair in evidence.pairs], [tuple(own) for own in pairs]
        elif name in _IN_OTHER_WORDS:
            yield from _IN_OTHER_WORDS[name](evidence, request)
        elif option.recorded is not None:
            yield option.asked, option.recorded(evidence), getattr(request, name)


def _parameters(evidence: Evidence, request: Any) -> Compared:
    own = evidence.target.parameters
    for name, value in (request.parameters or {}).items():
        yield f"the parameter {name}", json_values(own.get(name)), json_values(plain_value(value))


def _claim(evidence: Evidence, request: Any) -> Compared:
    if request.claim is not None:
        yield "the claim", evidence.claim, str(parse_claim(request.claim))


def _relation(evidence: Evidence, request: Any) -> Compared:
    if request.relation is not None and evidence.accounting is not None:  # accountants have a name of their own
        yield "the relation", evidence.relation, {"replace": "replace-one"}.get(request.relation, request.relation)
    elif request.relation is not None:
        yield "the relation", evidence.relation, str(parse_relation(request.relation))


def _false_alarm(evidence: Evidence, request: Any) -> Compared:
    if evidence.claim is not None and evidence.attempts:
        doubts = 1 - evidence.confidence > request.false_alarm * (1 + 1e-9)  # else one look is enough, none is recorded
        yield "the false alarm", evidence.false_alarm, request.false_alarm if doubts else None


def _seed(evidence: Evidence, request: Any) -> Compared:
    if request.seed is not None:
        yield "the seed", evidence.seed, request.seed


def _runs(evidence: Evidence, request: Any) -> Compared:
    if request.time_budget is None:
        yield "the number of runs", evidence.budget, request.runs


def _floating_point(evidence: Evidence, request: Any) -> Compared:
    examined = evidence.target.asks != _NOISE_ALONE and not request.observe and not request.sequential
    yield "what low-order bits count for", evidence.low_bits, request.floating_point if examined else "ignore"


def _observe(evidence: Evidence, request: Any) -> Compared:
    named = (request.observe,) if isinstance(request.observe, str) else request.observe
    yield "what is observed", tuple(evidence.observed), tuple(dict.fromkeys(named))


def _data(evidence: Evidence, request: Any) -> Compared:
    if evidence.verdict is not Verdict.INVALID:
        space = evidence.search or evidence.trace
        searched = space is not None and space.source == "data"
        yield "whether data are searched", searched, request.data is not None
        if space is not None and request.data is not None:
            yield "the digest of the data", space.data, digest(request.data)


def _domain(evidence: Evidence, request: Any) -> Compared:
    if evidence.proof is None:
        if evidence.verdict is not Verdict.INVALID:
            space = evidence.search or evidence.trace
            declared = None if space is None else space.domain
            asked = None if request.domain is None else kept_text(request.domain)
            yield "what records may hold", _sorted(declared), _sorted(asked)
        return
    domain = request.domain
    by_columns = isinstance(domain, Mapping)
    yield "whether it is proved from records", evidence.proof.method == "releases", by_columns
    if by_columns:
        yield "what the columns may hold", _sorted(evidence.proof.domain), _sorted(kept_text(dict(domain)))
        return
    if evidence.proof.method == "moves" and is_two_numbers(domain):
        yield "the range of the numbers", evidence.proof.domain, kept_text(tuple(domain))
        return
    listed = domain is not None and not isinstance(domain, str)
    yield "whether it is proved by enumeration", evidence.proof.method == "enumeration", listed
    if isinstance(domain, str):
        word = {"integer": "whole-number", "real": "real"}.get(domain, domain)
        yield f"whether it holds for {word} answers", f" {word} answer" in evidence.proof.scope, True
    elif domain is not None:
        told = f"the {len(domain)} datasets of the domain that was given"
        yield "what it holds for", evidence.proof.scope.partition(", under ")[0], told


def _sorted(domain: str | None) -> str | None:
    """Return the text of a domain with its columns in one order; options may have another than data."""
    domain_read = None if domain is None else read_kept(domain)
    return kept_text(dict(sorted(domain_read.items(), key=str))) if isinstance(domain_read, dict) else domain


def _given(evidence: Evidence, request: Any) -> Compared:
    if evidence.proof is not None:
        yield "what is given", evidence.proof.given, tuple(map(str, parse_all(request.given)))


_IN_OTHER_WORDS: dict[str, Callable[[Evidence, Any], Compared]] = {
    "parameters": _parameters,
    "claim": _claim,
    "relation": _relation,
    "false_alarm": _false_alarm,
    "seed": _seed,
    "runs": _runs,
    "floating_point": _floating_point,
    "observe": _observe,
    "data": _data,
    "domain": _domain,
    "given": _given,
}
"""Options that are only compared if given, or that evidence records in another form."""


def _is_called(name: str, target: str, folder: str) -> bool:
    """Whether the target in evidence is the requested one: same file, same function."""
    place, _, own = target.rpartition(":")
    file, _, function = name.rpartition(":")
    if function != own:
        return False
    return not place.endswith(".py") or Path(file).name == (Path(folder) / place).resolve().name

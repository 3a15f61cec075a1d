"""What does the process of one target do? It loads the target, runs it, and reports the result.

A target is other people's code: it may hang, crash, print or leak, so each runs in its own process. The request comes
from the gate, and the report goes back to it, as described in `dpaudit.processes`. `carry_out` does the work
without a separate process.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from dpaudit import processes
from dpaudit.auditing.audit import audited
from dpaudit.auditing.question import Question
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.gate.schema import KEYS, OPTIONS, offered
from dpaudit.neighbours.candidates.candidates import candidates
from dpaudit.neighbours.candidates.exhaustive import LazyPair
from dpaudit.neighbours.digest import digest
from dpaudit.privacy import parse_claim
from dpaudit.processes import FORKED, Limits, received, refuse_forks, took_too_much
from dpaudit.request import AuditRequest, ProofRequest, TraceRequest, TrainingRequest, default_of, options_of

__all__ = [
    "Limits",
    "run",
]

LARGE = "it took more memory than memory_limit allows, and was ended: it leaks, or needs a higher one"
_SITE = ("site-packages", "dist-packages")
_LIBRARY = os.path.join(os.path.realpath(os.path.dirname(os.__file__)), "")
_LISTED = (".py", ".so", ".pyd")


class FrozenEvent(msgspec.Struct, frozen=True):
    """An event that is fixed in advance, to be counted on fresh runs; ``event`` as in evidence, as JSON values."""

    event: dict[str, Any]
    digests: tuple[str, str]
    runs: int


class _OfTheGate(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a request that comes from the gate itself."""

    target: str
    root: str
    prove: bool = False
    account: Any = None
    training: dict[str, Any] | None = None
    trace: bool = False
    files: list[str] = []
    frozen: FrozenEvent | None = None
    kept: bool = False  # whether a baseline is to be kept of it


if TYPE_CHECKING:

    class Request(_OfTheGate, frozen=True):
        """A request to the process of a target: everything that its report depends on, except for the code itself."""

        def __init__(self, **values: Any) -> None:
            """Take values by name."""

        def __getattr__(self, name: str) -> Any:
            """Return an option of an audit or a proof."""

else:
    Request = msgspec.defstruct(
        "Request",
        [(name, Any, default_of(kind, name)) for name, (kind, _) in offered("shared", "target", "given").items()],
        bases=(_OfTheGate,),
        frozen=True,
        kw_only=True,
        module=__name__,
    )


def options_in(request: Request, kind: type[AuditRequest] | type[ProofRequest] | type[TraceRequest]) -> dict[str, Any]:
    """Return the options of an audit, a proof or a trace in a request as keyword arguments; data are read here."""
    given = {name: getattr(request, name) for name, each in options_of(kind).items() if each.gate}
    by_columns, searched = isinstance(request.domain, dict), request.data is not None
    if by_columns or searched:
        from dpaudit.neighbours.domain import declared_domain

        given["domain"] = None if request.domain is None else declared_domain(request.domain)
    if kind is not ProofRequest and not searched:
        given["domain"] = None  # it is that of the proof
    if searched:
        needed = kind is not ProofRequest or by_columns
        given["data"] = _dataset(request) if needed else None
    return given


def _dataset(request: Request) -> Any:
    from dpaudit.neighbours.data_files import read_dataset

    return read_dataset(Path(request.root) / request.data)


def files_of(request: Request) -> list[str]:
    """Return the files with pairs or data, as the configuration names them."""
    return [*(request.files or ()), *([] if request.data is None else [request.data])]


class Report(msgspec.Struct, frozen=True):
    """The result of a request."""

    evidence: dict[str, Any] | None = None  # the document of the evidence, or None
    error: str | None = None  # why there is none, as a sentence
    unproved: str | None = None  # why there is no proof although one was asked for
    # of the fixed event, as in evidence; None if it was not asked for, or its pair is a different one
    counts: dict[str, Any] | None = None
    kept: dict[str, Any] | None = None  # the document of the evidence of a baseline's own pair, where there are data
    location: tuple[str, int] | None = None  # file and line of the mechanism
    opaque: bool = False  # whether runs hang on randomness of the function's own
    files: dict[str, str] = {}  # SHA-256 of every file of the project that it depends on, by path
    # digests of the listings of their folders, by path, since a new file may shadow an old one
    folders: dict[str, str] = {}
    seconds: float = 0.0  # how long it took
    cost: float = 0.0  # seconds of processor time, with the processes that it started


def carry_out(request: Request) -> Report:
    """Audit or prove the target of a request, in this process; an error becomes part of the report."""
    clock, spent = time.perf_counter(), sum(os.times()[:4])
    try:
        report = _carried_out(request)
    except UsageError as error:
        report = Report(error=str(error), location=file_named(request))
    return msgspec.structs.replace(report, seconds=time.perf_counter() - clock, cost=sum(os.times()[:4]) - spent)


def _carried_out(request: Request) -> Report:
    if request.account is not None:
        return _accounted(request)
    if request.training is not None:
        return _trained(request)
    from dpaudit.loading import load
    from dpaudit.neighbours.data_files import with_tables

    mechanism = load(request.target)
    request = msgspec.structs.replace(request, parameters=with_tables(request.parameters, request.root))
    parameters = mechanism.parameters_with(request.parameters)
    if request.claim is None and mechanism.claim_for(parameters) is None:
        raise UsageError(f'{mechanism.name} claims nothing, and a gate holds claims: give claim = "epsilon=…"')
    pairs = _pairs(request, mechanism.relation_for(parameters))
    evidence, unproved = _found(request, mechanism, pairs)
    return Report(
        evidence=evidence.with_files(files_of(request)).document(),
        unproved=unproved,
        counts=None if request.frozen is None else _counted(request, request.frozen, mechanism, pairs),
        kept=_kept(request, mechanism) if request.kept and request.data is not None else None,
        location=location_of(mechanism.function, Path(request.root)) or file_named(request),
        opaque=not evidence.reproducible and evidence.runs > 0,
    )


def _accounted(request: Request) -> Report:
    """Account for releases: nothing of the project is loaded, and its plan file is read."""
    from dpaudit.accounts.account import carry_out as account
    from dpaudit.accounts.plan import settings_plan
    from dpaudit.request import AccountRequest

    file = request.account if isinstance(request.account, str) else None
    plan = settings_plan(request.account, request.root)
    evidence = account(AccountRequest(plan, claim=request.claim, alone=True))
    return Report(
        evidence=evidence.with_files([file] if file is not None else []).document(),
        location=None if file is None else (Path(file).as_posix(), 1),
    )


def _trained(request: Request) -> Report:
    """Run a function that trains, and watch the loop in it."""
    from dpaudit.loading import function_named

    function = function_named(request.target)
    location = location_of(function, Path(request.root)) or file_named(request)
    return Report(evidence=trained(function, request).document(), location=location, opaque=True)


def _pairs(request: Request, own_relation: str | None) -> list[tuple[Any, Any]] | None:
    if request.files:
        from dpaudit.neighbours.data_files import read_pairs
        from dpaudit.neighbours.relation import neighbouring

        files = [Path(request.root) / file for file in request.files]
        return read_pairs(files, neighbouring(request.relation or own_relation))
    return None if request.pairs is None else [(pair[0], pair[1]) for pair in request.pairs]


def _found(request: Request, mechanism: Any, pairs: list[tuple[Any, Any]] | None) -> tuple[Any, str | None]:
    """Return the evidence, and why there is no proof if one was asked for but the program cannot be read."""
    from dpaudit.verify.answer import audit

    unproved = None
    if request.prove:
        from dpaudit.verify.answer import prove

        try:
            return prove(mechanism, **{**options_in(request, ProofRequest), "runs": request.runs}), None
        except UsageError as error:
            if request.given is not None:
                raise
            if isinstance(request.domain, dict) and pairs is None and request.data is None:
                # there are no other data than those of the domain
                raise UsageError(f'{error}; with data = "FILE" it is audited, which proves nothing') from None
            unproved = str(error)
    if request.trace:
        from dpaudit.auditing.trace import trace

        return trace(mechanism, **traced_options(request, pairs)), None
    return audit(mechanism, **{**options_in(request, AuditRequest), "pairs": pairs}), unproved


def traced_options(request: Request, pairs: list[tuple[Any, Any]] | None) -> dict[str, Any]:
    """Return the options of a trace: nothing of it depends on how fast the machine is."""
    return {**options_in(request, TraceRequest), "runs": request.runs, "pairs": pairs, "time_budget": None}


def _counted(
    request: Request, frozen: FrozenEvent, mechanism: Any, pairs: list[tuple[Any, Any]] | None
) -> dict[str, Any] | None:
    """Count the baseline's event on fresh runs of the pair on which it was measured.

    None if that pair is no longer audited, or types are treated differently, so that no output could be in the event.
    """
    from dpaudit.auditing.pair import measure_event
    from dpaudit.auditing.question import validated
    from dpaudit.evidence.event import Event, types_agree
    from dpaudit.sampling.checkpoint import Phase

    asked = {**options_in(request, AuditRequest), "pairs": pairs, "sequential": False}
    question = validated(AuditRequest(mechanism, **asked))
    if question.space is not None:
        known = known_again(question, frozen.digests)
        if known is None:
            return None
        question = known
    same = [
        index for index, record in enumerate(question.records) if (record.digest0, record.digest1) == frozen.digests
    ]
    event = msgspec.convert(frozen.event, Event, strict=False)
    if not same or not types_agree([event], request.types):
        return None
    counts = measure_event(question, same[0], event, frozen.runs, Phase.BASELINE)
    counted: dict[str, Any] = msgspec.to_builtins(counts)
    return counted


def _kept(request: Request, mechanism: Any) -> dict[str, Any]:
    """Measure the pair of a baseline in the data of a target."""
    from dpaudit.auditing.question import validated

    asked = {**options_in(request, AuditRequest), "pairs": None, "sequential": False}
    question = validated(AuditRequest(mechanism, **asked))
    document: dict[str, Any] = measured(question, request.runs, asked).document()
    return document


def location_of(function: Callable[..., Any], root: Path) -> tuple[str, int] | None:
    """Return where a function is defined: a file below ``root`` and the line of its ``def``; None if elsewhere."""
    function_inside: Any = inspect.unwrap(function)
    while hasattr(function_inside, "func"):  # a partial
        function_inside = inspect.unwrap(function_inside.func)
    try:
        if not (inspect.isroutine(function_inside) or inspect.isclass(function_inside)):
            function_inside = type(function_inside)
        file = Path(inspect.getsourcefile(function_inside) or "").resolve()
        lines, first = inspect.getsourcelines(function_inside)
    except (OSError, TypeError, SyntaxError):
        return None
    if not file.is_relative_to(root.resolve()):
        return None
    starts = ("def ", "async def ", "class ")
    after = next((index for index, line in enumerate(lines) if line.lstrip().startswith(starts)), 0)
    return file.relative_to(root.resolve()).as_posix(), first + after


def file_named(request: Request) -> tuple[str, int] | None:
    """Return the first line of the file that a target names, if nothing more is known."""
    place, _, _ = request.target.rpartition(":")
    file, root = (Path(request.root) / place).resolve(), Path(request.root).resolve()
    if not place.endswith(".py") or not file.is_file() or not file.is_relative_to(root):
        return None
    return file.relative_to(root).as_posix(), 1


# --- the process ------------------------------------------------------------------------------------------


class _Opened:
    """Records every file that is opened for reading, from the start."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[Any, ...]) -> None:
        if event != "open":
            return
        with contextlib.suppress(Exception):
            path, mode, flags = details
            written = any(letter in mode for letter in "wax+") if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))
            if not written and isinstance(path, str | bytes | os.PathLike):
                self.paths.add(os.path.abspath(os.fsdecode(path)))


def depended_on(opened: set[str], root: Path, began: float) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return digests of the project's files that this process used, and of the listings of their folders.

    The project consists of the files below ``root``, and of modules that do not belong to an installed distribution.
    """
    modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    paths = {Path(file).resolve() for file in modules if isinstance(file, str) and not _installed(file)}
    paths |= {path for file in opened if (path := Path(file).resolve()).is_relative_to(root)}
    own = Path(__file__).resolve().parents[1]
    files, folders = {}, {root}
    for path in sorted(paths):
        if _installed(str(path)) or path.is_relative_to(own) or _hidden(path, root) or not path.is_file():
            continue
        if path.stat().st_mtime > began:
            return None
        files[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        folders.add(path.parent)
    return files, {str(folder): listing(folder) for folder in sorted(folders)}


def listing(folder: Path) -> str:
    """Return a digest of the names of all modules and packages in a folder."""
    names = [
        entry.name
        for entry in folder.iterdir()
        if entry.name.endswith(_LISTED) or (entry.is_dir() and (entry / "__init__.py").is_file())
    ]
    return hashlib.sha256("\0".join(sorted(names)).encode()).hexdigest()


def _installed(file: str) -> bool:
    """Whether a file belongs to an installed distribution or to Python itself; their versions are known."""
    return any(part in _SITE for part in os.path.normcase(file).split(os.sep)) or os.path.realpath(file).startswith(
        _LIBRARY
    )


def _hidden(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return any(part == "__pycache__" or part in (".dpaudit", ".git") for part in parts)


def main() -> NoReturn:
    """Read a request from standard input and send back the report."""
    began = time.time()
    opened = _Opened()
    asked, answering = received()
    request = msgspec.convert(asked, Request)

    def finish(report: Report) -> NoReturn:
        answering.hand_over(msgspec.to_builtins(report))

    refuse_forks(answering, msgspec.to_builtins(Report(error=FORKED, location=file_named(request))))
    root = Path(request.root).resolve()
    try:
        report = carry_out(request)
        used = depended_on(opened.paths, root, began)
        if used is not None:
            report = msgspec.structs.replace(report, files=used[0], folders=used[1])
    except BaseException as error:  # anything that a target raises, including SystemExit
        report = Report(error=f"{type(error).__name__}: {error}", location=file_named(request))
    finish(Report(error=LARGE, location=file_named(request)) if took_too_much() else report)


# --- How does a gate hold a training loop to its claim? By a table, a run, and what its evidence must say. ---


def table_of(given: str | dict[str, Any] | None, claim: str | None) -> dict[str, Any]:
    """Return the table of a training target; a text alone is its function."""
    from dpaudit.training.watch import check_request

    table = {"function": given} if isinstance(given, str) else dict(given or {})
    for key in table:
        if key not in KEYS:
            raise UsageError(f"there is no key {key!r}; {nearest(key, KEYS)}")
    name = table.get("function")
    if not isinstance(name, str) or not name.rpartition(":")[0]:
        raise UsageError(f'it names a function that trains, as in "train.py:train", not {name!r:.60}')
    if claim is None:
        raise UsageError('a gate holds claims: give claim = "epsilon=8, delta=1e-5" beside it')
    for key, value in table.items():
        if key in OPTIONS and OPTIONS[key].kind == "count":
            table[key] = _count(key, value)
    options: dict[str, Any] = {key: value for key, value in table.items() if key != "function"}
    check_request(TrainingRequest(None, None, **{**options, "claim": claim}))
    return table


def _count(key: str, value: Any) -> Any:
    """Return a whole number, which may be written like 5e2; `check_request` refuses other numbers."""
    if isinstance(value, list):
        raise UsageError(
            f"{key} is how many there are. Listed records need scores of theirs: list them in the function, which "
            "takes watch: with watch(model, optimizer, loader, canaries=[…], canary_scores=…)"
            if key == "canaries"
            else f"{key} is a whole number, not a list"
        )
    return int(value) if isinstance(value, float) and value.is_integer() else value


def options_of_watch(request: Request) -> dict[str, Any]:
    """Return the options of the watch that a request asks for."""
    given = {name: value for name, value in (request.training or {}).items() if name != "function"}
    given |= {name: getattr(request, name) for name in ("claim", "seed", "confidence", "false_alarm")}
    return {**given, "name": request.target.replace("\\", "/").rpartition("/")[2]}


def trained(function: Callable[..., Any], request: Request) -> Evidence:
    """Run a function that trains, and return the evidence of the loop in it.

    Raises:
        UsageError: where there is no loop to watch, and where the training ends with an error.
    """
    from dpaudit.training.watch import watched

    evidence, raised = watched(function, options_of_watch(request))
    if raised is not None:
        raise UsageError(f"the training ended with {type(raised).__name__}: {raised}") from raised
    return evidence


def other_training(evidence: Evidence, request: Request) -> str | None:
    """Say where evidence is of another loop, or asked otherwise, than a request says; None if it answers it.

    What is not asked for may be the function's own: its canaries, its σ.
    """
    training = evidence.training
    if training is None:
        return "it is of no training loop"
    asked = {"sampling": default_of(TrainingRequest, "sampling"), **options_of_watch(request)}
    asked["claim"] = str(parse_claim(asked["claim"]))
    stated = {
        "name": evidence.target.name,
        "claim": evidence.claim,
        "sampling": training.assumed,
        "false_alarm": evidence.false_alarm,
        "confidence": evidence.confidence,
        "seed": evidence.seed,
        "clip": training.clip,
        "canaries": _canaries(training),
    }
    of_steps = {"sigma": {sigma for sigma, _, _ in training.steps}, "rate": {rate for _, rate, _ in training.steps}}
    if training.sampler == "another rate":  # then it is the one that was seen
        del of_steps["rate"]
    stated |= {name: value for name, values in of_steps.items() for value in values if value != asked.get(name)}
    for name, value in stated.items():
        if name in asked and value != asked[name]:
            return f"{name} is {value!r:.80}, and {asked[name]!r:.80} was asked for"
    return None


def _canaries(training: Training) -> int | str | None:
    """How many canaries stood in place of records, as a gate can ask for them; others in words."""
    told = training.canaries
    if told is None:
        return None
    many = sum(told.given)
    return many if told.kind == "gradients" else f"{many} listed records"


# --- On which pair is a target with data compared with its baseline? ---
#
# Every audit finds a pair of its own in the data, which the next one may not meet. So a baseline has one that hangs on
# no seed and on no source: among the first neighbours of the data the one on which a few runs show most. It is known
# again by its digests, and no data are kept.

_FIRST = 16  # neighbours among which the pair is chosen
_LOOKS = 32  # runs of each of them, for that choice


def known_again(question: Question, digests: tuple[str, str]) -> Question | None:
    """Return the question about the first pair with these digests; None if the data have no such neighbours."""
    pairs = (one.pair() for one in _first_pairs(question))
    return next((question.about(pair) for pair in pairs if (digest(pair[0]), digest(pair[1])) == digests), None)


def measured(question: Question, runs: int, options: dict[str, Any]) -> Evidence:
    """Return the evidence of an audit of the pair of the baseline.

    Args:
        question: about the target and its data.
        runs: of the audit.
        options: of the audit of the data.
    """
    from dpaudit.tracing.runs import FollowedTarget
    from dpaudit.tracing.search import worst_pair

    first = list(_first_pairs(question))
    target = FollowedTarget(question.mechanism, question.parameters)
    seed = question.seed % 2**31
    worst = worst_pair(target, [one.make for one in first], question.claim, seed=seed, most=_LOOKS * len(first))
    chosen = first[0 if worst is None else worst.place].pair()
    own = {"pairs": [chosen], "data": None, "domain": None, "beyond_domain": False, "runs": runs, "sequential": False}
    return audited(AuditRequest(question.mechanism, **{**options, **own, "relation": question.relation}))


def _first_pairs(question: Question) -> Iterator[LazyPair]:
    space = question.space
    assert space is not None
    yield from candidates(
        space.data, question.relation, domain=space.domain, beyond_domain=space.beyond, seed=0, limit=_FIRST
    )


# --- How is a target prevented from doing harm? It runs in its own process, with limits. ---


def run(request: Request, limits: Limits, stop: threading.Event) -> Report:
    """Carry out a request in a separate process; a failure becomes part of the report.

    Args:
        request: what is asked for.
        limits: of time and memory.
        stop: when set, ends the process.

    Raises:
        KeyboardInterrupt: if ``stop`` is set in the meantime.
    """
    clock = time.perf_counter()
    ended = processes.run(
        "dpaudit.gate.target_process", msgspec.to_builtins(request), limits=limits, folder=request.root, stop=stop
    )
    report, error = None, ended.death
    if ended.over in ("time", "second look"):
        error = f"{processes.too_long(ended.over, limits)}: raise time_limit, or give it fewer runs"
    elif ended.over == "memory":
        error = LARGE
    elif ended.answer is not None:
        try:
            report = msgspec.convert(ended.answer, Report)
        except msgspec.ValidationError as wrong:
            error = f"its process handed over no report: {wrong}"
    if report is None:
        report = Report(error=error, location=file_named(request))
    return msgspec.structs.replace(report, seconds=time.perf_counter() - clock)


if __name__ == "__main__":
    main()

"""How does a command run a user's code in a separate process, so that only a verdict can make it succeed?

`Apart.carry_out` does the work in another process, and this process, which never loads the code, writes the result.
Whatever the code does to its process (`sys.exit`, a crash, threads that never end, closed files), there is an answer or
there is none, and none means exit code 2. From Python, and with ``--in-process``, the work is done in this process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.processes import Limits

OWNED = object()
"""The context object of a command if the process belongs to dpaudit, and not to a caller in Python."""


class OwnFaultError(Exception):
    """An error of dpaudit itself in the process that did the work; its text is the traceback."""


@dataclass(frozen=True, slots=True)
class Apart:
    """How a command runs a target: in another process, within limits, or in this one."""

    here: bool = False  # do the work in this process
    # seconds, megabytes: the limits of the other process; None for none
    seconds: float | None = None
    megabytes: float | None = None
    # modules that the answer is read and shown with; they are imported while the other process works
    then: tuple[str, ...] = ()

    def evidence(self, work: Callable[..., Any], arguments: Mapping[str, Any]) -> Evidence:
        """Return the evidence whose document ``work`` returns, after recomputing its id; as `carry_out`."""
        return evidence_of(self.carry_out(work, arguments))

    def carry_out(self, work: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Return ``work(**arguments)``, computed in another process if this one belongs to dpaudit."""
        from dpaudit.errors import UsageError

        limits = _limits_of(self.seconds, self.megabytes)
        context = click.get_current_context(silent=True)
        if self.here or context is None or context.obj is not OWNED:
            if self.here and limits is not None:
                raise UsageError("limits are for a process of its own: leave out --in-process, or the limits")
            from dpaudit.settings import kept

            with kept():  # the target must not change where and how results are written
                return work(**arguments)
        from dpaudit.processes import Limits, adopt_orphans, run

        adopt_orphans()
        threading.Thread(target=_imported, args=(self.then,), daemon=True).start()
        request = {"module": work.__module__, "name": work.__name__, "arguments": dict(arguments)}
        ended = run("dpaudit.cli.apart", request, limits=limits or Limits(), quiet=False)
        if ended.over is not None or ended.answer is None:
            raise UsageError(f"there is no verdict: {_why(ended.over, ended.death, limits)}")
        kind, value = next(iter(ended.answer.items()))
        if kind == "refused":
            raise UsageError(value)
        if kind == "fault":
            raise OwnFaultError(value)
        if kind == "interrupted":
            raise KeyboardInterrupt
        return value


_ANSWER, _PAGE = ("dpaudit.processes", "dpaudit.report.formats"), "dpaudit.report.html.page"


def _imported(names: tuple[str, ...]) -> None:
    """Import what is needed next; what cannot be imported is said where it is needed."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


_HERE = "Run the target in this process, as a debugger needs it"


def own_process(*, limit: str | None = None) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the options about the process of a target, which the command is given as ``apart``."""

    def decorated(command: Callable[..., int]) -> Callable[..., int]:
        @click.option("--in-process", "here", is_flag=True, help=f"{_HERE}; see SECURITY.md.")
        @functools.wraps(command)
        def typed(
            *args: Any, here: bool, time_limit: float | None = None, memory_limit: float | None = None, **rest: Any
        ) -> int:
            page = (_PAGE,) if rest.get("html_file") else ()
            data = ("pandas",) if str(rest.get("data")).endswith(".csv") else ()
            return command(*args, apart=Apart(here, time_limit, memory_limit, (*_ANSWER, *data, *page)), **rest)

        if limit is None:
            return typed
        memory = "End it where it takes more memory, without a verdict."
        limited = click.option("--memory-limit", type=float, metavar="MB", help=memory)(typed)
        return click.option("--time-limit", type=float, metavar="SECONDS", help=limit)(limited)

    return decorated


def _why(over: str | None, death: str | None, limits: Limits | None) -> str:
    from dpaudit.processes import too_long

    if over in ("time", "second look") and limits is not None:
        return f"{too_long(over, limits)}; raise --time-limit, or give it fewer runs"
    if over == "memory":
        return _LARGE
    return f"{death}; what a target does to its process is part of it. --in-process runs it under a debugger"


_LARGE = "it took more memory than --memory-limit allows, and was ended: it leaks, or needs a higher one"


def _limits_of(seconds: float | None, memory: float | None) -> Limits | None:
    """Return the limits that were typed, None if there are none; refuse invalid ones."""
    if seconds is None and memory is None:
        return None
    from dpaudit.errors import UsageError
    from dpaudit.processes import Limits

    for option, value in (("--time-limit", seconds), ("--memory-limit", memory)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{option} is a positive number, not {value!r}")
    return Limits(seconds, memory)


def refuse_other(evidence: Evidence, **asked: Any) -> None:
    """Raise `UsageError` if the evidence from the other process answers a different question."""
    from dpaudit.errors import UsageError
    from dpaudit.processes import Asked, other_question

    why = other_question(evidence, Asked(**asked))
    if why is not None:
        raise UsageError(
            f"there is no verdict: what was handed over answers another question: {why}. What a target does to its "
            "process is part of it"
        )


def evidence_of(document: Mapping[str, Any]) -> Evidence:
    """Return the evidence from the other process, after recomputing its id."""
    import json

    from dpaudit.evidence.evidence import Evidence

    return Evidence.from_json(json.dumps(document), name="the evidence that was handed over")


# --- the other process ------------------------------------------------------------------------------------


def main() -> NoReturn:
    """Do the requested work and send back the result."""
    from dpaudit.processes import FORKED, received, refuse_forks, took_too_much

    request, answering = received()
    refuse_forks(answering, {"refused": f"there is no verdict: {FORKED}, or with --in-process"})
    answer = answer_to(request)
    answering.hand_over({"refused": f"there is no verdict: {_LARGE}"} if took_too_much() else answer)


def answer_to(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer: the result of the work, or why there is none."""
    from dpaudit.errors import InvalidRunsError, UsageError

    try:
        work = getattr(importlib.import_module(request["module"]), request["name"])
        return {"found": work(**request["arguments"])}
    except (UsageError, InvalidRunsError) as error:
        return {"refused": str(error)}
    except BaseException as error:  # anything that a target raises, including SystemExit
        blamed = blamed_on_target(error)
        if blamed is not None:
            return {"refused": f"there is no verdict: {blamed}"}
        if isinstance(error, KeyboardInterrupt):
            return {"interrupted": True}
        return {"fault": _trace_of(error)}


def _trace_of(error: BaseException) -> str:
    """Return the traceback of an error, or only its type, since a target may have broken the traceback module."""
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:
        return type(error).__name__


def blamed_on_target(error: BaseException) -> str | None:
    """Say where a target ended the work, if code outside dpaudit raised last; else None."""
    place = _last_outside(error.__traceback__)
    if place is None:
        return None
    try:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException as odd:  # even its text may raise
        said = f"{type(error).__name__}, whose text raises {type(odd).__name__}"
    return f"the target ended it in {place}: {said[:300]}"


def _last_outside(trace: TracebackType | None) -> str | None:
    """Return file, line and function of the innermost frame outside dpaudit and its installed libraries."""
    own, installed = Path(__file__).resolve().parents[1], ("site-packages", "dist-packages")
    library = Path(traceback.__file__).resolve().parent
    place = None
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        file = Path(code.co_filename)
        if code.co_filename.startswith("<"):
            continue
        if file.is_relative_to(own):
            place = None  # frames further out only called dpaudit
        elif not file.is_relative_to(library) and not any(part in installed for part in file.parts):
            place = f"{file.name}, line {line}, in {code.co_name}"
    return place


if __name__ == "__main__":
    main()

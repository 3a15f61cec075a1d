"""How does a command run somebody's code apart from itself, so that only a verdict can make it green?

`carried_out` has the work done in a process of its own, and this process, which never loads the code, writes what was
handed over. Whatever the code does to its process (`sys.exit`, a crash, threads that never end, closed files), there
is an answer or there is none, and none is exit code 2. From Python, and with ``--in-process``, the work is done here.
"""

from __future__ import annotations

import importlib
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence
    from dpaudit.processes.process import Limits

OWNED = object()
"""What the context of a command holds where the process is dpaudit's own, and not that of a caller in Python."""

in_process = click.option(
    "--in-process", is_flag=True, help="Run the target in this process, as a debugger needs it; see SECURITY.md."
)


class OwnFaultError(Exception):
    """A fault of dpaudit in the process that did the work; its text is the traceback."""


def carried_out(
    work: Callable[..., Any], arguments: Mapping[str, Any], *, here: bool, limits: Limits | None = None
) -> Any:
    """Return ``work(**arguments)``, done apart where this process is dpaudit's own.

    Args:
        work: a function of a module, which another process finds by its name.
        arguments: JSON values.
        here: whether it is to be done in this process all the same.
        limits: of the process, as `limits_of` returns them.

    Raises:
        UsageError: what the work raised; or that there is no answer, and why.
        OwnFaultError: where dpaudit failed.
    """
    from dpaudit.errors import UsageError

    context = click.get_current_context(silent=True)
    if here or context is None or context.obj is not OWNED:
        if here and limits is not None:
            raise UsageError("limits are for a process of its own: leave out --in-process, or the limits")
        from dpaudit.settings import kept

        with kept():  # where results go, and how, is not the target's to change
            return work(**arguments)
    from dpaudit.processes.process import Limits, adopt_orphans, run

    adopt_orphans()
    # what the answer is read with is imported meanwhile
    threading.Thread(target=importlib.import_module, args=("dpaudit.processes.handover",), daemon=True).start()
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


def _why(over: str | None, death: str | None, limits: Limits | None) -> str:
    from dpaudit.processes.process import too_long

    if over in ("time", "second look") and limits is not None:
        return f"{too_long(over, limits)}; raise --time-limit, or give it fewer runs"
    if over == "memory":
        return _LARGE
    return f"{death}; what a target does to its process is part of it. --in-process runs it under a debugger"


_LARGE = "it took more memory than --memory-limit allows, and was ended: it leaks, or needs a higher one"


def limits_of(seconds: float | None, memory: float | None) -> Limits | None:
    """Return limits as they were typed, None where there are none; refuse what is no limit."""
    if seconds is None and memory is None:
        return None
    from dpaudit.errors import UsageError
    from dpaudit.processes.process import Limits

    for option, value in (("--time-limit", seconds), ("--memory-limit", memory)):
        if value is not None and not 0 < value < float("inf"):
            raise UsageError(f"{option} is a positive number, not {value!r}")
    return Limits(seconds, memory)


def refuse_other(evidence: Evidence, **asked: Any) -> None:
    """Raise `UsageError` where evidence that was handed over answers another question than was asked."""
    from dpaudit.errors import UsageError
    from dpaudit.processes.handover import Asked, other_question

    why = other_question(evidence, Asked(**asked))
    if why is not None:
        raise UsageError(
            f"there is no verdict: what was handed over answers another question: {why}. What a target does to its "
            "process is part of it"
        )


def evidence_of(document: Mapping[str, Any]) -> Evidence:
    """Return the evidence that was handed over, its id computed again."""
    import json

    from dpaudit.evidence.evidence import Evidence

    return Evidence.from_json(json.dumps(document), name="the evidence that was handed over")


# --- the other process ------------------------------------------------------------------------------------


def main() -> NoReturn:
    """Do the work that is asked for, and hand over what came of it."""
    from dpaudit.processes.process import FORKED, received, refuse_forks, took_too_much

    request, answering = received()
    refuse_forks(answering, {"refused": f"there is no verdict: {FORKED}, or with --in-process"})
    answer = answer_to(request)
    answering.hand_over({"refused": f"there is no verdict: {_LARGE}"} if took_too_much() else answer)


def answer_to(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is handed over: what the work returned, or why there is nothing."""
    from dpaudit.errors import InvalidRunsError, UsageError

    try:
        work = getattr(importlib.import_module(request["module"]), request["name"])
        return {"found": work(**request["arguments"])}
    except (UsageError, InvalidRunsError) as error:
        return {"refused": str(error)}
    except BaseException as error:  # whatever a target raises, also what is meant to end the process
        blamed = blamed_on_target(error)
        if blamed is not None:
            return {"refused": f"there is no verdict: {blamed}"}
        if isinstance(error, KeyboardInterrupt):
            return {"interrupted": True}
        return {"fault": _trace_of(error)}


def _trace_of(error: BaseException) -> str:
    """Return the trace of a fault, or what it is alone: a target may have taken away what traces are made with."""
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:
        return type(error).__name__


def blamed_on_target(error: BaseException) -> str | None:
    """Say where a target ended the work, if it was code outside of dpaudit that raised last; else None."""
    place = _last_outside(error.__traceback__)
    if place is None:
        return None
    try:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except BaseException as odd:  # a text of its own that ends the process, too
        said = f"{type(error).__name__}, whose text raises {type(odd).__name__}"
    return f"the target ended it in {place}: {said[:300]}"


def _last_outside(trace: TracebackType | None) -> str | None:
    """The innermost frame that is neither of dpaudit nor of what is installed with it, as a file, line and function."""
    own, installed = Path(__file__).resolve().parents[1], ("site-packages", "dist-packages")
    library = Path(traceback.__file__).resolve().parent
    found = None
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        file = Path(code.co_filename)
        if code.co_filename.startswith("<"):
            continue
        if file.is_relative_to(own):
            found = None  # whatever happened further out, dpaudit went on from here
        elif not file.is_relative_to(library) and not any(part in installed for part in file.parts):
            found = f"{file.name}, line {line}, in {code.co_name}"
    return found


if __name__ == "__main__":
    main()

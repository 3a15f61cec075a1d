"""How is a target prevented from doing harm? It runs in its own process, with limits."""

from __future__ import annotations

import threading
import time

import msgspec

from dpaudit.gate.target_process import LARGE, Report, Request, file_named
from dpaudit.processes import process
from dpaudit.processes.process import Limits

__all__ = ["Limits", "run"]


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
    ended = process.run(
        "dpaudit.gate.target_process", msgspec.to_builtins(request), limits=limits, folder=request.root, stop=stop
    )
    report, error = None, ended.death
    if ended.over in ("time", "second look"):
        error = f"{process.too_long(ended.over, limits)}: raise time_limit, or give it fewer runs"
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

"""How is a target kept from doing harm? By a process of its own, with limits, ended with all that it started."""

from __future__ import annotations

import threading
import time

import msgspec

from dpaudit.gate.target_process import LARGE, Report, Request, file_named
from dpaudit.processes import process
from dpaudit.processes.process import Limits

__all__ = ["Limits", "run"]


def run(request: Request, limits: Limits, stop: threading.Event) -> Report:
    """Carry out a request in a process of its own; why it failed, if it did, is part of the report.

    Raises:
        KeyboardInterrupt: where ``stop`` is set meanwhile.
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

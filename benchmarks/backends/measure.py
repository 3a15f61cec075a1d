"""Is the evidence the same on every backend, with workers killed half-way, and how much faster are several workers?

In an environment of its own: make test-backends. Results: benchmarks/results/backends.md.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dpaudit as dp

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "backends.md"
FEW = {"runs": 6_000, "block_size": 64}
ASKED: dict[str, Any] = {
    "claim": "epsilon=1", "pairs": [(0.0, 1.0)], "relation": "queries", "seed": 0, "floating_point": "ignore",
}  # fmt: skip


def audited(name: str, **options: Any) -> tuple[dp.Evidence, float]:
    """The evidence of an audit, and its seconds."""
    clock = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):
        evidence = dp.audit(f"{HERE / 'slow.py'}:{name}", **{**ASKED, **options})
    return evidence, time.perf_counter() - clock


def processes(words: str) -> list[int]:
    """Our own processes, or those of our engines, whose command holds these words."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[0]) for line in found if words in line and "ps -eo" not in line]


@contextlib.contextmanager
def killing(find: Callable[[], list[int]], killed: list[int]) -> Iterator[None]:
    """Kill one worker, by its number, once it has worked for a while."""
    ended = threading.Event()

    def kill() -> None:
        while not ended.wait(0.1):
            for pid in find()[:1]:
                ended.wait(1.0)
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:  # it had done its part of a step
                    continue
                killed.append(pid)
                return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def dask(workers: int) -> Iterator[tuple[str, Any]]:
    """A cluster of Dask on this machine: its address, and a client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield cluster.scheduler_address, client


def rows_of_ids(folder: Path) -> Iterator[tuple[str, str, float, list[int]]]:
    """Yield the way blocks were run, the id, seconds, and workers that were killed."""
    evidence, seconds = audited("waits", **FEW)
    yield "this process", evidence.id, seconds, []
    evidence, seconds = audited("waits", workers=2, **FEW)
    yield "2 processes", evidence.id, seconds, []
    with dask(2) as (address, client):
        evidence, seconds = audited("waits", backend="dask", scheduler=address, **FEW)
        yield "Dask, 2 workers", evidence.id, seconds, []
        from joblib import parallel_config

        with parallel_config(backend="dask"):
            evidence, seconds = audited("waits", **FEW)
        yield "Dask, as joblib was told", evidence.id, seconds, []
        killed: list[int] = []
        with killing(lambda: list(client.run(os.getpid).values()), killed):
            evidence, seconds = audited("waits", backend="dask", scheduler=address, **FEW)
        yield "Dask, one of 2 workers killed", evidence.id, seconds, killed
    evidence, seconds = audited("waits", backend="ray", workers=2, **FEW)
    yield "Ray, 2 workers", evidence.id, seconds, []
    killed = []
    with killing(lambda: processes("ray::answer"), killed):
        evidence, seconds = audited("waits", backend="ray", workers=2, **FEW)
    yield "Ray, one of 2 workers killed", evidence.id, seconds, killed
    where = f"local, timeout_min=30, folder={folder / 'jobs'}"
    evidence, seconds = audited("waits", backend="submitit", scheduler=where, workers=2, **FEW)
    yield "submitit, 2 local jobs", evidence.id, seconds, []
    killed = []
    with killing(lambda: processes(f"submitit.core._submit {folder}"), killed):
        evidence, seconds = audited("waits", backend="submitit", scheduler=where, workers=2, **FEW)
    yield "submitit, one of 2 jobs killed", evidence.id, seconds, killed


def speeds() -> Iterator[tuple[str, float, float, float]]:
    """Yield what was run, the seconds of one and of several workers, and the least speed-up that is promised."""
    waiting = {"runs": 20_000, "block_size": 64}
    _, one = audited("waits", **waiting)
    with dask(8) as (address, _client):
        audited("waits", backend="dask", scheduler=address, **FEW)  # eight workers share two processors to start
        _, eight = audited("waits", backend="dask", scheduler=address, **waiting)
    yield "20,000 runs that wait 5 ms, 8 workers of Dask", one, eight, 7.0
    computing = {"runs": 60_000, "block_size": 256}
    with dask(2) as (address, _client):
        audited("waits", backend="dask", scheduler=address, **FEW)
        _, one = audited("computes", **computing)
        _, two = audited("computes", backend="dask", scheduler=address, **computing)
    yield "60,000 runs that compute, 2 workers of Dask", one, two, 1.8


def main() -> int:
    """Measure, write the tables, and return 1 if something is not as promised."""
    folder = Path(tempfile.mkdtemp(prefix="dpaudit_backends_"))
    os.chdir(folder)  # a target's name begins where it is asked for
    failed = False
    lines = ["# Backends", "", "Made by `make test-backends` on a machine with two processors, with "]
    known = ("distributed", "ray", "submitit", "joblib")
    lines[-1] += ", ".join(f"{name} {importlib.metadata.version(name)}" for name in known) + "."
    try:
        lines += ["", "## The same evidence", "", "| blocks are run by | id | seconds | killed |", "|---|---|---|---|"]
        first = None
        for name, found, seconds, killed in rows_of_ids(folder):
            first = first or found
            wrong = found != first or ("killed" in name and not killed)
            failed |= wrong
            note = f"{len(killed) or ''}{' **wrong**' if wrong else ''}"
            lines.append(f"| {name} | {found[:17]} | {seconds:.1f} | {note} |")
            print(lines[-1], flush=True)
        lines += [
            "",
            "## Speed",
            "",
            "| workers that have worked before | one (s) | several (s) | times | promised |",
            "|---|---|---|---|---|",
        ]
        for name, one, several, least in speeds():
            failed |= one / several < least
            lines.append(f"| {name} | {one:.1f} | {several:.1f} | {one / several:.2f} | {least:g} |")
            print(lines[-1], flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(json.dumps({"failed": failed}))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

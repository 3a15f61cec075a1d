"""How are blocks carried out as jobs of a batch system, by submitit?

A job is too slow to start for one block, so the blocks of each step of an audit are divided among as many jobs as there
are workers. A job that was lost, or ran out of its time, is submitted again; its blocks have the same draws.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.sampling.engines.engine import (
    ATTEMPTS,
    LOST,
    Done,
    Engine,
    Parts,
    Work,
    first_line,
    opened,
    packed,
    unreachable,
)
from dpaudit.sampling.engines.task import Answer, answer, expected_of

_FOLDER = "dpaudit_jobs"
Task = tuple[dict[str, str | None], bytes]


class Batch(Engine):
    """A batch system, such as Slurm."""

    def __init__(self, workers: int, cluster: str, folder: str, settings: dict[str, Any]) -> None:
        self.count, self._cluster, self._folder, self._settings = workers, cluster, folder, settings
        self._executor: Any = None

    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Submit jobs of several blocks each, and wait for them in order."""
        self.connect()
        tasks = [(expected_of(experiment), packed(work, experiment, block)) for experiment, block in parts]
        size = math.ceil(len(tasks) / self.count) if tasks else 1
        bundles = [tasks[first : first + size] for first in range(0, len(tasks), size)]
        jobs = [self._executor.submit(answers, bundle) for bundle in bundles]
        ended = 0
        try:
            for job, bundle in zip(jobs, bundles, strict=True):
                for found in self._result(job, bundle):
                    yield opened(found)
                ended += 1
        finally:
            for job in jobs[ended:]:
                with contextlib.suppress(Exception):
                    job.cancel()

    def connect(self) -> None:
        """Find the batch system."""
        if self._executor is None:
            from submitit import AutoExecutor

            try:
                self._executor = AutoExecutor(folder=self._folder, cluster=self._cluster)
                self._executor.update_parameters(**self._settings)
            except (RuntimeError, ValueError, TypeError, NameError, OSError) as error:
                unreachable("batch system", self._cluster, error)

    def _result(self, job: Any, bundle: list[Task]) -> list[Answer]:
        """Wait for a job; submit it again if it was lost."""
        from submitit.core.utils import FailedJobError, UncompletedJobError

        for attempt in range(ATTEMPTS):
            if attempt:
                job = self._executor.submit(answers, bundle)
            try:
                found: list[Answer] = job.result()
                return found
            except FailedJobError as error:
                raise UsageError(
                    f"a job cannot take part: {_last_line(str(error))}; install this dpaudit where jobs run"
                ) from None
            except (UncompletedJobError, OSError) as error:
                why = f"{type(error).__name__}, a job that ended without an answer"
        raise InvalidRunsError(LOST.format(count=ATTEMPTS, why=why))


def answers(tasks: list[Task]) -> list[Answer]:
    """Carry out tasks one after another, in a job."""
    return [answer(*task) for task in tasks]


def _last_line(text: str) -> str:
    return first_line(text.strip().rpartition("\n")[2])


def made(workers: int, scheduler: str | None) -> Batch:
    """Return the engine."""
    cluster, *rest = [part.strip() for part in (scheduler or "auto").split(",")]
    settings: dict[str, Any] = {}
    for part in rest:
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                f"{part!r} is no setting of a batch system; write NAME=VALUE: 'slurm, timeout_min=60, "
                "slurm_partition=gpu'"
            )
        settings[name.strip()] = int(value) if value.strip().isdecimal() else value.strip()
    folder = str(Path(settings.pop("folder", _FOLDER)).absolute())
    return Batch(workers, None if cluster == "auto" else cluster, folder, settings)  # type: ignore[arg-type]

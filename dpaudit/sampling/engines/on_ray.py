"""How are blocks carried out by Ray? Ray itself runs a block again whose worker was lost."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.sampling.engines.engine import ATTEMPTS, LOST, Remote, first_line, gone, unreachable
from dpaudit.sampling.engines.task import Answer, answer

_SECONDS = 10.0  # until an address at which nobody listens is given up


class Ray(Remote):
    """A Ray cluster, or one that is started on this machine."""

    name = "Ray"

    def __init__(self, workers: int, scheduler: str | None) -> None:
        self._workers, self._scheduler = workers, scheduler
        self._remote: Any = None
        self._own = False

    def connect(self) -> None:
        """Connect to the cluster, take the connection that this process has, or start Ray here."""
        if self._remote is not None:
            return
        import ray

        if not ray.is_initialized():
            self._refuse_silent()
            try:
                local = {"num_cpus": self._workers} if self._scheduler is None and self._workers > 1 else {}
                ray.init(
                    address=self._scheduler, log_to_driver=False, logging_level="error", include_dashboard=None, **local
                )
            except Exception as error:
                unreachable("Ray", self._scheduler, error)
            self._own = True
        # retries are for lost workers: what a mechanism raises is never a reason to run a block again
        self._remote = ray.remote(max_retries=ATTEMPTS - 1, retry_exceptions=False, num_cpus=1)(answer)
        self.count = max(int(ray.cluster_resources().get("CPU", 1)), 1)

    def _refuse_silent(self) -> None:
        """Raise if nobody listens at the address: Ray itself would try for minutes."""
        host, colon, port = (self._scheduler or "").removeprefix("ray://").rpartition(":")
        if not colon or not port.isdecimal():
            return
        try:
            socket.create_connection((host, int(port)), timeout=_SECONDS).close()
        except OSError as error:
            unreachable("Ray", self._scheduler, error)

    def submit(self, expected: dict[str, str | None], task: bytes) -> Any:
        """Submit a task."""
        try:
            return self._remote.remote(expected, task)
        except Exception as error:
            gone("Ray", error)

    def answer(self, submitted: Any) -> Answer:
        """Wait for an answer."""
        import ray
        from ray import exceptions

        try:
            found: Answer = ray.get(submitted)
            return found
        except (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError) as error:
            why = "OutOfMemoryError" if isinstance(error, exceptions.OutOfMemoryError) else "WorkerCrashedError"
            raise InvalidRunsError(LOST.format(count=ATTEMPTS, why=why)) from None
        except exceptions.RayTaskError as error:  # before `answer` could begin: all else is part of an answer
            raise UsageError(
                f"a Ray worker cannot take part: {first_line(str(error.cause))}; install this dpaudit there"
            ) from None
        except (exceptions.RayError, OSError) as error:
            gone("Ray", error)

    def cancel(self, submitted: list[Any]) -> None:
        """Cancel tasks, also those that are running."""
        import ray

        for each in submitted:
            with contextlib.suppress(Exception):
                ray.cancel(each, force=True)

    def close(self) -> None:
        """End the connection if it was made here, and Ray if it was started here."""
        if self._own:
            import ray

            with contextlib.suppress(Exception):
                ray.shutdown()
        self._remote, self._own = None, False


def made(workers: int, scheduler: str | None) -> Ray:
    """Return the engine."""
    return Ray(workers, scheduler)

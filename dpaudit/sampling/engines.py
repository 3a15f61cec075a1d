"""Where are blocks of runs carried out: here, in processes of this machine, or on an engine that spans many?"""

from __future__ import annotations

import contextlib
import hashlib
import math
import pickle
import platform
import socket
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from dpaudit.errors import InvalidRunsError, UsageError, nearest
from dpaudit.evidence.build import installed_versions
from dpaudit.sampling.checkpoint import Experiment, RunBlock, loaded

# --- What does a worker do with a task? It makes sure that it runs the same code, and runs it ---
#
# Workers of an engine may be other machines with other installations. What outputs depend on is compared before every
# task: the versions that evidence records, dpaudit's own files, and the code of the target. A worker that differs
# answers with the first difference, and runs nothing.

_TARGET = "the code of the target"
_ONE = threading.Lock()  # the settings of Python belong to a whole process, so the threads of a worker take turns
_DIGESTS: dict[int, tuple[Callable[..., Any], str | None]] = {}  # of functions; they are kept so that no id is reused


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker answers: what was found, what was raised, or why it cannot take part."""

    host: str
    found: Any = None
    error: Exception | None = None
    refused: str | None = None


def expected_of(experiment: Experiment) -> dict[str, str | None]:
    """Return what a worker must agree with, by name."""
    expected: dict[str, str | None] = dict(of_installation())
    if isinstance(experiment.mechanism, str):  # else the code itself is sent
        expected[_TARGET] = _target_digest(experiment.mechanism)
    return expected


def answer(expected: dict[str, str | None], task: bytes) -> Answer:
    """Carry out a task, in a worker.

    Args:
        expected: by `expected_of`, where the task was made.
        task: by `packed`.

    Returns:
        The answer; nothing is raised that the target or dpaudit raises.
    """
    with _ONE:
        return _answer(expected, task)


def _answer(expected: dict[str, str | None], task: bytes) -> Answer:
    host = platform.node()
    other = difference(expected, dict(of_installation()))
    if other is not None:
        return Answer(host, refused=other)
    try:
        work, experiment, block = pickle.loads(task)  # what cloudpickle writes, pickle reads
        if isinstance(experiment.mechanism, str):
            other = difference(expected, {**expected, _TARGET: _target_digest(experiment.mechanism)})
    except Exception as error:
        return Answer(host, refused=f"it cannot load the target ({type(error).__name__}: {error})")
    if other is not None:
        return Answer(host, refused=other)
    try:
        return Answer(host, found=work(experiment, block))
    except Exception as error:
        return Answer(host, error=_sendable(error))


def difference(expected: dict[str, str | None], here: dict[str, str | None]) -> str | None:
    """Say in which way an installation is another one; None if it is not."""
    for name, value in expected.items():
        if name != _TARGET and here.get(name) != value:
            return f"{name} is {here.get(name)} there, and {value} here; runs would not be those of one installation"
    if here.get(_TARGET, expected.get(_TARGET)) != expected.get(_TARGET):
        return "its file of the target holds other code than the one here; give all workers the same"
    return None


@cache
def of_installation() -> tuple[tuple[str, str], ...]:
    """What outputs depend on besides the target: versions, and a digest of dpaudit's own files."""
    return *installed_versions().items(), ("the code of dpaudit", code_of_dpaudit())


@cache
def code_of_dpaudit() -> str:
    """A digest of dpaudit's own files."""
    own = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for file in sorted(root.rglob("*.py")):
        own.update(file.relative_to(root).as_posix().encode() + bytes(1) + hashlib.sha256(file.read_bytes()).digest())
    return own.hexdigest()[:16]


def _target_digest(reference: str) -> str | None:
    """The digest of a target that is loaded by its name, computed before it first runs here."""
    mechanism = loaded(reference)
    known = _DIGESTS.get(id(mechanism.function))
    if known is None:
        known = _DIGESTS[id(mechanism.function)] = mechanism.function, mechanism.digest
    return known[1]


def _sendable(error: Exception) -> Exception:
    """The error, or one of a kind that every process knows, which says the same."""
    try:
        again = pickle.loads(pickle.dumps(error))
        return error if type(again) is type(error) else RuntimeError(str(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


# --- What does an engine do? It takes tasks, a few ahead, and hands back their answers in order ---
#
# A task is one block, with the experiment that it belongs to: nothing is left with a worker that would be lost with it.
# An engine may carry out a task again if the worker was lost that had it; every draw of a block depends on its number,
# so its runs are the same. What a mechanism *returns*, or raises, is never a reason to carry out a task again.

Done = TypeVar("Done")
Work = Callable[[Experiment, RunBlock], Done]
Parts = Iterable[tuple[Experiment, RunBlock]]

LOST = (
    "{count} workers in a row were lost while they ran the same block, the last with: {why}. A mechanism that ends its "
    "process does that, and one that needs more memory than a worker has; --workers 1 shows which"
)
"""What is said of runs whose worker was lost again and again."""

ATTEMPTS = 3  # of a task whose worker was lost, by engines that leave it to us
_AHEAD = 2  # tasks for each worker, beside the one that it has


class Engine(ABC):
    """What carries out blocks."""

    count: int = 1  # how many it carries out at once, as far as known

    @property
    def apart(self) -> bool:
        """Whether blocks are carried out in other processes."""
        return True

    def connect(self) -> None:  # noqa: B027 – most have nothing to connect to
        """Connect, once; afterwards ``count`` is known. Raises `UsageError` if that is not possible."""

    @abstractmethod
    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks, each of its own experiment.

        Args:
            work: what is done with each.
            parts: experiments and blocks; may be made as they are needed.

        Yields:
            What ``work`` returns, in the order of the parts.

        Raises:
            InvalidRunsError: if the mechanism ends workers.
            UsageError: if the engine cannot be used, with the reason.
        """

    def close(self) -> None:  # noqa: B027 – most have nothing to close
        """Leave the engine; one that this process started is ended."""


class Remote(Engine):
    """An engine of another library: tasks are submitted, and their answers awaited in order."""

    name: str

    @abstractmethod
    def submit(self, expected: dict[str, str | None], task: bytes) -> Any:
        """Submit a task (`answer`), and return what stands for its answer."""

    @abstractmethod
    def answer(self, submitted: Any) -> Answer:
        """Wait for an answer. Raises as `run` does if there will be none."""

    @abstractmethod
    def cancel(self, submitted: list[Any]) -> None:
        """Cancel tasks whose answers nobody needs."""

    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks, a few ahead."""
        self.connect()
        waiting: deque[Any] = deque()
        try:
            for experiment, block in parts:
                waiting.append(self.submit(expected_of(experiment), packed(work, experiment, block)))
                if len(waiting) > (1 + _AHEAD) * self.count:
                    yield opened(self.answer(waiting.popleft()))
            while waiting:
                yield opened(self.answer(waiting.popleft()))
        finally:
            if waiting:
                self.cancel(list(waiting))


def packed(work: Work[Any], experiment: Experiment, block: RunBlock) -> bytes:
    """Return a task as bytes."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps((work, experiment, block)))
    except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError, NotImplementedError) as error:
        raise UsageError(
            f"the mechanism with its data and parameters cannot be sent to workers ({type(error).__name__}: {error}); "
            "define it in a file, as a function with a name, and give it plain data"
        ) from None


def opened(answer: Answer) -> Any:
    """Return what a worker found; raise what it raised."""
    if answer.error is not None:
        raise answer.error
    if answer.refused is not None:
        raise UsageError(f"the worker on {answer.host} cannot take part: {answer.refused}")
    return answer.found


def unreachable(name: str, where: str | None, error: BaseException | str) -> NoReturn:
    """Raise `UsageError`: an engine does not answer."""
    place = "" if where is None else f" at {where!r}"
    why = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    raise UsageError(f"no {name}{place} can be reached ({first_line(why)}); start it, or name another --scheduler")


def gone(name: str, error: BaseException | str) -> NoReturn:
    """Raise `UsageError`: an engine was lost on the way."""
    why = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else error
    raise UsageError(
        f"the connection to {name} was lost ({first_line(why)}); with --resume FILE, finished blocks are kept, and the "
        "same command goes on from there"
    )


def first_line(text: str) -> str:
    """The beginning of a text that may be long."""
    return text.strip().partition("\n")[0][:200]


# --- How are blocks carried out in processes of this machine, or by a backend of joblib that the user has chosen? ---


class Processes(Engine):
    """Processes of this machine; one is this one."""

    def __init__(self, count: int) -> None:
        self.count = count

    @property
    def apart(self) -> bool:
        """Whether there is more than one."""
        return self.count > 1

    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks here, or in fresh processes."""
        if not self.apart:
            yield from (work(experiment, block) for experiment, block in parts)
            return
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            # loky's processes are started afresh, never forked; no setting of the user may select a backend that forks
            yield from Parallel(n_jobs=self.count, backend="loky", return_as="generator")(
                delayed(work)(experiment, block) for experiment, block in parts
            )
        except BrokenProcessPool as error:
            raise InvalidRunsError(f"a worker process died while running the mechanism: {error}") from error


class Joblib(Engine):
    """The backend of another library that joblib was told to use, with ``joblib.parallel_config``."""

    def __init__(self, count: int) -> None:
        self.count = count

    def run(self, work: Work[Done], parts: Parts) -> Iterator[Done]:
        """Carry out blocks where joblib does."""
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend

        backend, jobs = get_active_backend()
        streams = getattr(backend, "supports_return_generator", False)
        asked = self.count if self.count > 1 else jobs
        tasks = (
            delayed(answer)(expected_of(experiment), packed(work, experiment, block)) for experiment, block in parts
        )
        for result in Parallel(n_jobs=asked, return_as="generator" if streams else "list")(tasks):
            yield opened(result)


# --- How are blocks carried out by the workers of a Dask cluster? ---
#
# ``client.submit`` sends each block with its experiment: data that were scattered beforehand would die with the worker
# that holds them. Dask itself runs a block again whose worker was lost (``distributed.scheduler.allowed-failures``).

_SECONDS = 10.0  # until a scheduler that does not answer is given up
_ALONE = 60.0  # until a cluster without workers is given up; batch systems may take long to start some
_LOOK = 5.0  # between two looks whether there are workers


class Dask(Remote):
    """A Dask cluster."""

    name = "Dask"

    def __init__(self, scheduler: str | None) -> None:
        self._scheduler, self._client, self._own = scheduler, None, scheduler is not None

    def connect(self) -> None:
        """Connect to the scheduler, or take the client that this process has."""
        if self._client is None:
            self._client = self._connected()
        self.count = max(self._workers(), 1)

    def _connected(self) -> Any:
        from distributed import Client, get_client

        if self._scheduler is None:
            try:
                return get_client()
            except ValueError:
                raise UsageError(
                    "there is no Dask client in this process; name the address of a scheduler (--scheduler "
                    "tcp://HOST:8786), or make a distributed.Client first"
                ) from None
        try:
            return Client(self._scheduler, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            unreachable("Dask scheduler", self._scheduler, error)

    def _workers(self) -> int:
        """How many workers there are. Each runs one block at a time, however many threads it has."""
        return len(self._client.nthreads())  # type: ignore[attr-defined]

    def submit(self, expected: dict[str, str | None], task: bytes) -> Any:
        """Submit a task; two alike are two pieces of work."""
        try:
            # no retries: what a mechanism raises is never a reason to run a block again
            return self._client.submit(answer, expected, task, pure=False, retries=0)  # type: ignore[attr-defined]
        except Exception as error:
            gone("the Dask scheduler", error)

    def answer(self, submitted: Any) -> Answer:
        """Wait for an answer as long as there are workers."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        alone: float | None = None
        while True:
            try:
                result: Answer = submitted.result(timeout=_LOOK)
                return result
            except TimeoutError:
                if submitted.client.status not in ("running", "connecting"):
                    gone("the Dask scheduler", submitted.client.status)
                now = time.monotonic()
                alone = None if self._workers() else (alone or now)
                if alone is not None and now - alone > _ALONE:
                    gone("Dask", f"its scheduler has had no worker for {_ALONE:.0f} seconds")
            except KilledWorker as error:
                raise InvalidRunsError(LOST.format(count=error.allowed_failures + 1, why="KilledWorker")) from None
            except (CancelledError, OSError) as error:
                gone("the Dask scheduler", error)
            except (ImportError, AttributeError) as error:
                raise UsageError(
                    f"a Dask worker cannot take part: {first_line(str(error))}; install this dpaudit there"
                ) from None

    def cancel(self, submitted: list[Any]) -> None:
        """Cancel tasks."""
        with contextlib.suppress(Exception):
            self._client.cancel(submitted)  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close a client that was made here."""
        if self._client is not None and self._own:
            with contextlib.suppress(Exception):
                self._client.close()
        self._client = None


# --- How are blocks carried out by Ray? Ray itself runs a block again whose worker was lost ---


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
            result: Answer = ray.get(submitted)
            return result
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


# --- How are blocks carried out as jobs of a batch system, by submitit? ---
#
# A job is too slow to start for one block, so the blocks of each step of an audit are divided among as many jobs as
# there are workers. A job that was lost, or ran out of its time, is submitted again; its blocks have the same draws.

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
                for result in self._result(job, bundle):
                    yield opened(result)
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
                bundle_answers: list[Answer] = job.result()
                return bundle_answers
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


def _batch_system(workers: int, scheduler: str | None) -> Batch:
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


BACKENDS = ("processes", "dask", "ray", "submitit")
"""What may carry out blocks; all but the first are engines of other libraries, imported when they are used."""

_NEEDS = {"dask": "distributed", "ray": "ray", "submitit": "submitit"}
_LOCAL = ("LokyBackend", "SequentialBackend", "ThreadingBackend", "MultiprocessingBackend")
_OURS = {"DaskDistributedBackend": "dask", "RayBackend": "ray"}


def engine_for(workers: int, backend: str | None = None, scheduler: str | None = None) -> Engine:
    """Return what carries out blocks. It connects when the first block is sent.

    Args:
        workers: processes, or jobs of a batch system; Dask and Ray have workers of their own.
        backend: one of `BACKENDS`; None for the backend that joblib was told to use, if it spans machines, else
            "processes". Backends of joblib that fork, or share this process, are not used: see `Processes`.
        scheduler: where the engine is; None for the one that this process is connected to.

    Returns:
        The engine.

    Raises:
        UsageError: if there is no such backend, it is not installed, or a scheduler is named without one.
    """
    if backend is None:
        chosen = _chosen() if scheduler is None else None
        if chosen is not None:
            own = _OURS.get(chosen)
            return Joblib(workers) if own is None else engine_for(workers, own)
        backend = "processes"
    if backend not in BACKENDS:
        raise UsageError(f"there is no backend {backend!r}; {nearest(backend, BACKENDS)}")
    if backend == "processes":
        if scheduler is not None:
            raise UsageError("a scheduler is that of an engine; name it: backend='dask', 'ray' or 'submitit'")
        return Processes(workers)
    if find_spec(_NEEDS[backend]) is None:
        raise UsageError(f"backend {backend!r} needs {_NEEDS[backend]}: pip install 'dpaudit[{backend}]'")
    if backend == "dask":  # which has workers of its own
        return Dask(scheduler)
    return Ray(workers, scheduler) if backend == "ray" else _batch_system(workers, scheduler)


def _chosen() -> str | None:
    """The backend that joblib was told to use, if it is none of this machine's."""
    if "joblib.parallel" not in sys.modules:  # then nobody told it anything
        return None
    from joblib.parallel import get_active_backend

    name = type(get_active_backend()[0]).__name__
    return None if name in _LOCAL else name

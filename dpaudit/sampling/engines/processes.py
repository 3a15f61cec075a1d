"""How are blocks carried out in processes of this machine, or by a backend of joblib that the user has chosen?"""

from __future__ import annotations

from collections.abc import Iterator

from dpaudit.errors import InvalidRunsError
from dpaudit.sampling.engines.engine import Done, Engine, Parts, Work, opened, packed
from dpaudit.sampling.engines.task import answer, expected_of


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
        for found in Parallel(n_jobs=asked, return_as="generator" if streams else "list")(tasks):
            yield opened(found)

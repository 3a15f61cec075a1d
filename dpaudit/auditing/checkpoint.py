"""How does an audit go on where it was interrupted?

Finished blocks are kept in a file (`dpaudit.sampling.checkpoint`). Every draw hangs on the seed and on the number of
its block, so the blocks that are missing are run as they would have been, and the evidence is the same as that of an
audit that was never interrupted. That holds for the same question alone: what the answer depends on stands in the file.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.auditing.question import Question
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.neighbours.digest import digest
from dpaudit.request import AuditRequest, options_of
from dpaudit.sampling.checkpoint import Checkpoint, question_in
from dpaudit.sampling.progress import Session


def session_of(
    question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]
) -> tuple[Question, Session]:
    """Give a question the session in which it is answered; it has to be closed at the end.

    Args:
        question: what is audited; ``request`` as it was asked for.
        request: names the file of finished blocks, which is begun where there is none, and who is told of runs.
        runs: in all.
        versions: of everything that the answer depends on.

    Raises:
        UsageError: for a file of another question, or one that holds no finished blocks.
    """
    session = Session(request.listen, runs)
    if request.resume is not None:
        session.checkpoint = Checkpoint(Path(request.resume).absolute(), described(question, request, runs, versions))
    return replace(question, session=session), session


def described(question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that the answer to a question depends on, as JSON values by name.

    Options stand there as they were asked for, but for those that the mechanism may have had a say in, and data.
    """
    mechanism, space = question.mechanism, question.space
    asked = {name: plain_value(getattr(request, name)) for name, each in options_of(AuditRequest).items() if each.asked}
    return {
        "target": mechanism.name,
        "code of the target": mechanism.digest,
        "file of the target": _file_digest(mechanism.function),
        **asked,
        "parameters": {name: plain_value(value) for name, value in question.parameters.items()},
        "runs": runs,
        "claim": None if question.claim is None else str(question.claim),
        "relation": str(question.relation),
        "pairs": [[record.digest0, record.digest1] for record in question.records],
        "data": None if space is None else [space.source, space.digest],
        "domain": None if space is None else digest([space.domain, space.beyond]),
        "seed": question.seed,
        "observe": list(question.observe),
        "fixed": [list(each) for each in question.fixed],
        **{f"version of {name}": value for name, value in versions.items()},
    }


def _file_digest(function: Any) -> str | None:
    """The SHA-256 of the file that a function stands in: what it uses there may matter as much as its own source."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (TypeError, OSError, ValueError):
        return None


def seed_for(request: AuditRequest) -> int | None:
    """Return the seed that was given; without one that of the file of finished blocks, or None where there is none."""
    if request.seed is not None or request.resume is None:
        return request.seed
    begun = question_in(Path(request.resume).absolute())
    kept = None if begun is None else begun.get("seed")
    return kept if isinstance(kept, int) else None


def refuse_budget(request: AuditRequest) -> None:
    """Raise `UsageError` where seconds cannot decide how many runs are made."""
    seconds = request.time_budget
    if seconds is None:
        return
    if request.resume is not None:
        raise UsageError(
            "a time budget makes the number of runs depend on the speed of one sitting, so that another cannot go on "
            "with it; give runs, or leave out resume"
        )
    if request.fixed:
        raise UsageError("fixed says how many runs are made, and a time budget finds that out; give one of them")
    if not 0 < seconds < math.inf:
        raise UsageError(f"time_budget is a positive number of seconds, not {seconds!r}")

"""How does an interrupted audit continue where it stopped?

Finished blocks are kept in a file (`dpaudit.sampling.checkpoint`). Every random draw depends only on the seed and on
the number of its block, so the missing blocks are run exactly as they would have been, and the evidence equals that of
an uninterrupted audit. This holds only for the same question, so everything that the answer depends on is stored with
the blocks.
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
from dpaudit.sampling.blocks import Session
from dpaudit.sampling.checkpoint import Checkpoint, question_in


def session_of(
    question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]
) -> tuple[Question, Session]:
    """Attach the session in which a question is answered; the caller must close it at the end."""
    session = Session(request.listen, runs)
    if request.resume is not None:
        session.checkpoint = Checkpoint(Path(request.resume).absolute(), described(question, request, runs, versions))
    return replace(question, session=session), session


def described(question: Question, request: AuditRequest, runs: int, versions: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that the answer to a question depends on, as JSON values by name.

    Options are recorded as they were requested, except those that the mechanism may supply, and data.
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
    """The SHA-256 of the file that defines a function: what it uses there may matter as much as its own source."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        return None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except (TypeError, OSError, ValueError):
        return None


def seed_for(request: AuditRequest) -> int | None:
    """Return the requested seed; without one, the seed in the file of finished blocks, or None if there is none."""
    if request.seed is not None or request.resume is None:
        return request.seed
    begun = question_in(Path(request.resume).absolute())
    kept = None if begun is None else begun.get("seed")
    return kept if isinstance(kept, int) else None


def refuse_budget(request: AuditRequest) -> None:
    """Raise `UsageError` if a time budget cannot determine the number of runs."""
    seconds = request.time_budget
    if seconds is None:
        return
    if request.resume is not None:
        raise UsageError(
            "with a time budget the number of runs depends on the speed of the machine, so that an audit cannot be "
            "resumed; give runs, or leave out resume"
        )
    if request.fixed:
        raise UsageError(
            "fixed states how many runs are made, and a time budget determines that by itself; give one of them"
        )
    if not 0 < seconds < math.inf:
        raise UsageError(f"time_budget is a positive number of seconds, not {seconds!r}")

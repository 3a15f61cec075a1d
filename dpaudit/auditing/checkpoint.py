"""How does an audit go on where it was interrupted?

Finished blocks are kept in a file (`dpaudit.sampling.checkpoint`). Every draw hangs on the seed and on the number of
its block, so the blocks that are missing are run as they would have been, and the evidence is the same as that of an
audit that was never interrupted. That holds for the same question alone: what the answer depends on stands in the file.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.auditing.request import Question
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import plain_value
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.checkpoint import Journal, question_in
from dpaudit.sampling.progress import Listener, Session


def session_of(
    question: Question,
    resume: str | Path | None,
    listen: Listener | None,
    *,
    runs: int,
    versions: Mapping[str, str],
    **asked: Any,
) -> tuple[Question, Session]:
    """Give a question the session in which it is answered; it has to be closed at the end.

    Args:
        question: what is audited.
        resume: the file of finished blocks, or None; one that does not exist is begun.
        listen: who is told how far the audit has come, or None.
        runs: in all.
        versions: of everything that the answer depends on.
        asked: whatever else it depends on.

    Raises:
        UsageError: for a file of another question, or one that holds no finished blocks.
    """
    session = Session(listen, runs)
    if resume is not None:
        session.journal = Journal(Path(resume).absolute(), described(question, versions=versions, runs=runs, **asked))
    return replace(question, session=session), session


def described(question: Question, *, versions: Mapping[str, str], **asked: Any) -> dict[str, Any]:
    """Return everything that the answer to a question depends on, as JSON values by name."""
    mechanism, ground = question.mechanism, question.ground
    return {
        "target": mechanism.name,
        "code of the target": mechanism.digest,
        "file of the target": _file_digest(mechanism.function),
        "parameters": {name: plain_value(value) for name, value in question.parameters.items()},
        **{name: plain_value(value) for name, value in asked.items()},
        "claim": None if question.claim is None else str(question.claim),
        "relation": str(question.relation),
        "pairs": [[record.digest0, record.digest1] for record in question.records],
        "data": None if ground is None else [ground.source, ground.digest],
        "domain": None if ground is None else digest([ground.domain, ground.beyond]),
        "seed": question.seed,
        "confidence": question.confidence,
        "floating_point": question.floating_point,
        "learn": question.learn,
        "observe": list(question.observe),
        **({} if question.types == "count" else {"types": question.types}),
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


def seed_for(seed: int | None, resume: str | Path | None) -> int | None:
    """Return the seed that was given; without one that of the file of finished blocks, or None where there is none."""
    if seed is not None or resume is None:
        return seed
    begun = question_in(Path(resume).absolute())
    kept = None if begun is None else begun.get("seed")
    return kept if isinstance(kept, int) else None


def refuse_budget(resume: str | Path | None, time_budget: float | None) -> None:
    """Raise `UsageError` where finished blocks would have to fit into a number of seconds."""
    if resume is not None and time_budget is not None:
        raise UsageError(
            "a time budget makes the number of runs depend on the speed of one sitting, so that another cannot go on "
            "with it; give runs, or leave out resume"
        )

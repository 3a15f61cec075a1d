"""What can be proved about a program? The command ``prove``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, own_process, refuse_other
from dpaudit.cli.files import Results, loaded, no_script, results
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import all_asked
from dpaudit.request import ProofRequest

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence


@click.command(
    "prove",
    cls=Command,
    epilog=examples(
        "dpaudit prove above_threshold",
        "dpaudit prove release.py:count --domain 'age=[0, 120]' --relation add-remove --claim epsilon=1",
        "dpaudit prove release.py:count --domain 'age=[0, 120]' --data people.csv --claim epsilon=1",
    ),
)
@click.argument("target")
@all_asked(
    ProofRequest,
    parameters={"help": "A parameter; VALUE is JSON, or else text. Numbers are exact."},
    claim={"help": "The claim to hold it against, such as 'epsilon=1'; else the mechanism's own."},
    relation={
        "help": "queries, queries(one), queries(monotone), queries(norm=1), replace, …; else the mechanism's own."
    },
    confidence={"help": "Of what the runs show."},
)
@own_process()
@no_script
@results
def command(target: str, to: Results, apart: Apart, **options: Any) -> int:
    """Prove an upper bound for the program TARGET, or refute its claim by an exact counterexample.

    TARGET runs in a process of its own, which is ended with all that it started.
    """
    read = [options["data"]] if options["data"] is not None else []
    to.check(read=read)
    evidence = apart.evidence(proved, {"target": target, "quiet": to.quiet, **options})
    options["domain"] = _domain(options["domain"])
    refuse_other(evidence, proof=ProofRequest(target, **options))
    _refuse_unproved(evidence)
    return to.tell(evidence.with_files(read))


def _refuse_unproved(evidence: Evidence) -> None:
    """Refuse a verdict of PROVED whose proof this process, which never loads the target, does not accept."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.records import Verdict
    from dpaudit.verify.proofs.kind import NotShownError
    from dpaudit.verify.proofs.kinds import check_proof

    if evidence.verdict is not Verdict.PROVED:
        return
    try:
        why = check_proof(evidence).unseen
    except NotShownError as error:
        why = str(error)
    if why:
        raise UsageError(
            f"there is no verdict: a proof was handed over that is not accepted: {why}. What a target does to its "
            "process is part of it"
        )


def proved(
    target: str, quiet: bool, domain: tuple[str, ...], data: str | None = None, **options: Any
) -> dict[str, Any]:
    """Return the evidence of a proof as a document."""
    with at_work(quiet) as listen:
        from dpaudit.verify.prove_and_audit import prove

        mechanism, found = loaded(target, {**options, "data": data})
        return prove(mechanism, **{**found, "domain": _domain(domain), "listen": listen}).document()


def _domain(texts: tuple[str, ...]) -> str | list[Any] | dict[str, Any] | None:
    """Read the domain as it is typed: a word, a list of datasets, or what each column may hold."""
    from dpaudit.errors import UsageError

    if not texts:
        return None
    text = texts[0].strip()
    if len(texts) == 1 and text in ("real", "integer"):
        return text
    if len(texts) == 1 and text.startswith("["):
        import json

        try:
            return list(json.loads(text))
        except ValueError as error:
            raise UsageError(f"--domain is a JSON list of datasets; this is none: {error}") from None
    if not any("=" in each or each.lstrip().startswith("{") for each in texts):
        raise UsageError(
            f"--domain is 'real', 'integer', NAME=JSON for each column, or a JSON list; {text!r:.60} is none"
        )
    from dpaudit.neighbours.domain import read_domain

    return dict(read_domain(texts))

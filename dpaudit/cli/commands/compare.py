"""Which of several mechanisms, or values of a parameter, loses how much, and at what error? The command ``compare``."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dpaudit.cli.apart import Apart, own_process, refuse_other
from dpaudit.cli.files import OutputFiles, checked_evidence, dataset_in, digests_of, domain_of, failing_check, loaded
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import asked
from dpaudit.request import AuditRequest, ProofRequest

_PROVED = ("parameters", "claim", "relation", "runs", "seed")


class Varied(click.ParamType[tuple[str, list[Any]]]):
    """NAME=A,B,…: several values of a parameter, each JSON or else a text."""

    name = "NAME=A,B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, list[Any]]:
        """Split the text and read its values."""
        import json

        name, equals, text = str(value).partition("=")
        if not equals or not name.strip() or not text.strip():
            self.fail(f"{value!r} is no NAME=A,B, such as epsilon=0.1,0.5,1", param, ctx)
        try:
            return name.strip(), list(json.loads(f"[{text}]"))
        except ValueError:
            return name.strip(), [each.strip() for each in text.split(",")]


class Lengths(click.ParamType[list[int]]):
    """N,M,…: several lengths."""

    name = "N,M"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Split the text and read its numbers."""
        texts = [each.strip() for each in str(value).split(",")]
        if not all(each.isdecimal() and int(each) for each in texts):
            self.fail(f"{value!r} is no list of lengths, such as 1,2,3", param, ctx)
        return list(map(int, texts))


@click.command(
    "compare",
    cls=Command,
    epilog=examples(
        "dpaudit compare laplace geometric --html compared.html",
        "dpaudit compare release.py:count --vary epsilon=0.1,0.5,1 --data people.csv",
        "dpaudit compare above_threshold svt_unlimited --length 1,2,3",
        "dpaudit compare one.json other.json",
    ),
)
@click.argument("what", metavar="WHAT...", nargs=-1, required=True)
@click.option("--vary", type=Varied(), metavar="NAME=A,B", help="Every TARGET with each of these values.")
@click.option("--length", "lengths", type=Lengths(), metavar="N,M", help="Every TARGET for so many answers or numbers.")
@asked(AuditRequest, "parameters")
@asked(AuditRequest, "claim")
@asked(AuditRequest, "pairs")
@asked(AuditRequest, "data")
@asked(AuditRequest, "domain")
@asked(AuditRequest, "relation")
@asked(AuditRequest, "runs")
@asked(AuditRequest, "seed")
@own_process()
@click.option("--html", "html_file", metavar="FILE", help="Write a page with a table and a picture ('-': output).")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def command(
    what: tuple[str, ...],
    vary: tuple[str, list[Any]] | None,
    lengths: list[int] | None,
    html_file: str | None,
    quiet: bool,
    apart: Apart,
    **options: Any,
) -> int:
    """Set mechanisms, or values of a parameter, side by side: ε from both sides, and the error of the answers.

    WHAT is a TARGET as in `dpaudit audit`, or a file with evidence. A target is proved where it can be read, and
    audited; --length says how its bound grows with the number of answers, or of numbers of a range. Of two files about
    one target, `dpaudit report --compare` says what changed. The exit code is that of the gravest verdict.
    """
    from dpaudit.auditing.question import given_or_fresh
    from dpaudit.errors import UsageError
    from dpaudit.report.html.index import gravest, side_by_side_page, side_by_side_text

    files = [each for each in what if each.endswith((".json", ".html")) and Path(each).is_file()]
    if len(files) == len(what) and (vary is not None or lengths is not None):
        option = "--length" if vary is None else "--vary"
        raise UsageError(
            f"{option} is about a TARGET that is run, and only evidence is given; leave it out, or name one"
        )
    if lengths is not None and (options["pairs"] or options["data"]):
        raise UsageError("--length makes up the data, and --pair and --data give them; leave one out")
    if vary is not None and vary[0] in options["parameters"]:
        raise UsageError(f"the parameter {vary[0]!r} is given twice, by -p and by --vary; give it once")
    outputs = OutputFiles(html_file, read=[*files, *options["pairs"], *filter(None, [options["data"]])])
    options["seed"] = given_or_fresh(options["seed"])
    values = [{}] if vary is None else [{vary[0]: value} for value in vary[1]]
    every: Sequence[int | None] = lengths or (None,)
    asked = [
        {**options, "parameters": {**options["parameters"], **given}, "length": length}
        for given in values
        for length in every
    ]
    found = []
    for each in what:
        found += [checked_evidence(each)] if each in files else [_evidence(each, apart, quiet, one) for one in asked]
    if html_file is not None:
        outputs.write(html_file, side_by_side_page(found))
    if not quiet:
        outputs.say(side_by_side_text(found))
    return gravest(found).exit_code


def _evidence(target: str, apart: Apart, quiet: bool, options: dict[str, Any]) -> Any:
    """Return the evidence of one target, which has to answer what was asked, and to pass its check."""
    from dpaudit.errors import UsageError

    evidence = apart.evidence(compared, {"target": target, "quiet": quiet, **options})
    options = {**options}
    length = options.pop("length")
    proof = None
    if length is not None or not _of_records(options):
        wanted = {name: options[name] for name in _PROVED}
        proof = ProofRequest(target, **wanted, domain=domain_of(options["domain"]))
    if proof is not None and evidence.proof is not None:
        proof = dataclasses.replace(proof, length=length or evidence.proof.length)  # whichever the pairs have
    pairs = digests_of(options["pairs"], evidence.relation)
    asked = {**options, "data": dataset_in(options["data"]), "domain": domain_of(options["domain"])}
    refuse_other(evidence, audit=AuditRequest(target, **asked), proof=proof, pairs=pairs)
    why = failing_check(evidence)
    if why:
        raise UsageError(f"there is no verdict: the evidence of {target} fails its check: {why}")
    return evidence


def compared(target: str, quiet: bool, length: int | None, **options: Any) -> dict[str, Any]:
    """Return the evidence of a target as a document: proved where it is a program that can be read, and audited."""
    from dpaudit.errors import UsageError

    with at_work(quiet) as listen:
        from dpaudit.verify.answer import audit
        from dpaudit.verify.prove_and_audit import prove

        mechanism, found = loaded(target, options)
        asked = {name: found[name] for name in _PROVED}
        if length is not None:  # nothing else has so many answers: a refusal is told
            return prove(mechanism, **asked, domain=found["domain"], length=length, listen=listen).document()
        if _of_records(options):
            return audit(mechanism, **found, listen=listen).document()
        for each in [None, _length(mechanism, found["parameters"])]:
            with contextlib.suppress(UsageError):  # runs say what they can, and refuse what cannot be run
                return prove(mechanism, **asked, length=each, listen=listen).document()
        return audit(mechanism, **found, listen=listen).document()


def _of_records(options: dict[str, Any]) -> bool:
    """Whether data are given or declared: then an audit tries what can be proved of them."""
    return bool(options["pairs"] or options["data"] or options["domain"])


def _length(mechanism: Any, parameters: dict[str, Any]) -> int:
    """How many answers the mechanism's own pairs hold, for which it is proved where not for every number."""
    pairs = mechanism.pairs_for(mechanism.parameters_with(parameters))
    first = pairs[0][0] if pairs else ()
    return max(len(first), 1) if isinstance(first, list | tuple) else 1

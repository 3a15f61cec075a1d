"""Which mechanism, and how many runs? The commands ``compare``, ``plan`` and ``list``."""

from __future__ import annotations

import contextlib
import dataclasses
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, own_process, refuse_other
from dpaudit.cli.files import (
    OutputFiles,
    at_work,
    checked_evidence,
    dataset_in,
    digests_of,
    domain_of,
    failing_check,
    loaded,
    prints_to_standard_error,
)
from dpaudit.cli.main import Command, asked, examples
from dpaudit.errors import UsageError
from dpaudit.request import AuditRequest, ProofRequest

if TYPE_CHECKING:
    from dpaudit.auditing.plan import ErrorPlan, Plan
    from dpaudit.targets.mechanism import Mechanism

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
def compare_command(
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
    documents = []
    for each in what:
        documents += (
            [checked_evidence(each)] if each in files else [_evidence(each, apart, quiet, one) for one in asked]
        )
    if html_file is not None:
        outputs.write(html_file, side_by_side_page(documents))
    if not quiet:
        outputs.say(side_by_side_text(documents))
    return gravest(documents).exit_code


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
        from dpaudit.verify.answer import audit, prove

        mechanism, given = loaded(target, options)
        asked = {name: given[name] for name in _PROVED}
        if length is not None:  # nothing else has so many answers: a refusal is told
            return prove(mechanism, **asked, domain=given["domain"], length=length, listen=listen).document()
        if _of_records(options):
            return audit(mechanism, **given, listen=listen).document()
        for each in [None, _length(mechanism, given["parameters"])]:
            with contextlib.suppress(UsageError):  # runs say what they can, and refuse what cannot be run
                return prove(mechanism, **asked, length=each, listen=listen).document()
        return audit(mechanism, **given, listen=listen).document()


def _of_records(options: dict[str, Any]) -> bool:
    """Whether data are given or declared: then an audit tries what can be proved of them."""
    return bool(options["pairs"] or options["data"] or options["domain"])


def _length(mechanism: Any, parameters: dict[str, Any]) -> int:
    """How many answers the mechanism's own pairs hold, for which it is proved where not for every number."""
    pairs = mechanism.pairs_for(mechanism.parameters_with(parameters))
    first = pairs[0][0] if pairs else ()
    return max(len(first), 1) if isinstance(first, list | tuple) else 1


# --- How many runs find a violation of a given size, and which ε does a wanted error need? The command ``plan``. ---


@click.command(
    "plan", cls=Command, epilog=examples("dpaudit plan laplace --detect epsilon=1.1", "dpaudit plan laplace --error 5")
)
@click.argument("target")
@click.option("--detect", metavar="TEXT", help="The loss to be found, such as 'epsilon=1.1'.")
@click.option(
    "--error", type=float, metavar="NUMBER", help="The error that 90 % of the answers may have: which ε does it need?"
)
@click.option("--vary", default="epsilon", show_default=True, help="With --error: the parameter that is varied.")
@asked(AuditRequest, "parameters")
@asked(AuditRequest, "claim", help="The claim that would be violated, such as 'epsilon=1, delta=1e-6'.")
@asked(AuditRequest, "pairs")
@asked(AuditRequest, "relation")
@asked(AuditRequest, "false_alarm", help="As for the audit to come.")
@asked(AuditRequest, "runs", default=40_000, help="Executions of a short audit.")
@asked(AuditRequest, "confidence", help="Of the audit to come.")
@asked(AuditRequest, "seed")
@own_process()
def plan_command(target: str, apart: Apart, **options: Any) -> int:
    """Plan TARGET: how many runs find a violation (--detect), or which ε does a wanted error need (--error)?

    Exit code 0, or 3 where no number of runs, or no ε, would do. TARGET runs in a process of its own.
    """
    if (options["detect"] is None) == (options["error"] is None):
        raise UsageError(
            "say what is planned for: --detect epsilon=1.1, a loss to be found, or --error 5, in the answers"
        )
    error, vary = options.pop("error"), options.pop("vary")
    if error is None:
        answer = apart.carry_out(planned, {"target": target, **options})
    else:
        given = {name: options[name] for name in ("parameters", "pairs", "relation", "runs", "seed")}
        answer = apart.carry_out(planned_error, {"target": target, "error": error, "vary": vary, **given})
    click.echo(str(answer["text"]), nl=False)
    return 0 if answer["possible"] is True else 3


def planned(target: str, detect: str, **options: Any) -> dict[str, Any]:
    """Return a plan in words, and whether any number of runs is enough."""
    with at_work(quiet=False) as listen:
        from dpaudit.auditing.plan import plan

        mechanism, given = loaded(target, options)
        planned_runs = plan(mechanism, detect, listen=listen, **given)
        return {"text": _words(planned_runs), "possible": planned_runs.runs is not None}


def planned_error(target: str, error: float, vary: str, **options: Any) -> dict[str, Any]:
    """Return in words which ε a wanted error needs, and whether any is enough."""
    with at_work(quiet=True):
        from dpaudit.auditing.plan import plan_error

        mechanism, given = loaded(target, options)
        planned_value = plan_error(mechanism, error, vary=vary, **given)
        return {"text": _error_words(planned_value), "possible": planned_value.value is not None}


def _error_words(plan: ErrorPlan) -> str:
    """Return a plan for an error as text: the answer first, then the errors around it."""
    from dpaudit.report.text.findings import SOURCES, accuracy_line
    from dpaudit.report.text.phrases import NBSP, count_text, shortened

    amounts = bool(plan.places[0].accuracy.errors)
    wanted = (
        f"90 % of the answers within {plan.error:g} of the exact one"
        if amounts
        else (f"all but {100 * plan.error:g} % of the answers exact")
    )
    if plan.value is None:
        answer = f"No {plan.parameter} up to 1,000 makes {wanted}."
    else:
        answer = f"{plan.parameter} = {plan.value:g} makes {wanted}."
    lines = [answer, f"  {'target':<11}{shortened(plan.target, 80)}"]
    lines += [f"  {f'{place.value:.3g}':<11}{accuracy_line(place.accuracy)}" for place in plan.places]
    said = (
        f"{SOURCES[plan.places[0].accuracy.source]} Estimated on the first dataset of the first pair, from "
        f"{count_text(plan.spent)} runs in all; on other data the error may be another."
    )
    lines += textwrap.wrap(said, 100)
    return "\n".join(lines).replace(NBSP, " ") + "\n"


def _words(plan: Plan) -> str:
    """Return a plan as text: the answer first, then what it is based on."""
    from dpaudit.cli.files import duration
    from dpaudit.evidence.event import DATASETS
    from dpaudit.report.text.phrases import NBSP, claim_words, confidence_text, count_text, lower_text, shortened

    claim, violation = plan.claim, f"{plan.claim.symbol} = {plan.value:.10g}"
    rows = [("target", shortened(plan.target, 80)), ("claim", claim_words(claim))]
    if plan.runs is None or plan.measuring is None or plan.seconds is None:
        answer = f"No number of runs would show {violation} through the event that was chosen."
    else:
        answer = (
            f"About {count_text(plan.runs)} runs find {violation} with probability 0.9, at "
            f"{confidence_text(plan.confidence)} confidence."
        )
        rows.append(("runs", f"{count_text(plan.runs)} in all; {count_text(plan.measuring)} have to measure the event"))
        rows.append(("time", f"about {duration(plan.seconds)} with one worker"))
    sides = [side for side in (0, 1) if plan.event.toward(side)]
    rows += [("event", f"points to {DATASETS[side]}: {shortened(plan.event.describe(side), 200)}") for side in sides]
    rows.append(("assumes", plan.assumes))
    if plan.shown > claim.value:
        rows.append(
            ("but", f"a short audit already shows {claim.symbol} ≥ {lower_text(plan.shown)}: audit it as it is")
        )
    lines = [answer]
    for label, text in rows:
        wrapped = textwrap.wrap(text, 86)
        lines += [f"  {label if number == 0 else '':<11}{line}" for number, line in enumerate(wrapped)]
    return "\n".join(lines).replace(NBSP, " ") + "\n"


# --- Which mechanisms are in the catalogue? The command ``list``. ---


@click.command("list", cls=Command, epilog=examples("dpaudit list", "dpaudit list laplace"))
@click.argument("name", required=False)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON ('-': standard output).")
def list_command(name: str | None, json_file: str | None) -> None:
    """List the mechanisms of the catalogue, or show the page of one."""
    import json

    from dpaudit.loading import catalogue, load

    outputs = OutputFiles(json_file)
    with prints_to_standard_error():
        if name is not None:
            chosen = [load(name)]
        else:
            chosen = sorted(catalogue().values(), key=lambda item: (not item.correct, item.family, item.name))
        # a true loss may need a quadrature, and the table does not show it
        facts = [_catalogue_rows(item, losses=name is not None or json_file is not None) for item in chosen]
        text = _table(facts) if name is None else _page(chosen[0], facts[0])
    if json_file is not None:
        outputs.write(json_file, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    if name is not None or json_file != "-":
        outputs.say(text + "\n")


def _catalogue_rows(mechanism: Mechanism, *, losses: bool) -> dict[str, Any]:
    from dpaudit.evidence.canonical_json import plain_value

    parameters = _defaults(mechanism)
    claim = _known(mechanism.claim_for, parameters)
    return {
        "name": mechanism.name,
        "family": mechanism.family,
        "correct": mechanism.correct,
        "claim": None if claim is None else str(claim),
        "relation": _known(mechanism.relation_for, parameters),
        "parameters": {key: plain_value(value) for key, value in parameters.items()},
        "needs": [name for name in mechanism.defaults if name not in parameters],
        "true_loss": plain_value(_known(mechanism.true_loss_for, parameters)) if losses else None,
        "unit": mechanism.unit,
        "source": mechanism.source,
        "summary": mechanism.summary,
        "asks": str(mechanism.shape),
    }


def _defaults(mechanism: Mechanism) -> dict[str, Any]:
    import inspect

    return {name: value for name, value in mechanism.defaults.items() if value is not inspect.Parameter.empty}


def _known(resolve: Callable[[dict[str, Any]], Any], parameters: dict[str, Any]) -> Any:
    """Return what a mechanism states at its default parameters; None if it needs others."""
    from dpaudit.errors import UsageError

    try:
        return resolve(parameters)
    except UsageError:
        return None


def _table(listed: list[dict[str, Any]]) -> str:
    rows = [("NAME", "FAMILY", "CLAIM", "STATUS", "")]
    for facts in listed:
        status = "correct" if facts["correct"] else "broken"
        rows.append((facts["name"], facts["family"], facts["claim"] or "none", status, facts["summary"]))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join([*map(str.ljust, row[:4], widths), row[4]]) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _page(mechanism: Mechanism, facts: dict[str, Any]) -> str:
    loss = facts["true_loss"]
    pairs = "; ".join(f"{a!r:.60} vs {b!r:.60}" for a, b in _known(mechanism.pairs_for, _defaults(mechanism)) or ())
    parameters = [f"{name}={value!r}" for name, value in facts["parameters"].items()]
    status = f": {'correct' if mechanism.correct else 'broken'}, family {mechanism.family}" if mechanism.family else ""
    lines = [
        f"{mechanism.name}{status}",
        "",
        mechanism.description or "no description",
        "",
        f"claim       {facts['claim'] or 'none'}",
        f"true loss   {'unknown' if loss is None else loss}",
        f"relation    {facts['relation'] or 'not stated'}",
        f"unit        {mechanism.unit or 'not stated'}",
        f"pairs       {pairs or 'none'}",
        f"parameters  {', '.join([*parameters, *(f'{name} (to be given)' for name in facts['needs'])]) or 'none'}",
        f"runs as     {mechanism.shape}",
        f"source      {mechanism.source or 'not stated'}",
        *([f"to find it  {mechanism.needs}"] if mechanism.needs else []),
    ]
    return "\n".join(lines)

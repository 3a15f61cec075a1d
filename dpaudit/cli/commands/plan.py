"""How many runs find a violation of a given size, and which ε does a wanted error need? The command ``plan``."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, own_process
from dpaudit.cli.files import loaded
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import asked
from dpaudit.errors import UsageError
from dpaudit.request import AuditRequest

if TYPE_CHECKING:
    from dpaudit.auditing.plan import ErrorPlan, Plan


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
def command(target: str, apart: Apart, **options: Any) -> int:
    """Plan TARGET: how many runs find a violation (--detect), or which ε does a wanted error need (--error)?

    Exit code 0, or 3 where no number of runs, or no ε, would do. TARGET runs in a process of its own.
    """
    if (options["detect"] is None) == (options["error"] is None):
        raise UsageError(
            "say what is planned for: --detect epsilon=1.1, a loss to be found, or --error 5, in the answers"
        )
    error, vary = options.pop("error"), options.pop("vary")
    if error is None:
        found = apart.carry_out(planned, {"target": target, **options})
    else:
        given = {name: options[name] for name in ("parameters", "pairs", "relation", "runs", "seed")}
        found = apart.carry_out(planned_error, {"target": target, "error": error, "vary": vary, **given})
    click.echo(str(found["text"]), nl=False)
    return 0 if found["possible"] is True else 3


def planned(target: str, detect: str, **options: Any) -> dict[str, Any]:
    """Return a plan in words, and whether any number of runs is enough."""
    with at_work(quiet=False) as listen:
        from dpaudit.auditing.plan import plan

        mechanism, given = loaded(target, options)
        found = plan(mechanism, detect, listen=listen, **given)
        return {"text": _words(found), "possible": found.runs is not None}


def planned_error(target: str, error: float, vary: str, **options: Any) -> dict[str, Any]:
    """Return in words which ε a wanted error needs, and whether any is enough."""
    with at_work(quiet=True):
        from dpaudit.auditing.plan import plan_error

        mechanism, given = loaded(target, options)
        found = plan_error(mechanism, error, vary=vary, **given)
        return {"text": _error_words(found), "possible": found.value is not None}


def _error_words(plan: ErrorPlan) -> str:
    """Return a plan for an error as text: the answer first, then the errors around it."""
    from dpaudit.report.text.accuracy import SOURCES, accuracy_line
    from dpaudit.report.text.numerals import NBSP, count_text
    from dpaudit.report.text.phrases import shortened

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
    from dpaudit.cli.messages import duration
    from dpaudit.evidence.event import DATASETS
    from dpaudit.report.text.numerals import NBSP, confidence_text, count_text, lower_text
    from dpaudit.report.text.phrases import claim_words, shortened

    claim, found = plan.claim, f"{plan.claim.symbol} = {plan.value:.10g}"
    rows = [("target", shortened(plan.target, 80)), ("claim", claim_words(claim))]
    if plan.runs is None or plan.measuring is None or plan.seconds is None:
        answer = f"No number of runs would show {found} through the event that was chosen."
    else:
        answer = (
            f"About {count_text(plan.runs)} runs find {found} with probability 0.9, at "
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

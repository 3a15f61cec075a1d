"""What do releases and models lose that were made elsewhere? The commands ``account`` and ``scores``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpaudit.cli.files import Results, prints_to_standard_error, results
from dpaudit.cli.main import MECHANISMS, Command, Count, all_asked, asked, examples
from dpaudit.request import AccountRequest, AuditRequest, ReleaseRequest, options_of

_EXAMPLE = "dpaudit account --gaussian 1.1 --rate 0.004 --steps 14000 --claim 'epsilon=3.2, delta=1e-5'"


class _OneRelease(Command):
    twice = "options describe one release, and several are written as PLAN, such as 'Laplace(2) + Laplace(2)'"


@click.command(
    "account",
    cls=_OneRelease,
    epilog=examples(
        _EXAMPLE,
        "dpaudit account --noise-multiplier 1 --batch 256 --records 60000 --steps 1000 --delta 1e-5",
        "dpaudit account --rate 0.004 --steps 14000 --calibrate --claim 'epsilon=3, delta=1e-5'",
    ),
)
@click.argument("plan", required=False)
@all_asked(ReleaseRequest)
@click.option("--from", "record", metavar="RECORD", help="What a library recorded: opacus:FILE or dp-event:FILE.")
@all_asked(AccountRequest)
@click.option(
    "--calibrate",
    is_flag=False,
    flag_value="gaussian",
    metavar="[NOISE|steps]",
    help="Find the smallest noise that is certified to keep the claims (gaussian, where nothing is said; "
    "noise-multiplier, laplace, discrete-gaussian, discrete-laplace), or the most steps.",
)
@results
def account_command(plan: str | None, record: str | None, calibrate: str | None, to: Results, **options: Any) -> int:
    """Bound ε or δ of many releases from both sides, with a proof, and hold claims against it.

    PLAN is a plan file (.toml), or releases as text: "Gaussian('1.1').poisson('0.004').times(14000) + Laplace(2)", or
    entries of the catalogue: "laplace(epsilon=0.5) + count()". One release may be given by options instead: --gaussian
    1.1 --rate 0.004 --steps 14000.

    Exit code 0: every claim is PROVED, or there is none; 1: a claim is VIOLATED; 2: no verdict; 3: INCONCLUSIVE.
    """
    from dpaudit.errors import UsageError

    try:
        return _accounted(plan, record, calibrate, to, options)
    except UsageError as error:
        taught = any(words in str(error) for words in ("such as", "for example", "did you mean", "write "))
        raise UsageError(str(error) if taught else f"{error}; for example: {_EXAMPLE}") from None


def _accounted(
    plan: str | None, record: str | None, calibrate: str | None, to: Results, options: dict[str, Any]
) -> int:
    from dataclasses import replace

    from dpaudit.accounts.account import carry_out
    from dpaudit.accounts.plan import is_plan_file

    typed = {name: options.pop(name) for name in options_of(ReleaseRequest)}
    reading = [name for name in (plan, record) if name is not None and (name is record or is_plan_file(name))]
    to.check(read=[name.partition(":")[2] or name for name in reading])
    request = AccountRequest(None, **{**options, "claim": options["claim"] or None})
    if calibrate:
        request, said = _calibrated(calibrate, plan or record, typed, request)
    else:
        request, said = replace(request, events=_given(plan, record, typed)), ""
    evidence = carry_out(request).with_files(reading)
    if said:
        to.say(f"{said}\n")
    return to.tell(evidence)


def _given(plan: str | None, record: str | None, typed: dict[str, Any]) -> Any:
    """Return the releases: of a plan, a record, or options; one of them."""
    from dpaudit.accounts.plan import AccountPlan
    from dpaudit.accounts.recorded import read_recorded
    from dpaudit.errors import UsageError

    options = [f"--{name.replace('_', '-')}" for name, value in typed.items() if value is not None]
    named = [text for text in (plan and "PLAN", record and "--from", options and options[0]) if text]
    if len(named) > 1:
        raise UsageError(f"what was run is given twice, by {' and by '.join(named)}; give it once")
    if plan is not None:
        return plan
    if record is not None:
        return read_recorded(record)
    if not options:
        raise UsageError(
            "say what was run: a plan file, releases as text, --from a record, or options such as --gaussian 1.1 "
            "--rate 0.004 --steps 14000"
        )
    return AccountPlan((_release(typed),))


def _release(typed: dict[str, Any]) -> Any:
    """Return the release that options describe."""
    from dpaudit.accounts.plan import MULTIPLIER, NOISE, release
    from dpaudit.errors import UsageError

    kinds = [name for name in MECHANISMS if typed[name] is not None]
    if len(kinds) != 1:
        flags = [f"--{name.replace('_', '-')}" for name in kinds or MECHANISMS]
        raise UsageError(
            f"give one mechanism, {'not ' + ' and '.join(flags) if kinds else 'one of ' + ', '.join(flags)}; several "
            "stand in a plan file"
        )
    kind = kinds[0].replace("_", "-")
    noise = {"mechanism": kind, NOISE.get(kind, ("", ""))[1]: typed[kinds[0]]}
    if kinds[0] == MULTIPLIER:
        noise = {"mechanism": "gaussian", MULTIPLIER: typed[MULTIPLIER]}
    return release({**noise, **_beside(typed)}, typed["steps"], epochs=typed["epochs"])


def _beside(typed: dict[str, Any]) -> dict[str, Any]:
    """What is said of a release beside its mechanism and its steps."""
    return {
        name: value
        for name, value in typed.items()
        if name not in (*MECHANISMS, "steps", "epochs") and value is not None
    }


def _calibrated(
    what: str, given: str | None, typed: dict[str, Any], request: AccountRequest
) -> tuple[AccountRequest, str]:
    """Return the request with the noise, or the steps, that were found, and a sentence about them."""
    from dpaudit.accounts.account import STEPS, WHAT, calibrated
    from dpaudit.accounts.plan import MULTIPLIER, NOISE, release
    from dpaudit.errors import UsageError

    if what not in WHAT:
        raise UsageError(f"--calibrate finds one of {', '.join(WHAT)}, not {what!r:.60}")
    if given is not None:
        raise UsageError(
            "--calibrate is for one release that options describe, such as --rate 0.004 --steps 14000, not "
            f"{given!r:.60}"
        )
    if what == STEPS:
        if typed["steps"] is not None or typed["epochs"] is not None:
            raise UsageError("--calibrate steps finds how often it may be run: leave out --steps and --epochs")
        counted = "epochs" if typed["batches"] is not None else "steps"
        return calibrated(what, lambda times: _release({**typed, counted: int(times)}), request)
    if said := [name for name in MECHANISMS if typed[name] is not None]:
        raise UsageError(
            f"--calibrate finds the noise: leave out --{said[0].replace('_', '-')}, or find how often it may be run "
            "with --calibrate steps"
        )
    kind, parameter = ("gaussian", MULTIPLIER) if what == "noise-multiplier" else (what, NOISE[what][1])

    def with_noise(noise: str) -> Any:
        given = {"mechanism": kind, parameter: noise, **_beside(typed)}
        return release(given, typed["steps"], epochs=typed["epochs"])

    return calibrated(what, with_noise, request)


# --- What do the scores of an attack on a model show? The command ``scores``. ---


@click.command(
    "scores",
    cls=Command,
    epilog=examples(
        "dpaudit scores in.npy out.npy --design one-run --claim 'epsilon=4, delta=1e-5'",
        "dpaudit scores in.npy out.npy --design independent",
    ),
)
@click.argument("in_file", metavar="IN")
@click.argument("out_file", metavar="OUT")
@asked(AuditRequest, "claim", help="The claim to hold it against, such as 'epsilon=1, delta=1e-5'.")
@click.option("--delta", type=float, default=1e-5, show_default=True, help="Where no claim is given.")
@asked(AuditRequest, "confidence")
@click.option(
    "--design",
    metavar="[independent|one-run]",
    help="A training run for every score, or canaries of one model, each included by a fair coin (which at a large δ, "
    "such as 1e-4 at ε = 1, show nothing surely enough for VIOLATED). Has to be said.",
)
@click.option(
    "--canaries", type=Count(), metavar="N", help="How many the one model had, where not all of them have a score."
)
@asked(AuditRequest, "seed", help="Root of the split of the scores; by default a fresh one, which is recorded.")
@asked(AuditRequest, "false_alarm")
@results
def scores_command(
    in_file: str,
    out_file: str,
    claim: str | None,
    delta: float,
    confidence: float,
    design: str | None,
    canaries: int | None,
    seed: int | None,
    false_alarm: float,
    to: Results,
) -> int:
    """Audit a model by scores of records IN its training data and OUT of it.

    IN and OUT are .npy, .csv with one column, .jsonl with one number a line, or .json with a list of numbers.
    """
    to.check()
    with prints_to_standard_error():
        from dpaudit.auditing.scores import audit_scores, read_scores, refuse_design

        refuse_design(design)
        members, others = read_scores(in_file), read_scores(out_file)
        evidence = audit_scores(
            members,
            others,
            claim=claim,
            delta=delta,
            false_alarm=false_alarm,
            confidence=confidence,
            design=design,
            canaries=canaries,
            seed=seed,
            name=f"scores in {Path(in_file).name} and {Path(out_file).name}",
        )
    return to.tell(evidence.with_files([in_file, out_file]))

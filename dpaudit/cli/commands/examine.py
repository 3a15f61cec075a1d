"""Does a mechanism, a list of releases or a model keep its claim? The commands that judge, or show why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, evidence_of, own_process, refuse_other
from dpaudit.cli.files import (
    OutputFiles,
    Results,
    at_work,
    dataset_in,
    digests_of,
    domain_of,
    loaded,
    no_script,
    prints_to_standard_error,
    read_evidence,
    results,
)
from dpaudit.cli.main import MECHANISMS, Command, Count, all_asked, asked, examples
from dpaudit.request import (
    AccountRequest,
    AuditRequest,
    ProofRequest,
    ReleaseRequest,
    TraceRequest,
    TrainingRequest,
    options_of,
)

if TYPE_CHECKING:
    from dpaudit.auditing.sensitivity import Sensitivity
    from dpaudit.evidence.evidence import Evidence


@click.command(
    "audit",
    cls=Command,
    epilog=examples(
        "dpaudit audit laplace --claim epsilon=0.8 --html laplace.html",
        "dpaudit audit release.py:mean --data people.csv --claim epsilon=1",
        "dpaudit audit release.py:count --domain 'age=[0, 120]' --claim epsilon=1",
    ),
)
@click.argument("target")
@all_asked(AuditRequest)
@own_process(limit="End it after so long, without a verdict; a second look has twice as long to itself.")
@no_script
@results
def audit_command(target: str, to: Results, apart: Apart, **options: Any) -> int:
    """Audit TARGET: a catalogue name, package.module:name or path/to/file.py:name.

    TARGET runs in a process of its own, which is ended with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    to.check(beside=filter(None, [options["resume"]]), read=read)
    evidence = apart.evidence(audited, {"target": target, "quiet": to.quiet, **options})
    pairs = None if options["search"] else digests_of(options["pairs"], evidence.relation)
    asked = {**options, "data": dataset_in(options["data"]), "domain": domain_of(options["domain"])}
    refuse_other(evidence, audit=AuditRequest(target, **asked), pairs=pairs)
    return to.tell(evidence.with_files(read))


def audited(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of an audit as a document."""
    with at_work(quiet, estimate=options["time_budget"] is None) as listen:
        from dpaudit.verify.answer import audit

        if options["resume"] is not None:
            options["resume"] = Path(options["resume"]).absolute()  # a mechanism may change the working directory
        mechanism, given = loaded(target, options)
        return audit(mechanism, **given, listen=listen).document()


# --- What do a few recorded and replayed runs show, and at which line? ---


@click.command(
    "trace", cls=Command, epilog=examples("dpaudit trace release.py:mean --data people.csv --claim epsilon=1")
)
@click.argument("target")
@all_asked(TraceRequest, confidence={"help": "Of what the measuring runs show."})
@click.option(
    "--require",
    type=click.Choice(["supported"]),
    help="Exit code 1 where the trace does not support the claim, 3 where it could not follow or price all of it.",
)
@own_process(limit="End it after so long, without a verdict.")
@results
def trace_command(target: str, require: str | None, to: Results, apart: Apart, **options: Any) -> int:
    """Follow the noise of a few runs of TARGET, and name the line where it does not hide a change of the data.

    Each run is recorded on one dataset and replayed on a neighbour. TARGET runs in a process of its own, which is ended
    with all that it started.
    """
    read = [*options["pairs"], *filter(None, [options["data"]])]
    to.check(read=read)
    evidence = apart.evidence(traced, {"target": target, "quiet": to.quiet, **options})
    asked = {**options, "data": dataset_in(options["data"]), "domain": domain_of(options["domain"])}
    refuse_other(evidence, trace=TraceRequest(target, **asked), pairs=digests_of(options["pairs"], evidence.relation))
    return to.tell(evidence.with_files(read), require)


def traced(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the evidence of a trace as a document."""
    with at_work(quiet) as listen:
        from dpaudit.auditing.trace import trace

        mechanism, given = loaded(target, options)
        return trace(mechanism, **given, listen=listen).document()


# --- What can be proved about a program? The command ``prove``. ---


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
def prove_command(target: str, to: Results, apart: Apart, **options: Any) -> int:
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
    from dpaudit.verify.proofs import check_proof
    from dpaudit.verify.proofs.kind import NotShownError

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
        from dpaudit.verify.answer import prove

        mechanism, given = loaded(target, {**options, "data": data})
        return prove(mechanism, **{**given, "domain": _domain(domain), "listen": listen}).document()


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


# --- Does a training script do what its claim of privacy takes for granted? ---


@click.command("train", cls=Command, epilog=examples("dpaudit train script.py:train --claim 'epsilon=8, delta=1e-5'"))
@click.argument("target")
@all_asked(TrainingRequest)
@own_process(limit="End it after so long, without a verdict.")
@results
def train_command(target: str, to: Results, apart: Apart, **options: Any) -> int:
    """Run a function that trains a model, watch the loop in it, and hold its claim against what was seen.

    TARGET is path/to/file.py:name or package.module:name. It is run as it is, and watched from where Opacus makes its
    model private; or it takes an argument called watch, and trains within "with watch(model, optimizer, loader):".
    TARGET runs in a process of its own.
    """
    to.check()
    return to.tell(apart.evidence(trained, {"target": target, **options}))


def trained(target: str, **options: Any) -> dict[str, Any]:
    """Return the evidence of a watched training run as a document."""
    import traceback

    from dpaudit.loading import function_named
    from dpaudit.training.watch import watched

    evidence, raised = watched(
        function_named(target), {**options, "name": target.replace("\\", "/").rpartition("/")[2]}
    )
    if raised is not None:  # what was seen until then is kept, and says so
        click.echo("".join(traceback.format_exception(raised)), err=True, nl=False)
    return evidence.document()


# --- Does one neighbour move a query farther than declared? The command ``sensitivity``. ---


@click.command(
    "sensitivity",
    cls=Command,
    epilog=examples(
        "dpaudit sensitivity release.py:total --data people.csv --claim 100",
        "dpaudit sensitivity release.py:energy --domain '[0, 1]' --length 3 --claim 1",
    ),
)
@click.argument("target")
@asked(AuditRequest, "data", help="A dataset whose neighbours are tried: CSV, Parquet, .npy, JSON.")
@asked(AuditRequest, "pairs")
@click.option("--claim", "claimed", type=float, metavar="NUMBER", help="The declared sensitivity; by default its own.")
@click.option("--norm", type=click.Choice(["1", "2", "inf"]), help="Of the movement of several numbers; 1 by default.")
@asked(AuditRequest, "relation", help="add-remove, replace, add-remove(person=COLUMN), ….")
@asked(AuditRequest, "domain", metavar="NAME=JSON", help="What records may hold: age=[0,120].")
@asked(AuditRequest, "beyond_domain")
@click.option("--length", type=int, help="How many numbers: then a certificate bounds it, too (--domain '[0, 1]').")
@asked(AuditRequest, "parameters")
@asked(AuditRequest, "seed", help="Of the sample, where there are many records; by default a fresh one.")
@click.option("--quiet", is_flag=True, help="No progress and no summary; the exit code says it.")
@own_process()
def sensitivity_command(target: str, quiet: bool, apart: Apart, **options: Any) -> int:
    """Search for neighbours that move the query TARGET too far: a function without noise, or a mechanism's query.

    With --length and a range of numbers, a certificate bounds how far any pair moves it. Exit code 0 where none was
    found, which without a certificate proves nothing; 1 with a counterexample; 2 where there is no answer. TARGET runs
    in a process of its own.
    """
    answer = apart.carry_out(searched, {"target": target, "quiet": quiet, **options})
    if not quiet:
        click.echo(str(answer["text"]), nl=False)
    return 1 if answer["exceeded"] is True else 0


def searched(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the result in words, and whether the query moves too far."""
    with at_work(quiet) as listen:
        from dpaudit.auditing.sensitivity import sensitivity

        length = options.pop("length")
        mechanism, given = loaded(target, options)
        if length is not None:
            return _bounded(mechanism, length, given)
        moved = sensitivity(mechanism, listen=listen, **given)
        return {"text": _words(moved), "exceeded": bool(moved.exceeded)}


def _bounded(mechanism: Any, length: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return both ends of how far one of so many numbers moves a query."""
    from dpaudit.errors import UsageError
    from dpaudit.verify.moves.derive import both_ends, words

    other = [name for name in ("data", "pairs", "norm") if given.get(name)]
    if other or str(given.get("relation") or "replace") != "replace":
        raise UsageError(
            f"with --length every list of so many numbers is meant, under replace; leave out "
            f"{', '.join(f'--{name}' for name in other) or '--relation'}"
        )
    kept = {name: given[name] for name in ("domain", "claimed", "parameters", "seed") if name in given}
    ends = both_ends(mechanism, length=length, **{"domain": None, **kept})
    return {"text": words(ends), "exceeded": ends.exceeded}


def _words(moved: Sensitivity) -> str:
    """Return the result as text: the answer first."""
    import math

    from dpaudit.report.text.phrases import relation_words

    norm = "" if moved.norm == "1" else f", in the norm {moved.norm}"
    answer = (
        "COUNTEREXAMPLE" if moved.exceeded else "NO COUNTEREXAMPLE FOUND" if moved.claimed is not None else "NO CLAIM"
    )
    allowed = None if moved.claimed is None else moved.claimed * moved.relation.group
    rows = [
        ("query", moved.query),
        ("declared", "none" if allowed is None else f"moves by at most {allowed:.10g}{norm}"),
        ("neighbours", relation_words(str(moved.relation))),
        ("found", "without a bound" if math.isinf(moved.largest) else f"moves by {moved.largest:.10g}{norm}"),
        ("change", moved.candidate),
    ]
    if math.isinf(moved.largest) and moved.finite is not None:
        rows.append(
            ("numbers", f"moves by {moved.finite:.10g}{norm}, where it gives numbers: {moved.finite_candidate}")
        )
    if moved.smallest is not None:
        small = f"{_size(moved.smallest[0])} and {_size(moved.smallest[1])}"
        far = moved.smallest_distance or 0.0
        how = "without a bound" if math.isinf(far) else f"by {far:.10g}"
        rows.append(("smallest", f"{small} move it {how}"))
    rows += [("also" if number else "trouble", str(each)) for number, each in enumerate(moved.troubles)]
    silent = f"; on {moved.silent} both datasets gave no number" if moved.silent else ""
    rows.append(
        ("tried", f"{moved.tried} pair{'' if moved.tried == 1 else 's'} of neighbours{silent}; seed {moved.seed}")
    )
    if moved.room:
        rows.append(("rounding", f"a movement counts where it is more than {moved.room:.2g} beyond what is declared"))
    lines = [f"{answer}: {moved}", *(f"  {label:<11}{text}" for label, text in rows)]
    if not moved.exceeded:
        lines.append("  That none was found is no proof: other data, or other neighbours, may move it farther.")
    return "\n".join(lines) + "\n"


def _size(data: Any) -> str:
    count = len(data) if hasattr(data, "__len__") else None
    return "a value" if count is None else f"{count} record{'' if count == 1 else 's'}"


# --- Does an audit or a proof give the same result today? The command ``replay``. ---

_MOST_DIFFERENCES = 20  # printed, to fit one screen


@click.command("replay", cls=Command, epilog=examples("dpaudit replay evidence.json"))
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--target", metavar="TARGET", help="What to run, where the name in the evidence does not lead to it.")
@asked(AuditRequest, "pairs", help="The datasets, where they were not kept.")
@asked(AuditRequest, "data", help="The dataset that was searched, where it was not kept.")
@asked(
    ProofRequest,
    "domain",
    help="The domain that was enumerated, where it was not kept: a JSON list.",
    metavar="JSON",
    multiple=False,
)
@click.option("--trust", is_flag=True, help="Run what EVIDENCE names wherever it lies, also outside this folder.")
@asked(AuditRequest, "workers", help="Processes.")
@click.option("--json", "json_file", metavar="FILE", help="Write the evidence of now ('-': standard output).")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
@own_process()
def replay_command(evidence_file: str, json_file: str | None, quiet: bool, apart: Apart, **options: Any) -> int:
    """Run the audit or proof of EVIDENCE again. Exit code 0: the same was found, 1: it differs, 2: not possible.

    What it names is run in a process of its own, which is ended with all that it started. Evidence may come from
    anybody: only what lies under the working directory or in an installed catalogue is run, unless --target names it or
    --trust says that the file is trusted. What is run, and whether its code is that of EVIDENCE, is said before.
    """
    outputs = OutputFiles(json_file)
    arguments = {"evidence_file": evidence_file, "quiet": quiet, **options}
    answer = apart.carry_out(replayed, arguments)
    holds = answer["holds"] is True
    if json_file is not None:
        if answer["after"] is None:
            from dpaudit.errors import UsageError

            raise UsageError("the events were counted again, without new evidence; leave out --json")
        outputs.write(json_file, evidence_of(answer["after"]).to_json())
    if not quiet:
        lines = list(map(str, answer["sentences"]))
        more = [f"… and {len(lines) - _MOST_DIFFERENCES} more"] if len(lines) > _MOST_DIFFERENCES else []
        shown = [*lines[:_MOST_DIFFERENCES], *more]
        outputs.say("".join(f"{'holds' if holds else 'DIFFERS':<8} {line}\n" for line in shown))
    return 0 if holds else 1


def replayed(
    evidence_file: str,
    quiet: bool,
    pairs: Sequence[str],
    data: str | None,
    domain: str | None,
    **options: Any,
) -> dict[str, Any]:
    """Return whether the same was found, the sentences about it, and the new evidence."""
    with at_work(quiet) as listen:
        from dpaudit.review.replay import replay

        before = read_evidence(evidence_file)
        again = replay(
            before,
            pairs=_given_pairs(before, pairs) if pairs else None,
            data=dataset_in(data),
            domain=None if domain is None else _declared(domain),
            say=None if quiet else lambda sentence: click.echo(f"dpaudit: {sentence}", err=True),
            listen=listen,
            **options,
        )
        return {
            "holds": bool(again.holds),
            "sentences": list(again.sentences()),
            "after": None if again.after is None else again.after.document(),
        }


def _given_pairs(evidence: Evidence, names: Sequence[str]) -> list[tuple[Any, Any]]:
    """Read the datasets; if a file can be read in two ways, choose the one whose digests are in the evidence."""
    from dpaudit.neighbours.data_files import read_pairs
    from dpaudit.neighbours.digest import digest

    wanted = {(pair.digest0, pair.digest1) for pair in evidence.pairs}
    files = [Path(name).absolute() for name in names]
    return read_pairs(files, lambda pair: (digest(pair[0]), digest(pair[1])) in wanted)


def _declared(text: str) -> list[Any]:
    import json

    from dpaudit.errors import UsageError

    try:
        datasets = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--domain is a JSON list of datasets; this is none: {error}") from None
    if not isinstance(datasets, list):
        raise UsageError(f"--domain is a JSON list of datasets, not {text!r:.60}")
    return datasets


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

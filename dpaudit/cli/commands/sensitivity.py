"""Does one neighbour move a query farther than declared? The command ``sensitivity``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.apart import Apart, own_process
from dpaudit.cli.files import loaded
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import asked
from dpaudit.request import AuditRequest

if TYPE_CHECKING:
    from dpaudit.auditing.sensitivity import Sensitivity


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
def command(target: str, quiet: bool, apart: Apart, **options: Any) -> int:
    """Search for neighbours that move the query TARGET too far: a function without noise, or a mechanism's query.

    With --length and a range of numbers, a certificate bounds how far any pair moves it. Exit code 0 where none was
    found, which without a certificate proves nothing; 1 with a counterexample; 2 where there is no answer. TARGET runs
    in a process of its own.
    """
    found = apart.carry_out(searched, {"target": target, "quiet": quiet, **options})
    if not quiet:
        click.echo(str(found["text"]), nl=False)
    return 1 if found["exceeded"] is True else 0


def searched(target: str, quiet: bool, **options: Any) -> dict[str, Any]:
    """Return the result in words, and whether the query moves too far."""
    with at_work(quiet) as listen:
        from dpaudit.auditing.sensitivity import sensitivity

        length = options.pop("length")
        mechanism, given = loaded(target, options)
        if length is not None:
            return _bounded(mechanism, length, given)
        found = sensitivity(mechanism, listen=listen, **given)
        return {"text": _words(found), "exceeded": bool(found.exceeded)}


def _bounded(mechanism: Any, length: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return both ends of how far one of so many numbers moves a query."""
    from dpaudit.errors import UsageError
    from dpaudit.verify.moves.sensitivity import both_ends, words

    other = [name for name in ("data", "pairs", "norm") if given.get(name)]
    if other or str(given.get("relation") or "replace") != "replace":
        raise UsageError(
            f"with --length every list of so many numbers is meant, under replace; leave out "
            f"{', '.join(f'--{name}' for name in other) or '--relation'}"
        )
    kept = {name: given[name] for name in ("domain", "claimed", "parameters", "seed") if name in given}
    found = both_ends(mechanism, length=length, **{"domain": None, **kept})
    return {"text": words(found), "exceeded": found.exceeded}


def _words(found: Sensitivity) -> str:
    """Return the result as text: the answer first."""
    import math

    from dpaudit.report.text.phrases import relation_words

    norm = "" if found.norm == "1" else f", in the norm {found.norm}"
    answer = (
        "COUNTEREXAMPLE" if found.exceeded else "NO COUNTEREXAMPLE FOUND" if found.claimed is not None else "NO CLAIM"
    )
    allowed = None if found.claimed is None else found.claimed * found.relation.group
    rows = [
        ("query", found.query),
        ("declared", "none" if allowed is None else f"moves by at most {allowed:.10g}{norm}"),
        ("neighbours", relation_words(str(found.relation))),
        ("found", "without a bound" if math.isinf(found.largest) else f"moves by {found.largest:.10g}{norm}"),
        ("change", found.candidate),
    ]
    if math.isinf(found.largest) and found.finite is not None:
        rows.append(
            ("numbers", f"moves by {found.finite:.10g}{norm}, where it gives numbers: {found.finite_candidate}")
        )
    if found.smallest is not None:
        small = f"{_size(found.smallest[0])} and {_size(found.smallest[1])}"
        far = found.smallest_distance or 0.0
        how = "without a bound" if math.isinf(far) else f"by {far:.10g}"
        rows.append(("smallest", f"{small} move it {how}"))
    rows += [("also" if number else "trouble", str(each)) for number, each in enumerate(found.troubles)]
    silent = f"; on {found.silent} both datasets gave no number" if found.silent else ""
    rows.append(
        ("tried", f"{found.tried} pair{'' if found.tried == 1 else 's'} of neighbours{silent}; seed {found.seed}")
    )
    if found.room:
        rows.append(("rounding", f"a movement counts where it is more than {found.room:.2g} beyond what is declared"))
    lines = [f"{answer}: {found}", *(f"  {label:<11}{text}" for label, text in rows)]
    if not found.exceeded:
        lines.append("  That none was found is no proof: other data, or other neighbours, may move it farther.")
    return "\n".join(lines) + "\n"


def _size(data: Any) -> str:
    count = len(data) if hasattr(data, "__len__") else None
    return "a value" if count is None else f"{count} record{'' if count == 1 else 's'}"

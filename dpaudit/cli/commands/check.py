"""Is evidence consistent? The command ``check``."""

from __future__ import annotations

import click

from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import prints_to_standard_error


@click.command(
    "check",
    cls=Command,
    epilog=examples("dpaudit check report.html", "dpaudit check evidence.json --against package.module:release"),
)
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--against", metavar="TARGET", help="Load TARGET and compare its code, and its proof, with EVIDENCE.")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
def command(evidence_file: str, against: str | None, quiet: bool) -> int:
    """Check evidence: its id, every bound from its counts, every certificate.

    Nothing is run. With --against the target is imported, compared, and where it was proved read again. Where node is
    installed, a certificate is also checked by the script of the pages, whose soundness is proved by machine.

    Exit code 0: all that the verdict rests on was computed again and holds; 1: something fails; 2: EVIDENCE cannot be
    read or was altered; 3: nothing fails, and something that the verdict rests on was not checked.
    """
    from dpaudit.review.check import check_file, exit_code
    from dpaudit.review.check.certificate import by_theorem

    with prints_to_standard_error():
        findings = check_file(evidence_file, target=against)
        findings += by_theorem(evidence_file)
    for finding in () if quiet else findings:
        click.echo(f"{finding.answer!s:<12} {finding.what:<15} {finding.sentence}")
    return exit_code(findings)

"""Is evidence what it says?"""

from __future__ import annotations

import click


@click.command("check")
@click.argument("evidence_file", metavar="EVIDENCE")
@click.option("--quiet", is_flag=True, help="Only the exit code.")
def command(evidence_file: str, quiet: bool) -> int:
    """Check evidence: its id, every bound from its counts, every certificate. Exit code 0 holds, 1 differs."""
    from dpaudit.check import check_file

    findings = check_file(evidence_file)
    for finding in () if quiet else findings:
        click.echo(f"{'holds' if finding.holds else 'DIFFERS':<8} {finding.what:<15} {finding.sentence}")
    return 0 if all(finding.holds for finding in findings) else 1

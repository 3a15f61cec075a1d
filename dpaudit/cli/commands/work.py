"""How does a machine take part in an audit whose blocks are shared in a folder?"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import click

from dpaudit.cli.apart import Apart, own_process
from dpaudit.cli.help import Command, examples
from dpaudit.cli.inputs import loaded
from dpaudit.cli.messages import at_work
from dpaudit.cli.options import asked
from dpaudit.request import AuditRequest


@click.command(
    "work",
    cls=Command,
    epilog=examples(
        "dpaudit audit train.py:release --runs 2000 --shards blocks --workers 0  # writes down what is to be run",
        "dpaudit work blocks  # on any number of machines",
        "dpaudit audit train.py:release --runs 2000 --shards blocks --workers 0  # merges",
    ),
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@asked(AuditRequest, "shard")
@asked(AuditRequest, "workers")
@asked(AuditRequest, "backend")
@asked(AuditRequest, "scheduler")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@own_process(limit="End it after so long; its unfinished blocks are left to others.")
def command(folder: str, quiet: bool, apart: Apart, **options: Any) -> int:
    """Run blocks of the audit in FOLDER until all are finished, whoever finishes them.

    FOLDER was begun by `dpaudit audit TARGET … --shards FOLDER`, which also merges. It says which code is run, so take
    one only from who may run code on this machine.
    """
    done = apart.carry_out(worked, {"folder": folder, "quiet": quiet, **options})
    if not quiet:
        click.echo(f"dpaudit: all blocks are finished; to merge them: {done}", err=True)
    return 0


def worked(folder: str, quiet: bool, **options: Any) -> str:
    """Take part until the audit is finished; return the command that merges."""
    from dpaudit.errors import UsageError
    from dpaudit.sampling.shards import command_in

    if options["workers"] < 1:
        raise UsageError(f"workers must be at least 1, not {options['workers']}")
    home = Path(folder).absolute()
    said = command_in(home)
    target, given = said.get("target"), said.get("options")
    if not isinstance(target, str) or not isinstance(given, dict):
        raise UsageError(f"{folder!r} does not say what is audited; ask for the audit again")
    with at_work(quiet) as listen:
        from dpaudit.verify.answer import audit

        with contextlib.suppress(OSError, TypeError):  # else the target is looked for here
            os.chdir(said["folder"])
        mechanism, found = loaded(target, {**given, **options, "shards": home, "resume": None})
        audit(mechanism, **found, listen=listen)
    return f"dpaudit audit {target} … --shards {folder}"

"""Does a training script do what its claim of privacy takes for granted?"""

from __future__ import annotations

from typing import Any

import click

from dpaudit.cli.apart import Apart, own_process
from dpaudit.cli.files import Results, results
from dpaudit.cli.help import Command, examples
from dpaudit.cli.options import all_asked
from dpaudit.request import TrainingRequest


@click.command("train", cls=Command, epilog=examples("dpaudit train script.py:train --claim 'epsilon=8, delta=1e-5'"))
@click.argument("target")
@all_asked(TrainingRequest)
@own_process(limit="End it after so long, without a verdict.")
@results
def command(target: str, to: Results, apart: Apart, **options: Any) -> int:
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

    from dpaudit.loading.named import function_named
    from dpaudit.training.watch import watched

    found, raised = watched(function_named(target), {**options, "name": target.replace("\\", "/").rpartition("/")[2]})
    if raised is not None:  # what was seen until then is kept, and says so
        click.echo("".join(traceback.format_exception(raised)), err=True, nl=False)
    return found.document()

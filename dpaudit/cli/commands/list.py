"""Which mechanisms are in the catalogue? The command ``list``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli.files import OutputFiles
from dpaudit.cli.help import Command, examples
from dpaudit.cli.messages import prints_to_standard_error

if TYPE_CHECKING:
    from dpaudit.targets.mechanism import Mechanism


@click.command("list", cls=Command, epilog=examples("dpaudit list", "dpaudit list laplace"))
@click.argument("name", required=False)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON ('-': standard output).")
def command(name: str | None, json_file: str | None) -> None:
    """List the mechanisms of the catalogue, or show the page of one."""
    import json

    from dpaudit.loading.named import catalogue, load

    outputs = OutputFiles(json_file)
    with prints_to_standard_error():
        if name is not None:
            chosen = [load(name)]
        else:
            chosen = sorted(catalogue().values(), key=lambda item: (not item.correct, item.family, item.name))
        # a true loss may need a quadrature, and the table does not show it
        facts = [_listed(item, losses=name is not None or json_file is not None) for item in chosen]
        text = _table(facts) if name is None else _page(chosen[0], facts[0])
    if json_file is not None:
        outputs.write(json_file, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    if name is not None or json_file != "-":
        outputs.say(text + "\n")


def _listed(mechanism: Mechanism, *, losses: bool) -> dict[str, Any]:
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

"""What does a word of dpaudit mean? The command ``explain``."""

from __future__ import annotations

import click

from dpaudit.cli.help import Command, examples


@click.command(
    "explain",
    cls=Command,
    epilog=examples("dpaudit explain", "dpaudit explain claim-violated", "dpaudit explain 'not violated'"),
)
@click.argument("word", required=False)
def command(word: str | None) -> int:
    """Say what WORD means, and what to do: a verdict, a rule of the gate, or a finding of a trace.

    Without WORD: list them all.
    """
    from dpaudit.errors import UsageError, nearest
    from dpaudit.report.text.glossary import verdicts_and_findings

    words = {**verdicts_and_findings(), **_rules()}
    if word is None:
        formatter = click.HelpFormatter(width=100)
        formatter.write_dl([(name, told[0]) for name, told in words.items()], col_max=36)
        click.echo(formatter.getvalue(), nl=False)
        return 0
    asked = [name for name in words if _plain(word) in (_plain(name), _plain(name.partition(" (")[0]))]
    if not asked:
        raise UsageError(f"{word!r} is no verdict, rule or finding; {nearest(word, list(words))}")
    click.echo("\n\n".join(part for name in asked for part in (name, *words[name])))
    return 0


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").strip()


def _rules() -> dict[str, tuple[str, ...]]:
    """The rules of the gate: a title, what each means, and what to do."""
    from dpaudit.gate.words import MEANINGS

    # a rule that is called like a verdict is told from it by its title
    return {f"{rule} (gate)": (each.title, each.says, f"Next: {each.next}") for rule, each in MEANINGS.items()}

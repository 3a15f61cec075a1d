"""What does a word of dpaudit mean? The command ``explain``."""

from __future__ import annotations

import textwrap

import click

from dpaudit.cli.help import Command, examples


@click.command(
    "explain",
    cls=Command,
    epilog=examples(
        "dpaudit explain", "dpaudit explain epsilon", "dpaudit explain sampling rate", "dpaudit explain claim-violated"
    ),
)
@click.argument("words", metavar="[WORD]", nargs=-1)
def command(words: tuple[str, ...]) -> int:
    """Say what WORD means, and what to do: a verdict, a rule of the gate, a finding of a trace, or a term.

    Without WORD: list them all.
    """
    from dpaudit.errors import UsageError, nearest
    from dpaudit.report.text.glossary import TERMS, verdicts_and_findings

    word = " ".join(words)
    terms = {names: (text,) for names, text in TERMS.items()}
    told = {**verdicts_and_findings(), **_rules(), **{", ".join(names): text for names, text in terms.items()}}
    also = {", ".join(names): {_plain(name) for name in names} for names in terms}
    if not word:
        formatter = click.HelpFormatter(width=100)
        formatter.write_dl([(name, text[0]) for name, text in told.items()], col_max=36)
        click.echo(formatter.getvalue(), nl=False)
        return 0
    asked = [
        name for name in told if _plain(word) in {_plain(name), _plain(name.partition(" (")[0]), *also.get(name, ())}
    ]
    if not asked:
        known = [*(name for name in told if name not in also), *(name for names in terms for name in names)]
        raise UsageError(f"{word!r} is no verdict, rule, finding or term; {nearest(word, known)}")
    click.echo("\n\n".join(textwrap.fill(part, 100) for name in asked for part in (name, *told[name])))
    return 0


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").strip()


def _rules() -> dict[str, tuple[str, ...]]:
    """The rules of the gate: a title, what each means, and what to do."""
    from dpaudit.gate.words import MEANINGS

    # a rule that is called like a verdict is told from it by its title
    return {f"{rule} (gate)": (each.title, each.says, f"Next: {each.next}") for rule, each in MEANINGS.items()}

"""What does a user need to see of a gate in a terminal? One row for each target, then what to do.

If the output is not a terminal, a row is a line of plain text that starts with the outcome.
"""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Sequence

from dpaudit.gate.result import GateResult, Outcome
from dpaudit.gate.words import MEANINGS, Shown, headline, scope, shown
from dpaudit.report.text.numerals import NBSP
from dpaudit.report.text.phrases import one_line, shortened

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.INVALID: "bold magenta",
    Outcome.ACCEPTED: "yellow",
}
_WIDTH, _NAME = 100, 60


def summary(result: GateResult, *, terminal: bool = False, width: int | None = None) -> str:
    """Return the result of a gate as text that ends in a line break."""
    columns = width or (shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH)
    targets = [shown(item) for item in result.results]
    rows = _drawn(targets, columns) if terminal else _plain(targets)
    parts = [rows, *(_details(target, columns) for target in targets if target.is_told)]
    last = f"dpaudit gate: {headline(result, targets)}. {scope(result)}\n".replace(NBSP, " ")
    return "".join(parts) + ("\n" if len(parts) > 1 else "") + last


def _plain(targets: Sequence[Shown]) -> str:
    longest = max((len(_name(target)) for target in targets), default=0)
    return "".join(
        f"{str(target.item.outcome).upper():<12}  {_name(target):<{longest}}  {_facts(target)}\n" for target in targets
    )


def _name(target: Shown) -> str:
    return shortened(target.item.name, _NAME)


def _facts(target: Shown) -> str:
    facts = [str(target.item.rule), target.verdict, target.bounds, *target.beside, target.time]
    return "; ".join(facts).replace(NBSP, " ")


def _drawn(targets: Sequence[Shown], width: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for head in ("Outcome", "Target", "Rule", "Verdict", "Bounds", "Time"):
        table.add_column(head)
    for target in targets:  # Text, so that brackets in a name are not markup
        item, known = target.item, "\n".join([target.bounds, *target.beside])
        texts = (_name(target), str(item.rule), target.verdict, known, target.time)
        table.add_row(Text(str(item.outcome), style=_STYLES[item.outcome]), *map(Text, texts))
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=width, highlight=False).print(table)
    return stream.getvalue()


def _details(target: Shown, width: int) -> str:
    """Return the sentence of a target that did not pass, its notes, and what to do next."""
    item = target.item
    further = () if item.outcome is Outcome.PASSED else (MEANINGS[item.rule].next,)
    notes = [*target.said, *further]
    if target.comparison:
        notes.insert(1, target.comparison)
    lines = [f"\n{_name(target)}: {item.outcome}"]
    if item.location is not None:
        lines[0] += f" ({one_line(item.location.file)}:{item.location.line})"
    for note in notes:
        lines += textwrap.wrap(
            one_line(" ".join(note.split())),
            max(width, 40),
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n" + ("" if item.page is None else f"  report: {one_line(item.page)}\n")

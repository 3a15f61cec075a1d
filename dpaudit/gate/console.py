"""What does a person need to read of a gate in a terminal? One row for each target, then what to do.

Where no terminal listens, a row is a line of plain text that starts with the outcome.
"""

from __future__ import annotations

import io
import shutil
import textwrap

from dpaudit.gate.result import GateResult, Outcome, TargetResult
from dpaudit.gate.words import (
    MEANINGS,
    beside_lines,
    bounds_text,
    comparison_text,
    headline,
    scope,
    seconds_text,
    verdict_text,
)
from dpaudit.report.text.numerals import NBSP
from dpaudit.report.text.phrases import shortened, visible

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.INVALID: "bold magenta",
}
_WIDTH, _NAME = 100, 60


def summary(result: GateResult, *, terminal: bool = False, width: int | None = None) -> str:
    """Return what came of a gate as text that ends in a line break.

    Args:
        result: what came of it.
        terminal: draw a table with colours (``NO_COLOR`` is honoured); otherwise plain lines without control codes.
        width: columns of the table or to wrap sentences at; None: those of the terminal, or 100.
    """
    columns = width or (shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH)
    rows = _drawn(result, columns) if terminal else _plain(result)
    parts = [rows, *(_details(item, columns) for item in result.results if _is_told(item))]
    last = f"dpaudit gate: {headline(result)}. {scope(result)}\n".replace(NBSP, " ")
    return "".join(parts) + ("\n" if len(parts) > 1 else "") + last


def _is_told(item: TargetResult) -> bool:
    """Whether there is more to say of a target than its row."""
    return item.outcome is not Outcome.PASSED or bool(beside_lines(item))


def _plain(result: GateResult) -> str:
    longest = max((len(_name(item)) for item in result.results), default=0)
    return "".join(
        f"{str(item.outcome).upper():<12}  {_name(item):<{longest}}  {_facts(item)}\n" for item in result.results
    )


def _name(item: TargetResult) -> str:
    return shortened(item.name, _NAME)


def _facts(item: TargetResult) -> str:
    facts = [str(item.rule), verdict_text(item), bounds_text(item), *beside_lines(item), _time(item)]
    return "; ".join(facts).replace(NBSP, " ")


def _known(item: TargetResult) -> str:
    return "\n".join([bounds_text(item), *beside_lines(item)])


def _time(item: TargetResult) -> str:
    return "unchanged, not run again" if item.cached else seconds_text(item.seconds)


def _drawn(result: GateResult, width: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for head in ("Outcome", "Target", "Rule", "Verdict", "Bounds", "Time"):
        table.add_column(head)
    for item in result.results:  # Text, so that a name with brackets is no markup
        texts = (_name(item), str(item.rule), verdict_text(item), _known(item), _time(item))
        table.add_row(Text(str(item.outcome), style=_STYLES[item.outcome]), *map(Text, texts))
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=width, highlight=False).print(table)
    return stream.getvalue()


def _details(item: TargetResult, width: int) -> str:
    """The sentence of a target that did not pass, its notes, and what to do next."""
    further = () if item.outcome is Outcome.PASSED else (MEANINGS[item.rule].next,)
    notes = [item.sentence, *beside_lines(item), *item.notes, *further]
    if item.comparison is not None:
        notes.insert(1, comparison_text(item.comparison))
    lines = [f"\n{_name(item)}: {item.outcome}"]
    if item.location is not None:
        lines[0] += f" ({visible(item.location.file, one_line=True)}:{item.location.line})"
    for note in notes:
        text = visible(" ".join(note.replace(NBSP, " ").split()), one_line=True)
        lines += textwrap.wrap(
            text, max(width, 40), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
    return "\n".join(lines) + "\n" + ("" if item.page is None else f"  report: {visible(item.page, one_line=True)}\n")

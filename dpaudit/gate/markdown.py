"""How is the result of a gate shown on the page of a build? As a short table, and below it what did not pass.

Names and sentences come from outside: everything that Markdown or HTML would interpret is written as a character
reference, so that it is shown literally.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.gate.result import GateResult, Outcome
from dpaudit.gate.words import MEANINGS, NO_PROOF, Shown, headline, scope, shown
from dpaudit.report.formats.markdown import escaped
from dpaudit.report.text.command import reproduce_command
from dpaudit.report.text.phrases import visible

_ROWS, _DETAILS = 200, 50  # the page of a build is limited to a megabyte
_NAME = 120


def markdown(result: GateResult) -> str:
    """Return the summary in GitHub's Markdown: all targets in their order, then details of some."""
    targets = [shown(item) for item in result.results]
    troubled = [target for target in targets if target.is_told]
    parts = [f"## dpaudit: {headline(result, targets)}", _table(targets)]
    parts += [_details(target) for target in troubled[:_DETAILS]]
    if len(troubled) > _DETAILS:
        left = len(troubled) - _DETAILS
        parts.append(f"{left} more did not pass, or showed more; their details stand in the other formats.")
    return "\n\n".join([*parts, scope(result), NO_PROOF]) + "\n"


def _code(text: str) -> str:
    return f"<code>{escaped(text, _NAME)}</code>"


def _table(targets: Sequence[Shown]) -> str:
    rows = targets
    if len(rows) > _ROWS:
        rows = sorted(rows, key=lambda target: not target.is_told)[:_ROWS]
    lines = ["| Target | Outcome | Verdict | Claim | Bounds | Rule |", "|---|---|---|---|---|---|"]
    for target in rows:
        item = target.item
        outcome = str(item.outcome) if item.outcome is Outcome.PASSED else f"**{item.outcome}**"
        known = "; ".join([target.bounds, *target.beside])
        cells = (target.verdict, target.claim, known, str(item.rule))
        unchanged = " (unchanged, not run again)" if item.cached else ""
        lines.append(f"| {_code(item.name)} | {outcome}{unchanged} | {' | '.join(map(escaped, cells))} |")
    text = "\n".join(lines)
    left = len(targets) - len(rows)
    return f"{text}\n\n{left} more targets are left out here." if left else text


def _details(target: Shown) -> str:
    """Return the details of a target that did not pass, or has other findings."""
    item, meaning = target.item, MEANINGS[target.item.rule]
    lines = [
        "<details open>",
        f"<summary>{_code(item.name)}: {item.outcome}. {meaning.title}</summary>",
        "",
        f"- What was found: {escaped(item.sentence)}",
        *(f"- Beside the verdict: **{escaped(line)}**" for line in target.beside),
        *(f"- Note: {escaped(note)}" for note in item.notes),
        f"- What to do: {meaning.next}",
    ]
    if target.comparison:
        lines.append(f"- Baseline: {escaped(target.comparison)}")
    if item.location is not None:
        lines.append(f"- Where: {_code(f'{item.location.file}:{item.location.line}')}")
    if item.page is not None:
        lines.append(f"- Report: {_code(item.page)} in the folder of the pages")
    if item.evidence is not None:
        lines.append(f"- Evidence: <code>{item.evidence.id}</code>")
        command = reproduce_command(item.evidence)
        if command is not None:
            lines.append(f"- Run it again: <code>{escaped(visible(command, one_line=True), 2_000)}</code>")
    return "\n".join([*lines, "", "</details>"])

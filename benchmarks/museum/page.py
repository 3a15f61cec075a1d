"""How are the results of the museum drawn, as a table and as a page of the documentation?"""

from __future__ import annotations

import calendar
import collections
import math
from collections.abc import Iterable
from typing import Any

from case import KINDS, Case

Row = dict[str, Any]
ALWAYS = (  # sentences of every answer of a kind, which the page says once
    "This is about the audited pair",
    "If the claim were true",
    "The proof holds for",
    "This is not a proof",
)
SIDES = {"wrong": "wrong", "fixed": "fixed", "reported": "as reported"}


def drawn(every: list[Case], rows: list[Row], released: list[Row], others: list[Row], absent: dict[str, str]) -> str:
    """The page of the documentation: what is missed first, then every case by its kind."""
    known = {(row["kind"], row["name"], row["side"]): row for row in rows}
    parts = [_opening(every, rows), _missed(every, known), _kinds(every, known), _released(released)]
    parts.append(_others(others, absent, known))
    for kind, title in KINDS.items():
        shown = [_case(case, known) for case in every if case.kind == kind]
        parts.append("\n\n".join([f"## {title}", *shown]))
    return "\n\n".join(parts) + "\n"


def table(every: list[Case], rows: list[Row]) -> str:
    """Every answer in a line."""
    lines = [
        "# The museum: every answer",
        "",
        "Made by `make museum`. Seconds are of the processor. A bound is that of the claim's own parameter.",
        "",
        "| case | side | answer | verdict | at least | at most | seconds | cause |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cause = {None: "", True: "named", False: "not named"}[row["named"]]
        lines.append(
            f"| {row['kind']}/{row['name']} | {SIDES[row['side']]} | {row['word']} | {row['verdict']} "
            f"| {_number(row['lower'])} | {_number(row['upper'])} | {row['seconds']} | {cause} |"
        )
    return "\n".join([*lines, "", _sum(rows), ""])


def _sum(rows: list[Row]) -> str:
    words = collections.Counter(row["word"] for row in rows)
    wrong = [row for row in rows if row["side"] == "wrong"]
    named = sum(bool(row["named"]) for row in wrong)
    missed, unanswered, accused = words["missed"], words["no answer"], words["accused"]
    return (
        f"{words['right']} of {len(rows)} answers are right; of {len(wrong)} wrong functions "
        f"{sum(row['word'] == 'right' for row in wrong)} are refuted, {named} with their cause named; "
        f"{missed} {'is' if missed == 1 else 'are'} missed, {unanswered} {'gets' if unanswered == 1 else 'get'} no "
        f"answer; {accused} right functions are accused and "
        f"{words['falsely proved']} wrong ones proved. {sum(row['seconds'] for row in rows):.0f} seconds of the "
        "processor."
    )


def _opening(every: list[Case], rows: list[Row]) -> str:
    recent = sum(case.reported >= "2024" for case in every)
    return f"""# The museum

{len(every)} mistakes of differential privacy that people reported in public, {recent} of them since 2024, in our own
words and as an analyst would write them; with the fixed twin beside most of them, and reports that turned out to be
none. Each is given to `dpaudit` with the command that the README would choose. `make museum` does it again; the site
draws this page of the answers.

NOT VIOLATED is not a proof of privacy. A sampled VIOLATED is wrong in at most one of 1,000 audits of what keeps its
claim. PROVED is meant in real arithmetic, with perfect sampling, and over the declared domain.

{_sum(rows)}"""


def _missed(every: list[Case], known: dict[tuple[str, str, str], Row]) -> str:
    lines = ["## What is missed"]
    for case in every:
        for side in case.sides:
            row = known.get((case.kind, case.name, side))
            if row is None:
                lines.append(f"- **{case.title}** ({SIDES[side]}): not looked at.")
            elif row["word"] != "right":
                lines.append(
                    f"- **{case.title}** ({SIDES[side]}): {row['word']}. {case.missed or 'Not yet explained.'}"
                )
    if len(lines) == 1:
        lines.append("Nothing of what is here. What is not here may be.")
    unnamed = [
        case.title
        for case in every
        for row in [known.get((case.kind, case.name, "wrong"))]
        if row and row["word"] == "right" and not row["named"]
    ]
    if unnamed:
        lines.append("\nRefuted, but the cause is not named:\n")
        lines += [f"- {title}" for title in unnamed]
    return "\n\n".join(lines[:1]) + "\n\n" + "\n".join(lines[1:])


def _kinds(every: list[Case], known: dict[tuple[str, str, str], Row]) -> str:
    lines = ["## By kind", "", "| kind | cases | answers | right | causes named |", "|---|---|---|---|---|"]
    for kind, title in KINDS.items():
        rows = [row for (its, _, _), row in known.items() if its == kind]
        wrong = [row for row in rows if row["side"] == "wrong"]
        lines.append(
            f"| {title} | {sum(case.kind == kind for case in every)} | {len(rows)} "
            f"| {sum(row['word'] == 'right' for row in rows)} "
            f"| {sum(bool(row['named']) for row in wrong)} of {len(wrong)} |"
        )
    return "\n".join(lines)


def _released(rows: list[Row]) -> str:
    """What is found in packages as they were released; those that were not run are said."""
    lines = [
        "## In released packages",
        "",
        "The packages themselves, each in an environment of its own (`python benchmarks/museum/released.py`).",
        "",
        "| package | case | reported in | answer | at least | claim |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["word"] == "not run":
            why = row["why"].replace("|", "/").replace("\n", " ")
            lines.append(f"| {row['package']} | {row['name']} | | not run: {why} | | |")
            continue
        claim = row["command"].partition("--claim ")[2]
        claim = claim.split("'")[1] if claim.startswith("'") else claim.split()[0]
        answer = row["verdict"] if row["word"] == "right" else f"{row['word']}: {row['verdict']}"
        lines.append(
            f"| {row['package']} | {row['title']} | {_links(row['sources'])} | {answer} | {_number(row['lower'])} "
            f"| {claim} |"
        )
    return "\n".join(lines)


def _others(rows: list[Row], absent: dict[str, str], known: dict[tuple[str, str, str], Row]) -> str:
    """What other auditors show of the same functions; a bound above the claim refutes it, and nothing else does."""
    ran = [row for row in rows if row["shown"]]
    names = list(dict.fromkeys(name for row in ran for name in row["shown"]))
    lines = [
        "## On other auditors",
        "",
        f"The same functions, {len(ran)} of {len(rows)} sides, each handed the pair of the case, or its data with and "
        "without the last record, in 2,000 runs of each side, by `python benchmarks/museum/others.py`. A bound of 95 % "
        "confidence above the claim refutes it. None of the others looks for neighbours, reads source, or names a "
        "cause; `dpaudit` got the command that each case shows, which does, with up to 400,000 runs. They were made "
        "for other questions:",
        "",
        "- JAX Privacy and PrivacyGuard bound ε from scores of canaries that a user brings, which here are those of a "
        "logistic regression on other runs.",
        "- The largest of PrivacyGuard's bounds at all thresholds is shown, which holds at 95 % for each alone: of "
        "20,000 draws from two Gaussian laws whose loss is known, 1.8 % had one above it, and of two Laplace laws at "
        "ε = 0.01 7.8 %, so that a right side above its claim says nothing against PrivacyGuard.",
        "- PyStatDP tests the event that it selects itself, by a p-value below 5 %, and makes its own databases; here "
        "it gets the pair.",
        "- StatDP and DP-Sniper search for the telling event with millions of runs; what is called their idea is in "
        "our own lines.",
        "",
        "| auditor | wrong sides refuted | right sides accused |",
        "|---|---|---|",
    ]
    wrong, right = ([row for row in ran if (row["side"] == "wrong") == is_wrong] for is_wrong in (True, False))

    def refuted(row: Row, name: str) -> bool:
        return bool(row["shown"].get(name, math.nan) > row["claim"])

    def ours(row: Row) -> str:
        held = known.get((row["kind"], row["name"], row["side"]))
        return held["verdict"] if held else "not looked at"

    def cell(row: Row, name: str) -> str:
        if name not in row["shown"]:
            return "not run"
        return f"{_number(row['shown'][name])}{', refuted' * refuted(row, name)}"

    counts = [f"{sum(ours(row) == 'violated' for row in its)} of {len(its)}" for its in (wrong, right)]
    lines.append(f"| dpaudit | {' | '.join(counts)} |")
    for name in names:
        tried = [[row for row in its if name in row["shown"]] for its in (wrong, right)]
        counts = [f"{sum(refuted(row, name) for row in its)} of {len(its)}" for its in tried]
        lines.append(f"| {name} | {' | '.join(counts)} |")
    lines += [f"| {name} | not run: {why} | |" for name, why in absent.items()]
    head = ["wrong side", "claim", "dpaudit", *names, "not run, as"]
    lines += ["", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        if row["side"] == "wrong":
            why = "; ".join(dict.fromkeys(row["why"].values())).replace("|", "/").replace("\n", " ")
            cells = [row["name"], _number(row["claim"]), ours(row), *(cell(row, name) for name in names), why]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _links(sources: Iterable[str]) -> str:
    return ", ".join(f"[{source}](https://github.com/{source.replace('#', '/issues/')})" for source in sources)


def _case(case: Case, known: dict[tuple[str, str, str], Row]) -> str:
    year, _, month = case.reported.partition("-")
    when = f"{calendar.month_name[int(month)]} {year}" if month else year
    links = _links(case.sources)
    parts = [
        f"### {case.title}",
        f"{links}; {when}. `benchmarks/museum/cases/{case.kind}/{case.name}.py`",
        case.story,
    ]
    parts.append(f"```\ndpaudit {_typed(case)}\n```")
    for side in case.sides:
        row = known.get((case.kind, case.name, side))
        if row is None:
            parts.append(f"**{SIDES[side].capitalize()}**: not looked at.")
            continue
        told = row["told"]
        for always in ALWAYS:
            told = told.partition(always)[0]
        answer = f"**{SIDES[side].capitalize()}**{'' if row['word'] == 'right' else ', ' + row['word']}: {told.strip()}"
        if side == "wrong":
            if row["pair"] and row["pair"] not in told:
                answer += f" The pair: {row['pair']}."
            if row["event"]:
                answer += f" The event: {row['event']}."
            if row["lines"]:
                answer += f"\n\n```python\n{row['lines']}\n```"
        parts.append(f"{answer}\n\nEvidence `{row['id']}`." if row["id"] else answer)
    return "\n\n".join(parts)


def _typed(case: Case) -> str:
    side = next(iter(case.sides))
    held = case.sides[side]
    return case.command.format(f"{case.name}.py:{side}" if held.startswith(str(case.path)) else held)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return "∞" if math.isinf(value) else f"{value:.5g}"

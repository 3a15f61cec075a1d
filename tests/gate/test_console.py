"""Does a terminal show what came of every target, and does a log get plain lines?"""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest
from support import gate_results as made

from dpaudit.gate.result import Outcome, summary


def test_a_log_gets_one_line_for_each_target_that_starts_with_the_outcome() -> None:
    lines = summary(made.gate(*made.targets())).splitlines()
    assert [line.split()[:2] for line in lines[:8]] == [
        [str(item.outcome).upper(), item.name] for item in made.targets()
    ]
    assert "claim-violated; violated; ε ≥ 2.252" in lines[1]


def test_what_did_not_pass_is_explained() -> None:
    text = summary(made.gate(*made.targets()), width=200)
    assert "sum: failed (release.py:3)\n  ε ≥ 2.252 exceeds the claimed 1\n  The report says what" in text
    assert "mean: failed" in text and "lost 0.5 to 0.6124 before" in text
    assert "\ncounts: " not in text
    assert text.endswith("95 % that no correct target fails; seed 0; 12.3 s.\n")


def test_the_last_line_is_the_whole() -> None:
    first = made.targets()[0]
    assert summary(made.gate(first)).splitlines()[-1].startswith("dpaudit gate: 1 passed of 1 target. ")
    assert summary(made.gate()).startswith("dpaudit gate: no target was run.")
    assert "a fresh seed" in summary(made.gate(first, seed=None))


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_controls_nothing(terminal: bool) -> None:
    text = summary(made.whole(), terminal=terminal, width=120)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text) if terminal else text
    assert not any(ord(mark) < 32 and mark != "\n" for mark in text)
    assert "\u202e" not in text
    assert "[link]" in text  # not read as markup


def test_brackets_in_a_name_are_no_markup() -> None:
    odd = replace(made.targets()[0], name="[red]counts[/red][/nothing]")
    assert "[red]counts[/red][/nothing]" in summary(made.gate(odd), terminal=True, width=160)


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1;31m" in summary(made.gate(*made.targets()), terminal=True, width=120)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in summary(made.gate(*made.targets()), terminal=True, width=120)


def test_a_page_is_named_where_there_is_one() -> None:
    failed = replace(made.targets()[1], page="sum.html")
    assert "  report: sum.html\n" in summary(made.gate(failed))
    assert f"  report: {os.path.join('pages', 'sum.html')}\n" in summary(made.gate(failed), pages="pages")
    assert "report:" not in summary(made.gate(replace(failed, outcome=Outcome.PASSED)))

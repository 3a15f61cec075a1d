"""Does a person in a terminal learn the verdict, its numbers and its limits?"""

from __future__ import annotations

import re
import shlex

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.evidence.further_records import Trace, TracedCall, TraceFinding
from dpaudit.evidence.records import Verdict
from dpaudit.report import console_summary
from dpaudit.report.formats import markdown
from dpaudit.report.view import view


@pytest.mark.parametrize("kind", made.KINDS)
def test_ten_to_eighteen_lines_with_the_verdict_first(kind: str) -> None:
    evidence = made.KINDS[kind]()
    text = console_summary(evidence)
    lines = text.splitlines()
    least = 7 if kind in {"invalid", "boundless"} else 8
    assert least <= len(lines) <= 18
    assert lines[0].startswith(view(evidence).headline.word + ": ")
    assert evidence.id in text
    assert text.endswith("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u00a0]", text)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_keep_to_the_width(width: int) -> None:
    for build in (made.laplace, made.hostile):
        lines = console_summary(build(), width=width).splitlines()
        long = [line for line in lines if len(line) > width]
        assert all(line.startswith(("  id ", "  reproduce ")) for line in long)


def test_what_is_said_of_a_claim_that_stands() -> None:
    text = console_summary(made.laplace())
    for part in (
        "This is not a proof of privacy.",
        "laplace (epsilon=1)",
        "ε = 1 (pure differential privacy)",
        "lists of answers to the same queries; each answer differs by at most 1",
        "ε ≥ 0.9857 (sampled, at 95 % confidence)",
        "points to the first dataset: an output that is below 0",
        "seen: first 75,000 of 150,000 (50.0 %), second 27,591 of 150,000 (18.4 %)",
        "ε = 1.015 or more, with probability 0.9",
        "400,000 (100,000 learning, 300,000 measuring; 1 pair)",
        "dpaudit audit laplace -p epsilon=1.0 --claim epsilon=1 --runs 400000 --confidence 0.95 --seed 7",
    ):
        assert part in text
    assert "not a proof" not in console_summary(made.categories())


def test_an_invalid_audit_shows_no_bound() -> None:
    text = console_summary(made.invalid())
    assert "lower bound" not in text
    assert "return the same sequence" in text


def test_low_order_bits_have_a_line_of_their_own() -> None:
    text = console_summary(made.low_bits())
    assert text.startswith("VIOLATED: The runs contradict the claim ε = 1 for someone who reads the low-order bits")
    assert "  low bits     ε ≥ 9.976 (sampled, at 95 % confidence), reading the low-order bits\n" in text
    assert "  lower bound  ε ≥ 0.9857 (sampled" in text
    assert "--floating-point verdict" in text
    assert "low bits" not in console_summary(made.laplace())
    assert "--floating-point" not in console_summary(made.laplace())


def test_proved_exact_and_sampled_have_rows_of_their_own() -> None:
    text = console_summary(made.proved())
    assert text.startswith("PROVED for n = 5: The claim is ε = 1, and ε ≤ 0.625 = 5/8 is proved for 5 answers.")
    assert "  proved       ε ≤ 0.625 = 5/8, for 5 answers (alignment, 34 paths)\n" in text
    assert "  exact        ε ≥ 0.6249, certain, on one pair\n" in text
    assert "  sampled      ε ≥ 0.5912 (at 95 % confidence)\n" in text
    assert "dpaudit prove 'a mechanism' -p epsilon=1.0 --claim epsilon=1 --length 5 --runs 100000" in text
    assert "lower bound" not in text
    text = console_summary(made.proved_for_any_length())
    assert "  sampled      nothing was run\n  runs         none\n" in text
    assert "--length" not in text
    assert "reproduce" not in console_summary(made.enumerated())  # the domain is not in the evidence
    assert "this by itself refutes nothing" in console_summary(made.without_finite_bound())
    assert "the exact lower bound is infinite" in console_summary(made.refuted_infinitely())
    assert "contradicted by the runs" in console_summary(made.contradicted())


def test_text_cannot_forge_lines_or_commands() -> None:
    evidence = made.hostile()
    lines = console_summary(evidence).splitlines()
    command = next(line for line in lines if line.startswith("  reproduce")).removeprefix("  reproduce").strip()
    words = shlex.split(command)
    assert words[:2] == ["dpaudit", "audit"]
    assert words[2].startswith("<script>")
    assert words[words.index("--seed") + 1] == "7"
    assert words[-2:] == ["--pair", "pairs.json"]


def test_parameters_survive_the_command_line() -> None:
    import json

    words = shlex.split(next(line for line in console_summary(made.boundless()).splitlines() if "  reproduce" in line))
    given = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "-p")
    assert json.loads(given["n"]) == 10**30
    assert json.loads(given["text"]) == "5"  # stays a text
    assert given["scale"] == "inf"


def test_a_violation_of_runs_says_how_the_line_is_found() -> None:
    said = "dpaudit trace, with the same options, looks for the line at fault"
    assert said in console_summary(made.categories())
    assert said not in console_summary(made.laplace())  # nothing is at fault
    assert said not in console_summary(msgspec.structs.replace(made.categories(), decided_in="float"))


def test_what_the_headline_tells_is_not_told_again() -> None:
    trace = made_trace()
    told = " ".join(console_summary(trace).split())
    assert told.count("one more record (age = 120)") == told.count("would keep the claim") == 1
    assert "trace violated, given the stated laws" in told
    assert markdown([trace]).count("one more record") == 1
    assert "noise is too small, at release.py:3" in told
    assert view(trace).row("trace").line.count("one more record") == 1  # where no headline stands beside it


def made_trace():
    """A violation that a trace decides, with its story."""
    found = TraceFinding("violated, given the stated laws", "noise is too small", "release.py:3")
    calls = (TracedCall("release.py:3", "", "Laplace", 60.0, 1, 1, 120.0, 2.0),)
    trace = Trace(
        found.word, "data", 1, 2, 1, 1, 0, (found,), calls, epsilon=2.0,
        change="the same table of 5 records, and one more record (age = 120)",
        instead="A scale of 120 at release.py:3 would keep the claim on this pair.",
    )  # fmt: skip
    bound = msgspec.structs.replace(
        made.laplace().lower, value=2.0, kind="exact", method="trace", counts=None, event=None
    )
    return msgspec.structs.replace(
        made.laplace(), verdict=Verdict.VIOLATED, trace=trace, lower=bound, exact=bound, relation="add-remove"
    )

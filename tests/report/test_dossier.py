"""Does one page about a release say what was examined, what was not, and what contradicts what?"""

import html
import json
import re

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.evidence.records import Verdict
from dpaudit.report.html.index import contradictions, dossier_page, gravest
from dpaudit.report.text.reviewer import answers

pytestmark = pytest.mark.usefixtures("undrawn")


def page(*all_evidence, **context):
    return dossier_page("A release", all_evidence, [f"{number}.html" for number in range(len(all_evidence))], context)


def said(text):
    """What a reader of a page sees."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text.partition("<body>")[2])).split())


def status(all_evidence, question, **context):
    found = next(each for each in answers(all_evidence, context) if question in each.question)
    return found.status, found.text


def test_the_gravest_verdict_leads_and_what_is_missing_is_named():
    text = said(page(made.laplace(), made.proved()))
    assert "NOT VIOLATED" in text.partition("What was examined")[0]
    assert "This is not a proof of privacy" in text
    assert "The number ○ not examined: dpaudit account" in text
    assert gravest([made.proved(), made.categories(), made.laplace()]) is Verdict.VIOLATED
    assert "A claim about this release is false" in said(page(made.proved(), made.categories()))


def test_evidence_that_contradicts_other_evidence_is_said_first():
    assert list(contradictions([made.laplace()])) == []
    below = msgspec.structs.replace(
        made.laplace(), relation=made.proved().relation, lower=msgspec.structs.replace(made.laplace().lower, value=0.9)
    )
    found = " ".join(contradictions([below, made.proved()]))
    assert "loses more than" in found
    assert "one of them is wrong" in found
    other = msgspec.structs.replace(made.laplace(), claim="epsilon=3")
    assert "different claims: ε\u00a0=\u00a01; ε\u00a0=\u00a03" in " ".join(contradictions([made.laplace(), other]))


def test_evidence_that_has_nothing_in_common_is_said_so():
    evidence = made.laplace()

    def of(name, digest):
        target = msgspec.structs.replace(evidence.target, name=name, digest=digest)
        return msgspec.structs.replace(evidence, target=target)

    assert list(contradictions([of("count", "a"), of("count", "a")])) == []
    assert list(contradictions([of("count", "a"), of("again", "a")])) == []  # one function, under two names
    assert "different functions: count; mean." in " ".join(contradictions([of("count", "a"), of("mean", "b")]))
    assert "different code of count: 2 digests" in " ".join(contradictions([of("count", "a"), of("count", "b")]))
    assert list(contradictions([of("scores", None), of("count", "a")])) == []  # of what has no code, nothing is said


def test_a_question_is_answered_asked_or_not_examined():
    assert status([made.laplace()], "What is promised") == ("answered", "ε\u00a0=\u00a01")
    assert status([made.laplace()], "Does the algorithm")[0] == "not examined"
    assert status([made.proved()], "Does the algorithm")[0] == "answered"
    assert status([made.proved()], "implementation")[0] == "not examined"  # its noise stands for the mathematics
    assert status([made.laplace()], "randomness")[0] == "asked"
    answered = status([made.laplace()], "randomness", random_source="the kernel")
    assert answered == ("answered", "by those who publish it: the kernel")


def test_hostile_text_stays_text():
    drawn = page(made.hostile())
    assert drawn.count("<script") == 0
    assert "<script>alert(1)</script>" in said(drawn)


@pytest.mark.slow
def test_the_command_draws_a_folder(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from dpaudit.cli.main import cli

    def run(*arguments):
        return CliRunner().invoke(cli, ["dossier", *arguments])

    monkeypatch.chdir(tmp_path)
    (tmp_path / "evidence").mkdir()
    assert run("evidence", "--html", "page.html").exit_code == 2
    (tmp_path / "evidence" / "other.json").write_text("{}")
    made_run = CliRunner().invoke(
        cli, ["audit", "laplace", "--runs", "4000", "--json", "evidence/runs.json", "--quiet"]
    )
    assert made_run.exit_code == 0
    (tmp_path / "context.toml").write_text('[context]\nrandom_source = "the kernel"\n')
    done = run(
        "evidence", "--html", "page.html", "--context", "context.toml", "--statement", "statement.json", "--name", "R"
    )
    assert done.exit_code == 0, done.output
    assert "other.json" in done.output
    drawn = (tmp_path / "page.html").read_text()
    assert 'href="evidence/runs.json"' in drawn
    assert "by those who publish it: the kernel" in drawn
    assert json.loads((tmp_path / "statement.json").read_text())["predicate"]["result"] == "PASSED"
    file = tmp_path / "evidence" / "runs.json"
    file.write_text(file.read_text().replace('"seed": ', '"seed": 1'))
    assert run("evidence", "--html", "page.html").exit_code == 2

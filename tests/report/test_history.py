"""Does the page of a target over time show every piece of evidence once, in its order, and nothing that fails?"""

import subprocess

import msgspec
import pytest
from click.testing import CliRunner
from support import made_evidence as made

from dpaudit.cli.main import cli
from dpaudit.report.html.index import Entry, LinePlace, history_figure, history_page


@pytest.mark.usefixtures("undrawn")
def test_the_newest_is_first_and_what_changed_is_named():
    old = made.laplace()
    new = msgspec.structs.replace(old, claim="epsilon=2", seed=9)
    page = history_page([Entry(old, "January"), Entry(new, "March", "loosened")])
    assert page.index("March") < page.index("January")
    assert "<td>claim</td>" in page
    assert "loosened" in page
    assert old.id[:17] in page
    assert page.count("<tr>") == 3


@pytest.mark.slow
def test_missing_and_infinite_numbers_are_drawn_as_gaps():
    nan, infinite = float("nan"), float("inf")
    drawn = history_figure(
        [LinePlace(1.0, nan, 1.0, False), LinePlace(infinite, 2.0, nan, True), LinePlace(nan, nan, nan, False)], "ε"
    )
    assert "over 3 pieces of evidence" in drawn
    assert "over 1 pieces" in history_figure([LinePlace(nan, nan, nan, False)], "ε", narrow=True)


@pytest.mark.nightly
def test_committed_evidence_is_read_from_git(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def git(*arguments):
        named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *named, *arguments], check=True, capture_output=True)

    def drawn(*files):
        done = CliRunner().invoke(cli, ["history", *files, "--html", "page.html"])
        return done.exit_code, done.output

    def audited(seed, file):
        CliRunner().invoke(cli, ["audit", "laplace", "--runs", "4000", "--seed", seed, "--json", file, "--quiet"])

    audited("1", "base line.json")
    assert drawn("base line.json")[1].startswith("1 pieces")  # no repository: the file as it is
    git("init", "-q")
    for seed in ("1", "2"):
        audited(seed, "base line.json")
        git("add", "base line.json")
        git("commit", "-qm", f"seed {seed}")
    audited("3", "base line.json")
    assert drawn("base line.json")[1].startswith("3 pieces")
    assert "not committed" in (tmp_path / "page.html").read_text()
    CliRunner().invoke(cli, ["report", "base line.json", "--html", "drawn.html"])
    git("add", "drawn.html")
    git("commit", "-qm", "a page")
    assert drawn("drawn.html")[1].startswith("1 pieces")  # evidence within a page
    assert "not committed" not in (tmp_path / "page.html").read_text()
    audited("4", "other.json")
    assert drawn("other.json", "base line.json")[1].startswith("2 pieces")
    file = tmp_path / "base line.json"
    file.write_text(file.read_text().replace('"seed": ', '"seed": 1'))
    assert drawn("base line.json")[0] == 2

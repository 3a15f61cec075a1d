"""Is the visible text of a page that was edited found out?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpaudit as dp
from dpaudit.cli.commands.evidence import check_command as command
from dpaudit.errors import UsageError
from dpaudit.report import html_page
from dpaudit.report.html.templates import drawn_with
from dpaudit.review.check import CheckResult, check_file

pytestmark = pytest.mark.usefixtures("undrawn")

KEPT = dp.Evidence.load(Path(__file__).parent / "old" / "laplace_first.json")


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The page; drawn once, also where a check draws it."""
    drawn = html_page(KEPT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.review.check.against.html_page", lambda evidence, **options: drawn)
        yield drawn


def code_of(html: str, folder: Path) -> int:
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    try:
        found = CliRunner().invoke(command, [str(path), "--quiet"], standalone_mode=False)
        if isinstance(found.exception, UsageError):
            return 2
        assert found.exception is None
        return int(found.return_value)
    except UsageError:
        return 2


def block(html: str) -> str:
    (found,) = re.findall(r'<script type="application/json".*?</script>', html, re.DOTALL)
    return str(found)


@pytest.mark.slow
def test_a_page_that_dpaudit_drew_passes(page: str, tmp_path: Path) -> None:
    assert code_of(page, tmp_path) == 0
    assert check_file(tmp_path / "page.html")[0].what == "page"


EDITS: dict[str, Callable[[str], str]] = {
    "another verdict": lambda page: page.replace("NOT VIOLATED", "PROVED").replace("Not violated", "Proved"),
    "another number": lambda page: re.sub(r"0\.9\d\d", "0.1", page),
    "a sentence more": lambda page: page.replace("</main>", "<p>Certified by everybody.</p></main>"),
    "a script behind the evidence": lambda page: page.replace(
        "</body>", "<script>document.title='PROVED'</script></body>"
    ),
    "a style that hides the verdict": lambda page: page.replace("</style>", "#verdict{display:none}</style>"),
    "another title": lambda page: re.sub(r"<title>.*?</title>", "<title>PROVED</title>", page),
    "entities": lambda page: page.replace("<h1>", "<h1>&#80;&#82;&#79;&#86;&#69;&#68; "),
    "text in a comment that is opened": lambda page: page.replace("<main>", "<main><!-- ", 1),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_page_fails(name: str, page: str, tmp_path: Path) -> None:
    edited = EDITS[name](page)
    assert edited != page
    assert code_of(edited, tmp_path) in (1, 2)


HIDDEN: dict[str, Callable[[str], str]] = {
    "two evidences": lambda page: page.replace(block(page), block(page) * 2),
    "evidence in a comment": lambda page: page.replace(block(page), f"<!-- {block(page)} -->"),
    "no evidence": lambda page: page.replace(block(page), ""),
    "evidence that was altered": lambda page: page.replace(block(page), block(page).replace('"seed":', '"seed":1')),
    "evidence that is no JSON": lambda page: page.replace(block(page), block(page).replace("{", "[", 1)),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_page_without_just_one_evidence_is_refused(name: str, page: str, tmp_path: Path) -> None:
    edited = HIDDEN[name](page)
    assert edited != page
    assert code_of(edited, tmp_path) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", ["dpaudit 99, Jinja2 1, matplotlib 1, numpy 1", "", f"{drawn_with()}, beside dpa1:00"]
)
def test_a_page_that_others_drew_is_not_compared_but_for_its_verdict(other: str, page: str, tmp_path: Path) -> None:
    drawn = page.replace(drawn_with(), other)
    assert code_of(drawn, tmp_path) == 3
    first = check_file(tmp_path / "page.html")[0]
    assert first.answer is CheckResult.NOT_CHECKED and "the rest of the page was not compared" in first.sentence
    assert code_of(drawn.replace("NOT VIOLATED", "PROVED"), tmp_path) == 1
    assert "does not show the verdict" in check_file(tmp_path / "page.html")[0].sentence


@pytest.mark.parametrize(
    "text", ["# PROVED\n\nε ≤ 1\n", "%PDF-1.7\n", '{"_type": "https://in-toto.io/Statement/v1"}', ""]
)
def test_other_renderings_are_no_evidence(text: str, tmp_path: Path) -> None:
    assert code_of(text, tmp_path) == 2

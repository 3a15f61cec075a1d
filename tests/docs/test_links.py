"""Do the documents lead somewhere? Every link to a file of the repository, and every page of the site in its contents.

`make docs` checks the rest: places within pages, and the examples, which it runs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    ".",
    "changes",
    "docs",
    "docs/how-to",
    "docs/explanation",
    "docs/reference",
    "tests",
    "tests/evidence",
    "benchmarks",
    "reports",
    "examples",
    "verified",
)
MADE = {ROOT / "docs" / "modules.md", ROOT / "docs" / "museum.md"}  # `docs/lists.py` writes them when the site is built
DOCUMENTS = sorted({path for folder in FOLDERS for path in (ROOT / folder).glob("*.md")} - MADE)
LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_finds_it(document: Path) -> None:
    links = [link for link in LINK.findall(document.read_text(encoding="utf-8")) if "://" not in link]
    paths = {link: (document.parent / link).resolve() for link in links}
    missing = [link for link, path in paths.items() if path not in MADE and not path.exists()]
    assert missing == []


def test_every_page_is_in_the_contents_of_the_site() -> None:
    contents = re.findall(r"^(?:.*<)?([\w/-]+)>?$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.M)
    site = ROOT / "docs"
    pages = {path.relative_to(site).with_suffix("").as_posix() for path in DOCUMENTS if path.is_relative_to(site)}
    assert pages - {"index"} <= set(contents)


def test_what_a_user_reads_is_short_and_so_is_all() -> None:
    site = ROOT / "docs"
    index = (site / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r":caption: ([\w ]+)\n(.*?)```", index, re.DOTALL)
    pages = {name: re.findall(r"^(?:.*<)?([\w/-]+)>?$", body, re.MULTILINE) for name, body in trees}
    read = ["index", *pages["Start"], *pages["How to"], *pages["Explanation"]]
    assert sum(len((site / f"{page}.md").read_text("utf-8").split()) for page in read) <= 12_000
    assert sum(len(path.read_text("utf-8").split()) for path in DOCUMENTS if path.is_relative_to(site)) <= 40_000


def test_the_gallery_says_the_verdict_of_each_page() -> None:
    rows = re.findall(
        r'<a href="reports/pages/([\w-]+)\.html">.*?\| ([A-Z ]+?)(?::| for)',
        (ROOT / "docs/gallery.md").read_text("utf-8"),
    )
    assert len(rows) == 8
    for name, word in rows:
        place = {"categories": "evidence/exponential", "vector": "evidence/noisy_histogram"}.get(name, f"pages/{name}")
        record = json.loads((ROOT / "reports" / f"{place}.json").read_text("utf-8"))
        assert record["evidence"]["verdict"].upper() == word, name

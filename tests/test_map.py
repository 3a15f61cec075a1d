"""Is every module on the map, with the question that opens it?"""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_list_of_modules_is_as_they_are():
    made = runpy.run_path(str(ROOT / "docs" / "modules.py"))
    assert made["page"]() == (ROOT / "docs" / "modules.md").read_text(encoding="utf-8"), "run python docs/modules.py"


def test_every_module_opens_with_its_question_or_what_it_is():
    made = runpy.run_path(str(ROOT / "docs" / "modules.py"))
    assert not [file for file in (ROOT / "dpaudit").rglob("*.py") if not made["question"](file)]

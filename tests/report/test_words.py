"""Are the words of `words.toml` there under the names that are asked for, and is nothing else read as marks?"""

import re
import string
from pathlib import Path

import pytest

import dpaudit
from dpaudit.report.document import Span, marked, words
from dpaudit.report.text.verdict import terms

FOLDER = Path(dpaudit.__file__).parent
SOURCE = [text for file in FOLDER.rglob("*.py") if "report.document" in (text := file.read_text(encoding="utf-8"))]
ASKED = re.compile(r'\b(said|plainly|table|section)\(\s*(f?)"([\w.-]+)"')


def texts(known):
    """Every text of a table of words, in its lists and tables too."""
    for each in known.values() if isinstance(known, dict) else known:
        if isinstance(each, str):
            yield each
        else:
            yield from texts(each)


def asked(*functions):
    """The keys that the code asks for by name."""
    return {key for text in SOURCE for name, dynamic, key in ASKED.findall(text) if name in functions and not dynamic}


def test_every_word_that_is_asked_for_is_there():
    known = words()
    for key in asked("said", "plainly"):
        name, _, member = key.partition(".")
        assert isinstance(known[name][member], str), key
    for key in asked("table"):
        for name in key.split("."):
            assert name in known, key
            known = known[name]
        assert known["label"], key
        known = words()
    assert len(asked("said", "plainly")) > 60 and len(asked("table")) > 15


def test_every_table_of_words_is_asked_for():
    used = {key.partition(".")[0] for key in asked("said", "plainly", "table", "section")}
    used |= set(re.findall(r'words\(\)\["(\w+)"\]', "".join(SOURCE))) | {"accounted", "watched"}
    assert set(words()) - used == set()


@pytest.mark.parametrize("known", [words(), terms()], ids=["words", "terms"])
def test_every_text_is_a_template(known):
    for text in texts(known):
        assert text == text.strip("\n") and "\t" not in text
        for _, name, form, conversion in string.Formatter().parse(text):
            assert name is None or (name.isidentifier() and not form and conversion is None), text


def test_what_is_filled_in_is_never_read_as_marks():
    hostile = "**a** `b` ^c^ [[d]] \n {name}"
    assert marked("so {name}", name=hostile) == f"so {hostile}"
    first, bold, rest = marked("{name}: **{name}**", name=hostile)
    assert (first, bold, rest) == (f"{hostile}: ", Span("strong", hostile), "")

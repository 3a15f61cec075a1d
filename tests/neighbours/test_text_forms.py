"""Is another text of a column in the form of its texts, and is a text in another form known as such?"""

import itertools
import json

import pandas as pd
import pytest

from dpaudit.neighbours.candidates.candidates import candidates
from dpaudit.neighbours.candidates.edge_values import form_of

FORMS = [
    (["2025-05-17", "2025-01-31"], "dates", "icu", ["2025-05-18", "2025-01-30"]),
    (["12/31/2025", "01/02/2025"], "dates", "31/12/2025", ["01/01/2026", "01/01/2025"]),
    (["2025-05-17T10:00:00Z"], "dates", "2025-05-17", ["2025-05-18T10:00:00Z", "2025-05-16T10:00:00Z"]),
    (["2025-05-17T10:00:00+02:00"], "dates", "?", ["2025-05-18T10:00:00+02:00", "2025-05-16T10:00:00+02:00"]),
    (["9999-12-31"], "dates", "", ["9999-12-30", "9999-12-29"]),
    (["20250517", "20241231"], "dates", "20259999", ["20250518", "20241230"]),
    (["10:30", "11:59"], "dates", "25:00", ["12:00", "10:29"]),
    (["12", "7", "-3"], "numbers", "x", ["13", "-4"]),
    (["1.5", "2"], "numbers", "1,5", ["3.0", "4.0"]),
    (["00123", "99998"], "codes", "A", ["99999", "00000"]),
    (['{"a": 1, "b": ["x", true]}'], "JSON", "{", ['{"a": 2, "b": ["new 1", true]}']),
    (["c1", "c20"], "codes", "c", ["c21", "c22"]),
    (["ann@ex.org", "bob@ex.org"], "codes", "ann", ["new@ex.org"]),
]


@pytest.mark.parametrize(("texts", "words", "other", "first"), FORMS, ids=str)
def test_another_text_has_the_form_of_the_others(texts, words, other, first):
    form = form_of([*texts, "", None])
    assert form.words == words
    assert list(itertools.islice(form.others(), len(first))) == first
    assert all(map(form.fits, [*texts, *itertools.islice(form.others(), 30)])) and not form.fits(other)


@pytest.mark.parametrize("texts", [["icu", "er"], ["New York", "Berlin"], ["", None], [], ["2025-05-17", "soon"]])
def test_words_have_no_form(texts):
    assert form_of(texts) is None


@pytest.mark.parametrize(
    ("values", "read"),
    [
        ([f"2025-01-{day:02}" for day in range(1, 20)], pd.to_datetime),
        ([str(number) for number in range(20)], lambda column: column.map(int)),
        ([json.dumps({"n": number}) for number in range(20)], lambda column: column.map(lambda x: json.loads(x)["n"])),
    ],
)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_candidate_has_a_text_in_another_form(values, read, relation):
    """Also with words in the code, which some column might hold."""
    data = pd.DataFrame({"text": values, "kind": ["a", "b"] * (len(values) // 2) + ["a"] * (len(values) % 2)})
    found = candidates(data, relation, limit=500)
    assert any("in the form of the others" in each.name for each in found)
    for each in found:
        for side in each.pair():
            read(side["text"])


def test_what_is_made_up_is_known():
    """A value outside of those seen, or a text that no record has; nothing that is declared."""
    data = pd.DataFrame({"age": [20, 30, 40], "ward": ["icu", "er", "er"], "cost": [1.0, 2.5, 3.0]})
    found = {each.name: each.made_up for each in candidates(data, "add-remove", limit=1_000)}
    assert found["record added: ward of a new category"] and found["record added: cost = inf"]
    assert not found["record added: age at its largest value in the data"] and not found["record 0 removed"]
    declared = {"age": (0, 100), "ward": ["icu", "er", "lab"], "cost": (0.0, 9.0)}
    assert not any(each.made_up for each in candidates(data, "add-remove", domain=declared, limit=1_000))

"""Does the first screen of every proof list what is drawn or released, and what each draw has to hide?"""

import json

import msgspec
import pytest

import dpaudit as dp
from dpaudit.report.text.chain import released

NOISY = """
import numpy as np


def total(values):
    return sum(values) + np.random.laplace(0, 2.0)
"""
ROWS = {
    ("above_threshold", None): [
        ("before the first answer", "1 at most", "Laplace noise of scale 2", "ε = 1/2", "5.992"),
        ("for every answer", "2 at most", "Laplace noise of scale 4", "ε = 1/2", "11.99"),
    ],
    ("report_noisy_max", 3): [("draws 1 to 3, each", "2 at most", "Laplace noise of scale 2", "ε = 1", "5.992")],
    ("above_threshold", 3): [
        ("draw 1", "1 at most", "Laplace noise of scale 2", "ε = 1/2", "5.992"),
        ("draws 2 to 4, each", "1 at most", "Laplace noise of scale 4", "ε = 1/4", "11.99"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "length"), ROWS)
def test_every_draw_of_an_alignment_is_listed_with_what_it_hides(name, length, tmp_path):
    evidence = dp.prove(name, length=length, runs=0, seed=1)
    table = released(evidence)
    rows = [(each.place, each.moves, each.law, each.price, each.within) for each in table.releases]
    assert rows == ROWS[name, length]
    said = "for any length" if length is None else "for exactly 3 answers, not for fewer or more"
    assert table.composition[-1].replace("\N{NO-BREAK SPACE}", " ") == said
    evidence.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('<section id="released"') < page.index('<section id="proof"')
    assert all(each.law in page for each in table.releases)


def test_releases_of_numbers_are_listed_with_their_line(tmp_path):
    (tmp_path / "own.py").write_text(NOISY, encoding="utf-8")
    evidence = dp.prove(f"{tmp_path / 'own.py'}:total", domain=(0, 1), length=2, claim="epsilon=1", runs=0, seed=1)
    table = released(evidence)
    assert table.composition[-1].replace("\N{NO-BREAK SPACE}", " ") == "for exactly 2 numbers, not for fewer or more"
    (row,) = table.releases
    assert row.place.endswith("own.py:6") and (row.moves, row.price, row.within) == ("1 at most", "ε = 1/2", "5.992")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["kind", "nodes", "shift"])
def test_what_is_no_certificate_has_no_table(damage):
    evidence = dp.prove("report_noisy_max", length=2, runs=0, seed=1)
    given = json.loads(json.dumps(evidence.proof.certificate))
    if damage == "kind":
        given["kind"] = "another"
    elif damage == "nodes":
        del given["nodes"][1]
    else:
        given = json.loads(json.dumps(given).replace('"shift": ["', '"shift": ["1", "'))
    altered = msgspec.structs.replace(evidence, proof=msgspec.structs.replace(evidence.proof, certificate=given))
    assert released(altered) is None

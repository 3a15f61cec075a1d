"""Is a function of data frames held against its claim by a proof, and does its page show the chain?"""

import msgspec
import pytest

from dpaudit.gate.config import read
from dpaudit.gate.result import OutcomeRule
from dpaudit.gate.run import GateOptions, run
from dpaudit.gate.target_process import carry_out
from dpaudit.report import console_summary, html_page
from dpaudit.report.text.chain import chain
from dpaudit.review.check import check, passes

MODULE = """
def release(people, noise, *, scale=2.0):
    old = people[people["age"] >= 65]
    size = len(old) + noise.laplace(scale)
    total = old["age"].sum() + noise.laplace(100 * scale)
    return total / max(size, 1)
"""
TARGET = """
[tool.dpaudit]
seed = 0
runs = 1000
require = "proved"
[[tool.dpaudit.targets]]
target = "release.py:release"
parameters = { scale = SCALE }
relation = "add-remove"
claim = "epsilon=1"
domain = { age = [0, 100] }
"""


@pytest.mark.slow
def test_a_release_from_records_is_proved_and_its_page_shows_how(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    (tmp_path / "release.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(TARGET.replace("SCALE", "2.0"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = GateOptions(update_baseline=False)
    (found,) = run(
        read(tmp_path / "pyproject.toml"), options, runner=lambda request, *_: carry_out(request)
    ).result.results
    assert found.rule is OutcomeRule.PASSED, found.sentence
    assert str(found.evidence.verdict) == "proved"
    links = chain(found.evidence)
    assert (links.data, links.neighbours) == (("data frames of any length", "age: from 0 to 100"), "add-remove")
    assert [(each.moves, each.law, each.price) for each in links.releases] == [
        ("a record adds 1 if age ≥ 65", "Laplace noise of scale 2", "ε = 1/2"),
        ("a record adds 65 to 100 if age ≥ 65", "Laplace noise of scale 200", "ε = 1/2"),
    ]
    assert links.composition == ("all releases of a path add up, for the kind of records for which they are largest",)
    assert (links.bound, links.claim) == (
        "ε\N{NO-BREAK SPACE}≤\N{NO-BREAK SPACE}1",
        "ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1: kept",
    )
    assert links.keeps_claim
    page, told = html_page(found.evidence), console_summary(found.evidence)
    assert 'aria-labelledby="chain-title" aria-describedby="chain-text"' in page
    assert "a record adds 65 to 100 if age ≥ 65" in page
    assert "release.py:4 Laplace noise of scale 2, ε = 1/2" in told
    # prices are checked, and what is no certificate is drawn as none
    assert found.evidence.proof.prices == ("epsilon=1/2", "epsilon=1/2")
    assert passes(check(found.evidence))
    proof = found.evidence.proof
    cheaper = msgspec.structs.replace(proof, prices=("epsilon=1/2", "epsilon=1/3"))
    assert not passes(check(msgspec.structs.replace(found.evidence, proof=cheaper)))
    for broken in ({}, {**proof.certificate, "releases": [1]}, {**proof.certificate, "columns": []}):
        forged = msgspec.structs.replace(found.evidence, proof=msgspec.structs.replace(proof, certificate=broken))
        assert chain(forged) is None

"""Is what the page says of scales that the data decide what is found?"""

import re
from pathlib import Path

import pytest

import dpaudit as dp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "two-scales.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)`: .* \| (ε = .*), ([a-z-]+) \| ε (=|≥) (\S+) \| `dpa1:\w{12}` \|$", PAGE, re.M)


@pytest.mark.parametrize(("name", "claim", "relation", "sign", "found"), ROWS, ids=[row[0] for row in ROWS])
def test_each_scale_is_refuted_for_certain_by_what_the_page_says(name, claim, relation, sign, found, monkeypatch):
    monkeypatch.chdir(ROOT)
    claim = claim.replace("ε = ", "epsilon=").replace("δ = ", "delta=")
    assert f"two_scales.py:{name} --domain '[0, 1]' --relation {relation} --claim " in PAGE
    evidence = dp.trace(f"examples/two_scales.py:{name}", domain=(0, 1), relation=relation, claim=claim, runs=0, seed=1)
    assert evidence.verdict is dp.Verdict.VIOLATED and "scale" in evidence.trace.findings[0].text
    assert evidence.exact.value == pytest.approx(float("inf" if found == "∞" else found), rel=1e-3)
    assert len(ROWS) == 4 and (sign == "=") == (found == "∞")

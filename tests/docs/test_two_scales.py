"""Is what the page says of scales that the data decide what is found?"""

import json
import math
import re
from pathlib import Path

import pytest

import dpaudit as dp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "examples" / "two_scales.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| \d+, `(\w+)`: .* \| (\S) = (\d), ([a-z-]+) \| \S (=|≥) (\S+)(?:, certain)? \| `(dpa1:\w{12})` \|$", PAGE, re.M
)
PAIR = json.loads((ROOT / "examples" / "two_scales.json").read_text())
NAMES = {"ε": "epsilon", "μ": "mu", "ρ": "rho"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "symbol", "claimed", "relation", "sign", "found", "identity"), ROWS, ids=[row[0] for row in ROWS]
)
def test_each_scale_is_refuted_by_what_the_page_says(
    name, symbol, claimed, relation, sign, found, identity, monkeypatch
):
    monkeypatch.chdir(ROOT)
    claim = f"{NAMES[symbol]}={claimed}"
    asked = {"relation": relation, "claim": claim, "seed": 1}
    assert len(ROWS) == 4 and (sign == "=") == (found == "∞")
    if sign == "=":
        evidence = dp.trace(f"examples/two_scales.py:{name}", pairs=[PAIR], runs=0, **asked)
        assert evidence.exact.value == math.inf and "scale" in evidence.trace.findings[0].text
        command = f"two_scales.py:{name} --pair examples/two_scales.json --relation {relation} --claim {claim} --runs 0"
    else:
        evidence = dp.audit(f"examples/two_scales.py:{name}", domain=(0, 1), length=21, **asked)
        assert evidence.lower.value == pytest.approx(float(found), rel=1e-3)
        command = f"two_scales.py:{name} --domain '[0, 1]' --length 21 --claim {claim}"
    assert evidence.verdict is dp.Verdict.VIOLATED and f"{command} --seed 1\n" in PAGE

"""Are loops as people write them neither accused nor ended where they are right, and named where they are wrong?

Needs torch, opacus and scikit-learn: `make test-training` makes an environment for it, and elsewhere it is skipped.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("opacus")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "training"))

import as_written

import dpaudit as dp

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("written", [*as_written.RIGHT, *as_written.WRONG], ids=lambda each: each.what)
def test_a_loop_is_called_what_it_is(written):
    loop = written.make(5)
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, seed=5, **loop.options) as watch:
        loop.train()
    wrong = {(each.fact, each.name) for each in watch.findings if each.status == "wrong"}
    assert (not wrong) if written.right else (wrong & set(written.named))

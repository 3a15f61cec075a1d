"""Are loops as people write them neither accused nor ended where they are right, and named where they are wrong?

Needs torch, opacus and scikit-learn: `make test-training` makes an environment for it, and elsewhere it is skipped.
"""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("opacus")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "training"))

import as_written
import written_schedules  # noqa: F401
import written_since  # noqa: F401

import dpaudit as dp

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("written", [*as_written.RIGHT, *as_written.WRONG], ids=lambda each: each.what)
def test_a_loop_is_called_what_it_is(written):
    loop = written.make(5)
    claim = "epsilon=8, delta=1e-5"
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, claim=claim, seed=5, **loop.options) as watch:
        loop.train()
    wrong, unseen = ({(x.fact, x.name) for x in watch.findings if x.status == word} for word in ("wrong", "not seen"))
    if written.right:
        assert not wrong and str(watch.evidence.verdict) != "violated"
    else:
        named = set(written.named)
        assert wrong & named or (unseen & named and str(watch.evidence.verdict) == "inconclusive")


PUBLIC = (
    "momentum, weight decay, a schedule for the rate of learning, and zero_grad after the step",
    "a schedule of a function with its numbers, as transformers make it",
    "a schedule that steps after every tenth update",
)


@pytest.mark.parametrize("what", PUBLIC)
def test_a_schedule_that_counts_updates_is_recognised(what):
    loop = next(each for each in as_written.RIGHT if each.what == what).make(5)
    claim = "epsilon=8, delta=1e-5"
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, claim=claim, seed=5, **loop.options) as watch:
        loop.train()
    assert str(watch.evidence.verdict) == "not violated"

"""Does an audit that was interrupted go on where it was, and find what it would have found?"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.auditing.pair import both_sides
from dpaudit.errors import Notice
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.checkpoint import MAGIC, Checkpoint, Experiment, Phase, RunBlock, Session, plain, restored
from dpaudit.sampling.outputs import from_list
from dpaudit.sampling.play import BlockResult, play
from dpaudit.targets.signature import Shape

pytestmark = pytest.mark.slow

PAIR = ([1, 1], [1])
ASKED = {"claim": "epsilon=1", "pairs": [PAIR], "relation": "add-remove", "runs": 8_000}


def seeded(data, rng, *, epsilon=1.0):
    return len(data) + rng.laplace(0, 1 / epsilon)


def sampler(data, size, rng):
    return np.stack([len(data) + rng.laplace(0, 1, size), rng.laplace(0, 1, size)], axis=1)


def program(data, noise):
    return "many" if len(data) + noise.laplace(1) > 1.5 else None


def opaque(data):
    return len(data) + _OWN.laplace()


_OWN = np.random.default_rng(5)


KNOWN = {}


def uninterrupted(function, **options):
    """The audit that is never interrupted; of each function and options one."""
    key = function, str(options)
    if key not in KNOWN:
        KNOWN[key] = dp.audit(function, **(ASKED | options))
    return KNOWN[key]


def interrupted(function, file, after, **options):
    """Audit until so many runs are done; return the runs that were told of."""

    def listen(stage, done, total):
        if done >= after and stage != "resumed":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dp.audit(function, resume=file, listen=listen, **(ASKED | options))


@pytest.mark.parametrize(
    ("function", "options", "after"),
    mostly_at_night(
        [
            (seeded, {}, 1),
            (seeded, {}, 5_000),
            (seeded, {"sequential": True, "runs": 200}, 120),
            (sampler, {}, 1_500),
            (seeded, {"pairs": [PAIR, ([2], [2, 2])]}, 3_000),
            (seeded, {"curve": True, "runs": 4_000}, 2_500),
            (program, {}, 5_000),
        ],
        every=2,
    ),
)
def test_the_evidence_is_that_of_an_audit_that_was_never_interrupted(tmp_path, function, options, after):
    file = tmp_path / "blocks"
    never = uninterrupted(function, **options)
    interrupted(function, file, after, **options)
    stages = []
    again = dp.audit(function, resume=file, listen=lambda *told: stages.append(told), **(ASKED | options))
    assert again.id == never.id
    if after > 1:
        assert "resumed" in {stage for stage, _, _ in stages}
    assert dp.audit(function, resume=file, **(ASKED | options)).id == never.id


def test_finished_blocks_are_not_run_again(tmp_path):
    file = tmp_path / "blocks"

    def counted(data, rng):
        counted.calls += 1
        return len(data) + rng.laplace()

    counted.calls = 0
    dp.audit(counted, **ASKED)
    whole, counted.calls = counted.calls, 0
    interrupted(counted, file, 5_000)
    first, counted.calls = counted.calls, 0
    dp.audit(counted, resume=file, **ASKED)
    assert first >= 5_000
    assert first + counted.calls <= whole + 2_048
    counted.calls = 0
    dp.audit(counted, resume=file, **ASKED)
    assert counted.calls <= 16  # which settle how runs are made


@pytest.mark.nightly
def test_a_search_goes_on_too(tmp_path):
    def clipped_sum(data, rng):
        return sum(min(max(x, 0), 50.0) for x in data) + rng.laplace(0, 40)

    file = tmp_path / "blocks"
    asked = {"claim": "epsilon=1", "relation": "add-remove", "data": [3.0, 41.5, 17.25, 90.0], "domain": (0.0, 100.0)}
    asked["reading"] = "calls"  # a search by runs

    def listen(stage, done, total):
        if stage == "searching" and done > 1_000:
            raise KeyboardInterrupt

    never = dp.audit(clipped_sum, runs=4_000, **asked)
    with pytest.raises(KeyboardInterrupt):
        dp.audit(clipped_sum, runs=4_000, resume=file, listen=listen, **asked)
    stages = set()
    again = dp.audit(clipped_sum, runs=4_000, resume=file, listen=lambda *told: stages.add(told[0]), **asked)
    assert again.id == never.id
    assert "resumed" in stages
    with pytest.raises(dp.UsageError, match="differs in: domain"):
        dp.audit(clipped_sum, runs=4_000, resume=file, **{**asked, "domain": (0.0, 90.0)})


def test_several_workers_go_on_alike(tmp_path):
    file, name = tmp_path / "blocks", f"{__file__}:seeded"
    interrupted(name, file, 3_000)
    assert dp.audit(name, resume=file, workers=2, **ASKED).id == dp.audit(name, **ASKED).id


def test_a_function_with_randomness_of_its_own_goes_on_and_says_what_that_assumes(tmp_path):
    file = tmp_path / "blocks"
    interrupted(opaque, file, 5_000, reading="calls")
    evidence = dp.audit(opaque, resume=file, reading="calls", **ASKED)
    assert evidence.verdict is not dp.Verdict.INVALID
    assert any("the same noise in every process" in text for text in evidence.assumptions)
    assert all(attempt.bound.assumes == evidence.assumptions for attempt in evidence.attempts)
    fresh = dp.audit(opaque, resume=tmp_path / "other", reading="calls", **ASKED)
    assert not any("the same noise in every process" in text for text in fresh.assumptions)


_SLOW = """
import os, sys, time
import dpaudit as dp

def slow(data, rng):
    if "SLOW" in os.environ:
        time.sleep(0.0002)
    return len(data) + rng.laplace()

if __name__ == "__main__":
    asked = {"claim": "epsilon=1", "pairs": [([1, 1], [1])], "relation": "add-remove", "runs": 6_000, "seed": 0}
    evidence = dp.audit(slow, resume=sys.argv[1], **asked)
    print(evidence.id)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_an_audit_that_was_killed_goes_on(tmp_path):
    script, file = tmp_path / "slow.py", tmp_path / "blocks"
    script.write_text(_SLOW)
    command = [sys.executable, str(script), str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "SLOW": "yes"})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not file.exists() or file.stat().st_size < 15_000):
        time.sleep(0.01)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = file.stat().st_size
    assert kept >= 15_000
    again = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert file.stat().st_size > kept
    file.unlink()
    assert again == subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# --- the file ---------------------------------------------------------------------------------------------


def test_a_record_that_is_torn_is_run_again(tmp_path):
    file, torn = tmp_path / "blocks", tmp_path / "torn"
    never = dp.audit(seeded, **ASKED).id
    interrupted(seeded, file, 1_500)
    content = file.read_bytes()
    ends = sorted({0, 5, len(MAGIC), len(MAGIC) + 9, len(content) - 1, len(content) // 2, len(content) - 700})
    for end in ends:
        torn.write_bytes(content[:end])
        with pytest.warns(Notice, match="nothing is resumed") if end < len(MAGIC) + 10 else contextlib.nullcontext():
            assert dp.audit(seeded, resume=torn, **ASKED).id == never
    assert dp.audit(seeded, resume=torn, **ASKED).id == never


def test_a_record_that_was_damaged_is_run_again_with_what_follows(tmp_path):
    file = tmp_path / "blocks"
    interrupted(seeded, file, 1_500)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert dp.audit(seeded, resume=file, **ASKED).id == dp.audit(seeded, **ASKED).id


def test_nothing_half_written_is_ever_added_to(tmp_path):
    """Whatever is cut off, what is appended later stands after whole records."""
    file = tmp_path / "blocks"
    interrupted(seeded, file, 1_500, reading="calls")
    file.write_bytes(file.read_bytes()[:-3])
    interrupted(seeded, file, 4_000, reading="calls")
    before = file.stat().st_size
    dp.audit(seeded, resume=file, reading="calls", **ASKED)
    after = file.stat().st_size
    assert after > before
    dp.audit(seeded, resume=file, reading="calls", **ASKED)
    assert file.stat().st_size == after


def other(data, rng, *, epsilon=1.0):
    return len(data) + rng.laplace(0, 1.0 / epsilon)


@pytest.mark.parametrize(
    ("function", "options", "differs"),
    [
        (seeded, {"seed": 1}, "seed was 0 and is 1"),
        (seeded, {"claim": "epsilon=2"}, 'claim was "epsilon=1" and is "epsilon=2"'),
        (seeded, {"runs": 30_000}, "runs was 8000 and is 30000"),
        (seeded, {"parameters": {"epsilon": 0.5}}, 'parameters was {"epsilon": 1.0} and is {"epsilon": 0.5}'),
        (seeded, {"pairs": [([1], [])]}, "differs in: pairs"),
        (seeded, {"sequential": True}, "sequential was false and is true"),
        (seeded, {"observe": "time"}, 'observe was [] and is ["time"]'),
        (seeded, {"floating_point": "ignore"}, "floating_point was"),
        (other, {}, 'target was "seeded" and is "other"'),
    ],
)
def test_another_question_is_refused(tmp_path, function, options, differs):
    file = tmp_path / "blocks"
    interrupted(seeded, file, 1_500)
    before = file.read_bytes()
    with pytest.raises(dp.UsageError) as refused:
        dp.audit(function, resume=file, **(ASKED | options))
    assert "holds the finished blocks of another question" in str(refused.value)
    assert differs in str(refused.value)
    assert file.read_bytes() == before


def test_code_that_was_edited_is_another_question(tmp_path):
    file, script = tmp_path / "blocks", tmp_path / "release.py"
    text = "SCALE = 1\ndef release(data, rng):\n    return len(data) + rng.laplace(0, SCALE)\n"
    script.write_text(text)
    interrupted(f"{script}:release", file, 1_500)
    script.write_text(text.replace("SCALE = 1", "SCALE = 2"))
    with pytest.raises(dp.UsageError, match="differs in: code of the target"):
        dp.audit(f"{script}:release", resume=file, **ASKED)


def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path):
    for name, content in (("evidence.json", b'{"id": "dpa1:0"}' * 9), ("pickle", b"\x80\x04\x95")):
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(dp.UsageError, match="holds no finished blocks"):
            dp.audit(seeded, resume=file, **ASKED)
        assert file.read_bytes() == content


def test_what_cannot_be_resumed_is_refused(tmp_path):
    with pytest.raises(dp.UsageError, match="with a time budget the number of runs depends on the speed"):
        dp.audit(seeded, resume=tmp_path / "blocks", time_budget=5, **ASKED)
    for place in (tmp_path, tmp_path / "missing" / "blocks"):
        with pytest.raises(dp.UsageError, match="cannot open"):
            dp.audit(seeded, resume=place, **ASKED)


@pytest.mark.skipif(sys.platform == "win32", reason="no such lock there")
def test_two_audits_do_not_write_to_one_file(tmp_path):
    with Checkpoint(tmp_path / "blocks", {}), pytest.raises(dp.UsageError, match="another audit is writing to"):
        dp.audit(seeded, resume=tmp_path / "blocks", **ASKED)


def test_the_file_is_let_go_of_when_the_audit_ends(tmp_path):
    file = tmp_path / "blocks"
    with pytest.raises(dp.UsageError, match="raises in every run"):
        dp.audit(lambda data, rng: 1 / 0, resume=file, **ASKED)
    os.remove(file)
    dp.audit(seeded, resume=file, **ASKED)
    dp.audit(seeded, resume=file, **ASKED)


# --- what is kept -----------------------------------------------------------------------------------------

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple),
    max_leaves=8,
)


@given(plain_values)
def test_what_is_kept_comes_back_as_it_was(value):
    assert restored(plain(value)) == value
    assert repr(restored(plain(value))) == repr(value)


def test_outputs_and_arrays_come_back_as_they_were():
    outputs = from_list([1.5, "a", None, [1, 2], -0.0, float("nan"), 3.0])
    back = restored(plain((outputs, np.arange(6).reshape(2, 3))))
    assert back[0].forms == outputs.forms
    assert np.array_equal(back[0].codes, outputs.codes)
    assert all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(back[0].numbers, outputs.numbers, strict=True)
    )
    assert np.array_equal(back[1], np.arange(6).reshape(2, 3))
    back[1][0, 0] = 9  # not read-only


def test_objects_are_neither_kept_nor_made():
    for value in (object(), np.array([object()]), {1: 2}, Path()):
        with pytest.raises(TypeError):
            plain(value)
    for value in (["object", 1], ["array", "|O", [1], b"12345678"], ["module", "os"]):
        with pytest.raises(ValueError, match="a kept block holds"):
            restored(value)


def _game(session=None):
    return Experiment(dp.mechanism(seeded), {}, (PAIR,), ((digest(PAIR[0]), digest(PAIR[1])),), 0, session=session)


def test_a_block_is_known_by_everything_that_it_depends_on(tmp_path):
    blocks = [
        RunBlock(Phase.LEARNING, 0, 0, 50),
        RunBlock(Phase.MEASURING, 0, 0, 50),
        RunBlock(Phase.LEARNING, 0, 1, 50),
    ]
    with Checkpoint(tmp_path / "blocks", {}) as checkpoint:
        kept = next(iter(play(_game(Session(checkpoint=checkpoint)), blocks[:1], both_sides)))
        (place,) = checkpoint._places.values()
        assert (tmp_path / "blocks").stat().st_size == sum(place)  # a process that is killed now has lost nothing
        assert isinstance(checkpoint.find(_game(), blocks[0], both_sides), BlockResult)
        assert checkpoint.find(_game(), blocks[0], both_sides).sizes == kept.sizes
        for block in (*blocks[1:], RunBlock(Phase.LEARNING, 0, 0, 51), RunBlock(Phase.LEARNING, 0, 0, 50, 0.4)):
            assert checkpoint.find(_game(), block, both_sides) is None
        others = (
            {"seed": 1},
            {"digests": (("another", digest(PAIR[1])),)},
            {"types": "ignore"},
            {"observe": ("time",)},
            {"made_as": Shape.OPAQUE},
        )
        for changed in others:
            assert checkpoint.find(replace(_game(), **changed), blocks[0], both_sides) is None
        assert checkpoint.find(_game(), blocks[0], _count) is None
        assert checkpoint.find(_game(), blocks[0], lambda *sides: sides) is None


def _count(side0, side1):
    return len(side0), len(side1)


def test_finished_blocks_between_unfinished_ones_stay_in_order(tmp_path):
    blocks = [RunBlock(Phase.LEARNING, 0, index, 50) for index in range(6)]
    want = [played.result for played in play(_game(), blocks, _count)]
    with Checkpoint(tmp_path / "blocks", {}) as checkpoint:
        for index in (3, 1, 4):
            list(play(_game(Session(checkpoint=checkpoint)), [blocks[index]], _count))
        session = Session(checkpoint=checkpoint)
        found = list(play(_game(session), blocks, _count))
    assert [played.result for played in found] == want
    assert [played.block.index for played in found] == list(range(6))
    assert session.repeated == 150

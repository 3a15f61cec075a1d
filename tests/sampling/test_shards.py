"""Do processes that share the blocks of an audit find what one finds alone, whatever happens to some of them?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from support import forked

import dpaudit as dp
from dpaudit.auditing.pair import both_sides
from dpaudit.cli.main import cli
from dpaudit.sampling import shards
from dpaudit.sampling.blocks import Block, Experiment, Phase
from dpaudit.sampling.play import play
from dpaudit.sampling.progress import Session
from dpaudit.sampling.shards import Shards, UnfinishedError

PAIR = ([1, 1], [1])
ASKED = {"claim": "epsilon=1", "pairs": [PAIR], "relation": "add-remove", "runs": 6_000, "seed": 3}
BLOCKS = [Block(Phase.LEARNING, 0, index, 30) for index in range(12)]
SLOW = """import time

def slow(data, rng):
    time.sleep(0.0005)
    return len(data) + rng.laplace()
"""


def noisy(data, rng):
    return len(data) + rng.laplace()


def raises(data, size, rng):
    if size > 1:
        raise ValueError
    return [len(data) + rng.laplace()]


def program(data, noise):
    return "many" if len(data) + noise.laplace(1) > 1.5 else None


@pytest.mark.parametrize(
    ("function", "asked"),
    [(noisy, {}), (raises, {"runs": 2_000}), (program, {}), (noisy, {"sequential": True, "runs": 200})],
)
def test_the_folder_changes_nothing_and_is_merged_without_runs(tmp_path, function, asked):
    asked = ASKED | asked
    alone = dp.audit(function, **asked)
    assert dp.audit(function, shards=tmp_path, **asked).id == alone.id
    merged = dp.audit(function, shards=tmp_path, workers=0, **asked)
    assert merged.id == alone.id


def test_searched_pairs_are_shared_too(tmp_path):
    asked = {"claim": "epsilon=1", "relation": "add-remove", "data": [3.0, 41.5, 17.25], "domain": (0.0, 100.0)}
    asked |= {"runs": 1_200, "seed": 0, "reading": "calls"}  # a search by runs

    def clipped_sum(data, rng):
        return sum(min(max(x, 0), 50.0) for x in data) + rng.laplace(0, 40)

    shared = dp.audit(clipped_sum, shards=tmp_path, **asked)
    assert dp.audit(clipped_sum, shards=tmp_path, workers=0, **asked).id == shared.id
    assert shared.id == dp.audit(clipped_sum, **asked).id


def experiment(folder, question=("q",), **more):
    session = Session(shards=Shards(folder, dict.fromkeys(question, 1), **more))
    return Experiment(dp.load(noisy).reference, {}, (PAIR,), (), 0, session=session)


def played(shared, blocks=BLOCKS, seed=0):
    return list(play(replace(shared, seed=seed), blocks, both_sides))


def files(folder):
    return {each.name: each.read_bytes() for each in (folder / "blocks").iterdir()}


def test_two_workers_split_the_blocks_and_both_get_all(tmp_path):
    one, two = (experiment(tmp_path, shard=(number, 2)) for number in (1, 2))
    first = play(one, BLOCKS, both_sides)
    mine = []
    run = one.session.shards._add
    one.session.shards._add = lambda key, found: mine.append(found.block.index) or run(key, found)
    assert [found.block for found in first] == BLOCKS
    assert mine == [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]  # its own share first, and then what nobody did
    before = files(tmp_path)
    assert [found.block for found in played(two)] == BLOCKS
    assert files(tmp_path) == before


def test_what_another_worker_has_claimed_is_waited_for_while_it_lives(tmp_path, monkeypatch):
    shared, other = experiment(tmp_path), experiment(tmp_path)
    key = shared.session.shards._key(shared, BLOCKS[3], both_sides)
    assert other.session.shards._claim(key)
    assert not shared.session.shards._claim(key)
    waits = []

    def leaves(seconds):
        waits.append(seconds)
        other.session.close()  # as a lost worker does, sooner or later

    monkeypatch.setattr(shards.time, "sleep", leaves)
    assert [found.block for found in played(shared)] == BLOCKS
    assert len(waits) == 1


def test_a_lost_worker_of_this_machine_is_noticed_at_once(tmp_path):
    shared = experiment(tmp_path).session.shards
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    name = f"{shards.platform.node()}-{ended.pid}-00"
    (tmp_path / "workers" / name).touch()
    (tmp_path / "claims" / "ab").write_text(name)
    assert shared._claim("ab")


def test_a_sign_of_life_that_is_old_counts_as_none(tmp_path):
    shared = experiment(tmp_path).session.shards
    (tmp_path / "workers" / "elsewhere-1-00").touch()
    (tmp_path / "claims" / "ab").write_text("elsewhere-1-00")
    assert not shared._claim("ab")
    past = time.time() - shards._LAPSE - 1
    os.utime(tmp_path / "workers" / "elsewhere-1-00", (past, past))
    assert shared._claim("ab")


def test_a_damaged_block_is_run_again(tmp_path):
    shared = experiment(tmp_path)
    found = played(shared)
    path = sorted((tmp_path / "blocks").iterdir())[0]
    whole = path.read_bytes()
    for broken in (b"", whole[:20], whole[:-1], whole[:-1] + b"x"):
        path.write_bytes(broken)
        again = played(experiment(tmp_path))
        assert path.read_bytes() == whole
        assert [each.result[0].equals(other.result[0]) for each, other in zip(again, found, strict=True)] == [True] * 12


def test_blocks_of_another_plan_are_refused(tmp_path):
    played(experiment(tmp_path / "one"))
    played(experiment(tmp_path / "two", question=("q", "r")))
    for path in (tmp_path / "two" / "blocks").iterdir():
        path.rename(tmp_path / "one" / "blocks" / path.name)
    with pytest.raises(dp.UsageError, match="made for another plan"):
        played(experiment(tmp_path / "one"))


def test_a_block_that_two_workers_found_differently_is_refused(tmp_path):
    shared = experiment(tmp_path)
    found = played(shared, BLOCKS[:2])
    key = shared.session.shards._key(shared, BLOCKS[0], both_sides)
    shared.session.shards._add(key, found[0])
    with pytest.raises(dp.UsageError, match="found different runs"):
        shared.session.shards._add(key, found[1])


def test_another_list_of_blocks_is_refused(tmp_path):
    played(experiment(tmp_path))
    with pytest.raises(dp.UsageError, match="another list of blocks in step 0"):
        played(experiment(tmp_path), BLOCKS[:11])
    with pytest.raises(AssertionError, match="twice"):
        played(experiment(tmp_path / "twice"), [BLOCKS[0], BLOCKS[0]])


@pytest.mark.parametrize("changed", [{"runs": 7_000}, {"seed": 4}, {"claim": "epsilon=2"}])
def test_another_question_is_refused(tmp_path, changed):
    with pytest.raises(UnfinishedError, match="no verdict yet"):
        dp.audit(noisy, shards=tmp_path, workers=0, **ASKED)
    with pytest.raises(dp.UsageError, match="another question"):
        dp.audit(noisy, shards=tmp_path, **(ASKED | changed))


@pytest.mark.parametrize("name", ["version of numpy", "version of python", "code of dpaudit", "code of the target"])
def test_another_version_is_refused(tmp_path, name):
    with pytest.raises(UnfinishedError):
        dp.audit(noisy, shards=tmp_path, workers=0, **ASKED)
    plan = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps(plan | {name: "other"}))
    with pytest.raises(dp.UsageError, match=name):
        dp.audit(noisy, shards=tmp_path, **ASKED)


def test_what_cannot_be_shared_is_refused(tmp_path):
    own = np.random.default_rng(5)
    stream = iter(range(10**9))
    for function, why in [
        (lambda data: len(data) + own.laplace(), "randomness of its own"),
        (lambda data, rng: len(data) + own.laplace(), "only exists in this one, and holds"),
        (hidden, "randomness of its own"),
    ]:
        with pytest.raises(dp.UsageError, match=f"cannot be shared: .*{why}"):
            dp.audit(function, shards=tmp_path / str(next(stream)), reading="calls", **ASKED)
    for asked, why in [
        ({"observe": "time"}, "run times are measured in one process"),
        ({"resume": tmp_path / "file"}, "leave out resume"),
        ({"time_budget": 1}, "leave out shards"),
        ({"shard": "0/2"}, "1/8 to 8/8"),
    ]:
        with pytest.raises(dp.UsageError, match=why):
            dp.audit(noisy, shards=tmp_path / why.replace("/", ""), **(ASKED | asked))
    with pytest.raises(dp.UsageError, match="name the folder"):
        dp.audit(noisy, shard="1/2", **ASKED)


_OWN = np.random.default_rng(5)


def hidden(data, rng):
    return len(data) + _OWN.laplace()


def test_processes_that_name_no_seed_take_the_first_ones(tmp_path):
    asked = {**ASKED, "seed": None}
    assert dp.audit(noisy, shards=tmp_path, **asked).id == dp.audit(noisy, shards=tmp_path, workers=0, **asked).id


@pytest.mark.slow
def test_one_of_two_workers_is_killed_and_the_evidence_is_the_same(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "pair.json").write_text("[[1, 1], [1]]")
    asked = ["audit", "slow.py:slow", "--claim", "epsilon=1", "--runs", "3000", "--seed", "3", "--pair", "pair.json"]
    asked += ["--in-process", "--reading", "calls"]  # read, all runs would take no time
    sharing = [*asked, "--shards", "blocks", "--workers", "0", "--json", "-", "--quiet"]
    planned = forked.call(*sharing, cwd=tmp_path)
    assert (planned.returncode, planned.stdout) == (2, "") and "dpaudit work" in planned.stderr
    work = [sys.executable, "-m", "dpaudit", "work", "blocks", "--in-process", "--quiet"]
    lost = forked.Popen([*work, "--shard", "1/2"], cwd=tmp_path, stderr=subprocess.PIPE)
    claims = tmp_path / "blocks" / "claims"
    while not any(f"-{lost.pid}-" in _text(each) for each in claims.glob("*")):
        assert lost.poll() is None
        time.sleep(0.02)
    other = forked.Popen([*work, "--shard", "2/2"], cwd=tmp_path, stderr=subprocess.PIPE)
    os.kill(lost.pid, signal.SIGKILL)
    assert lost.wait() == -signal.SIGKILL
    lost.stderr.close()
    assert other.communicate()[1] == b"" and other.returncode == 0
    merged = forked.call(*sharing, cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    asked_again = {"claim": "epsilon=1", "runs": 3_000, "seed": 3, "pairs": [PAIR], "reading": "calls"}
    assert json.loads(merged.stdout)["id"] == dp.audit(f"{tmp_path}/slow.py:slow", **asked_again).id


def _text(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def test_a_folder_that_holds_no_audit_is_named(tmp_path):
    found = CliRunner().invoke(cli, ["work", str(tmp_path)])
    assert found.exit_code == 2 and "holds no audit" in found.output + str(found.stderr)
    with pytest.raises(UnfinishedError):
        dp.audit(noisy, shards=tmp_path, workers=0, **ASKED)
    found = CliRunner().invoke(cli, ["work", str(tmp_path)])
    assert found.exit_code == 2 and "asked for in Python" in found.output + str(found.stderr)

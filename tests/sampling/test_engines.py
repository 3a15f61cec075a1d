"""Are blocks the same wherever they are carried out, and is it said in a sentence where they cannot be?"""

import pickle
import threading
import time

import numpy as np
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import SequentialBackend

import dpaudit as dp
from dpaudit.auditing import question
from dpaudit.auditing.pair import both_sides
from dpaudit.errors import Notice
from dpaudit.report.text.reproduce import reproduce_command
from dpaudit.sampling import engines
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock
from dpaudit.sampling.engines import BACKENDS, Processes, engine_for
from dpaudit.sampling.engines import _batch_system as batch
from dpaudit.sampling.play import play
from dpaudit.sampling.runs import RaisedTogetherError

ASKED = {"claim": "epsilon=1", "pairs": [([1, 1], [1])], "relation": "add-remove", "runs": 3_000, "seed": 3}


def noisy(data, rng):
    return len(data) + rng.laplace()


def raises(data, size, rng):
    if size > 1:
        raise ValueError
    return [len(data) + rng.laplace()]


class Fake(engines.Remote):
    """An engine that carries out tasks here, the newest first, and each of them twice."""

    name, count = "a fake", 2

    def __init__(self):
        self.made, self.cancelled, self.closed = 0, 0, False

    def connect(self):
        pass

    def submit(self, expected, packed):
        self.made += 1
        return [lambda: engines.answer(expected, packed)]

    def answer(self, submitted):
        submitted[0]()  # a worker that is lost before it answers
        return pickle.loads(pickle.dumps(submitted.pop()()))

    def cancel(self, submitted):
        self.cancelled += len(submitted)

    def close(self):
        self.closed = True


@pytest.fixture
def fake(monkeypatch):
    made = Fake()
    monkeypatch.setattr(question, "engine_for", lambda *asked: made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("function", [noisy, raises, "laplace"])
def test_an_engine_finds_what_this_process_finds(fake, monkeypatch, function):
    asked = {**ASKED, "reading": "calls"} if callable(function) else {"runs": 3_000, "seed": 3}
    found = dp.audit(function, **asked)
    assert fake.made >= 3 and fake.closed
    monkeypatch.undo()
    assert found.id == dp.audit(function, **asked).id
    assert found.run.workers == 2


def experiment(function=noisy, data=None):
    pair = ([1, 1], [1] if data is None else data)
    return Experiment(dp.load(function).reference, {}, (pair,), (), 0)


BLOCKS = [RunBlock(Phase.LEARNING, 0, index, 30) for index in range(20)]


@pytest.mark.slow
def test_blocks_come_back_in_order_and_only_a_few_are_sent_ahead():
    fake = Fake()
    playing = play(experiment(), BLOCKS, both_sides, workers=fake)
    assert next(playing).block.index == 0
    assert fake.made == 7
    playing.close()
    assert fake.cancelled == 6
    assert [played.block for played in play(experiment(), BLOCKS, both_sides, workers=fake)] == BLOCKS


def test_what_a_mechanism_raises_together_arrives_as_what_it_is():
    with pytest.raises(RaisedTogetherError):
        list(play(experiment(raises), BLOCKS[:1], both_sides, workers=Fake()))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"numpy": "0.1"}, r"numpy is .* there, and 0.1 here"),
        ({"python": "2.7"}, "python is"),
        ({"the code of dpaudit": "other"}, "the code of dpaudit is"),
        ({"the code of the target": "reached1:other"}, "other code than the one here"),
    ],
)
def test_a_worker_with_another_installation_runs_nothing(monkeypatch, changed, said):
    expected_of = engines.expected_of
    monkeypatch.setattr(engines, "expected_of", lambda asked: expected_of(asked) | changed)
    with pytest.raises(dp.UsageError, match=said):
        list(play(experiment(), BLOCKS[:1], both_sides, workers=Fake()))


def test_a_worker_that_cannot_load_the_target_says_so(monkeypatch):
    here = experiment()
    packed = engines.packed(both_sides, here, BLOCKS[0])
    answer = engines.answer(engines.expected_of(here), packed.replace(b"test_engines", b"test_nothing"))
    assert "cannot load the target" in answer.refused and answer.found is None


def test_what_cannot_be_sent_is_named():
    with pytest.raises(dp.UsageError, match=r"cannot be sent to workers .*lock"):
        list(play(experiment(data=threading.Lock()), BLOCKS[:1], both_sides, workers=Fake()))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"backend": "das"}, "did you mean 'dask'"),
        ({"scheduler": "tcp://host:8786"}, "name it: backend="),
        ({"backend": "processes", "scheduler": "x"}, "name it: backend="),
    ],
)
def test_what_is_no_engine_is_refused(asked, said):
    with pytest.raises(dp.UsageError, match=said):
        dp.audit(noisy, **ASKED, **asked)


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_an_engine_that_is_not_installed_is_named(monkeypatch, backend):
    monkeypatch.setattr("dpaudit.sampling.engines.find_spec", lambda name: None)
    with pytest.raises(dp.UsageError, match=rf"pip install 'dpaudit\[{backend}\]'"):
        dp.audit(noisy, **ASKED, backend=backend)


def test_settings_of_a_batch_system():
    made = batch(4, "slurm, timeout_min=60, slurm_partition=gpu, folder=/shared")
    assert (made.count, made._cluster, made._folder) == (4, "slurm", "/shared")
    assert made._settings == {"timeout_min": 60, "slurm_partition": "gpu"}
    with pytest.raises(dp.UsageError, match="'hour' is no setting"):
        batch(4, "slurm, hour")


class Elsewhere(SequentialBackend):
    """A backend of joblib that another library brings."""


@pytest.mark.slow
def test_a_backend_of_joblib_that_the_user_chose_is_used(monkeypatch):
    answered = []
    answer = engines.answer
    monkeypatch.setattr(engines, "answer", lambda *sent: answered.append(sent) or answer(*sent))
    register_parallel_backend("elsewhere", Elsewhere)
    with parallel_config(backend="elsewhere"):
        found = dp.audit(noisy, reading="calls", **ASKED)
        assert isinstance(engine_for(2, "processes"), Processes)  # asked for by name, they are used
    assert len(answered) >= 3
    assert found.id == dp.audit(noisy, reading="calls", **ASKED).id


def test_opaque_functions_stay_here(fake):
    def opaque(data):
        return len(data) + np.random.default_rng().laplace()

    with pytest.warns(Notice, match="runs in one process"):
        dp.audit(opaque, reading="calls", **{**ASKED, "runs": 400})
    assert fake.made == 0


@pytest.mark.nightly
def test_smaller_blocks_keep_more_workers_busy(fake):
    fake.count = 8
    with pytest.warns(Notice, match=r"3,000 runs .* 2 blocks.*--block-size 64. makes more"):
        dp.audit(noisy, **ASKED)
    usual, fake.made = fake.made, 0
    evidence = dp.audit(noisy, **ASKED, block_size=64)
    assert fake.made > 40 > usual
    assert evidence.block_size == 64 and "--block-size 64" in reproduce_command(evidence)
    assert dp.replay(evidence, pairs=ASKED["pairs"]).identical
    with pytest.raises(dp.UsageError, match="at least 32"):
        dp.audit(noisy, **ASKED, block_size=31)


def test_threads_of_a_worker_take_turns(monkeypatch):
    inside, most = [], []

    def work(expected, packed):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()

    monkeypatch.setattr(engines, "_answer", work)
    threads = [threading.Thread(target=engines.answer, args=({}, b"")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]

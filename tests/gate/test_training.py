"""Does a gate hold training loops to their claims, beside other targets, and against what its process says?"""

import json

import msgspec
import numpy as np
import pytest
from support.watched import seen_loop

from dpaudit.errors import UsageError
from dpaudit.gate.config import read
from dpaudit.gate.result import OutcomeRule
from dpaudit.gate.run import GateOptions, relied_on, run
from dpaudit.gate.target_process import Request, carry_out
from dpaudit.training import watch
from dpaudit.training.canaries import Canaries, coins_of

SAME = np.random.default_rng(1).normal(size=600)
CLAIM = 'claim = "epsilon=4, delta=1e-5"'
pytest_plugins = ["pytester"]
SCRIPT = """
def train(watch):
    with watch(None, None):
        pass

repeated = train

def listed(watch):
    with watch(None, None, canaries=list(range(50)), canary_scores=lambda: [0.5] * 50):
        pass

def broken(watch):
    train(watch)
    raise KeyError("in the middle")
"""


class Drawn:
    """A watcher of a loop that NumPy draws; its noise is always the same where the function is called "repeated"."""

    clip, accountant, packages = 1.0, None, ()

    def __init__(self, request, seed):
        self.repeated, self.canaries, self.seed = request.name == "train.py:repeated", request.canaries, seed

    def __enter__(self):
        return self

    def leave(self):
        seen = seen_loop(noise=lambda rng, t: SAME) if self.repeated else seen_loop()
        if self.canaries is not None:
            many = self.canaries if isinstance(self.canaries, int) else len(self.canaries)
            coins = coins_of(many, self.seed)
            kind = "gradients" if isinstance(self.canaries, int) else "records"
            seen.canaries = Canaries(kind, np.arange(many), coins, np.random.default_rng(1).random(many))
        return seen


@pytest.fixture(autouse=True)
def _drawn(monkeypatch):
    monkeypatch.setattr(watch, "_watcher", Drawn)


def project(folder, *targets):
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    listed = "\n".join(f"[[tool.dpaudit.targets]]\n{target}\n" for target in targets)
    (folder / "pyproject.toml").write_text(f"[tool.dpaudit]\nseed = 0\n{listed}", encoding="utf-8")
    return folder / "pyproject.toml"


def gated(file, **options):
    return run(read(file), GateOptions(**options), runner=lambda request, *_: carry_out(request)).result


@pytest.mark.nightly
def test_loops_stand_beside_other_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    repeated = 'training = "train.py:repeated"'
    file = project(
        tmp_path,
        f'training = {{ function = "train.py:train", canaries = 5e1 }}\n{CLAIM}',
        f'{repeated}\nname = "repeated"\n{CLAIM}\nexpect = "violated"',
        'account = { mechanism = "laplace", scale = 2 }\nclaim = "epsilon=1"',
    )
    result = gated(file, fresh=True)
    assert [str(item.outcome) for item in result.results] == ["passed"] * 3 and result.exit_code == 0
    assert (
        result.results[0].location.file == "train.py" and sum(result.results[0].evidence.training.canaries.given) == 50
    )
    assert gated(project(tmp_path, f"{repeated}\n{CLAIM}"), nightly=True).results[0].rule is OutcomeRule.CLAIM_VIOLATED


@pytest.mark.slow
def test_a_training_that_ends_with_an_error_is_no_evidence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = gated(project(tmp_path, f'training = "train.py:broken"\n{CLAIM}'))
    assert result.exit_code == 4 and "KeyError" in result.results[0].sentence


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ('training = "train.py:train"', "a gate holds claims"),
        ('training = "train.py:train"\nclaim = "epsilon=1"', "has no δ"),
        (f'training = "train.py"\n{CLAIM}', "names a function that trains"),
        (f'training = {{ function = "train.py:train", sigm = 1 }}\n{CLAIM}', "did you mean 'sigma'"),
        (f'training = {{ function = "train.py:train", clip = 0 }}\n{CLAIM}', "clip is a number above 0"),
        (f'training = {{ function = "train.py:train", canaries = 5 }}\n{CLAIM}', "5 canaries could show nothing"),
        (f'training = {{ function = "train.py:train", canaries = "50" }}\n{CLAIM}', "how many there are"),
        (f'training = {{ function = "train.py:train", canaries = [1, 2] }}\n{CLAIM}', "list them in the function"),
        (f'training = "train.py:train"\n{CLAIM}\nruns = 1000', "no meaning beside training"),
        (f'training = "train.py:train"\n{CLAIM}\nrequire = "proved"', "proves nothing"),
    ],
)
def test_what_cannot_be_watched_is_refused_with_its_place(target, said, tmp_path):
    with pytest.raises(UsageError, match=r"targets\[0\]") as refused:
        read(project(tmp_path, target))
    assert said.lower() in str(refused.value).lower()


@pytest.mark.nightly
def test_evidence_of_another_loop_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project(tmp_path, "")
    table = {"function": "train.py:train"}
    request = Request(
        target="train.py:train", root=str(tmp_path), training=table, claim="epsilon=4, delta=1e-5", seed=1
    )
    document = json.loads(json.dumps(carry_out(request).evidence))
    assert relied_on(document, request).training is not None
    for other in (
        {"claim": "epsilon=9, delta=1e-5"},
        {"target": "train.py:broken"},
        {"seed": 2},
        {"false_alarm": 1e-9},
        {"training": {**table, "sampling": "shuffled"}},
        {"training": {**table, "sigma": 2.0}},
        {"training": {**table, "clip": 2.0}},
        {"training": {**table, "rate": 0.5}},
        {"training": {**table, "canaries": 50}},
        {"training": None, "account": {"mechanism": "laplace", "scale": 2}},
    ):
        with pytest.raises(UsageError, match="about something else"):
            relied_on(document, msgspec.structs.replace(request, **other))
    fifty, sixty = ({**table, "canaries": many} for many in (50, 60))
    for training, target in ((sixty, "train.py:train"), (table, "train.py:listed")):
        asked = msgspec.structs.replace(request, target=target, training={**training, "function": target})
        document = json.loads(json.dumps(carry_out(asked).evidence))
        assert relied_on(document, asked).training.canaries is not None
        with pytest.raises(UsageError, match=r"canaries is (60|'50 listed records'), and 50 was asked for"):
            relied_on(document, msgspec.structs.replace(asked, training={**fifty, "function": target}))


@pytest.mark.slow
def test_a_test_of_pytest_holds_a_loop_to_its_claim(pytester):
    pytester.makepyfile(
        """
        import sys
        from support.watched import seen_loop
        from dpaudit.training import watch as module

        class Drawn:
            clip, accountant, packages = 1.0, None, ()
            def __init__(self, request, seed): self.request = request
            def __enter__(self): return self
            def leave(self): return seen_loop()

        def train(watch):
            with watch(None, None):
                pass

        def test_right(dp_audit, monkeypatch):
            monkeypatch.setattr(module, "_watcher", Drawn)
            assert dp_audit(training=train, claim="epsilon=4, delta=1e-5").training is not None

        def test_wrong(dp_audit, monkeypatch):
            monkeypatch.setattr(module, "_watcher", Drawn)
            dp_audit(training=train, claim="epsilon=0.01, delta=1e-5")

        def test_refused(dp_audit):
            dp_audit(training=train, claim="epsilon=1")

        def test_other(dp_audit):
            dp_audit(training=train, claim="epsilon=4, delta=1e-5", pairs=[(1, 2)])
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["*no meaning beside training*"])

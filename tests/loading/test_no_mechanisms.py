"""Does everything that is callable and no mechanism get a sentence that says what to write instead?"""

import pytest
from click.testing import CliRunner

import dpaudit as dp
from dpaudit.cli.main import cli

MODULE = """
class Counter:
    def __init__(self, scale=1.0):
        self.scale = scale
    def release(self, data, rng):
        return len(data) + rng.laplace(0, self.scale)
    def __call__(self, data, rng):
        return self.release(data, rng)

async def later(data, rng):
    return len(data)

def yields(data, rng):
    yield len(data)

def sampled(data, n_samples, rng):
    return len(data) + rng.laplace(size=n_samples)

instance = Counter()
method = instance.release
"""
REFUSED = {
    "Counter": ["is a class", "def release(data, rng): return Counter("],
    "Counter.release": ["is a method without its object", "Counter(…).release(data)"],
    "later": ["is async", "asyncio.run(later(data))"],
    "yields": ["is a generator", "list(yields(data, rng))"],
    "sampled": ["needs a value for n_samples", "name it size"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_mechanism_gets_a_sentence(name, tmp_path):
    (tmp_path / "m.py").write_text(MODULE)
    with pytest.raises(dp.UsageError) as refusal:
        dp.audit(f"{tmp_path}/m.py:{name}", claim="epsilon=1", pairs=[([1], [])], runs=200, seed=0)
    assert all(words in str(refusal.value) for words in REFUSED[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["instance", "method", "instance.release"])
def test_objects_and_their_methods_are_audited(name, tmp_path):
    (tmp_path / "m.py").write_text(MODULE)
    evidence = dp.audit(f"{tmp_path}/m.py:{name}", claim="epsilon=1", pairs=[([1], [])], runs=2_000, seed=0)
    assert evidence.target.asks == "seeded"


def test_a_script_that_reads_its_arguments_says_what_to_do(tmp_path):
    (tmp_path / "s.py").write_text("import sys\nsys.exit(2)\ndef f(data): return 0\n")
    with pytest.raises(dp.UsageError, match="under if __name__ == '__main__':"):
        dp.audit(f"{tmp_path}/s.py:f", claim="epsilon=1", pairs=[([1], [])], runs=200, seed=0)


def test_a_mistyped_command_gets_the_nearest():
    result = CliRunner().invoke(cli, ["aduit", "laplace"])
    assert result.exit_code == 2 and "did you mean 'audit'" in result.output + (result.stderr or "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "laplace"], "nothing was kept"),
        (["audit", "laplace", "--resume", "b.json"], "kept in 'b.json'"),
        (["audit", "laplace", "--resume=b.json"], "kept in 'b.json'"),
    ],
)
def test_an_interrupted_command_says_what_was_kept(words, said, monkeypatch, capfd):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("click.Group.main", interrupted)
    with pytest.raises(SystemExit) as stop:
        cli.main(words)
    assert stop.value.code == 130
    assert said in capfd.readouterr().err


HANDS = """
import asyncio
class Asked:
    async def __call__(self, data, rng):
        return len(data)
async def later(data):
    return len(data)
class Counter:
    def release(self, data, rng):
        return len(data)
asked, counter, number = Asked(), Counter(), 3
def hidden(data):
    return later(data)
def frame(data, rng):
    return data["age"].sum()
def attribute(data, rng):
    return data.age.sum()
def array(data, rng):
    return (data > 3).sum()
"""
SAID = {
    "asked": ["returns a coroutine", "asyncio.run(f(data))"],
    "hidden": ["returns a coroutine", "asyncio.run(f(data))"],
    "counter": ["an object of Counter", "m.py:counter.release'"],
    "number": ["is no function but 3", "f(data, rng"],
    "frame": ["the data are a list here", "--pair data0.csv --pair data1.csv", "pandas.DataFrame(data)"],
    "attribute": ["the data are a list here", "pairs=[(frame0, frame1)]"],
    "array": ["the data are a list here", "numpy.asarray(data)"],
    "": ["names no function", "m.py:name'"],
    "fram": ["did you mean 'frame'?"],
}


@pytest.mark.parametrize("name", SAID)
@pytest.mark.filterwarnings("error")  # as of coroutines that nobody awaits
def test_what_a_user_does_by_hand_gets_a_sentence(name, tmp_path):
    (tmp_path / "m.py").write_text(HANDS)
    pairs = [([{"age": 3}, {"age": 4}], [{"age": 3}])]
    with pytest.raises(dp.UsageError) as refusal:
        dp.audit(f"{tmp_path}/m.py:{name}", claim="epsilon=1", pairs=pairs, runs=200, seed=0)
    assert all(words in str(refusal.value) for words in SAID[name])


@pytest.mark.slow
def test_a_function_of_records_that_gets_a_frame_says_what_to_write():
    pandas = pytest.importorskip("pandas")

    frames = [(pandas.DataFrame({"age": [3, 4]}), pandas.DataFrame({"age": [3]}))]
    of_records = lambda data, rng: sum(record["age"] for record in data)  # noqa: E731
    of_numbers = lambda data, rng: sum(min(age, 9) for age in data)  # noqa: E731
    for total in (of_records, of_numbers, lambda data, rng: sum(map(float, data))):
        with pytest.raises(
            dp.UsageError, match=r"data\.to_dict\('records'\), one of numbers with data = data\['age'\]"
        ):
            dp.audit(total, claim="epsilon=1", pairs=frames, runs=200, seed=0)


MISTYPED = {
    "mechanisms.queries:laplace": "did you mean 'laplace', of the catalogue?",
    "mechanism:laplace": "did you mean 'laplace', of the catalogue?",
    "mechanisms.querys:my_count": "did you mean 'mechanisms.queries'",
    "mechanism:my_count": "did you mean 'mechanisms'",
    "relaese:f": "did you mean 'release'",
    "relaese.py:f": "did you mean 'release.py'?",
    "Laplace": "did you mean 'laplace'",
    "laplce": "did you mean 'laplace'",
    "mechanisms:laplce": "did you mean 'laplace'",
}


@pytest.mark.parametrize("target", MISTYPED)
def test_a_mistyped_target_gets_the_nearest(target, tmp_path, monkeypatch):
    (tmp_path / "release.py").write_text("def f(data): return 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dp.UsageError) as refusal:
        dp.audit(target, claim="epsilon=1", pairs=[([1], [])], runs=200, seed=0)
    assert MISTYPED[target] in str(refusal.value)


def test_a_script_that_counts_on_its_arguments_says_what_to_do(tmp_path):
    (tmp_path / "s.py").write_text("import sys\nscale = float(sys.argv[99])\ndef f(data): return 0\n")
    with pytest.raises(dp.UsageError, match="under if __name__ == '__main__':"):
        dp.audit(f"{tmp_path}/s.py:f", claim="epsilon=1", pairs=[([1], [])], runs=200, seed=0)


def test_help_is_an_option():
    result = CliRunner().invoke(cli, ["help"])
    assert result.exit_code == 2 and "did you mean 'dpaudit --help'?" in result.output + (result.stderr or "")

"""Does the command behave in a real process: start fast, survive pipes and signals, and share work?"""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import forked

pytestmark = pytest.mark.slow

SCRIPT = Path(sys.executable).with_name("dpaudit")
COMMANDS = {"script": [str(SCRIPT)], "module": [sys.executable, "-m", "dpaudit"]}
PROGRAM = ["audit", "some folder/shapes.py:program", "--pair", "pair.json", "--claim", "epsilon=1", "--seed", "0"]
EXACT = ["audit", "exact_count", "--runs", "2000"]
FEW = ["--runs", "400", "--seed", "0", "--in-process"]
HERE = [*EXACT, "--in-process"]  # for what the process that speaks does, not the one that runs the target


@pytest.fixture(params=COMMANDS)
def command(request):
    found = COMMANDS[request.param]
    if not Path(found[0]).exists():
        pytest.skip("the console script is not installed beside this Python")
    return found


def call(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False, **options)


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["list", "--help"], ["report", "-h"], []])
def test_help_imports_nothing_that_is_slow(arguments):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(sorted(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['dpaudit', *{arguments!r}]\n"
        "from dpaudit.cli.main import main\n"
        "main()\n"
    )
    done = call(sys.executable, "-c", code)
    assert done.returncode == (0 if arguments else 2)
    loaded = set(done.stderr.splitlines()[-1].strip("[]").replace("'", "").split(", "))
    assert "click" in loaded
    slow = {
        "numpy",
        "scipy",
        "matplotlib",
        "pandas",
        "statsmodels",
        "jinja2",
        "joblib",
        "rich",
        "msgspec",
        "mechanisms",
    }
    assert loaded & slow == set()


def test_version(command):
    done = call(*command, "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "dpaudit,")


@pytest.mark.nightly
def test_a_mechanisms_file_in_the_working_directory_does_not_shadow_the_catalogue(folder):
    (folder / "mechanisms.py").write_text("def mine(data, noise): return data + noise.laplace(1)\n", encoding="utf-8")
    code = (  # one process for both; like a module, it has the working directory in its path
        "import json, sys\n"
        "from click.testing import CliRunner\n"
        "from dpaudit.cli.main import cli\n"
        "for words in json.loads(sys.argv[1]):\n"
        "    print(json.dumps(json.loads(CliRunner().invoke(cli, [*words, '--json', '-']).stdout)))\n"
    )
    asked = json.dumps([["list"], ["audit", "mechanisms:laplace", *FEW]])
    listed, audited = map(json.loads, call(sys.executable, "-c", code, asked, cwd=folder).stdout.splitlines())
    assert "laplace" in {item["name"] for item in listed}
    assert audited["evidence"]["claim"] == "epsilon=1"
    (folder / "answers.json").write_text("[0, 1]", encoding="utf-8")
    mine = ["audit", "mechanisms.py:mine", "--pair", "answers.json", *FEW, "--quiet"]
    assert forked.call(*mine, cwd=folder).returncode == 0


def test_two_workers_give_the_same_evidence_as_one_and_what_they_print_stays_out_of_it(folder):
    # more than a block of learning and of measuring
    arguments = ["audit", "some folder/shapes.py:prints", "--pair", "pair.json", "--seed", "0", "--runs", "12000"]
    with forked.children():
        alone = forked.call(*arguments, "--json", "-", cwd=folder)
    shared = call(*COMMANDS["module"], *arguments, "--json", "-", "--workers", "2", cwd=folder)
    documents = [json.loads(done.stdout) for done in (alone, shared)]
    assert documents[0]["id"] == documents[1]["id"]
    assert [document["run"]["workers"] for document in documents] == [1, 2]
    assert documents[1].keys() == {"id", "evidence", "run"}
    assert "printed" in alone.stderr and "printed" in shared.stderr


def test_a_violation_alone_exits_with_1(folder):
    assert call(*COMMANDS["script"], *EXACT, "--seed", "0", "--quiet", "--json", "e.json", cwd=folder).returncode == 1
    assert json.loads((folder / "e.json").read_text(encoding="utf-8"))["evidence"]["verdict"] == "violated"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_exits_with_130_and_leaves_nothing_behind(workers, folder):
    # it says when it runs, so that the interrupt falls into the runs
    (folder / "slow.py").write_text(
        "import time\n"
        "def f(data, rng):\n"
        "    open('running', 'w').close()\n"
        "    time.sleep(0.01)\n"
        "    return rng.random()\n",
        encoding="utf-8",
    )
    arguments = ["audit", "slow.py:f", "--pair", "pair.json", "--runs", "1e6", "--json", "e.json", "--html", "e.html"]
    command = [*COMMANDS["module"], *arguments, "--workers", workers]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # workers of a forked process share what this one opened; and tests in the background hear no interrupt
    popen = forked.Popen if workers == "1" else subprocess.Popen
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with forked.children():
        process = popen(command, cwd=folder, start_new_session=True, preexec_fn=heard, **pipes)
    deadline = time.monotonic() + 120
    while not (folder / "running").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert output == ""
    left = set(os.listdir(folder)) - {"__pycache__"}  # which Python makes for slow.py
    assert left == {"pair.json", "running", "slow.py", "some folder"}


def test_a_reader_that_leaves_does_not_make_a_verdict(folder):
    read, write = os.pipe()
    os.close(read)
    done = forked.call(*HERE, stdout=write, cwd=folder)
    os.close(write)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("options", [[], ["--json", "-"], ["--json", "/dev/full"]])
def test_a_full_disk_does_not_make_a_verdict(options, folder):
    with open("/dev/full", "w") as full:
        done = forked.call(*HERE, *options, stdout=full, cwd=folder)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_no_greek_gets_the_verdict_and_the_evidence(folder):
    poor = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = forked.call(*HERE, cwd=folder, env=poor)
    assert done.returncode == 1
    assert "\\u03b5" in done.stdout
    done = forked.call(*HERE, "--json", "-", cwd=folder, env=poor)
    assert "ε" in json.loads(done.stdout)["evidence"]["reason"]


@pytest.mark.nightly
def test_a_closed_standard_output_is_no_failure(folder):
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMANDS["module"], *EXACT, "--seed", "0"],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")

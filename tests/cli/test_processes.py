"""Does the command behave in a real process: start fast, survive pipes and signals, and share work?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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


def test_a_mechanisms_file_in_the_working_directory_does_not_shadow_the_catalogue(folder):
    command = COMMANDS["module"]  # which has the working directory in its path
    (folder / "mechanisms.py").write_text("def mine(data, noise): return data + noise.laplace(1)\n", encoding="utf-8")
    done = call(*command, "list", "--json", "-", cwd=folder)
    assert "laplace" in {item["name"] for item in json.loads(done.stdout)}
    done = call(*command, "audit", "mechanisms:laplace", *FEW, "--json", "-", cwd=folder)
    assert json.loads(done.stdout)["evidence"]["claim"] == "epsilon=1", done.stderr
    (folder / "answers.json").write_text("[0, 1]", encoding="utf-8")
    mine = ["audit", "mechanisms.py:mine", "--pair", "answers.json", *FEW, "--quiet"]
    assert call(*command, *mine, cwd=folder).returncode == 0


def test_two_workers_give_the_same_evidence_as_one(folder):
    # more than a block of learning and of measuring
    arguments = ["audit", "some folder/shapes.py:seeded", "--pair", "pair.json", "--seed", "0", "--runs", "12000"]
    documents = [
        json.loads(
            call(*COMMANDS["module"], *arguments, "--json", "-", "--quiet", "--workers", workers, cwd=folder).stdout
        )
        for workers in ("1", "2")
    ]
    assert documents[0]["id"] == documents[1]["id"]
    assert [document["run"]["workers"] for document in documents] == [1, 2]


def test_what_workers_print_stays_out_of_the_evidence(folder):
    arguments = ["audit", "some folder/shapes.py:prints", "--pair", "pair.json", "--runs", "5000", "--json", "-"]
    done = call(*COMMANDS["module"], *arguments, "--workers", "2", cwd=folder)
    assert json.loads(done.stdout).keys() == {"id", "evidence", "run"}
    assert "printed" in done.stderr


def test_a_violation_alone_exits_with_1(folder):
    assert call(*COMMANDS["script"], *EXACT, "--quiet", "--json", "e.json", cwd=folder).returncode == 1
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
    process = subprocess.Popen(
        [*COMMANDS["module"], *arguments, "--workers", workers],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell may have told its background jobs to ignore interrupts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
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
    done = subprocess.run(
        [*COMMANDS["module"], *HERE], stdout=write, stderr=subprocess.PIPE, cwd=folder, check=False, text=True
    )
    os.close(write)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("options", [[], ["--json", "-"], ["--json", "/dev/full"]])
def test_a_full_disk_does_not_make_a_verdict(options, folder):
    words = [*COMMANDS["module"], *HERE, *options]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=folder, check=False, text=True)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_no_greek_gets_the_verdict_and_the_evidence(folder):
    poor = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = call(*COMMANDS["module"], *HERE, cwd=folder, env=poor)
    assert done.returncode == 1
    assert "\\u03b5" in done.stdout
    done = call(*COMMANDS["module"], *HERE, "--json", "-", cwd=folder, env=poor)
    assert "ε" in json.loads(done.stdout)["evidence"]["reason"]


def test_a_closed_standard_output_is_no_failure(folder):
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *COMMANDS["module"], *EXACT],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")

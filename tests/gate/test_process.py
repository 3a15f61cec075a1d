"""Whatever a target does to its process, do the others run, and are all files written?"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import forked
from support import gate_projects as projects

from dpaudit.cli.main import cli
from dpaudit.gate import target_process
from dpaudit.gate.result import Outcome, OutcomeRule
from dpaudit.gate.run import GateOptions, run

pytestmark = pytest.mark.slow

EVIL = """
import os, time

def exits(data, rng):
    os._exit(0)

def segfaults(data, rng):
    import ctypes
    ctypes.string_at(0)

def hangs(data, rng):
    while True:
        time.sleep(0.01)

def forks(data, rng):
    os.fork()
    return rng.laplace()

def prints(data, rng):
    print("x" * 500)
    os.write(1, b"y" * 500)
    os.write(2, b"z" * 500)
    return len(data) + rng.laplace()

kept = []

def leaks(data, rng):
    kept.append(bytes(60_000_000))
    return len(data) + rng.laplace()

def interrupts(data, rng):
    raise KeyboardInterrupt

def leaves_a_child(data, rng):
    import subprocess, sys
    if not kept:
        kept.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        with open("child.pid", "w") as file:
            file.write(str(kept[0].pid))
    return len(data) + rng.laplace()

def reads(data, rng):
    input()
    return len(data) + rng.laplace()
"""
SAYS = {
    "exits": "ended by itself with exit code 0",
    "segfaults": "ended by SIGSEGV",
    "hangs": "took more than 2 seconds",
    "forks": "it forks",
    "leaks": "emory",  # ended by the gate, or refused more by the system
    "interrupts": "KeyboardInterrupt",
    "reads": "raises in every run",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals and forks")
def test_a_target_that_misbehaves_is_invalid_and_the_others_run(tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text(EVIL)
    names = [*SAYS, "prints", "leaves_a_child"]
    limits = {"hangs": "time_limit = 2"}
    targets = [projects.target(f"evil.py:{name}", limits.get(name, "")) for name in names]
    targets += [projects.target("program"), projects.target("evil.py:nothing"), projects.target("broken.py:f")]
    (tmp_path / "broken.py").write_text("def f(:\n")
    projects.project(tmp_path, *targets, gate="runs = 600\ntime_limit = 60\nmemory_limit = 3000")
    monkeypatch.chdir(tmp_path)
    files = {name: tmp_path / f"out.{name}" for name in ("junit", "sarif", "markdown")}
    asked = [part for name, file in files.items() for part in (f"--{name}", str(file))]
    done = CliRunner().invoke(cli, ["gate", "--workers", "2", "--html", "pages", *asked])
    assert done.exit_code == 4, done.output
    results = {result["ruleId"] for result in json.loads(files["sarif"].read_text())["runs"][0]["results"]}
    assert results - {"beside-verdict"} == {"cannot-run"}
    said = " ".join(done.output.split())
    for name, why in SAYS.items():
        assert f"{name}: invalid (evil.py:1) " in said
        assert why in said
    assert "PASSED prints" in said and "PASSED leaves_a_child" in said and "PASSED program" in said
    assert "no 'nothing'" in said and "cannot import 'broken.py'" in said
    for file in files.values():
        assert file.stat().st_size > 500
    assert (tmp_path / "pages" / "index.html").exists()
    child = int((tmp_path / "child.pid").read_text())
    time.sleep(0.2)
    assert not running(child)


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = f"/proc/{pid}/stat"
    return not os.path.exists(status) or Path(status).read_text().rpartition(")")[2].split()[0] != "Z"


def test_an_interrupt_ends_what_is_running(tmp_path):
    (tmp_path / "evil.py").write_text(EVIL)
    configuration = projects.project(tmp_path, projects.target("evil.py:hangs"), gate="time_limit = 600")
    stop = threading.Event()

    def interrupted(request, limits, _):
        threading.Timer(0.5, stop.set).start()
        return target_process.run(request, limits, stop)

    with pytest.raises(KeyboardInterrupt):  # and no word about a limit that was met
        run(configuration, GateOptions(), runner=interrupted)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups")
def test_a_gate_that_is_killed_leaves_its_baseline_and_goes_on_from_its_cache(tmp_path):
    (tmp_path / "evil.py").write_text(EVIL)
    before = projects.project(tmp_path, projects.target("program"), gate="time_limit = 60")
    projects.gated(before, seed=0, update_baseline=True)
    baseline = (tmp_path / "dpaudit-baseline.json").read_bytes()
    targets = projects.target("response"), projects.target("evil.py:hangs")
    changed = projects.configured(tmp_path, *targets, gate="time_limit = 60")
    command = [sys.executable, "-m", "dpaudit", "gate", "--workers", "1", "--seed", "0", "--update-baseline"]
    gate = forked.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)  # its targets have processes of their own
    folder = tmp_path / ".dpaudit" / "gate"
    deadline = time.monotonic() + 120
    while not any(folder.glob("response*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    gate.send_signal(signal.SIGKILL)
    gate.wait()
    assert (tmp_path / "dpaudit-baseline.json").read_bytes() == baseline
    found = projects.only(run(changed, GateOptions(seed=0, names=["response"])).result)
    assert found.cached and found.exit_code == 0


def test_what_a_process_says_last_is_told(tmp_path):
    (tmp_path / "evil.py").write_text(
        "import os\ndef dies(data, rng):\n    os.write(2, b'out of luck\\n')\n    os._exit(7)\n"
    )
    configuration = projects.project(tmp_path, projects.target("evil.py:dies"))
    found = projects.only(run(configuration).result)
    assert (found.outcome, found.rule) == (Outcome.INVALID, OutcomeRule.CANNOT_RUN)
    assert "exit code 7" in found.sentence and found.sentence.endswith("it said last: out of luck")

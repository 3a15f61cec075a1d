"""Whatever a target does to its process or to its auditor: is there never exit code 0 without a written verdict?

Every target here gives its data away, so that none may pass: it is VIOLATED in writing, or there is no verdict.
"""

import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import forked

pytestmark = pytest.mark.slow

SOFT = '''
import builtins, gc, sys, warnings

class Output:
    """An output that ends the process when somebody looks at it."""
    def __init__(self, value): self.value = value
    def __eq__(self, other): return self is other
    def __hash__(self): return 0

def ending(name, how):
    return type(f"Ends_in_{name}", (Output,), {name: how})

def leave(*_, **__): sys.exit(0)
def recur(self, *_): return deeper(self)
def deeper(self): return deeper(self)  # Python 3.13.0 to 3.13.7 counts no calls that are like the one above

LOOKED_AT = ("__repr__", "__str__", "__len__", "__iter__", "__array__", "__eq__", "__hash__", "__float__", "__bool__",
             "__getattr__", "__getattribute__", "__reduce__", "__del__", "__lt__", "__index__", "__getitem__")
for _name in LOOKED_AT:
    def _returns(data, rng, kind=ending(_name, leave)): return [data[0], kind(data[0])]
    globals()["in" + _name] = _returns
    def _also(data, rng, kind=ending(_name, recur)): return [data[0], kind(data[0])]
    globals()["recursion_in" + _name] = _also

class Leaves(Exception):
    def __str__(self): sys.exit(0)
    __repr__ = __str__

class Unheard(BaseException):
    pass

def exits(data, rng): sys.exit(0)
def exits_at_times(data, rng):
    if rng.random() < 0.5: sys.exit(0)
    return data[0]
def text_of_an_exception(data, rng): raise Leaves(data[0])
def unheard(data, rng): raise Unheard(data[0])
def generator_exit(data, rng): raise GeneratorExit
def stops(data, rng): raise StopIteration(data[0])
def interrupts(data, rng): raise KeyboardInterrupt
def recursion(data, rng): return recursion(data, rng)
def shallow(data, rng):
    sys.setrecursionlimit(120)
    return data[0]
def excepthook(data, rng):
    sys.excepthook = leave
    raise Unheard
def shows_warnings(data, rng):
    warnings.showwarning = leave
    warnings.warn("x")
    return data[0]
class Mute:
    def write(self, text): sys.exit(0)
    def flush(self): sys.exit(0)
    def fileno(self): sys.exit(0)
    def isatty(self): sys.exit(0)
def no_standard_output(data, rng):
    sys.stdout = None
    return data[0]
def exits_in_print(data, rng):
    sys.stdout = Mute()
    return data[0]
def iterator(data, rng): return (sys.exit(0) for _ in data)
'''
LOOKED_AT = re.search(r"LOOKED_AT = (\(.*?\))\n", SOFT, re.DOTALL)
NAMES = [f"{how}{name}" for name in eval(LOOKED_AT[1]) for how in ("in", "recursion_in")]
NAMES += re.findall(r"^def (?!ending|leave|recur\b|deeper)(\w+)\(data", SOFT, re.MULTILINE)

HARD = """
import atexit, ctypes, os, resource, signal, subprocess, sys, threading, time

def leaves(data, rng): os._exit(0)
def leaves_with_1(data, rng): os._exit(1)
def at_exit(data, rng):
    atexit.register(os._exit, 0)
    return data[0]
def killed(data, rng): os.kill(os.getpid(), signal.SIGKILL)
def terminated(data, rng): os.kill(os.getpid(), signal.SIGTERM)
def aborts(data, rng): os.abort()
def segfaults(data, rng): ctypes.string_at(0)
def becomes_another(data, rng): os.execv("/bin/true", ["true"])
def alarms(data, rng):
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    time.sleep(0.1)
    return data[0]
def closes(data, rng):
    os.closerange(0, 3)
    return data[0]
def closes_all(data, rng):
    os.closerange(0, 256)
    return data[0]
def mutes(data, rng):
    for place in (1, 2): os.dup2(os.open(os.devnull, os.O_WRONLY), place)
    sys.stdout = sys.stderr = None
    return data[0]
def thread_leaves(data, rng):
    threading.Thread(target=os._exit, args=(0,)).start()
    time.sleep(0.05)
    return data[0]
def no_disk(data, rng):
    sys.dont_write_bytecode = True  # Python would keep nothing of what it compiled, and read that
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return data[0]
def forks(data, rng):
    os.fork()
    return data[0]
def no_modules(data, rng):
    sys.modules.clear()
    return data[0]
def patches_builtins(data, rng):
    import builtins
    builtins.open = builtins.print = lambda *_, **__: sys.exit(0)
    return data[0]
def patches_json(data, rng):
    import json
    json.dumps = json.loads = lambda *_, **__: os._exit(0)
    return data[0]
def hangs(data, rng):
    while True: time.sleep(0.01)
def leaks(data, rng, kept=[]):
    kept.append(bytearray(250_000_000))
    return data[0]
def threads_stay(data, rng, kept=[]):
    if not kept:
        kept.append(threading.Thread(target=time.sleep, args=(3600,)))
        kept[0].start()
    return data[0]
def children_stay(data, rng, kept=[]):
    if not kept:
        for number, own in enumerate((False, True)):
            kept.append(subprocess.Popen(["sleep", "3600"], start_new_session=own))
        # an orphan in a session of its own
        done = subprocess.run(["sh", "-c", "setsid sleep 3600 >&2 & echo $!"], stdout=subprocess.PIPE, text=True)
        with open("left.txt", "w") as file: file.write(" ".join([*(str(each.pid) for each in kept), done.stdout]))
    return data[0]
def orphans_and_leaves(data, rng):
    done = subprocess.run(["sh", "-c", "setsid sleep 3600 >&2 & echo $!"], stdout=subprocess.PIPE, text=True)
    with open("left.txt", "w") as file: file.write(done.stdout)
    os._exit(0)
"""
HARD_NAMES = re.findall(r"^def (\w+)\(data", HARD, re.MULTILINE)
SAYS = {
    "leaves": "exit code 0",
    "leaves_with_1": "exit code 1",
    "killed": "SIGKILL",
    "aborts": "SIGABRT",
    "segfaults": "SIGSEGV",
    "becomes_another": "exit code 0",
    "alarms": "exit code 0",
    "thread_leaves": "exit code 0",
    "forks": "it forks",
    "hangs": "took more than 1 seconds",
    "leaks": "emory",
    "orphans_and_leaves": "exit code 0",
}
VIOLATED = ("at_exit", "closes", "closes_all", "mutes", "threads_stay", "children_stay")
LIMITS = {"hangs": ["--time-limit", "1"], "leaks": ["--memory-limit", "3000"]}
ON_PAIR = ["--pair", "pair.json", "--relation", "declared", "--claim", "epsilon=1", "--seed", "1"]
STARTED = {"children_stay": 3, "orphans_and_leaves": 1}
AFRESH = ("leaves", "orphans_and_leaves")  # from a start of Python, as a user's command
RUNS, FEWER = ["--runs", "400"], ["--runs", "80"]  # fewer where every output tells of a thousand calls


@pytest.mark.filterwarnings("ignore")  # of what cannot be raised where it happens
@pytest.mark.parametrize("name", NAMES)
def test_a_target_that_ends_its_auditor_has_no_verdict_or_a_written_one(name, run, folder):
    (folder / "soft.py").write_text(SOFT, encoding="utf-8")
    (folder / "pair.json").write_text("[[1], [0]]", encoding="utf-8")
    limit, streams = sys.getrecursionlimit(), (sys.stdout, sys.stderr, sys.excepthook)
    try:
        done = run("audit", f"soft.py:{name}", *ON_PAIR, *(FEWER if name == "recursion_in__del__" else RUNS))
    finally:
        sys.setrecursionlimit(limit)
        sys.stdout, sys.stderr, sys.excepthook = streams
    if "__del__" in name:
        gc.collect()  # outputs that do so when they are deleted are deleted here, and not in another test
    assert_never_green(done.exit_code, done.stdout, done.stderr)


def assert_never_green(code, output, errors):
    verdict = output.partition(":")[0]
    expected = {"VIOLATED": 1, "INVALID": 4, "INCONCLUSIVE": 3, "": None}[verdict]
    assert code == expected if verdict else code in (2, 130)
    assert verdict or errors.lstrip().startswith("dpaudit: ")
    assert "Traceback" not in errors


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals, forks and sessions of Linux")
@pytest.mark.parametrize("name", HARD_NAMES)
def test_a_target_that_ends_its_process_has_no_verdict_or_a_written_one(name, tmp_path):
    (tmp_path / "hard.py").write_text(HARD, encoding="utf-8")
    (tmp_path / "pair.json").write_text("[[1], [0]]", encoding="utf-8")
    words = ["audit", f"hard.py:{name}", *ON_PAIR, *RUNS, *LIMITS.get(name, [])]
    if name in AFRESH:
        called = [sys.executable, "-m", "dpaudit", *words]
        done = subprocess.run(called, cwd=tmp_path, capture_output=True, text=True, check=False)
    else:
        with forked.children():
            done = forked.call(*words, cwd=tmp_path)
    assert_never_green(done.returncode, done.stdout, done.stderr)
    assert SAYS.get(name, "") in done.stderr
    assert (done.returncode == 1) == (done.stdout.startswith("VIOLATED"))
    if name in VIOLATED:
        assert done.returncode == 1
    # what a target started is ended with it, whatever session it made
    left = [pid for file in tmp_path.glob("left.txt") for pid in file.read_text().split()]
    assert len(left) == STARTED.get(name, 0)
    assert [pid for pid in left if running(pid)] == []


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

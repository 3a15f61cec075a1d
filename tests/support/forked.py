"""Processes of dpaudit that are forked from this one, in a fifth of the time that Python and its imports take.

From its first line on, such a process is what it always is: it has streams, a session, limits, signals and an end of
its own, and knows nothing of modules that tests have loaded. Tests of how dpaudit *starts* start it afresh.
"""

from __future__ import annotations

import faulthandler
import functools
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner

from dpaudit.cli.main import cli

_HIGHEST = 4096  # open files that are closed
_OURS = (
    str(Path(__file__).parents[2]),
    sys.prefix,
    sys.base_prefix,
)  # a clone may be in the folder for temporary files


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` of dpaudit or pytest as a module, without a start of Python; of all else, the usual one."""

    def __init__(self, words: list[str], *, env: Mapping[str, str] | None = None, **options: Any) -> None:
        module, arguments = _module_in(words)
        if module is not None:
            _imported()
            before = options.get("preexec_fn")
            options["preexec_fn"] = lambda: (before and before(), _live(module, arguments, env))
        super().__init__(words, env=env, **options)


def call(*words: str, module: str = "dpaudit", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a module, dpaudit if no other is named, with some words."""
    command = [sys.executable, "-m", module, *words]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8", **options}
    with Popen(command, **options) as run:
        said, complained = run.communicate(timeout=60)
    return subprocess.CompletedProcess(command, run.returncode, said, complained)


@contextmanager
def children() -> Iterator[None]:
    """The processes of targets are forked too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.processes.subprocess", types.SimpleNamespace(**{**vars(subprocess), "Popen": Popen}))
        yield


@functools.cache
def _imported() -> None:
    """What an audit and its page import is imported out here, once."""
    importlib.import_module("dpaudit.gate.target_process")
    importlib.import_module("dpaudit.processes")
    done = CliRunner().invoke(cli, ["audit", "randomised_response", "--runs", "400", "--seed", "0", "--json", "-"])
    assert done.exit_code in (0, 3), done.output


def _module_in(words: list[str]) -> tuple[str | None, list[str]]:
    rest = [word for word in words[1:3] if word != "-P"] + words[3:]
    ours = words[0] == sys.executable and rest[:1] == ["-m"] and rest[1].partition(".")[0] in ("dpaudit", "pytest")
    return (rest[1], rest[2:]) if ours else (None, [])


def _live(module: str, arguments: list[str], env: Mapping[str, str] | None) -> NoReturn:
    """Be that process, from its first line to its end."""
    os.closerange(3, _HIGHEST)  # also the pipe by which a parent hears that its child has begun
    code = 1
    try:
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        _forget()
        sys.argv = [module, *arguments]
        sys.path.insert(0, os.getcwd())
        code = importlib.import_module("dpaudit.__main__" if module == "dpaudit" else module).main() or 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except BaseException:
        code = 120  # as Python ends then
    os._exit(code & 255)


def _forget() -> None:
    """Have streams, signals and warnings as at the start of Python, and no modules that tests have loaded."""
    told = os.environ.get("PYTHONIOENCODING", "utf-8")
    for number, name, errors in ((0, "stdin", "strict"), (1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        try:
            stream = open(number, "r" if number == 0 else "w", encoding=told, errors=errors, closefd=False)  # noqa: SIM115
        except OSError:
            stream = None  # it is closed
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    faulthandler.disable()  # a pytest within the tests may have left it on
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    warnings.resetwarnings()
    for quiet in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", quiet)
    for name, each in list(sys.modules.items()):
        file = str(getattr(each, "__file__", None))
        if file.startswith(tempfile.gettempdir()) and not file.startswith(_OURS):
            del sys.modules[name]
    importlib.invalidate_caches()

"""Does this evidence hold? ``python dpaudit-check.pyz evidence.json …``, with nothing installed."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from dataclasses import replace
from types import ModuleType
from typing import Any

_BY_LIBRARIES = frozenset({"curve", "others", "gaussian"})
_USAGE = """usage: python dpaudit-check.pyz [--quiet] [--version] EVIDENCE [EVIDENCE ...]

Checks evidence of dpaudit, a page that holds it, or a certificate: the id, every bound from its counts, every
certificate. Nothing is installed and nothing is run.

exit code 0: all that the verdict rests on was computed again and holds
          1: something fails
          2: EVIDENCE cannot be read, or was altered
          3: nothing fails, and something that the verdict rests on was not checked
With several files: the first of 1, 2 and 3 that any of them has."""


def stand_in() -> None:
    """Put the stand-ins where modules are looked up, and leave out all that is installed."""
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    inside = [path for path in sys.path if path.startswith(tuple(own)) and not path.endswith("-packages")]
    sys.path[:] = [sys.path[0], *inside, *(path for path in sys.path if path.endswith(".zip") and path != sys.path[0])]
    from dpaudit.alone import arrays, ndarray, special, structs

    scipy, optimize, typing = map(ModuleType, ("scipy", "scipy.optimize", "numpy.typing"))
    vars(scipy).update(special=special, __path__=[])
    vars(optimize).update(isotonic_regression=special.isotonic_regression)
    vars(typing).update(ArrayLike=object, NDArray=ndarray.ndarray)
    vars(arrays)["typing"] = typing
    sys.modules.update(
        {
            "numpy": arrays,
            "numpy.typing": typing,
            "scipy": scipy,
            "scipy.special": special,
            "scipy.optimize": optimize,
            "msgspec": structs,
            "rfc8785": structs,
        }
    )
    sys.modules["cloudpickle"] = absent = ModuleType("cloudpickle")  # nothing is run, and so nothing sent to workers
    vars(absent)["__getattr__"] = _missing
    from dpaudit.evidence import build

    vars(build)["installed_version"] = _installed


def _missing(name: str) -> Any:
    from dpaudit.alone.ndarray import missing

    raise missing(name)


def _without_library(finding: Any) -> Any:
    """Let the verdict rest on what only a library can compute again: nobody else may pass what ``dpaudit check`` fails.

    Where accountants and exact balls are installed, they are asked again; here they never are.
    """
    return replace(finding, decides=True) if finding.what in _BY_LIBRARIES and not finding.holds else finding


def _version() -> str:
    """Return the version of dpaudit that the file was built from; `build` writes it into the file."""
    return str(importlib.import_module("dpaudit.alone.version").VERSION)


def _installed(package: str) -> str:
    if package != "dpaudit":
        raise ModuleNotFoundError(package, name=package)
    return _version()


def main(arguments: list[str]) -> int:
    """Check the files and print every finding; return the exit code."""
    names = [each for each in arguments if not each.startswith("-")]
    options = set(arguments) - set(names)
    if options - {"--quiet", "--version"} or not (names or "--version" in options):
        asked = options and options <= {"--help", "-h"}
        print(_USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    if "--version" in options:
        print(f"dpaudit-check {_version()}")
        return 0
    prepare()
    codes = {checked(name, quiet="--quiet" in options, several=len(names) > 1) for name in names}
    return next((code for code in (1, 2, 3) if code in codes), 0)


def prepare() -> None:
    """Put the stand-ins in place, once, before anything is checked.

    The quantiles of every bound are certified; those of what would have been found are not.
    """
    stand_in()
    from dpaudit.alone import special

    for place, name in (
        ("review.check.sampled", "lower_bound"),
        ("stats.two_looks", "lower_bound"),
        ("review.check.curve", "region_of_bound"),
    ):
        module = vars(importlib.import_module(f"dpaudit.{place}"))
        module[name] = special.certifying(module[name])


def checked(name: str, *, quiet: bool = False, several: bool = False) -> int:
    """Check one file and print its findings; return the exit code.

    Args:
        name: of the file.
        quiet: whether to print nothing.
        several: whether to print the name first.
    """
    from dpaudit.alone import ndarray, special
    from dpaudit.errors import UsageError
    from dpaudit.review.check import check_file, exit_code

    ndarray.start()
    special.start()

    if several and not quiet:
        print(f"{name}:")
    try:
        findings = [_without_library(finding) for finding in check_file(name)]
    except UsageError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"not checked  {'file':<15} {error}: use dpaudit check", file=sys.stderr)
        return 3
    for finding in () if quiet else findings:
        print(f"{finding.answer!s:<12} {finding.what:<15} {finding.sentence}")
    open_ = [finding for finding in findings if not (finding.holds or finding.fails)]
    decisive = [finding for finding in open_ if finding.decides]
    if not quiet:
        failed = sum(finding.fails for finding in findings)
        held = sum(finding.holds for finding in findings)
        print(
            f"{held} hold, {failed} fail, {len(open_)} not checked"
            + (f", {len(decisive)} of which the verdict rests on: dpaudit check may tell" if decisive else "")
        )
    return exit_code(findings)

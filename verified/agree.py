"""Do the checker with a theorem and the Python checker give the same answers? On many certificates that were changed.

    python verified/agree.py 20000 --seed 1 [--program verified/dpaudit-verified] [CERTIFICATE ...]

Without a program it is the kept script that answers, by node. Certificates are those of the tests and of kept
evidence, besides those that are named. Half of the changes are of anything; the other half change rationals only, and
then set the bound to what the Python checker finds, or a thousandth beside it, so that far more is accepted. Exit
code 1: the two differ in a way that `HARMLESS` does not list.
"""

from __future__ import annotations

import argparse
import collections
import copy
import inspect
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.checker import CertificateError, check_certificate

ROOT = Path(__file__).resolve().parents[1]

SCRIPT = ROOT / "dpaudit" / "report" / "html" / "checker.js"
_BY_NODE = """
require(process.argv[1]);
for (const line of require("fs").readFileSync(0, "utf8").trimEnd().split("\\n")) {
  const [word, said] = globalThis.dpaudit_check(line);
  console.log(`${word.padEnd(11)}  -  ${said}`);
}
"""

HARMLESS = {
    r"the (?:shifts|releases) show the bound (\S+), not (\S+)": "a bound larger than is needed: true, and not tight",
    r".*its difference is listed twice": "a difference listed twice",
    r".*the (shifts|slopes): \d+ members, between": "more shifts than are needed, or no slope of a constant",
    r".*integer noise proves nothing of data that are real": "integer noise on real data, where one end counts",
    r".*the numbers of the conditions must rise": "a vector whose numbers do not rise, or repeat",
    r".*does not have the same support on all paths": "merged leaves beside draws of other supports",
}
"""What the Python checker refuses, by its sentence, though what the certificate says is true: tidiness, no part of the
theorem. A pattern with two groups is harmless only if the second number is larger. Besides these, a shift that is
listed and not needed may fail, or cost more than the bound (`spare`)."""

_WORDS = (
    "",
    ">",
    ">=",
    "<",
    "<=",
    "==",
    "missing",
    "abs",
    "clip",
    "among",
    "select",
    "add-remove",
    "replace",
    "int",
    "float",
    "none",
    "laplace",
    "exponential",
    "uniform",
    "gumbel",
    "discrete_laplace",
)
_WORDS_OF_SCOPES = ("all", "one", "monotone", "norm=1", "integer", "real", None)
_NAMES = ("1", "q0", "q1", "h0", "h1", "x", "s0", ">", ">=", "<", "<=", "=", "shifts", "class", "dead")


def kept() -> Iterator[Any]:
    """Certificates of the tests, and of kept evidence."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support import made_certificates, made_releases

    yield from made_releases.pure()
    for function in vars(made_certificates).values():
        if inspect.isfunction(function) and function.__module__ == made_certificates.__name__:
            required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
            made = None if required else function()
            if isinstance(made, dict) and made.get("format") == "dpaudit-certificate":
                yield made
    for file in sorted([*(ROOT / "tests" / "evidence" / "old").glob("*.json"), *(ROOT / "reports").rglob("*.json")]):
        proof = json.loads(file.read_text(encoding="utf-8")).get("evidence", {}).get("proof") or {}
        certificate = proof.get("certificate") or {}
        if certificate.get("kind") in ("tree", "fold", "releases"):
            yield certificate


def others(value: Any) -> list[Any]:
    """What may stand in the place of a value."""
    if isinstance(value, bool):
        return [not value, 1, None]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, True, str(value)]
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except (ValueError, ZeroDivisionError):
            return [word for word in (*_WORDS, *_WORDS_OF_SCOPES) if word != value]
        near = {number + step for step in (1, -1, Fraction(1, 100), Fraction(-1, 100))}
        return [*map(str, sorted({*near, -number, number / 2, number * 2, Fraction(0)} - {number})), None, value + "0"]
    if isinstance(value, list):
        fewer = [value[:at] + value[at + 1 :] for at in range(len(value))]
        turned = [[*value[:at], value[at + 1], value[at], *value[at + 2 :]] for at in range(len(value) - 1)]
        return [*fewer, *turned, [], [*value, *value[-1:]], None]
    if isinstance(value, dict):
        fewer = [{name: each for name, each in value.items() if name != key} for key in value]
        renamed = [
            {(name if k == key else k): each for k, each in value.items()}
            for key in value
            for name in _NAMES
            if name not in value
        ]
        return [*fewer, *renamed, {}, {**value, "more": 0}, None]
    return [0, "0", []]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a certificate that a change may bear on."""
    if path and path[-1] in ("mechanism", "parameters", "name"):
        return
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def inside(value: Any, path: Sequence[Any]) -> Any:
    """The value at a place."""
    for key in path:
        value = value[key]
    return value


def changed(certificate: Any, source: random.Random) -> Any:
    """A certificate with one to three changes of anything."""
    result = copy.deepcopy(certificate)
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        path = source.choice([path for path in places(result) if path[-1] != "scope"] or [("bound",)])
        inside(result, path[:-1])[path[-1]] = source.choice(others(inside(result, path)))
    return result


def renumbered(certificate: Any, source: random.Random) -> Any:
    """A certificate with other rationals, and a bound that is what they show, or a thousandth beside it."""
    result = copy.deepcopy(certificate)
    texts = [path for path in places(result) if type(inside(result, path)) is str and path[0] != "format"]
    numbers = [path for path in texts if re.fullmatch(r"-?\d+(/\d+)?", inside(result, path))]
    for _ in range(source.choice([1, 1, 2, 3])):
        path = source.choice(numbers)
        number = Fraction(inside(result, path))
        choices = [-number, number + 1, number - 1, number / 2, number * 2, Fraction(0), Fraction(1), Fraction(-1)]
        choices += [number + Fraction(1, 100), number - Fraction(1, 100)]
        inside(result, path[:-1])[path[-1]] = str(source.choice(choices))
    found = re.match(r"the (?:shifts|releases) show the bound ([^,]+),", said_by_python(result)[1])
    if found:
        result["bound"] = str(Fraction(found[1]) + source.choice([Fraction(-1, 1000), 0, 0, 0, Fraction(1, 1000)]))
    return result


def said_by_python(certificate: Any) -> tuple[bool, str]:
    """Whether the Python checker accepts, and its sentence if it does not."""
    try:
        check_certificate(certificate)
    except CertificateError as error:
        return False, str(error)
    return True, ""


def harmless(sentence: str) -> bool:
    """Whether what the Python checker refuses is in the list of true things."""
    for pattern in HARMLESS:
        found = re.match(pattern, sentence)
        if found and (len(found.groups()) < 2 or Fraction(found[2]) > Fraction(found[1])):
            return True
    return False


def spare(certificate: Any) -> bool:
    """Whether all that the Python checker refuses is a shift that is not needed: without it, it accepts the rest."""
    for path in places(certificate):
        if len(path) > 1 and "shifts" in path and type(path[-1]) is int:
            again = copy.deepcopy(certificate)
            del inside(again, path[:-1])[path[-1]]
            accepted, sentence = said_by_python(again)
            if accepted or harmless(sentence):
                return True
    return False


def answers(program: str | None, lines: str) -> list[str]:
    """What is said of one certificate a line, by a program, or by node with the kept script."""
    command = [program, "-"] if program else ["node", "-e", _BY_NODE, str(SCRIPT)]
    return subprocess.run(command, input=lines, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    """Compare, print a table, and return the exit code."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("count", type=int)
    asked.add_argument("--program")
    asked.add_argument("certificates", nargs="*", type=Path)
    asked.add_argument("--seed", type=int, default=0)
    options = asked.parse_intermixed_args()
    source = random.Random(options.seed)
    given = [*kept(), *(json.loads(file.read_text(encoding="utf-8")) for file in options.certificates)]
    made = [source.choice([changed, renumbered])(source.choice(given), source) for _ in range(options.count)]
    lines = "".join(f"{json.dumps(each)}\n" for each in (*given, *made))
    printed = answers(options.program, lines)
    assert len(printed) == len(given) + len(made), f"{len(printed)} answers to {len(given) + len(made)} certificates"
    table, apart = collections.Counter[str](), collections.Counter[str]()
    for certificate, line in zip((*given, *made), printed, strict=True):
        accepted, sentence = said_by_python(certificate)
        word = line[:11].strip()
        table[f"Python {'accepts' if accepted else 'refuses'}, verified: {word}"] += 1
        if accepted and (word == "REFUSED" or "cannot be read" in line or "more steps" in line):
            apart[f"accepted by Python, and not here: {line[13:]:.150}\n{json.dumps(certificate)[:3000]}"] += 1
        elif word == "PROVED" and not accepted:
            known = "harmless" if harmless(sentence) else ""
            known = known or ("harmless, of a shift that is not needed" if spare(certificate) else "")
            key = re.sub(r"-?\d+(/\d+)?", "#", sentence)
            apart[f"{known or 'DANGEROUS'}: {key:.150}"] += 1
    for name, count in sorted(table.items()):
        print(f"{count:7}  {name}")
    for name, count in apart.most_common():
        print(f"{count:7}  {name}")
    return int(any(not name.startswith("harmless") for name in apart))


if __name__ == "__main__":
    sys.exit(main())

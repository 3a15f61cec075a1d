"""What does it cost to read functions as they are: the rewriting of a file, and every call of a rewritten function?

The file has 1,000 lines or more: the programs of the conformance kit and a generated one. Seconds are of CPU, the
middle of several repeats; a call is timed beside Python's own call of the same function.
"""

from __future__ import annotations

import importlib.util
import linecache
import statistics
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path

from dpaudit.reading import source
from dpaudit.reading.python import Python

GENERATED = '''
def f{k}(data, epsilon=1.0):
    """One of many."""
    total, seen = 0.0, {{}}
    for name, value in data:
        if value is None or not 0 <= value < 100:
            continue
        seen[name] = seen.get(name, 0) + 1
        total += min(max(value, 0.0), 10.0) * (1.0 if name else 0.5)
    try:
        mean = total / len(seen)
    except ZeroDivisionError:
        return None
    out = {{key: round(count / mean, 2) for key, count in sorted(seen.items()) if count > 1 and key != "x"}}
    out["text"] = f"{{mean:.2f}} of {{len(seen)}}"
    helper = lambda x, *rest: (x, [y for y in rest if y or x])
    return out, helper(total, *seen.values())
'''


def module_of(text: str, folder: Path) -> types.ModuleType:
    """Write a module and import it."""
    file = folder / "generated.py"
    file.write_text(text, encoding="utf-8")
    linecache.checkcache(str(file))
    spec = importlib.util.spec_from_file_location("generated", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_of(module: types.ModuleType) -> list[types.FunctionType]:
    """The functions and methods of a module."""
    found = []
    for each in vars(module).values():
        members = vars(each).values() if isinstance(each, type) else [each]
        found += [one for one in members if isinstance(one, types.FunctionType) and source.is_own(one)]
    return [one for one in found if one.__code__.co_filename == module.__file__]


def rewriting(module: types.ModuleType, repeats: int = 5) -> float:
    """CPU seconds until all functions of a module are rewritten, from nothing."""
    taken = []
    for _ in range(repeats):
        source._sources.clear()
        source._template.cache_clear()
        domain, clock = Python(), time.process_time()
        for each in functions_of(module):
            domain.twin(each)
        taken.append(time.process_time() - clock)
    return statistics.median(taken)


def per_call(call: Callable[[], object], times: int = 20_000) -> float:
    """CPU microseconds of one call."""
    taken = []
    for _ in range(5):
        clock = time.process_time()
        for _ in range(times):
            call()
        taken.append((time.process_time() - clock) / times * 1e6)
    return min(taken)


def nothing(x: object) -> object:
    """A function that does nothing."""
    return x


def arithmetic(x: float) -> float:
    """Ten operations."""
    return (x + 1) * 2 - 3 / (x + 4) + x * x - (x if x > 0 else -x) + x


class Thing:
    """A class with a method and a property."""

    def __init__(self, x: float) -> None:
        self.x = x

    def method(self, y: float) -> float:
        """Add."""
        return self.x + y

    @property
    def twice(self) -> float:
        """Twice."""
        return self.x * 2


def all_of_thing(x: float) -> float:
    """An object, a method, a property."""
    thing = Thing(x)
    return thing.method(1.0) + thing.twice


def loop(n: int) -> int:
    """A thousand rounds."""
    total = 0
    for k in range(n):
        if k % 3:
            total += k
    return total


def main() -> None:
    """Print the tables and write them to results/."""
    lines = [__doc__ or "", "", "| file | lines | functions | s |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        generated = "".join(GENERATED.format(k=k) for k in range(63))
        texts = {"generated": generated}
        programs = Path(__file__).parents[1] / "tests" / "reading" / "programs"
        texts |= {file.stem: file.read_text(encoding="utf-8") for file in sorted(programs.glob("*.py"))}
        del texts["refused"]
        for name, text in texts.items():
            module = module_of(text, Path(folder))
            count = len(functions_of(module))
            lines.append(f"| {name} | {text.count(chr(10))} | {count} | {rewriting(module):.2f} |")
    lines += ["", "| call | Python, µs | rewritten, µs | more, µs |", "|---|---|---|---|"]
    domain, thing = Python(), Thing(2.0)
    for title, function, argument, times in (
        ("nothing", nothing, 1.0, 50_000),
        ("ten operations", arithmetic, 2.0, 20_000),
        ("a method", thing.method, 2.0, 20_000),
        ("an object, a method, a property", all_of_thing, 2.0, 10_000),
        ("a loop of 1,000 rounds", loop, 1000, 50),
    ):
        plain = per_call(lambda f=function, x=argument: f(x), times)  # type: ignore[misc]
        asked = per_call(lambda f=function, x=argument: domain.call(f, x), times)  # type: ignore[misc]
        lines.append(f"| {title} | {plain:.2f} | {asked:.2f} | {asked - plain:.2f} |")
    table = "\n".join(lines) + "\n"
    print(table)
    (Path(__file__).parent / "results" / "reading.md").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()

"""What do all benchmarks share? Options, a page that grows row by row, what it was made with, and environments.

Importing it makes the tables of the tests (`support`) and the museum's and the court's neighbours importable.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import hashlib
import os
import platform
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
sys.path.append(str(ROOT / "tests"))


def options(about: str | None, **known: Any) -> argparse.Namespace:
    """Return what is typed: for each keyword an option with this default; a flag for False, many numbers for a list."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in known.items():
        if default is False:
            more: dict[str, Any] = {"action": "store_true"}
        elif isinstance(default, list | tuple):
            more = {"nargs": "+", "type": type(default[0]), "default": default}
        else:
            more = {"type": str if default is None else type(default), "default": default}
        parser.add_argument(f"--{name.replace('_', '-')}", **more)
    return parser.parse_args()


def code() -> dict[str, str]:
    """Return what is measured: the commit, and a digest of dpaudit's present source."""
    home, state = ROOT / "dpaudit", hashlib.sha256()
    for file in sorted(home.rglob("*.py")):
        state.update(str(file.relative_to(home)).encode() + b"\0" + file.read_bytes())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=home, capture_output=True, text=True)
    return {"commit": commit.stdout.strip() or "unknown", "source": state.hexdigest()[:10]}


@functools.cache
def made() -> str:
    """Return what made a page, and when."""
    from importlib.metadata import version

    now = code()
    return (
        f"dpaudit {now['commit']} (source {now['source']}), Python {platform.python_version()}, "
        f"NumPy {version('numpy')}, {os.cpu_count()} cores ({platform.machine()}), {datetime.date.today()}."
    )


def save(path: Path, text: str) -> None:
    """Write a file atomically."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def line(cells: Iterable[Any]) -> str:
    """Return a line of a table; nothing in a cell ends it."""
    return "| " + " | ".join(str(cell).replace("|", "¦").replace("\n", " ") for cell in cells) + " |"


def head(*titles: str) -> list[str]:
    """Return the first two lines of a table."""
    return [line(titles), "|" + "---|" * len(titles)]


class Page:
    """A page of results: each line is printed as it comes, and the page is written at the end.

    Args:
        name: of the file in results/.
        title: of the page.
        command: that makes it.
        write: whether it is the whole page, and is to be kept.
    """

    def __init__(self, name: str, title: str, command: str, *, write: bool = True) -> None:
        self.path, self.is_kept = RESULTS / name, write
        self.lines: list[str] = []
        self.say(f"# {title}", "", f"`python benchmarks/{command}`. {made()}", "")

    def say(self, *lines: str) -> None:
        """Add lines."""
        self.lines += lines
        print(*lines, sep="\n", flush=True)

    def table(self, titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """Add a table, row by row."""
        self.say(*head(*titles))
        for cells in rows:
            self.say(line(cells))
        self.say("")

    def save(self) -> None:
        """Write all of it, where it is to be kept."""
        if self.is_kept:
            save(self.path, "\n".join(self.lines).rstrip() + "\n")


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function, and the CPU seconds that it took."""
    start = time.process_time()
    return function(), time.process_time() - start


def side_by_side(function: Callable[..., Any], given: Iterable[tuple[Any, ...]], jobs: int) -> list[Any]:
    """Return the results of many calls, in their order, so many at a time."""
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(function)(*each) for each in given))


def environment(
    name: str, pins: list[str], folder: Path, reuse: bool, *, own: str = "", settings: Mapping[str, str] | None = None
) -> Path:
    """Make an environment with these packages and dpaudit, unless it may be used again; return its interpreter.

    Args:
        name: of its folder.
        pins: what pip is asked for.
        folder: where it is made.
        reuse: whether one that is there is used as it is.
        own: an extra of dpaudit, such as "[proof]"; "alone" for dpaudit without its own requirements.
        settings: variables of the environment while it is made.
    """
    place = folder / name
    python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if reuse and python.exists():
        return python
    venv.create(place, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    with_own = ["--editable", f"{ROOT}{'' if own == 'alone' else own}"]
    for wanted in [pins, ["--no-deps", *with_own]] if own == "alone" else [[*pins, *with_own]]:
        subprocess.run([*pip, *wanted], check=True, env={**os.environ, **(settings or {})})
    return python


def in_parts(
    about: str | None, place: Path, parts: Mapping[str, Callable[[], list[Any]]], draw: Callable[..., str]
) -> None:
    """Measure the parts that are asked for, keep their rows in a JSON file, and draw the page of all there are.

    Args:
        about: what the script says of itself.
        place: of the JSON file; the page lies beside it.
        parts: each with what measures it.
        draw: makes the page of the rows by part.
    """
    import json

    found = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    for name in options(about, only=[*parts]).only:
        found[name] = parts[name]()
        save(place, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        save(place.with_suffix(".md"), draw({key: found[key] for key in parts if key in found}))


def section(title: str, titles: Iterable[str], rows: Iterable[Iterable[Any]], said: str = "") -> list[str]:
    """Return the lines of a part of a page: a heading, perhaps a sentence, and a table."""
    return ["", f"## {title}", "", *([said, ""] if said else []), *head(*titles), *map(line, rows)]

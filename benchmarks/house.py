"""How large is the package, and how finely is it divided? Counted from the source, without importing it.

python benchmarks/house.py [--rooms]

Writes the table of docs/architecture.md; ``--rooms`` prints the figures of every package, and the circles. Code is what
is neither blank, comment nor docstring. A head is a file's lines up to its last import at the top. A circle is a set of
files that reach one another by imports, also those inside of functions and for type checking; an arrow up is an import
against the order of the layers in pyproject.toml.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
START = "| of the package | is | to be |\n"
GOALS = {
    "files": 240,
    "lines": 64_000,
    "lines of code": None,
    "statements": 43_000,
    "functions a 1,000 lines of code": 75,
    "lines of heads": 6_500,
    "lines of the largest file": 700,
    "circles of files": 7,
    "arrows up": 0,
}
"""What is measured, and what it is to be at most."""


def measured(paths: list[Path]) -> dict[str, int]:
    """Return the figures of some files, but for circles and arrows."""
    lines = code = statements = functions = heads = largest = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        tree, length = ast.parse(text), text.count("\n")
        nodes = list(ast.walk(tree))
        documented = {node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
        inside = {line for node in documented for line in range(node.lineno, (node.end_lineno or 0) + 1)}
        code += len(lines_of_code(text) - inside)
        statements += sum(isinstance(node, ast.stmt) and node not in documented for node in nodes)
        functions += sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
        heads += max((node.end_lineno or 0 for node in tree.body if imports(node)), default=0)
        lines, largest = lines + length, max(largest, length)
    names = ("files", "lines", "lines of code", "statements", "functions a 1,000 lines of code", "lines of heads")
    found = (len(paths), lines, code, statements, round(1000 * functions / code), heads, largest)
    return dict(zip((*names, "lines of the largest file"), found, strict=True))


def imports(node: ast.stmt) -> bool:
    """Whether a statement at the top only imports, perhaps for type checking."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.If) and all(map(imports, node.body)))


def lines_of_code(text: str) -> set[int]:
    """Return the numbers of lines that hold code, docstrings included."""
    left_out = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {row for each in tokens if each.type not in left_out for row in range(each.start[0], each.end[0] + 1)}


def arrows(known: dict[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports, wherever in it."""

    def named(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{each.name}" for each in node.names]
            yield from (each if each in known else str(node.module) for each in whole)

    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in known.items()}
    return {name: {to for node in ast.walk(tree) for to in named(node)} & known.keys() for name, tree in trees.items()}


def circles(found: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that reach one another."""
    reached = {}
    for name in found:
        seen, waiting = set(), [name]
        while waiting:
            for to in found[waiting.pop()] - seen:
                seen.add(to)
                waiting.append(to)
        reached[name] = seen
    together = {frozenset(to for to in reached[name] if name in reached[to]) for name in found}
    return [set(each) for each in together if len(each) > 1]


def arrows_up(found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports from a room into one that is not below it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(each["layers"] for each in project["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    rank = {room.strip(): place for place, layer in enumerate(layers) for room in layer.split("|")}
    room = {name: ".".join(name.split(".")[:2]) for name in found}
    pairs = [(one, to) for one, all_ in found.items() for to in all_ if room[one] != room[to]]
    return [(one, to) for one, to in pairs if rank.get(room[one], -1) >= rank.get(room[to], len(layers))]


def main() -> None:
    """Write the table of the page, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", action="store_true")
    paths = sorted((ROOT / "dpaudit").rglob("*.py"))
    known = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    found = arrows(known)
    figures = measured(paths) | {"circles of files": len(circles(found))}
    figures["arrows up"] = len(arrows_up(found))
    rows = [f"| {name} | {figures[name]:,} | {'' if goal is None else f'{goal:,}'} |" for name, goal in GOALS.items()]
    table = START + "|---|---|---|\n" + "\n".join(rows) + "\n"
    before, _, after = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(before + table + "\n".join(after.split("\n")[len(GOALS) + 1 :]), encoding="utf-8")
    print(table)
    if parser.parse_args().rooms:
        for room in sorted({name.split(".")[1] for name in known if "." in name}):
            own = [path for name, path in known.items() if f"{name}.".startswith(f"dpaudit.{room}.")]
            print(room, *measured(own).values())
        print(*(" ".join(sorted(each)) for each in circles(found)), sep="\n")


if __name__ == "__main__":
    main()

"""What is a list of the site, made when it is built? Modules, members of evidence, keys, the museum, what to review.

python docs/lists.py        writes them by hand
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MUSEUM = ROOT / "benchmarks" / "museum"


def write() -> None:
    """Write them beside the pages that people write."""
    (HERE / "modules.md").write_text(modules(), encoding="utf-8")
    (HERE / "museum.md").write_text(museum(), encoding="utf-8")
    (HERE / "generated").mkdir(exist_ok=True)
    (HERE / "generated" / "members.md").write_text(members(), encoding="utf-8")
    (HERE / "generated" / "context.md").write_text(context(), encoding="utf-8")
    (HERE / "generated" / "reviewed.md").write_text(reviewed(), encoding="utf-8")


@functools.cache
def question(file: Path) -> str:
    """The first line of a module's docstring."""
    opened = re.match(r'(?:#.*\n|\n)*"""(.*?)(?:"""|\n)', file.read_text(encoding="utf-8"))
    return opened[1].strip() if opened else ""


def modules() -> str:
    """A heading for each package, a line for each module."""
    lines = ["# Every module, and the question that it answers", ""]
    package = ROOT / "dpaudit"
    for file in sorted(package.rglob("__init__.py"), key=lambda file: file.parent):
        folder = file.parent
        lines += [f"## `{folder.relative_to(ROOT).as_posix()}/`", "", question(file), ""]
        others = sorted(other for other in folder.glob("*.py") if not other.name.startswith("__"))
        lines += [f"- `{other.name}`: {question(other)}" for other in others]
        lines += [""] if others else []
    return "\n".join(lines)


def trusted(*modules: str) -> dict[str, int]:
    """The modules of the checker that these come to, with how many lines each has; its door is always one of them."""
    files = {file.stem: file.read_text(encoding="utf-8") for file in (ROOT / "dpaudit" / "checker").glob("*.py")}
    lines: dict[str, int] = {}
    waiting = ["__init__", *modules]
    while waiting:
        module = waiting.pop()
        if module in lines:
            continue
        lines[module] = files[module].count("\n")
        for node in ast.walk(ast.parse(files[module])):
            name = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            if name == "dpaudit.checker":
                waiting += [each.name for each in node.names if each.name in files]
            waiting += [name.removeprefix("dpaudit.checker.")] if name.startswith("dpaudit.checker.") else []
    return lines


def reviewed() -> str:
    """A table of what a reviewer reads to trust the check of each kind of certificate, and of evidence."""
    from dpaudit.checker import KINDS

    ways = {f"`{kind}`, version {version}": [module] for (kind, version), module in KINDS.items()}
    account = ways["`account`, version 1"]
    ways |= {f"{name}, with an account": [*own, *account] for name, own in ways.items() if "`releases`" in name}
    common, rows = trusted(), []
    for name, modules in {**ways, "evidence": ["__main__"]}.items():
        read = trusted(*modules)
        own = ", ".join(f"`{each}`" for each in sorted(read.keys() - common.keys()))
        rows.append(f"| {name} | {own} | {sum(read.values()):,} |")
    ground = ", ".join(f"`{each}`" for each in sorted(common))
    return "\n".join([f"| to trust the check of | read, with {ground} | lines in all |", "|---|---|---|", *rows]) + "\n"


def documented(kind: type) -> tuple[str, dict[str, str]]:
    """What a record is, and what each of its members means, in the order of its docstring."""
    text, _, rest = (inspect.getdoc(kind) or "").partition("\nAttributes:\n")
    rows = re.findall(r"^    (\w+(?:, \w+)*): (.+(?:\n     +.+)*)", rest, re.MULTILINE)
    return text.strip(), {names: " ".join(meaning.split()).removesuffix(".") for names, meaning in rows}


def members() -> str:
    """A section for each record of evidence, with a table of its members; what came later is said to."""
    from dpaudit.evidence import event, evidence, further_records, records
    from dpaudit.evidence.schema import evidence_schema

    homes = (evidence, records, further_records, event)
    parts = [name for name, part in evidence_schema()["$defs"].items() if "properties" in part and name != "Evidence"]
    lines: list[str] = []
    for name in ["Evidence", *parts]:
        kind = next(getattr(home, name) for home in homes if hasattr(home, name))
        text, rows = documented(kind)
        always = evidence._ALWAYS.get(evidence.name_of(kind), ())
        fields = {each.name: each for each in evidence._fields(kind)}
        lines += [f"### {name}", "", *text.replace("``", "`").splitlines(), ""]
        lines += ["| member | meaning |", "|---|---|"] if rows else []
        for names, meaning in rows.items():
            each = names.split(", ")
            later = all(not fields[one].required and one not in always for one in each)
            cells = ", ".join(f"`{one}`" for one in each), meaning.replace("``", "`").replace("|", "\\|")
            if "written" not in each:  # it is no part of the record
                lines.append(f"| {cells[0]} | {cells[1]}{' (later)' if later else ''} |")
        lines += [""] if rows else []
    return "\n".join(lines)


def context() -> str:
    """A table of what is asked about a deployment, with the words that an answer may be."""
    from dpaudit.report.registry import FIELDS

    rows = [
        f"| `{field.key}` | {field.question} | {', '.join(field.choices)} |"
        for field in FIELDS
        if field.kind != "evidence"
    ]
    return "\n".join(["| key | question | one of |", "|---|---|---|", *rows]) + "\n"


def museum() -> str:
    """What is missed first, then every case by its kind, from what was measured last."""
    sys.path.insert(0, str(MUSEUM))
    from case import cases
    from others import NOT_RUN
    from page import drawn

    rows, released, others = (
        json.loads((MUSEUM / f"{name}.json").read_text(encoding="utf-8")) for name in ("results", "released", "others")
    )
    return str(drawn(list(cases()), rows, released, others, NOT_RUN))


if __name__ == "__main__":
    write()

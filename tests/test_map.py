"""Is every module on the map, with the question that opens it?"""

import ast
import inspect
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FROM = re.compile(r"^[ \t]*from (dpaudit\.[\w.]+) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
IMPORT = re.compile(r"^[ \t]*import (dpaudit\.[\w.]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(ROOT / "docs" / "lists.py"))


@pytest.mark.slow
def test_the_list_of_modules_names_all_of_them(made):
    listed = made["modules"]()
    files = [file for file in (ROOT / "dpaudit").rglob("*.py") if file.name != "__main__.py"]
    assert [file for file in files if made["question"](file) not in listed] == []


def test_every_module_opens_with_its_question_or_what_it_is(made):
    assert not [file for file in (ROOT / "dpaudit").rglob("*.py") if not made["question"](file)]


@pytest.mark.slow
def test_nobody_imports_past_the_doors_of_a_package():
    """What others may import from a package is in its ``__all__``, modules and names alike."""
    packages = {name_of(file): doors_of(file) for file in (ROOT / "dpaudit").glob("*/**/__init__.py")}
    found = [
        f"{name} imports {target} past {package}"
        for file in (ROOT / "dpaudit").rglob("*.py")
        for name in [name_of(file)]
        for target in imported_by(file)
        for package, door in steps_into(target)
        if package in packages and f"{name}.".startswith(f"{package}.") is False and door not in packages[package]
    ]
    assert not found


def test_a_class_name_means_one_thing():
    homes = {}
    for file in (ROOT / "dpaudit").rglob("*.py"):
        for name in re.findall(r"^[ ]*class (\w+)[:(\[]", file.read_text(encoding="utf-8"), re.MULTILINE):
            homes.setdefault(name, []).append(name_of(file))
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


@pytest.mark.slow
def test_what_is_found_is_called_by_its_noun():
    """``found`` says nothing of what it holds, and was the name of every second variable."""
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "dpaudit").rglob("*.py")}
    called_so = [
        f"{name_of(file)}:{code.co_firstlineno}"
        for file, text in texts.items()
        if re.search(r"\bfound\b", text)
        for code in codes_of(compile(text, str(file), "exec"))
        if code.co_flags & inspect.CO_NEWLOCALS and "found" in (code.co_name, *code.co_varnames, *code.co_cellvars)
    ]
    assert called_so == []


def test_what_a_module_does_as_a_command_stands_at_its_end():
    """What stands below would not be defined there."""
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "dpaudit").rglob("*.py")}
    assert not [
        file for file, text in texts.items() if re.search(r'^if __name__ == "__main__":\n(.*\n)*?^\S', text, re.M)
    ]


def codes_of(code):
    """The code of functions, and of what they hold; a tree of a file takes ten times as long."""
    yield code
    for each in code.co_consts:
        if inspect.iscode(each):
            yield from codes_of(each)


def name_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def doors_of(file):
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def imported_by(file):
    """What imports name, inside of functions too; a tree of the whole file takes twenty times as long."""
    text, found = file.read_text(encoding="utf-8"), []
    for module, lines, line in FROM.findall(text):
        names = re.sub(r"#.*", "", lines or line).split(",")
        found += [f"{module}.{name.split(' as ')[0].strip()}" for name in names if name.strip()]
    return found + IMPORT.findall(text)


def steps_into(target):
    """``a.b.c``: c is a door of a.b."""
    parts = target.split(".")
    return [(".".join(parts[:place]), parts[place]) for place in range(2, len(parts))]

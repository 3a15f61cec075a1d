"""Can the gate find everything that it has to check? The configuration, targets and pairs are checked, but not run.

``python -m dpaudit.gate.validate [--config FILE]`` prints what is wrong and exits with 2, or exits silently with 0.
"""

from __future__ import annotations

import ast
from pathlib import Path

import click

from dpaudit.errors import UsageError, nearest
from dpaudit.gate.config import find, pair_files, read

_BINDING = {"globals", "exec", "setattr"}  # these may bind names that do not appear in the source


def findings(file: Path) -> list[str]:
    """Return what prevents the gate in this configuration from running, one sentence each.

    Raises:
        UsageError: if the configuration itself cannot be read.
    """
    configuration = read(file)
    found = []
    for target in configuration.targets:
        if target.account is not None:
            continue  # its plan was read with the configuration
        place, colon, name = target.target.rpartition(":")
        if colon and place.endswith(".py"):
            why = _missing(configuration.root / place, name)
            found += [f"target {target.name!r}: {why}"] if why else []
        try:
            _read_pairs([configuration.root / pair for pair in pair_files(target)])
        except UsageError as error:
            found.append(f"target {target.name!r}: {error}")
    return found


def _missing(file: Path, name: str) -> str | None:
    """Say why a file cannot define a name at its top level; None if it does, or if that cannot be determined."""
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except OSError as error:
        return f"cannot read {str(file)!r}: {error.strerror}"
    except (SyntaxError, ValueError) as error:
        return f"{str(file)!r} is no Python: {error}"
    known = _names(tree)
    if known is None or name.partition(".")[0] in known:
        return None
    return f"{str(file)!r} defines no {name!r}; {nearest(name, known)}"


def _names(tree: ast.Module) -> set[str] | None:
    """Return every name that a module may bind; None if it may bind any name."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    return None
                names.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Name) and node.id in _BINDING:
            return None
    return None if "__getattr__" in names else names


def _read_pairs(files: list[Path]) -> None:
    from dpaudit.neighbours.pair_files import read_pairs

    read_pairs([file for file in files if file.suffix.lower() == ".json"])


@click.command()
@click.option("--config", "file", type=click.Path(path_type=Path), help="The configuration; else the nearest.")
@click.pass_context
def main(context: click.Context, file: Path | None) -> None:
    """Look whether the configuration can be read, and its targets and pairs are there; run none of them."""
    try:
        found = findings(find(Path.cwd()) if file is None else file)
    except UsageError as error:
        found = [str(error)]
    for sentence in found:
        click.echo(f"dpaudit: {sentence}", err=True)
    context.exit(2 if found else 0)


if __name__ == "__main__":
    main()

"""How does a project get a gate? With four files, written all together or not at all. The command ``init``.

Nothing has to be filled in by hand: the workflow installs the dpaudit that wrote it, from where that came; if it came
from this machine, a wheel of it is put into the project.
"""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import Any

import click

from dpaudit.cli.help import Command, examples

_CONFIGURATION = "pyproject.toml"
_FILES = {  # where they go, and what each is for; a build that looks for packages passes over a folder of tests
    "tests/privacy/release.py": ("release.py.txt", "a release to be replaced by your own"),
    "tests/privacy/pair.json": ("pair.json", "two neighbouring datasets that it is run on"),
}
_WORKFLOWS = {
    "github": (".github/workflows/dpaudit.yml", "workflow.yml", "the gate at every push"),
    "gitlab": (".gitlab/dpaudit.yml", "gitlab.yml", "the gate at every push; include it in .gitlab-ci.yml"),
}
_NEXT = """
Next:
  dpaudit gate{where}
holds the release against its claim, in less than a minute. Then put your own release, its claim and its pair in
their place, and commit the files. The workflow installs dpaudit from {source}, and what the project needs.
"""
_WHEELS = "tests/privacy"


@click.command("init", cls=Command, epilog=examples("dpaudit init", "dpaudit init . --ci gitlab"))
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--ci", type=click.Choice(list(_WORKFLOWS)), default="github", help="For which service the workflow is.")
def command(folder: Path, ci: str) -> None:
    """Give the project in FOLDER (default: this one) a gate: a release, a pair, the configuration and a workflow."""
    workflow, template, use = _WORKFLOWS[ci]
    made = {**_FILES, workflow: (template, use)}
    files = _texts(folder, made)
    existed = (folder / _CONFIGURATION).exists()
    _refuse_what_is_there(folder, [name for name in files if name != _CONFIGURATION])
    _write(folder, files)
    for name in files:
        what = made[name][1] if name in made else "the table [tool.dpaudit], which names what is checked"
        added = existed and name == _CONFIGURATION
        click.echo(f"{'added to' if added else 'wrote':<9} {folder / name}: {what}")
    wheel = _vendored(folder)
    if wheel is not None:
        click.echo(f"{'wrote':<9} {folder / wheel}: the dpaudit of the workflow")
    elsewhere = f" --config {shlex.quote(str(folder / _CONFIGURATION))}"
    click.echo(_NEXT.format(where="" if folder.resolve() == Path.cwd() else elsewhere, source=wheel or _requirement()))


def _texts(folder: Path, made: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the contents of all files to write, by name."""
    from importlib.resources import files

    scaffold = files("dpaudit.gate").joinpath("scaffold")
    texts = {
        name: scaffold.joinpath(own).read_text(encoding="utf-8").replace("@DPAUDIT@", _requirement())
        for name, (own, _) in made.items()
    }
    table = scaffold.joinpath("configuration.toml").read_text(encoding="utf-8")
    return texts | {_CONFIGURATION: _with_table(folder / _CONFIGURATION, table)}


def _origin() -> dict[str, Any]:
    """Where this dpaudit was installed from, as PEP 610 records it; empty if from an index."""
    import json
    from importlib.metadata import distribution

    return dict(json.loads(distribution("dpaudit").read_text("direct_url.json") or "{}"))


def _requirement() -> str:
    """Return this dpaudit as pip installs it elsewhere, from where it came, with what accounting needs."""
    from importlib.metadata import version

    origin = _origin()
    url, vcs = str(origin.get("url", "")), origin.get("vcs_info")
    if isinstance(vcs, dict):
        return f"dpaudit[proof] @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    if url.startswith(("http:", "https:")):
        return f"dpaudit[proof] @ {url}"
    return f"dpaudit[proof]=={version('dpaudit')}"


def _vendored(folder: Path) -> str | None:
    """Put a wheel of dpaudit into the project, where it was installed from a file or a folder of this machine."""
    import shutil
    import subprocess
    import sys
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    url, place = str(_origin().get("url", "")), folder / _WHEELS
    if not url.startswith("file:") or any(place.glob("dpaudit-*.whl")):
        return None
    source = url2pathname(urlsplit(url).path)
    build = [[sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), source]]
    if shutil.which("uv"):
        build.append(["uv", "build", "--quiet", "--wheel", "--out-dir", str(place), source])
    for command in build:
        done = subprocess.run(command, capture_output=True, check=False)
        made = sorted(place.glob("dpaudit-*.whl"))
        if done.returncode == 0 and made:
            return made[-1].relative_to(folder).as_posix()
    click.echo(
        f"dpaudit was installed from {source!r}, and no wheel of it could be built: {shlex.join(build[0])}", err=True
    )
    return None


def _with_table(file: Path, table: str) -> str:
    """Return the new content of the configuration: the present content unchanged, followed by the table."""
    import tomllib

    from dpaudit.errors import UsageError

    if not file.exists():
        return table
    try:
        before = file.read_bytes().decode("utf-8")
        known = tomllib.loads(_plain(before))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot add to {str(file)!r}: {why}; fix it and call dpaudit init again") from None
    tool = known.get("tool", {})
    if isinstance(tool, dict) and "dpaudit" in tool:
        raise UsageError(f"{str(file)!r} has a table [tool.dpaudit] already; run dpaudit gate")
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before.strip("\ufeff\r\n ") else end if before.endswith("\n") else 2 * end
    after = before + gap + table.replace("\n", end)
    try:
        same = _without_table(tomllib.loads(_plain(after))) == _without_table(known)
    except ValueError:  # for example an inline table, which cannot be extended
        same = False
    if not same:
        raise UsageError(f"cannot add a table to {str(file)!r}: its table 'tool' is closed; add by hand:\n{table}")
    return after


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _without_table(document: dict[str, Any]) -> dict[str, Any]:
    tool = document.get("tool", {})
    return {**document, "tool": {key: value for key, value in tool.items() if key != "dpaudit"}}


def _refuse_what_is_there(folder: Path, names: list[str]) -> None:
    from dpaudit.errors import UsageError

    there = [str(folder / name) for name in names if (folder / name).exists() or (folder / name).is_symlink()]
    if there:
        raise UsageError(
            f"there is {' and '.join(map(repr, there))} already, and dpaudit init overwrites nothing; "
            "move it, or name another folder"
        )


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write all files or none: if one fails, the files and folders created before it are removed."""
    from dpaudit.errors import UsageError
    from dpaudit.evidence.canonical_json import write_whole

    with contextlib.ExitStack() as undo:
        for name, text in files.items():
            file = folder / name
            for place in reversed([parent for parent in (file.parent, *file.parent.parents) if not parent.exists()]):
                try:
                    place.mkdir()
                except OSError as error:
                    raise UsageError(f"cannot make the folder {str(place)!r}: {error.strerror}") from None
                undo.callback(place.rmdir)
            write_whole(file, text)
            if name != _CONFIGURATION:  # the configuration comes last
                undo.callback(file.unlink)
        undo.pop_all()

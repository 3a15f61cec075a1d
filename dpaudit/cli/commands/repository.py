"""Does a repository keep its promises? The commands ``init`` and ``gate``."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli import apart, main
from dpaudit.cli.files import OutputFiles, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpaudit.gate.result import GateResult, TargetResult

_FORMATS = {
    "junit": "Write JUnit XML",
    "sarif": "Write SARIF 2.1.0",
    "markdown": "Write a summary",
    "json": "Write what other programs read",
}
"""The help of its option, by the name of a format."""


def _written(name: str, result: GateResult, configuration: Path) -> str:
    """Return the result of a gate in a format, as text."""
    from dpaudit.gate import drawn

    if name == "sarif":
        return drawn.sarif_text(result, configuration=drawn.seen_from_repository(configuration))
    return {"junit": drawn.junit, "markdown": drawn.markdown, "json": drawn.gate_json}[name](result)


def _formats(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each file that a gate can write."""
    for name, words in reversed(_FORMATS.items()):
        option = click.option(f"--{name}", metavar="FILE", help=f"{words} ('-': standard output).")
        command = option(command)
    return command


@click.command("gate", cls=main.Command, epilog=main.examples("dpaudit gate", "dpaudit gate count mean --html pages"))
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--config", "config_file", metavar="FILE", help="Instead of the nearest pyproject.toml.")
@click.option("--update-baseline", is_flag=True, help="Write dpaudit-baseline.json, to be compared with later.")
@click.option("--nightly", is_flag=True, help="Fresh seeds; evidence accumulates in dpaudit-nightly.json.")
@click.option("--workers", type=main.Count(), help="Targets side by side; by default one for each processor.")
@click.option("--seed", type=main.Count(), help="Root of every random draw, instead of the configuration's.")
@click.option("--require", type=click.Choice(["audited", "proved"]), help="What every target needs to pass.")
@click.option("--fresh", is_flag=True, help="Run unchanged targets again.")
@_formats
@click.option("--html", "html_folder", metavar="FOLDER", help="Write a page for each target, and an index.")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def gate_command(
    names: tuple[str, ...],
    config_file: str | None,
    update_baseline: bool,
    nightly: bool,
    workers: int | None,
    seed: int | None,
    require: str | None,
    fresh: bool,
    html_folder: str | None,
    quiet: bool,
    **files: str | None,
) -> int:
    """Hold every target in [tool.dpaudit] of pyproject.toml, or those that are named, against its claim.

    Exit codes: 0 all passed or accepted; 1 a claim violated, or a target leakier than its baseline; 4 a target that
    could not be run or trusted; 3 no verdict on some target; 2 a configuration that cannot be read.
    """
    from dpaudit.errors import UsageError
    from dpaudit.gate.config import find, read
    from dpaudit.gate.kept import BASELINE_FILE as BASELINE
    from dpaudit.gate.kept import NIGHTLY_FILE as NIGHTS
    from dpaudit.gate.run import GateOptions, run
    from dpaudit.processes import adopt_orphans

    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, not {workers}")
    configuration = read(find(Path.cwd()) if config_file is None else Path(config_file))
    kept = [str(configuration.root / name) for name in (BASELINE, NIGHTS)]
    outputs = OutputFiles(*files.values(), read=[str(configuration.path), *kept])
    folder = _folder(html_folder)
    _refuse_pages(folder, *files.values())
    if click.get_current_context().obj is apart.OWNED:
        adopt_orphans()
    options = GateOptions(
        names=names,
        workers=workers or _processors(),
        seed=seed,
        require=require,
        fresh=fresh,
        update_baseline=update_baseline,
        nightly=nightly,
    )
    finished = run(configuration, options, listen=_listener(quiet), alive=None if quiet else _alive)
    result = finished.result
    if folder is not None:
        from dpaudit.gate.drawn import write_pages

        result = write_pages(result, folder)
    for name, file in files.items():
        if file is not None:
            outputs.write(file, _written(name, result, configuration.path))
    if not quiet:
        import sys

        from dpaudit.gate.result import summary

        terminal = is_terminal(sys.stdout) and "-" not in files.values()
        outputs.say(summary(result, terminal=terminal, pages=html_folder or ""))
    if finished.refused is not None:
        click.echo(f"dpaudit: {finished.refused}", err=True)
    return result.exit_code


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(name: str | None) -> Path | None:
    """Return the folder of the pages; it is created before any work."""
    from dpaudit.errors import UsageError

    if name is None:
        return None
    folder = Path(name).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write pages to {name!r}: {error.strerror or error}") from None
    return folder


def _refuse_pages(folder: Path | None, *files: str | None) -> None:
    """Refuse a result file that a page might overwrite."""
    from dpaudit.errors import UsageError

    for name in files:
        if folder is None or name is None or name == "-" or not name.lower().endswith(".html"):
            continue
        if Path(name).resolve().parent == folder.resolve():
            raise UsageError(f"{name!r} lies in the folder of the pages, which may overwrite it; name another place")


def _alive(line: str) -> None:
    """Say on standard error what is running, since a build that is silent for long is ended."""
    from dpaudit.report.text.phrases import one_line

    click.echo(f"dpaudit gate: {one_line(line)}", err=True)


def _listener(quiet: bool) -> Callable[[TargetResult], None] | None:
    """Print the result of each target on a terminal when it is ready."""
    import sys

    if quiet or not is_terminal(sys.stderr):
        return None
    return lambda result: click.echo(f"{result.outcome!s:<12} {result.name}", err=True)


# --- How does a project get a gate? With four files, written all together or not at all. The command ``init``. ---
#
# Nothing has to be filled in by hand: the workflow installs the dpaudit that wrote it, from where that came; if it
# came from this machine, a wheel of it is put into the project.

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


@click.command("init", cls=main.Command, epilog=main.examples("dpaudit init", "dpaudit init . --ci gitlab"))
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--ci", type=click.Choice(list(_WORKFLOWS)), default="github", help="For which service the workflow is.")
def init_command(folder: Path, ci: str) -> None:
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
    if source.endswith(".whl") and Path(source).is_file():
        place.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(source, place)).relative_to(folder).as_posix()
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
        known = tomllib.loads(_unix_text(before))
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
        same = _without_table(tomllib.loads(_unix_text(after))) == _without_table(known)
    except ValueError:  # for example an inline table, which cannot be extended
        same = False
    if not same:
        raise UsageError(f"cannot add a table to {str(file)!r}: its table 'tool' is closed; add by hand:\n{table}")
    return after


def _unix_text(text: str) -> str:
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

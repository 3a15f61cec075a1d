"""Which notebooks does the site offer? Pages that run commands, as Jupyter notebooks with their data.

A page is the only source of its notebook: files that it shows are written by a cell, commands that it shows are run by
one. `run` runs a notebook in an empty folder with nothing but its data, and the page shows what it printed. What needs
PyTorch and JAX, with gigabytes, is run where they are installed; elsewhere the site shows what ``make test-training``
(``python docs/notebooks.py`` in its environment) kept of it, and refuses a page that has changed since.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGES = ("tutorial", "worked-examples")
COMMANDS = ("how-to/dossier", "how-to/scores")
"""Pages whose commands build on each other: they are run as those of a notebook, and nobody needs the notebook."""
KEPT = {"worked-training": HERE / "files" / "training" / "printed.json"}
NEEDED = ("torch", "opacus", "jax", "jax_privacy", "sklearn")
"""Packages that the pages in `KEPT` import."""
VERSIONS = ("dpaudit", "torch", "opacus", "jax", "jax-privacy", "optax")
DATA = (".csv",)
_METADATA = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
_DIRECTIVE = re.compile(r"^```\{([\w-]+)\} *(.*)\n((?::.*\n)*)```\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook: Markdown, a file to write, or a command to run.

    Attributes:
        kind: "text", "file" or "command".
        text: the Markdown, the content of the file, or the command.
        folder: of the file, and in which the page runs the command.
        name: of the file.
        returncode: how the command ends.
    """

    kind: str
    text: str
    folder: Path = HERE
    name: str = ""
    returncode: int = 0

    @property
    def source(self) -> str:
        """What the cell holds."""
        return {"text": "", "file": f"%%writefile {self.name}\n", "command": "!"}[self.kind] + self.text

    @property
    def key(self) -> str:
        """Under which what it printed is kept: it changes with every letter of the cell."""
        return self.text if self.kind == "command" else f"{self.name} {sha256(self.text.encode()).hexdigest()}"


def cells(page: str) -> list[Cell]:
    """Return the cells of a page, such as "tutorial", in their order.

    Raises:
        ValueError: if the page has a directive that no cell stands for.
    """
    file = HERE / f"{page}.md"
    text = file.read_text(encoding="utf-8")
    found, end = [], 0
    for each in _DIRECTIVE.finditer(text):
        found += _texts(text[end : each.start()])
        end = each.end()
        kind, what, options = each[1], each[2].strip(), dict(re.findall(r"^:(\w+): *(.*)$", each[3], re.MULTILINE))
        if kind == "literalinclude":
            shown = _place(file, what)
            found.append(Cell("file", shown.read_text(encoding="utf-8").rstrip(), shown.parent, shown.name))
        elif kind == "command-output":
            found.append(
                Cell("command", what, _place(file, options["cwd"]), returncode=int(options.get("returncode", 0)))
            )
        else:
            raise ValueError(f"{page}.md has a directive {kind!r}, for which there is no cell of a notebook")
    return found + _texts(text[end:])


def _place(page: Path, name: str) -> Path:
    """Return a file or folder that a page names, as Sphinx does."""
    return Path(os.path.normpath(page.parent / name))


def _texts(text: str) -> list[Cell]:
    """Return Markdown in cells, one for each section; links within the site become plain words."""
    lines = [line for line in text.splitlines() if "{download}" not in line]
    plain = _LINK.sub(r"\1", "\n".join(lines))
    return [Cell("text", part.strip()) for part in re.split(r"^(?=##? )", plain, flags=re.MULTILINE) if part.strip()]


def data_of(page: str) -> list[Path]:
    """Return the files that a notebook needs beside those that it writes."""
    folders = {cell.folder for cell in cells(page) if cell.kind != "text"}
    return sorted(file for folder in folders for file in folder.iterdir() if file.suffix in DATA)


def run(page: str) -> dict[Cell, str]:
    """Run the notebook of a page in an empty folder with its data, and return what each cell printed.

    Raises:
        RuntimeError: if a command ends otherwise than the page says.
    """
    import nbformat
    from nbclient import NotebookClient

    printed, notebook = {}, nbformat.v4.new_notebook(metadata=_METADATA)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / Path(page).name
        folder.mkdir()
        for file in data_of(page):
            (folder / file.name).write_bytes(file.read_bytes())
        client = NotebookClient(
            notebook, timeout=600, coalesce_streams=True, resources={"metadata": {"path": str(folder)}}
        )
        client.create_kernel_manager()
        client.km.transport, client.km.ip = "ipc", str(Path(name) / "kernel")  # sockets that only this user reaches
        with client.setup_kernel(env={**os.environ, "PYTHONWARNINGS": "ignore"}):
            for cell in cells(page):
                if cell.kind == "text":
                    continue
                printed[cell] = _run(client, notebook, cell.source)
                if cell.kind == "command":
                    ended = _run(client, notebook, "print(_exit_code)")
                    if ended != str(cell.returncode):
                        said = printed[cell]
                        raise RuntimeError(f"{page}: {cell.text!r} ends with {ended}, not {cell.returncode}: {said}")
    return printed


def make(page: str, printed: dict[Cell, str], target: Path) -> None:
    """Write the notebook of a page, with what its cells printed, and its data into a zip file."""
    import nbformat

    notebook = nbformat.v4.new_notebook(metadata=_METADATA)
    for number, cell in enumerate(cells(page)):
        if cell.kind == "text":
            made = nbformat.v4.new_markdown_cell(cell.text)
        else:
            said = nbformat.v4.new_output("stream", name="stdout", text=printed[cell] + "\n")
            made = nbformat.v4.new_code_cell(cell.source, outputs=[said])
        made["id"] = f"{page}-{number}"
        notebook.cells.append(made)
    nbformat.validate(notebook)
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr(f"{page}/{page}.ipynb", nbformat.writes(notebook))
        for file in data_of(page):
            whole.write(file, f"{page}/{file.name}")


def _run(client: Any, notebook: Any, source: str) -> str:
    """Run one more cell of a notebook, and return what it printed."""
    import nbformat

    notebook.cells.append(nbformat.v4.new_code_cell(source))
    cell = notebook.cells[-1]
    client.execute_cell(cell, len(notebook.cells) - 1)
    return "".join(each["text"].replace("\r\n", "\n") for each in cell.outputs).rstrip()


def kept(page: str) -> dict[Cell, str]:
    """Return what the cells of a page printed where it was run last.

    Raises:
        ValueError: if another cell stands in the page now: run it again.
    """
    said = json.loads(KEPT[page].read_text(encoding="utf-8"))["printed"]
    found = {cell: said.get(cell.key) for cell in cells(page) if cell.kind != "text"}
    if None in found.values() or len(said) != len(found):
        raise ValueError(f"{page}.md has changed since it was run: make test-training runs it again")
    return {cell: str(text) for cell, text in found.items()}


def keep(page: str) -> None:
    """Run a page in this environment, and keep what it printed, with the versions that it ran with."""
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    said = {cell.key: text for cell, text in run(page).items()}
    versions = {name: metadata.version(name) for name in VERSIONS}
    text = json.dumps({"versions": versions, "printed": said}, indent=1, ensure_ascii=False)
    KEPT[page].write_text(text + "\n", encoding="utf-8")


def write(app: Any) -> None:
    """Make all notebooks, and let the pages show what they printed."""
    from sphinxcontrib.programoutput import Command

    for page in (*PAGES, *COMMANDS, *KEPT):
        is_run = page not in KEPT or all(map(find_spec, NEEDED))
        printed = run(page) if is_run else kept(page)
        if page not in COMMANDS:
            make(page, printed, HERE / "generated" / f"{page}.zip")
        for cell, said in printed.items():
            if cell.kind == "command":
                command = Command(cell.text, working_directory=str(cell.folder))
                app.env.programoutput_cache[command] = cell.returncode, said


if __name__ == "__main__":
    for each in KEPT:
        keep(each)

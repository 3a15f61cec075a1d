"""Which notebooks does the site offer? Pages that run commands, as Jupyter notebooks with their data.

A page is the only source of its notebook: files that it shows are written by a cell, commands that it shows are run by
one. `make` runs every notebook in an empty folder with nothing but its data, and the page shows what it printed.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGES = ("tutorial", "worked-examples")
DATA = (".csv",)
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


def cells(page: str) -> list[Cell]:
    """Return the cells of a page, such as "tutorial", in their order.

    Raises:
        ValueError: if the page has a directive that no cell stands for.
    """
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    found, end = [], 0
    for each in _DIRECTIVE.finditer(text):
        found += _texts(text[end : each.start()])
        end = each.end()
        kind, what, options = each[1], each[2].strip(), dict(re.findall(r"^:(\w+): *(.*)$", each[3], re.MULTILINE))
        if kind == "literalinclude":
            file = HERE / what
            found.append(Cell("file", file.read_text(encoding="utf-8").rstrip(), file.parent, file.name))
        elif kind == "command-output":
            found.append(Cell("command", what, HERE / options["cwd"], returncode=int(options.get("returncode", 0))))
        else:
            raise ValueError(f"{page}.md has a directive {kind!r}, for which there is no cell of a notebook")
    return found + _texts(text[end:])


def _texts(text: str) -> list[Cell]:
    """Return Markdown in cells, one for each section; links within the site become plain words."""
    lines = [line for line in text.splitlines() if "{download}" not in line]
    plain = _LINK.sub(r"\1", "\n".join(lines))
    return [Cell("text", part.strip()) for part in re.split(r"^(?=##? )", plain, flags=re.MULTILINE) if part.strip()]


def data_of(page: str) -> list[Path]:
    """Return the files that a notebook needs beside those that it writes."""
    folders = {cell.folder for cell in cells(page) if cell.kind != "text"}
    return sorted(file for folder in folders for file in folder.iterdir() if file.suffix in DATA)


def make(page: str, target: Path) -> dict[Cell, str]:
    """Run the notebook of a page, write it with its data into a zip file, and return what each command printed.

    Args:
        page: such as "tutorial".
        target: the zip file.

    Raises:
        RuntimeError: if a command ends otherwise than the page says.
    """
    import nbformat
    from nbclient import NotebookClient

    listed, printed = cells(page), {}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / page
        folder.mkdir()
        for file in data_of(page):
            (folder / file.name).write_bytes(file.read_bytes())
        client = NotebookClient(
            notebook, timeout=600, coalesce_streams=True, resources={"metadata": {"path": str(folder)}}
        )
        client.create_kernel_manager()
        client.km.transport, client.km.ip = "ipc", str(Path(name) / "kernel")  # sockets that only this user reaches
        with client.setup_kernel():
            for cell in listed:
                made = nbformat.v4.new_markdown_cell if cell.kind == "text" else nbformat.v4.new_code_cell
                notebook.cells.append(made(cell.source))
                if cell.kind == "text":
                    continue
                said = _run(client, notebook)
                if cell.kind == "command":
                    printed[cell] = said
                    notebook.cells.append(nbformat.v4.new_code_cell("print(_exit_code)"))
                    ended = _run(client, notebook)
                    notebook.cells.pop()
                    if ended != str(cell.returncode):
                        raise RuntimeError(f"{page}: {cell.text!r} ends with {ended}, not {cell.returncode}: {said}")
        for number, each in enumerate(notebook.cells):
            each["id"] = f"{page}-{number}"
        nbformat.validate(notebook)
        target.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as whole:
            whole.writestr(f"{page}/{page}.ipynb", nbformat.writes(notebook))
            for file in data_of(page):
                whole.write(file, f"{page}/{file.name}")
    return printed


def _run(client: Any, notebook: Any) -> str:
    """Run the last cell of a notebook, and return what it printed."""
    cell = notebook.cells[-1]
    client.execute_cell(cell, len(notebook.cells) - 1)
    for each in cell.outputs:
        each["text"] = each["text"].replace("\r\n", "\n")
    return "".join(each["text"] for each in cell.outputs).rstrip()


def write(app: Any) -> None:
    """Make all notebooks, and let the pages show what they printed."""
    from sphinxcontrib.programoutput import Command

    for page in PAGES:
        for cell, said in make(page, HERE / "generated" / f"{page}.zip").items():
            command = Command(cell.text, working_directory=str(cell.folder))
            app.env.programoutput_cache[command] = cell.returncode, said

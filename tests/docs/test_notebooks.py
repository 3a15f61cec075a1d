"""Do the notebooks of the site run where there is nothing but their data? `make docs` runs them whole."""

import importlib
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpaudit.cli.main import cli

DOCS = str(Path(__file__).parents[2] / "docs")


@pytest.fixture(scope="module")
def notebooks():
    sys.path.insert(0, DOCS)
    yield importlib.import_module("notebooks")
    sys.path.remove(DOCS)


def test_every_file_that_a_cell_names_is_there(notebooks):
    for page in (*notebooks.PAGES, *notebooks.KEPT):
        there = {file.name for file in notebooks.data_of(page)}
        assert there or page in notebooks.KEPT
        for cell in notebooks.cells(page):
            there |= {cell.name}
            if cell.kind == "text":
                assert "```{" not in cell.text and ".md)" not in cell.text and "{download}" not in cell.text
            if cell.kind == "command":
                words = [word.partition(":")[0] for word in shlex.split(cell.text)]
                assert {word for word in words if word.endswith((".py", ".csv"))} <= there
        assert "pyproject.toml" in there or page != "tutorial"


def test_what_is_kept_of_a_page_is_of_that_page(notebooks, tmp_path, monkeypatch):
    for page, file in notebooks.KEPT.items():
        said = notebooks.kept(page)
        commands = [cell for cell in said if cell.kind == "command"]
        assert len(commands) == 3 and all(
            "/work" not in said[cell] and "Traceback" not in said[cell] for cell in commands
        )
        monkeypatch.setitem(notebooks.KEPT, page, tmp_path / "printed.json")
        text = file.read_text(encoding="utf-8")
        (tmp_path / "printed.json").write_text(text.replace("train_digits.py ", "train_digits.py 0"), encoding="utf-8")
        with pytest.raises(ValueError, match="changed since it was run"):
            notebooks.kept(page)


@pytest.mark.slow
def test_cells_of_the_tutorial_run_one_after_the_other(notebooks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in notebooks.data_of("tutorial"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    ended = []
    for cell in notebooks.cells("tutorial"):
        if cell.kind == "file":
            Path(cell.name).write_text(cell.text, encoding="utf-8")
        elif cell.kind == "command":
            words = shlex.split(cell.text)[1:]
            if words[0] != "prove":
                continue  # the others need many runs
            words[words.index("--runs") + 1] = "400"
            result = CliRunner().invoke(cli, words)
            assert result.exit_code == cell.returncode, result.output
            ended.append(result.exit_code)
    assert ended == [0, 1]

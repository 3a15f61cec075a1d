"""Is every command and option in the help, once, under a heading, and does a shell complete them?"""

from __future__ import annotations

import re

import click
import pytest

from dpaudit.cli.main import cli


def help_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_the_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_of([], capsys).splitlines()
    for name in cli.list_commands(click.Context(cli)):
        assert sum(line.startswith(f"  {name} ") for line in lines) == 1


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_the_help_of_a_command_has_every_option_once_and_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of([name], capsys)
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    lines = re.split(r"(?m)^[A-Z][\w ]*:$", text, maxsplit=1)[1].splitlines()  # those after the first heading
    firsts = [line.split()[0].rstrip(",") for line in lines if line.startswith("  -")]
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert sorted(set(firsts) - {"-h", "--help"}) == sorted(option.opts[0] for option in options)
    assert len(firsts) == len(options) + 1
    assert f"dpaudit {name}" in text.partition("Examples:")[2]
    others = text.partition("Other options:")[2].split()
    assert others[:1] in ([], ["-h,"], ["--help"])


def test_a_shell_completes_options(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {
        "_DPAUDIT_COMPLETE": "bash_complete",
        "COMP_WORDS": "dpaudit audit --fl",
        "COMP_CWORD": "2",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == "plain,--floating-point"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["epsilon"], "73.2 %"),
        (["delta"], "1e-6 or less"),
        (["add-remove"], "a record that the other has not"),
        (["replace"], "One record is replaced by another"),
        (["sensitivity"], "a count moves by 1"),
        (["noise", "multiplier"], "under replace a record moves it by up to 2·C"),
        (["noise-multiplier"], "divided by the norm C"),
        (["sampling", "rate"], "comes into a batch"),
        (["person"], "add-remove(person=user_id)"),
        (["canary"], "whether it is in the training data"),
    ],
)
def test_the_words_that_people_ask_for_are_explained(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["explain", *words])
    assert end.value.code == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_word_is_explained_and_a_mistyped_one_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    known = (["claim-violated"], 0), (["Not Violated"], 0), (["epsilon"], 0), (["Δ".lower()], 0), (["Replace-One"], 0)
    for words, code in (*known, (["low bits"], 0), (["inconclusive"], 0), ([], 0), (["leakyer"], 2)):
        with pytest.raises(SystemExit) as end:
            cli.main(["explain", *words])
        assert end.value.code == code
    shown = capsys.readouterr()
    assert "The report says what tells the two datasets apart" in shown.out
    assert "Nobody can try every dataset" in shown.out
    assert "e^ε times as likely" in shown.out and "Both names are read everywhere" in shown.out
    assert "The last digits of floating-point noise" in shown.out
    assert "did you mean 'leak" in shown.err

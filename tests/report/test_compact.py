"""Is a drawing the same picture after it is written in fewer characters?"""

from __future__ import annotations

import re

import pytest
from support import made_evidence as made

from dpaudit.report import evidence_card
from dpaudit.report.figures.canvas import compact


def path(steps: str) -> str:
    found = re.search(r' d="([^"]*)"', compact(f'<svg><path d="{steps}" style="opacity: 1"/></svg>', "x"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("M 1 2 \nL 1 5 \nL 4 5 \nL 6 7 \n", "M1 2V5H4L6 7"),
        ("M 1 2 \nL 3 2 \nz\nL 3 4", "M1 2H3zL3 4"),  # z goes back to where the path began
        ("M 1 2 \nC 0 0 1 1 3 2 \nL 3 9 ", "M1 2C0 0 1 1 3 2V9"),
        ("M 1 2 \nQ 0 0 3 2 \nL 5 2 ", "M1 2Q0 0 3 2H5"),
    ],
)
def test_a_line_along_an_axis_is_one_number(written: str, short: str) -> None:
    assert path(written) == short


def test_marks_that_are_alike_say_their_style_once_and_keep_what_is_not_inherited() -> None:
    marks = "".join(f'<use href="#m" x="{x}" y="0" style="fill: red; stroke: red"/>' for x in range(3))
    text = compact(f'<svg><g id="line">{marks}</g></svg>', "x")
    assert text.count("fill: red") == 1 and text.count("<use") == 3
    faint = "".join(f'<path d="M {x} 0" style="fill: red; opacity: 0.5"/>' for x in range(3))
    assert compact(f"<svg>{faint}</svg>", "x").count("opacity: 0.5") == 3  # of a group it would be another picture
    other = '<path d="M 0 0" style="fill: red"/><path d="M 1 0" style="fill: blue"/>'
    assert compact(f"<svg>{other}</svg>", "x").count("fill:") == 2


def test_what_is_used_elsewhere_keeps_its_own_style_and_its_place() -> None:
    drawing = (
        '<svg><defs><path id="a" d="M 0 0" style="fill: red"/><path id="b" d="M 0 0" style="fill: red"/></defs>'
        '<g id="named"><use href="#b" x="1" y="1"/></g><g clip-path="url(#c)"/><clipPath id="c"/></svg>'
    )
    text = compact(drawing, "x")
    assert text.count("fill: red") == 2
    assert re.findall(r' id="([^"]*)"', text) == ["x-1", "x-2"]
    assert 'href="#x-1"' in text and "named" not in text


def test_text_stays_to_the_letter() -> None:
    said = '">id=&quot;m&quot; href=&quot;#m  M 1 2 L 1 3</text></svg>'
    assert compact(f'<svg><text x="1" transform="rotate(-0 1 2)"{said[1:]}', "x") == f'<svg><text x="1"{said[1:]}'
    turned = '<text transform="rotate(-90 1 2)">y</text>'
    assert compact(f"<svg>{turned}</svg>", "x") == f"<svg>{turned}</svg>"


def test_a_card_has_every_colour_of_its_drawing() -> None:
    card = evidence_card(made.proved())
    used = set(re.findall(r"var\((--[\w-]+)\)", card))
    assert {name for name in used if f"{name}:" not in card} == set()
    assert "--panel" in used

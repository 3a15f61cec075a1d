"""How is a drawing of Matplotlib said in fewer characters, and stays the same picture?

Matplotlib repeats the style of every mark, names groups that nothing refers to, and indents: most of a page's text.
"""

from __future__ import annotations

import itertools
import re

_TAG = re.compile(r"<[^>]*>")
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:href="#|url\(#)([^")]*)')
_MARKS = re.compile(r"(?:<(?:use|path)\b[^>]*/>)+")
_BARE = re.compile(r"<g>((?:<(?:use|path)\b[^>]*/>|<text\b[^>]*>[^<]*</text>)*)</g>")
_SHARED = re.compile(r' (?:style|clip-path)="[^"]*"')
_INHERITED = re.compile(r"(?:(?:fill|stroke)(?:-[a-z]+)?: [^;]+(?:; |$))*")
_STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_EMPTY_PATH = re.compile(r'<path(?! d=)(?: (?!d=)[\w-]+="[^"]*")*/>')
_EMPTY_GROUP = re.compile(r"<g[^>]*></g>")
_NO_TURN = re.compile(r' transform="rotate\(-?0 [^)]*\)"')


def compact(drawing: str, prefix: str) -> str:
    """Return an ``<svg>`` element of Matplotlib in fewer characters; what is drawn does not change."""
    text = re.sub(r">\s+<", "><", drawing)
    text = _NO_TURN.sub("", text)
    text = _TAG.sub(lambda tag: re.sub(r' d="[^"]*"', _path, tag[0]), text)
    text = _renamed(_EMPTY_PATH.sub("", text), prefix)
    while (shorter := _EMPTY_GROUP.sub("", _BARE.sub(r"\1", text))) != text:
        text = shorter
    return _MARKS.sub(_said_once, text)


def _path(found: re.Match[str]) -> str:
    """Write the steps of a path without spaces, and a line along an axis by the number that changes."""
    steps, at = [], ["", ""]
    for command, numbers in _STEP.findall(found[0][4:-1]):
        end = numbers.split()[-2:]
        if command == "L" and end[0] == at[0]:
            steps.append(f"V{end[1]}")
        elif command == "L" and end[1] == at[1]:
            steps.append(f"H{end[0]}")
        else:
            steps.append(command + numbers.strip())
        at = end if command in "MLCQ" else ["", ""]
    return f' d="{"".join(steps)}"'


def _said_once(marks: re.Match[str]) -> str:
    """Say of marks that follow each other once what is said of each of them alike, and is inherited."""
    parts = []
    for shared, alike in itertools.groupby(_TAG.findall(marks[0]), _inherited):
        tags = list(alike)
        if len(tags) > 1 and shared:
            for each in shared:
                tags = [tag.replace(each, "", 1) for tag in tags]
            tags = [f"<g{''.join(shared)}>", *tags, "</g>"]
        parts += tags
    return "".join(parts)


def _inherited(tag: str) -> tuple[str, ...]:
    """What a tag says of itself that a group around it could say as well; nothing if it is used or turned elsewhere."""
    if " id=" in tag or " transform=" in tag:
        return ()
    return tuple(each for each in _SHARED.findall(tag) if each.startswith(" clip") or _INHERITED.fullmatch(each[8:-1]))


def _renamed(text: str, prefix: str) -> str:
    """Give short names to what is referred to, in its order, and none to anything else."""
    referred = {name for tag in _TAG.findall(text) for name in _REFERENCE.findall(tag)}
    numbers, names = itertools.count(1), dict[str, str]()

    def named(found: re.Match[str]) -> str:
        if found[1] not in referred:
            return ""
        names.setdefault(found[1], f"{prefix}-{next(numbers)}")
        return f' id="{names[found[1]]}"'

    text = _TAG.sub(lambda tag: _ID.sub(named, tag[0]), text)
    return _TAG.sub(lambda tag: _REFERENCE.sub(lambda found: _replaced(found, names), tag[0]), text)


def _replaced(found: re.Match[str], names: dict[str, str]) -> str:
    return found[0].removesuffix(found[1]) + names.get(found[1], found[1])

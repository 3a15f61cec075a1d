"""What do a red and a green card look like? Two audits of the tutorial's release, made when the site is built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dpaudit import Evidence
from dpaudit.report import evidence_card

HERE = Path(__file__).resolve().parent
PAGES = HERE / "generated" / "front"
_ASKED = ("--domain", "species=[Adelie, Chinstrap, Gentoo]", "--relation", "add-remove", "--seed", "0")
CARDS = {"red": ("first.py:adelies", 1), "green": ("fixed.py:adelies", 0)}
"""Each card: what is audited, and the exit code that it ends with."""


def write() -> None:
    """Write the page of each card, and the cards side by side."""
    PAGES.mkdir(parents=True, exist_ok=True)
    cards = []
    for name, (target, code) in CARDS.items():
        page, record = PAGES / f"front-{name}.html", PAGES / f"front-{name}.json"
        command = [sys.executable, "-m", "dpaudit", "audit", target, "--claim", "epsilon=0.1", *_ASKED]
        command += ["--quiet", "--html", str(page), "--json", str(record)]
        ended = subprocess.run(command, cwd=HERE / "files" / "tutorial", check=False).returncode
        if ended != code:
            raise RuntimeError(f"the {name} card: {' '.join(command)} ended with {ended}, not {code}")
        card = evidence_card(Evidence.load(record)).replace("line-wide", f"line-{name}")  # ids of a page are its own
        cards.append(f'<div>{card}<p><a href="{page.name}">The page that it belongs to</a></p></div>')
    (PAGES.parent / "cards.html").write_text(f'<div class="cards">{"".join(cards)}</div>\n', encoding="utf-8")


if __name__ == "__main__":
    write()

"""How is the site of the documentation built? By ``make docs``, without a network; ``index.md`` is its first page."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

REPOSITORY = ""
"""Where files of the repository can be read, such as "https://example.org/dpaudit/blob/main"; empty while nowhere.

Links to files that are not part of the site go there, and are plain names until it is known.
"""

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reports")]
import configuration  # noqa: E402
import front  # noqa: E402
import lists  # noqa: E402
import notebooks  # noqa: E402
import regenerate  # noqa: E402

from dpaudit.checker.archive import built  # noqa: E402

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}  # for the commands that pages run

project, author, language = "dpaudit", "the authors of dpaudit", "en"
html_show_copyright, smartquotes = False, False  # two hyphens are those of an option
release = metadata.version("dpaudit")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinxcontrib.programoutput",
    "matplotlib.sphinxext.plot_directive",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["files", "generated", "pictures", "static"]
suppress_warnings = ["misc.highlighting_failure"]  # sketches of JSON with words in them
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_typehints, autodoc_member_order, autodoc_class_signature = "description", "bysource", "separated"
napoleon_use_ivar = True
programoutput_prompt_template = "$ {command}\n{output}"
plot_basedir = str(HERE)
plot_formats, plot_html_show_formats, plot_html_show_source_link = ["svg"], False, False
plot_rcparams = {"figure.figsize": (7.2, 2.6), "svg.fonttype": "none", "font.family": "sans-serif"}
plot_apply_rcparams = True
copybutton_prompt_text = "$ "
html_theme, html_title = "furo", "dpaudit"
html_extra_path = ["generated/front", "generated/extra"]
html_static_path, html_css_files = ["static"], ["front.css"]
html_theme_options = {"navigation_with_keys": True}


def outside(_: Any, page: str, source: list[str]) -> None:
    """Point links to files of the repository that are no pages to the repository."""
    folder = (HERE / page).parent

    def link(found: re.Match[str]) -> str:
        words, target, place = found[1], found[2], found[3] or ""
        path = (folder / target).resolve()
        if path.is_relative_to(HERE) or not path.exists():
            return found[0]
        name = path.relative_to(HERE.parent).as_posix()
        return f"[{words}]({REPOSITORY}/{name}{place})" if REPOSITORY else f"{words} (`{name}` in the repository)"

    source[0] = re.sub(r"\[([^\]]+)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)", link, source[0])


def setup(app: Any) -> None:
    """Connect the above."""
    configuration.write()
    front.write()
    lists.write()
    regenerate.draw_all(HERE / "generated" / "extra" / "reports")
    app.connect("builder-inited", notebooks.write, priority=900)  # after the cache of what commands print
    (HERE / "generated" / "dpaudit-check.pyz").write_bytes(built())
    app.connect("source-read", outside)

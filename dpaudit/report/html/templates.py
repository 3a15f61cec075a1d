"""How does a template become a page? Escaped throughout, and strict about what it is not given."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import jinja2

from dpaudit.report.text.phrases import visible


def source(name: str) -> str:
    """Return a file that lies beside the templates."""
    return files("dpaudit.report.html").joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> jinja2.Environment:
    """Return the environment of every page: what a browser would obey rather than print is shown instead."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""How does one file check evidence where nothing is installed? The check itself, on stand-ins for the libraries.

`build` puts the modules of the check into ``dpaudit-check.pyz``, with stand-ins for what they import from elsewhere:
`structs` for msgspec, `arrays` for NumPy, `special` for SciPy's special functions (certified by the exact sums of
`tails`), and `canonical` for rfc8785. So there is one implementation of every check. What a stand-in does not offer
raises `missing.MissingError`, and the finding says *not checked*: never more than ``dpaudit check`` says.
"""

__all__ = ["build"]

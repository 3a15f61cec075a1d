"""``python -m dpaudit`` is the command ``dpaudit``."""

from dpaudit.cli import main

main()

"""The commands, one module each; `dpaudit.cli.main` finds them by their names."""

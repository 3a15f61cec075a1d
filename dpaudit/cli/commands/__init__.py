"""Which commands are there? Those of a kind in one module; `dpaudit.cli.main` finds them by their names."""

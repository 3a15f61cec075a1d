"""Which commands are there? One module each; `dpaudit.cli.main` finds them by their names."""

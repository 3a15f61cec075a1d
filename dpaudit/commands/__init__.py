"""The commands, one module each; `dpaudit.cli` finds them by their names."""

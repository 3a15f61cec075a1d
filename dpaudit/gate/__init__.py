"""Does a repository keep its privacy claims? Targets of a configuration in, results and one exit code out."""

__all__ = ["config", "drawn", "kept", "result", "run"]

"""Does a repository keep its promises? Targets of a configuration in, results and one exit code out."""

"""What do all commands have in common? Options in groups, each given once, and examples at the end of the help."""

from __future__ import annotations

import click

_SECTIONS = {
    "What is released": (
        *(
            "gaussian",
            "noise_multiplier",
            "laplace",
            "discrete_laplace",
            "discrete_gaussian",
            "randomised_response",
            "exponential",
            "block",
        ),
        *("sensitivity", "rate", "batch", "records", "batches", "epochs", "steps", "record"),
    ),
    "What is asked": (
        *(
            "parameters",
            "claim",
            "claimed",
            "norm",
            "detect",
            "error",
            "vary",
            "lengths",
            "pairs",
            "data",
            "domain",
            "given",
            "beyond_domain",
            "search",
        ),
        *("relation", "length", "delta", "epsilon", "design", "sigma", "clip", "sampling", "calibrate", "against"),
    ),
    "How it is examined": (
        *("runs", "confidence", "false_alarm", "seed", "floating_point", "sequential", "observe", "types"),
        *("curve", "learn", "candidates", "paths", "tolerance", "alone", "require", "fresh", "update_baseline"),
        *("nightly", "config_file", "target", "trust", "canaries"),
    ),
    "Limits and workers": (
        "workers",
        "block_size",
        "reading",
        "backend",
        "scheduler",
        "steps",
        "time_budget",
        "seconds",
        "resume",
        "time_limit",
        "memory_limit",
        "memory",
        "here",
    ),
    "What is written": (
        *(
            "json_file",
            "html_file",
            "html_to",
            "html_folder",
            "script",
            "junit",
            "sarif",
            "markdown",
            "json",
            "format_name",
            "output",
        ),
        *("compare", "context", "keep_data", "quiet"),
    ),
}
_FEW = 7  # options, up to which one list is easier to read


class Command(click.Command):
    """A command whose help has its options in groups, and which overlooks nothing that was typed.

    Attributes:
        twice: what to do instead of giving an option of one value twice.
    """

    twice = "give it once"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; an option of one value that is given twice is refused, where click takes the last."""
        _, __, order = self.make_parser(ctx).parse_args(list(args))
        for each in order:
            single = isinstance(each, click.Option) and not (each.multiple or each.is_flag)
            if single and order.count(each) > 1:
                raise click.UsageError(f"{each.opts[-1]} is given {order.count(each)} times; {self.twice}", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in groups where there are many."""
        named = {str(each.name): each for each in self.get_params(ctx) if isinstance(each, click.Option)}
        if len(named) <= _FEW:
            super().format_options(ctx, formatter)
            return
        for title, names in _SECTIONS.items():
            self._section(ctx, formatter, title, [named.pop(name) for name in names if name in named])
        self._section(ctx, formatter, "Other options", list(named.values()))

    def _section(
        self, ctx: click.Context, formatter: click.HelpFormatter, title: str, options: list[click.Option]
    ) -> None:
        rows = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def examples(*lines: str) -> str:
    """Return the end of a command's help: commands as they are typed, each perhaps with "  # a remark"."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))

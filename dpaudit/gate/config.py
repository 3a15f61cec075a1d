"""What should a repository's gate check? Its configuration, read with errors that name the key and the line.

The configuration is the table ``[tool.dpaudit]`` of a ``pyproject.toml``, or a separate TOML file. Files and modules in
it are relative to its folder.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
import msgspec

from dpaudit.decimals import refuse_confidence, refuse_false_alarm
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.canonical_json import read_text
from dpaudit.gate import result, target_process
from dpaudit.gate.schema import Accept, GateSettings, TargetSettings, json_schema, offered
from dpaudit.request import AuditRequest, TraceRequest, default_of, options_of

FILE = "pyproject.toml"
ACCEPT = 'accept = { rule = "claim-violated", until = 2027-03-31, why = "fixed in the next release" }'
EXAMPLE = '[[tool.dpaudit.targets]]\ntarget = "release.py:noisy_count"\nclaim = "epsilon=1"'
LEAST_SEARCHED = 1_000  # runs, as a search in data asks for; a test keeps both alike
_PLACE = ("tool", "dpaudit")
_INHERITED = ("require", "inconclusive", "time_limit", "memory_limit", *offered("shared"))
_WHOLE = {"seed", *(name for name, (_, option) in offered("shared", "target").items() if option.kind == "count")}

_OF_ANY = ("name", "claim", "require", "inconclusive", "expect", "accept", "time_limit", "memory_limit")
_OF_TRAINING, _OF_ACCOUNTS = ("training", *_OF_ANY), ("account", *_OF_ANY)

Settings = TypeVar("Settings", bound=msgspec.Struct)
Key = str | int


@dataclass(frozen=True, slots=True)
class Configuration:
    """A valid configuration; every target has a unique name and all of its settings."""

    path: Path
    settings: GateSettings

    @property
    def root(self) -> Path:
        """The folder of the project, to which all names are relative."""
        return self.path.parent

    @property
    def targets(self) -> tuple[TargetSettings, ...]:
        """All targets, in their order."""
        return tuple(self.settings.targets)

    @property
    def share(self) -> float:
        """The error level of each target: that of the gate, divided by the number of targets."""
        return (1 - self.settings.confidence) / len(self.settings.targets)

    @property
    def false_alarm(self) -> float:
        """The false alarm probability of one audit: 1 in 1,000 for all targets together.

        An audit gets half of its target's share, since a target that seems leakier than its baseline is audited twice.
        """
        usual: float = default_of(AuditRequest, "false_alarm")
        return min(usual, 1 - self.settings.confidence) / len(self.settings.targets) / 2

    def named(self, names: Sequence[str]) -> tuple[TargetSettings, ...]:
        """Return the targets with these names (or written like this); all if there are none; refuse unknown ones."""
        for name in names:
            if not any(name in (item.name, item.target) for item in self.targets):
                known = [str(item.name) for item in self.targets]
                raise UsageError(f"no target is called {name!r} in {self.path.name}; {nearest(name, known)}")
        return tuple(item for item in self.targets if not names or item.name in names or item.target in names)


def find(start: Path) -> Path:
    """Return the nearest ``pyproject.toml`` with a table ``[tool.dpaudit]``, from ``start`` upwards."""
    for folder in (start, *start.parents):
        file = folder / FILE
        if file.is_file() and _table(_parsed(_read_configuration(file), file)) is not None:
            return file
    raise UsageError(
        f"no {FILE} here or above has a table [tool.dpaudit]; dpaudit init writes one with an example. Or name a "
        f"file with --config, or write:\n{EXAMPLE}"
    )


def read(path: Path) -> Configuration:
    """Return the configuration in a file."""
    path = path.absolute()
    text = _read_configuration(path)
    document = _parsed(text, path)
    table = _table(document)
    place: tuple[Key, ...] = _PLACE
    if table is None:
        if path.name == FILE:
            raise UsageError(f"{path.name} has no table [tool.dpaudit]; write one:\n{EXAMPLE}")
        table, place = document, ()
    return _Reader(path, text, place).configuration(table)


def _read_configuration(path: Path) -> str:
    return read_text(path, "the configuration")


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path.name} is no TOML: {error}") from None


def _table(document: dict[str, Any]) -> dict[str, Any] | None:
    tool = document.get("tool")
    table = tool.get("dpaudit") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


class _Reader:
    """Turns tables into settings; knows the line of each key."""

    def __init__(self, path: Path, text: str, place: tuple[Key, ...]) -> None:
        self.path, self.text, self.place = path, text, place

    def configuration(self, table: dict[str, Any]) -> Configuration:
        listed = table.get("targets")
        if not isinstance(listed, list) or not listed:
            wrong = "it is empty" if listed == [] else "there is none" if listed is None else f"it is {listed!r:.40}"
            self.refuse(("targets",), f"a gate needs a list of targets, and {wrong}; write for example\n{EXAMPLE}")
        gate = self.converted({**table, "targets": [{"target": "-"}]}, GateSettings, ())
        targets = [self.target(raw, gate, index) for index, raw in enumerate(listed)]
        settings = Configuration(self.path, msgspec.structs.replace(gate, targets=self.with_names(targets)))
        try:
            refuse_confidence(
                1 - settings.share / 2, f"confidence of {gate.confidence!r}, shared by {len(targets)} targets,"
            )
            refuse_false_alarm(settings.false_alarm)
        except UsageError as error:
            self.refuse(("confidence",), str(error))
        return settings

    def target(self, raw: Any, gate: GateSettings, index: int) -> TargetSettings:
        at: tuple[Key, ...] = ("targets", index)
        if not isinstance(raw, dict):
            self.refuse(at, f"a target is a table, not {raw!r:.60}; write\n{EXAMPLE}")
        self.check_accept(raw, at)
        settings = self.converted(raw, TargetSettings, at)
        if settings.account is not None:
            return self.accounted(raw, settings, gate, at)
        if settings.training is not None:
            return self.trained(raw, settings, gate, at)
        if not settings.target:
            self.refuse(at, f"the key 'target' is missing; write\n{EXAMPLE}")
        if settings.trace:
            self.traced(raw, settings, gate, at)
        self.check_texts(settings, at)
        self.check_pairs(settings, at)
        self.check_domain(settings, at)
        self.check_given(settings, at)
        self.check_data(settings, gate, at)
        for name, value in _leaves(settings.parameters, ()):
            if not isinstance(value, str | bool | int | float):
                self.refuse((*at, "parameters", *name), f"a parameter is a number, text or list, not {value!r:.60}")
        missing = {key: getattr(gate, key) for key in _INHERITED if getattr(settings, key) is None}
        target = msgspec.structs.replace(settings, **missing, parameters=self.with_table_names(settings, at))
        why = without_proof(target)
        if why:
            self.refuse((*at, "types") if settings.types is not None else ("types",), why)
        return target

    def check_accept(self, raw: dict[str, Any], at: tuple[Key, ...]) -> None:
        """Refuse an acceptance that cannot be read, and one that could hide more than it says."""
        given, at = raw.get("accept"), (*at, "accept")
        if given is None:
            return
        if not isinstance(given, dict):
            self.refuse(at, f"it is a table, not {given!r:.60}; write\n{ACCEPT}")
        acceptance = self.converted(given, Accept, at)
        if raw.get("expect") == "violated":
            self.refuse(at, "expect = 'violated' asks for the finding that it accepts; leave one of the two out")
        if acceptance.up_to is not None and acceptance.rule != str(result.OutcomeRule.CLAIM_VIOLATED):
            self.refuse((*at, "up_to"), f"it is about a violated claim, and rule is {acceptance.rule!r}; leave it out")

    def traced(self, raw: dict[str, Any], settings: TargetSettings, gate: GateSettings, at: tuple[Key, ...]) -> None:
        """Refuse what has no meaning beside trace, rather than leave it out."""
        for key in raw:
            if key in offered("shared", "target") and key not in options_of(TraceRequest):
                self.refuse((*at, key), "it has no meaning beside trace = true; leave one of the two out")
        if (settings.require or gate.require) == "proved" and settings.expect != "violated":
            self.refuse((*at, "trace"), "a trace proves nothing, and require is 'proved'; leave one of the two out")

    def accounted(
        self, raw: dict[str, Any], settings: TargetSettings, gate: GateSettings, at: tuple[Key, ...]
    ) -> TargetSettings:
        """Return a target of which nothing is run: its plan is read here, so that errors name the place."""
        from dpaudit.accounts.account import name_of
        from dpaudit.accounts.plan import settings_plan
        from dpaudit.evidence.further_records import Release

        for key in raw:
            if key not in _OF_ACCOUNTS:
                self.refuse(
                    (*at, key), f"it has no meaning beside account; {nearest(key, _OF_ACCOUNTS)}. Nothing is run"
                )
        try:
            plan = settings_plan(settings.account, self.path.parent)
            events = plan.events
        except UsageError as error:
            self.refuse((*at, "account"), str(error))
        if settings.claim is None and not plan.claims:
            self.refuse(at, 'a gate holds claims: give claim = "epsilon=3, delta=1e-5", or claims in the plan')
        self.check_texts(settings, at)
        listed = name_of([Release(str(event), count) for event, count in events.parts])
        called = settings.account if isinstance(settings.account, str) else plan.name or listed
        missing = {key: getattr(gate, key) for key in _INHERITED if getattr(settings, key) is None}
        return msgspec.structs.replace(settings, target=called, **missing)

    def trained(
        self, raw: dict[str, Any], settings: TargetSettings, gate: GateSettings, at: tuple[Key, ...]
    ) -> TargetSettings:
        """Return a target whose training loop is watched; its table becomes one, if it is a text."""
        for key in raw:
            if key not in _OF_TRAINING:
                self.refuse((*at, key), f"it has no meaning beside training; {nearest(key, _OF_TRAINING)}")
        if (settings.require or gate.require) == "proved" and settings.expect != "violated":
            self.refuse((*at, "training"), "a watched loop proves nothing, and require is 'proved'; leave one out")
        self.check_texts(settings, at)
        try:
            table = target_process.table_of(settings.training, settings.claim)
        except UsageError as error:
            self.refuse((*at, "training"), str(error))
        missing = {key: getattr(gate, key) for key in _INHERITED if getattr(settings, key) is None}
        return msgspec.structs.replace(settings, target=table["function"], training=table, **missing)

    def check_texts(self, target: TargetSettings, at: tuple[Key, ...]) -> None:
        """Check claim and relation, which have their own grammars."""
        from dpaudit.neighbours import parse_relation
        from dpaudit.privacy import parse_claim

        for key, text, parse in (("claim", target.claim, parse_claim), ("relation", target.relation, parse_relation)):
            try:
                if text is not None:
                    parse(text)
            except UsageError as error:
                self.refuse((*at, key), str(error))

    def check_pairs(self, target: TargetSettings, at: tuple[Key, ...]) -> None:
        """Refuse pairs that are not pairs, and files that do not exist."""
        pairs = target.pairs
        if pairs is None:
            return
        for file in pair_files(target):
            if not (self.path.parent / file).is_file():
                self.refuse((*at, "pairs"), f"there is no file {file!r} in {str(self.path.parent)!r}")
        if not pair_files(target) and not (
            isinstance(pairs, list) and pairs and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        ):
            self.refuse((*at, "pairs"), f"pairs are [[data0, data1], …], or the names of files, not {pairs!r:.60}")

    def check_data(self, target: TargetSettings, gate: GateSettings, at: tuple[Key, ...]) -> None:
        """Refuse a dataset that is not there, and what has no meaning beside it, or without it."""
        if target.beyond_domain and (target.data is None or target.domain is None):
            self.refuse(
                (*at, "beyond_domain"), "what lies beyond a domain is tried beside data; give data and a domain"
            )
        if target.data is None:
            return
        from dpaudit.neighbours.data_files import FORMS, is_dataset_name

        if target.pairs is not None:
            self.refuse((*at, "data"), "it is searched for pairs, and pairs are given; leave one of the two out")
        if not is_dataset_name(target.data):
            self.refuse((*at, "data"), f"it names no dataset: {target.data!r:.60}; give {FORMS}")
        if not (self.path.parent / target.data).is_file():
            self.refuse((*at, "data"), f"there is no file {target.data!r} in {str(self.path.parent)!r}")
        proved = (target.require or gate.require) == "proved" and target.expect != "violated"
        if isinstance(target.domain, str) or (proved and isinstance(target.domain, list)):
            forms = "by columns, { age = [0, 120] }" + ("" if proved else ", or [0, 120] for plain values")
            self.refuse((*at, "domain"), f"beside data it says what records may hold; give it {forms}")
        runs, own = (gate.runs, ("runs",)) if target.runs is None else (target.runs, (*at, "runs"))
        if runs < LEAST_SEARCHED:
            why = f"a search in data takes at least {LEAST_SEARCHED:,} runs, not {runs:,}"
            self.refuse(own, f"{why}; give more")

    def check_domain(self, target: TargetSettings, at: tuple[Key, ...]) -> None:
        """Refuse a domain of columns, or beside data, that cannot be read."""
        if not isinstance(target.domain, dict) and (target.data is None or not isinstance(target.domain, list)):
            return
        from dpaudit.neighbours.domain import declared_domain

        try:
            declared_domain(target.domain)
        except UsageError as error:
            self.refuse((*at, "domain"), str(error))

    def check_given(self, target: TargetSettings, at: tuple[Key, ...]) -> None:
        """Refuse what is given of lines where it is of another form, or where nothing is proved from records."""
        if target.given is None:
            return
        from dpaudit.neighbours.domain import parse_all

        try:
            parse_all(target.given)
        except UsageError as error:
            self.refuse((*at, "given"), str(error))
        if not isinstance(target.domain, dict) or target.trace or target.pairs is not None:
            why = "it is for a proof from records: declare what the columns hold, domain = { age = [0, 120] }"
            self.refuse((*at, "given"), f"{why}, and leave pairs and trace out")

    def with_table_names(self, settings: TargetSettings, at: tuple[Key, ...]) -> dict[str, Any]:
        """Return the parameters; tables ('@FILE') by file and digest."""
        from dpaudit.neighbours.data_files import table_name

        try:
            return {name: table_name(value, self.path.parent) for name, value in settings.parameters.items()}
        except UsageError as error:
            self.refuse((*at, "parameters"), str(error))

    def with_names(self, targets: list[TargetSettings]) -> list[TargetSettings]:
        """Give every target a unique name: its own, or the last part of its target, with parameters or a number."""
        taken: dict[str, int] = {}
        for index, target in enumerate(targets):
            if target.name is not None:
                if target.name in taken:
                    self.refuse(("targets", index, "name"), f"another target is called {target.name!r} already")
                taken[target.name] = index
        named: list[TargetSettings] = []
        for target in targets:
            short = target.target if target.account is not None else target.target.rpartition(":")[2] or target.target
            parameters = ", ".join(f"{name}={value}" for name, value in target.parameters.items())
            wanted = [short, f"{short}({parameters})"] if parameters else [short]
            wanted += [f"{short} ({number})" for number in range(2, len(targets) + 2)]
            name = target.name or next(each for each in wanted if each not in taken)
            taken.setdefault(name, len(named))
            named.append(msgspec.structs.replace(target, name=name))
        return named

    def converted(self, raw: dict[str, Any], kind: type[Settings], at: tuple[Key, ...]) -> Settings:
        values = {
            key: _as_whole(value) if key in _WHOLE else value for key, value in raw.items()
        }  # 2e5 is allowed, too
        for key, value in values.items():
            if isinstance(value, float) and not math.isfinite(value):
                self.refuse((*at, key), f"{key} is a finite number, not {value}")
        try:
            return msgspec.convert(values, kind)
        except msgspec.ValidationError as error:
            self.refuse(*self.explained(str(error), kind, values, at))

    def explained(
        self, message: str, kind: type[msgspec.Struct], given: dict[str, Any], at: tuple[Key, ...]
    ) -> tuple[tuple[Key, ...], str]:
        """Return the key that a message of msgspec is about, and a sentence."""
        unknown = re.fullmatch(r"Object contains unknown field `(.+?)`.*", message)
        if unknown:
            return (*at, unknown[1]), f"there is no key {unknown[1]!r}; {nearest(unknown[1], kind.__struct_fields__)}"
        missing = re.fullmatch(r"Object missing required field `(.+?)`.*", message)
        if missing:
            return at, f"the key {missing[1]!r} is missing; write\n{ACCEPT if kind is Accept else EXAMPLE}"
        what, _, where = message.partition(" - at `$")
        key = where.rstrip("`").lstrip(".").partition(".")[0].partition("[")[0]
        if not key:
            return at, what
        known = json_schema()["$defs"][kind.__name__]["properties"][key]
        enums = [part["enum"] for part in (known, *known.get("anyOf", ())) if "enum" in part]
        expected = f"Expected one of {', '.join(map(repr, enums[0]))}" if enums else what.partition(", got")[0]
        return (
            *at,
            key,
        ), f"{expected.replace('`', '').removesuffix(' | null')}, not {given[key]!r:.60}. {_description(known)}"

    def refuse(self, keys: tuple[Key, ...], why: str) -> NoReturn:
        line = line_of(self.text, (*self.place, *keys))
        where = "" if line is None else f", line {line}"
        raise UsageError(f"{self.path.name}{where}, {_dotted((*self.place, *keys))}: {why}")


def without_proof(target: TargetSettings) -> str:
    """Say why a target that requires a proof cannot have one as it is configured; empty if it can."""
    if (target.require, target.types, target.expect) != ("proved", "ignore", "kept"):
        return ""
    return 'a proof is about outputs with their types; leave out types = "ignore", or require no proof'


def is_of_records(target: TargetSettings) -> bool:
    """Whether the data of a target are found in what its columns may hold, as a proof from records finds them."""
    return isinstance(target.domain, dict) and target.pairs is None and (target.data is None or bool(target.given))


def pair_files(target: TargetSettings) -> list[str]:
    """Return the files with the pairs of a target, as they are named; empty if the pairs are written inline."""
    if isinstance(target.pairs, str):
        return [target.pairs]
    if isinstance(target.pairs, list) and target.pairs and all(isinstance(item, str) for item in target.pairs):
        return list(target.pairs)
    return []


def _description(known: dict[str, Any]) -> str:
    """Return the description of a key in the schema."""
    return str(next((part["description"] for part in (known, *known.get("anyOf", ())) if "description" in part), ""))


def _as_whole(value: Any) -> Any:
    """Return a whole number written like 2e5 as an int, and anything else unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _leaves(value: Any, at: tuple[Key, ...]) -> list[tuple[tuple[Key, ...], Any]]:
    """Return all values inside a value, with their keys."""
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, (*at, key))]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in _leaves(item, (*at, index))]
    return [(at, value)]


def _dotted(keys: Sequence[Key]) -> str:
    """Write keys in the usual notation: tool.dpaudit.targets[0].runs."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".") or "the file"


def line_of(text: str, keys: Sequence[Key]) -> int | None:
    """Return the line of a key in a TOML text, or that of the table around it; None if unknown.

    It is the first line that names the key and whose statement defines it. This works because any part of the text that
    ends with a complete statement is itself valid TOML.
    """
    lines = text.splitlines()
    while keys:
        token = next(key for key in reversed(keys) if isinstance(key, str))
        for number, line in enumerate(lines):
            if token in line and _holds(_up_to(lines, number), keys):
                return number + 1
        keys = keys[:-1]
    return None


def _up_to(lines: list[str], number: int) -> Any:
    """Return the content of the text up to the statement that ends on line ``number`` or later."""
    for end in range(number + 1, len(lines) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except ValueError:
            continue
    return {}


def _holds(value: Any, keys: Sequence[Key]) -> bool:
    for key in keys:
        if isinstance(key, int):
            if not isinstance(value, list) or len(value) <= key:
                return False
        elif not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


# --- Can the gate find everything that it has to check? The configuration, targets and pairs are checked, but not
# run.
#
# ``python -m dpaudit.gate.config [--config FILE]`` prints what is wrong and exits with 2, or exits silently with 0.

_BINDING = {"globals", "exec", "setattr"}  # these may bind names that do not appear in the source


def findings(file: Path) -> list[str]:
    """Return what prevents the gate in this configuration from running, one sentence each.

    Raises:
        UsageError: if the configuration itself cannot be read.
    """
    configuration = read(file)
    problems = []
    for target in configuration.targets:
        if target.account is not None:
            continue  # its plan was read with the configuration
        place, colon, name = target.target.rpartition(":")
        if colon and place.endswith(".py"):
            why = _missing(configuration.root / place, name)
            problems += [f"target {target.name!r}: {why}"] if why else []
        try:
            _read_pairs([configuration.root / pair for pair in pair_files(target)])
        except UsageError as error:
            problems.append(f"target {target.name!r}: {error}")
    return problems


def _missing(file: Path, name: str) -> str | None:
    """Say why a file cannot define a name at its top level; None if it does, or if that cannot be determined."""
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except OSError as error:
        return f"cannot read {str(file)!r}: {error.strerror}"
    except (SyntaxError, ValueError) as error:
        return f"{str(file)!r} is no Python: {error}"
    known = _names(tree)
    if known is None or name.partition(".")[0] in known:
        return None
    return f"{str(file)!r} defines no {name!r}; {nearest(name, known)}"


def _names(tree: ast.Module) -> set[str] | None:
    """Return every name that a module may bind; None if it may bind any name."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    return None
                names.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Name) and node.id in _BINDING:
            return None
    return None if "__getattr__" in names else names


def _read_pairs(files: list[Path]) -> None:
    from dpaudit.neighbours.data_files import read_pairs

    read_pairs([file for file in files if file.suffix.lower() == ".json"])


@click.command()
@click.option("--config", "file", type=click.Path(path_type=Path), help="The configuration; else the nearest.")
@click.pass_context
def main(context: click.Context, file: Path | None) -> None:
    """Look whether the configuration can be read, and its targets and pairs are there; run none of them."""
    try:
        problems = findings(find(Path.cwd()) if file is None else file)
    except UsageError as error:
        problems = [str(error)]
    for sentence in problems:
        click.echo(f"dpaudit: {sentence}", err=True)
    context.exit(2 if problems else 0)


if __name__ == "__main__":
    main()

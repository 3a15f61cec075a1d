"""Random functions of every kind of statement, which end, and note in ``LOG`` what they do in which order.

Every expression may call ``_t``, which notes; containers are shared under several names; errors are raised and caught.
"""

from __future__ import annotations

import random

_HEAD = """LOG = []


def _t(x):
    LOG.append(x if isinstance(x, (int, float, str, bool, type(None))) else type(x).__name__)
    return x


class _Box:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        LOG.append("add")
        return _Box(self.v + getattr(other, "v", other))

    def __lt__(self, other):
        return self.v < getattr(other, "v", other)

    def __bool__(self):
        LOG.append("bool")
        return bool(self.v)

    def __len__(self):
        return 2

    def __repr__(self):
        return f"Box {self.v}"

    def __iter__(self):
        yield self.v
        yield LOG and 1


"""


class _Code:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["a", "b", "c"]
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.in_loop = self.in_generator = 0

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def write(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    # --- expressions ---

    def atom(self) -> str:
        return self.one(
            *self.names, "0", "1", "2", "-1", "''", "'ab'", "2.5", "None", "True", "[]", "()", "{}", "_Box(1)"
        )

    def value(self, deep: int = 3, walrus: bool = True) -> str:
        if deep == 0 or self.random.random() < 0.15:
            return self.atom()
        v = [self.value(deep - 1, walrus) for _ in range(3)]
        through = self.value(deep - 1, False)
        name = self.one(*self.names)
        return self.one(
            f"_t({v[0]})",
            f"({v[0]} {self.one('+', '-', '*', '//', '%', '&', '|', '<<')} {v[1]})",
            f"({v[0]} {self.one('and', 'or')} {v[1]})",
            f"(({v[0]} {self.one('and', 'or')} {v[1]}) {self.one('and', 'or')} {v[2]})",
            f"(not {v[0]})",
            f"({v[0]} if {v[1]} else {v[2]})",
            f"({v[0]} {self.one('<', '==', '!=', '>=')} {v[1]} {self.one('<', 'is', 'in', '!=')} {v[2]})",
            f"[{v[0]}, *{v[1]}]",
            f"({v[0]}, {v[1]})",
            f"{{{v[0]}: {v[1]}, 'k': {v[2]}}}",
            f"{v[0]}[{v[1]}]",
            f"len({v[0]})",
            f"f'{{{name}!r:>4}}{{{name}}}'",
            f"[({name}, i) for i in {through} if i or {name}]",
            f"[(i, k) for i in {through} for k in {through} if {v[0]}]",
            f"sum(j for j in (1, 2, 3) if j != {name})",
            f"(lambda p, q={name}: (p, q))({v[0]})",
            f"sorted([{v[0]}, {v[1]}], key=lambda k: str(k))",
            f"{name}.v",
            f"str({v[0]})",
            f"dict(a={v[0]}, **{{'b': {v[1]}}})",
            *([f"({name} := {v[0]})", f"[y for x in [{through}] if (y := x)]"] if walrus else []),
        )

    def target(self) -> str:
        name = self.one(*self.names)
        return self.one(name, name, name, f"{name}[{self.atom()}]", f"{name}.v", f"({name}, *{self.one(*self.names)})")

    # --- statements ---

    def block(self, deep: int, size: int = 3) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, size)):
            self.statement(deep)
        self.depth -= 1

    def statement(self, deep: int) -> None:
        simple = deep == 0 or self.random.random() < 0.4
        getattr(self, f"_{self.one(*(_SIMPLE if simple else _COMPOUND))}")(deep - 1)

    def _assign(self, deep: int) -> None:
        self.write(f"{self.target()} = {self.value()}")

    def _chain(self, deep: int) -> None:
        self.write(f"{self.target()} = {self.target()} = {self.value()}")

    def _augmented(self, deep: int) -> None:
        name = self.one(*self.names)
        target = self.one(name, f"{name}[{self.atom()}]", f"{name}.v")
        self.write(f"{target} {self.one('+', '-', '*', '|')}= {self.value(2)}")

    def _note(self, deep: int) -> None:
        self.write(f"_t({self.value()})")

    def _leave(self, deep: int) -> None:
        leaving = self.one("pass", *(["break", "continue"] * 2 if self.in_loop else []), "raise", "return")
        if leaving == "raise":
            leaving = f"raise {self.one('ValueError', 'KeyError', 'TypeError')}({self.atom()})"
        if leaving == "return":
            leaving = f"return {self.value(2)}"
        self.write(f"if {self.value(2)}:")
        self.write(f"    {leaving}")

    def _delete(self, deep: int) -> None:
        self.write(f"del {self.one(*self.names)}[{self.atom()}]")

    def _check(self, deep: int) -> None:
        self.write(f"assert {self.value(2)} or True, {self.atom()}")

    def _branch(self, deep: int) -> None:
        self.write(f"if {self.value()}:")
        self.block(deep)
        if self.random.random() < 0.5:
            self.write(f"elif {self.value(2)}:")
            self.block(deep)
        if self.random.random() < 0.5:
            self.write("else:")
            self.block(deep)

    def _loop(self, deep: int) -> None:
        over = self.one(f"[{self.value(1)}, {self.value(1)}]", "range(3)", f"_t([1, {self.atom()}])", "_Box(3)")
        self.write(f"for {self.one(self.one(*self.names), 'i')} in {over}:")
        self.in_loop += 1
        self.block(deep)
        self.in_loop -= 1
        if self.random.random() < 0.4:
            self.write("else:")
            self.block(deep, 1)

    def _while(self, deep: int) -> None:
        name = self.fresh()
        self.write(f"{name} = 0")
        self.write(f"while {name} < 3 and {self.value(2)}:")
        self.write(f"    {name} += 1")
        self.in_loop += 1
        self.block(deep)
        self.in_loop -= 1

    def _try(self, deep: int) -> None:
        self.write("try:")
        self.block(deep)
        self.write(f"except {self.one('Exception', '(TypeError, ValueError)', 'LookupError', 'AttributeError')} as e:")
        self.write("    _t(type(e).__name__ + str(e))")
        self.block(deep, 1)
        if self.random.random() < 0.4:
            self.write("else:")
            self.block(deep, 1)
        if self.random.random() < 0.4:
            self.write("finally:")
            loop, self.in_loop = self.in_loop, 0
            self.block(deep, 1)
            self.in_loop = loop

    def _function(self, deep: int) -> None:
        name, loop = self.fresh(), self.in_loop
        self.in_loop = 0
        self.write(f"def {name}(a, b={self.value(1)}):")
        shared = self.one(*self.names)
        if shared not in ("a", "b") and self.random.random() < 0.6:
            self.write(f"    nonlocal {shared}")
        if self.random.random() < 0.3:
            self.write(f"    yield {self.value(2)}")
        self.block(deep)
        self.in_loop = loop
        call = f"{name}({self.value(1)})"
        self.write(f"{self.one(*self.names)} = {self.one(call, f'list({call} or [])', f'[*{call}]')}")

    def _class(self, deep: int) -> None:
        name = self.fresh()
        self.write(f"class {name}:")
        self.write(f"    v = {self.value(2, False)}")
        self.write(f"    def m(self, p={self.value(1, False)}):")
        self.write(f"        return (self.v, p, {self.one(*self.names)})")
        self.write(f"{self.one(*self.names)} = {name}().m()")

    def _match(self, deep: int) -> None:
        self.write(f"match {self.value(2)}:")
        name = self.one(*self.names)
        for pattern in self.random.sample(
            [
                "0 | 1",
                f"[{name}, *_]",
                f"[_, {name}] if {name}",
                "{'k': 1, **c}",
                f"str() as {name}",
                "_Box(v=1)",
                "None",
            ],
            3,
        ):
            self.write(f"    case {pattern}:")
            self.depth += 1
            self.block(deep, 1)
            self.depth -= 1
        self.write("    case _:")
        self.depth += 1
        self.block(deep, 1)
        self.depth -= 1


_SIMPLE = ("assign",) * 4 + ("chain", "augmented", "augmented", "note", "note", "leave", "delete", "check")
_COMPOUND = ("branch", "branch", "loop", "loop", "while", "try", "try", "try", "function", "class", "match")


def random_code(seed: int) -> str:
    """The text of a module with a function ``program``."""
    code = _Code(seed)
    code.write("a, b = [1, 2], {'k': 1}")
    code.write("c = a")
    for _ in range(code.random.randint(4, 8)):
        code.write("try:")
        code.block(2)
        code.write("except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, NameError) as e:")
        code.write("    _t(type(e).__name__ + str(e))")
        code.write("    a, b = b, [3]" if code.random.random() < 0.3 else "    pass")
    code.write("return a, b, c")
    return _HEAD + "def program():\n" + "\n".join(code.lines) + "\n"

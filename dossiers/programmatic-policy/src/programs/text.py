"""The text of a program, and the program of a text.

program := "if" test {"and" test} ":" action NEWLINE program | "else" ":" action
test    := PREDICATE | "not" PREDICATE | FEATURE ("<" | ">") NUMBER
action  := NAME | linear | pid
linear  := "argmax(" NAME ":" NUMBER {"+" NUMBER "*" FEATURE} {";" ...} ")" {" | " the next head}
pid     := "pid(" axis {";" axis} ")"
axis    := NAME ":" NUMBER "+" NUMBER "*e +" NUMBER "*sum +" NUMBER "*diff, e =" FEATURE "-" NUMBER
"""

from __future__ import annotations

import re

from programs.program import Action, Constant, Control, Linear, Pid, Program, Rule, Test, Words

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class Mistake(ValueError):
    """A text that is no program; the message has line and column, counted from 1."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(f"line {line} column {column}: {message}")


def number(value: float) -> str:
    """Shortest text that reads back as the same number."""
    return repr(float(value))


def write(program: Program, words: Words) -> str:
    """The text, one rule per line."""
    lines = [
        f"if {' and '.join(_test(test, words) for test in rule.tests)}: {_action(rule.action, words)}"
        for rule in program.rules
    ]
    return "\n".join([*lines, f"else: {_action(program.rest, words)}"]) + "\n"


def _test(test: Test, words: Words) -> str:
    if test.entry < len(words.predicates):
        return ("" if test.above else "not ") + words.predicates[test.entry]
    name = words.features[test.entry - len(words.predicates)]
    return f"{name} {'>' if test.above else '<'} {number(test.number)}"


def _action(action: Action, words: Words) -> str:
    if isinstance(action, Constant):
        if words.continuous:
            return ",".join(number(value) for value in action.values)
        if len(words.actions) == 1:
            return words.actions[0][int(action.values[0])]
        return ",".join(str(int(value)) for value in action.values)
    if isinstance(action, Linear):
        return " | ".join(
            "argmax("
            + "; ".join(
                f"{name}: {number(b)}" + "".join(f" + {number(w)}*{words.features[i]}" for i, w in row)
                for name, b, row in zip(names, bias, rows, strict=True)
            )
            + ")"
            for names, bias, rows in zip(words.actions, action.bias, action.weights, strict=True)
        )
    parts = [
        f"{names[0]}: {number(c.k0)} + {number(c.kp)}*e + {number(c.ki)}*sum + {number(c.kd)}*diff, "
        f"e = {words.features[c.feature]} - {number(c.target)}"
        for names, c in zip(words.actions, action.axes, strict=True)
    ]
    return f"pid({'; '.join(parts)})"


def parse(text: str, words: Words) -> Program:
    """The program of a text; raises `Mistake`."""
    rules: list[Rule] = []
    lines = text.split("\n")
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        reader = _Reader(line, place, words)
        if reader.word("else"):
            reader.expect(":")
            rest = reader.action()
            reader.end()
            for later, extra in enumerate(lines[place:], start=place + 1):
                if extra.strip():
                    raise Mistake(later, 1, "nothing comes after else")
            return Program(tuple(rules), rest)
        if not reader.word("if"):
            raise Mistake(place, reader.column, "a line begins with if or else")
        tests = [reader.test()]
        while reader.word("and"):
            tests.append(reader.test())
        reader.expect(":")
        rules.append(Rule(tuple(tests), reader.action()))
        reader.end()
    raise Mistake(len(lines), 1, "the last line is else: ACTION")


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, line: str, place: int, words: Words) -> None:
        self.line, self.place, self.words, self.at = line, place, words, 0
        self._blank()

    @property
    def column(self) -> int:
        return self.at + 1

    def mistake(self, message: str) -> Mistake:
        return Mistake(self.place, self.column, message)

    def _blank(self) -> None:
        while self.at < len(self.line) and self.line[self.at] in " \t":
            self.at += 1

    def _move(self, count: int) -> None:
        self.at += count
        self._blank()

    def word(self, text: str) -> bool:
        """Reads a word of letters if it stands here."""
        if not re.match(re.escape(text) + r"(?![\w/])", self.line[self.at :]):
            return False
        self._move(len(text))
        return True

    def expect(self, mark: str) -> None:
        if not self.line.startswith(mark, self.at):
            raise self.mistake(f"{mark!r} is wanted")
        self._move(len(mark))

    def maybe(self, mark: str) -> bool:
        if not self.line.startswith(mark, self.at):
            return False
        self._move(len(mark))
        return True

    def name(self, names: tuple[str, ...], what: str) -> int:
        """The longest of some names that stands here."""
        found = [i for i, name in enumerate(names) if self.line.startswith(name, self.at)]
        if not found:
            raise self.mistake(f"a {what} is wanted: {', '.join(names)}")
        best = max(found, key=lambda i: len(names[i]))
        self._move(len(names[best]))
        return best

    def number(self) -> float:
        match = NUMBER.match(self.line, self.at)
        if not match:
            raise self.mistake("a number is wanted")
        self._move(len(match[0]))
        return float(match[0])

    def end(self) -> None:
        if self.at < len(self.line):
            raise self.mistake("the line ends here")

    def test(self) -> Test:
        words = self.words
        if self.word("not"):
            return Test(self.name(words.predicates, "predicate"), False)
        entry = self.name((*words.predicates, *words.features), "predicate or feature")
        if entry < len(words.predicates):
            return Test(entry, True)
        if not (self.line.startswith("<", self.at) or self.line.startswith(">", self.at)):
            raise self.mistake("'<' or '>' is wanted after a feature")
        above = self.line[self.at] == ">"
        self._move(1)
        return Test(entry, above, self.number())

    def action(self) -> Action:
        words = self.words
        if self.line.startswith("argmax", self.at):
            if words.continuous:
                raise self.mistake("argmax needs actions that can be counted")
            return self._linear()
        if self.line.startswith("pid", self.at) and not any(
            self.line.startswith(name, self.at) for names in words.actions for name in names
        ):
            if not words.continuous:
                raise self.mistake("pid needs continuous actions")
            return self._pid()
        if words.continuous:
            return Constant(self._values(words.low, words.high))
        if len(words.actions) == 1:
            return Constant((float(self.name(words.actions[0], "action")),))
        sizes = words.heads
        values = self._values(tuple(0.0 for _ in sizes), tuple(size - 1.0 for size in sizes))
        if any(value != int(value) for value in values):
            raise self.mistake("whole numbers are wanted")
        return Constant(values)

    def _values(self, low: tuple[float, ...], high: tuple[float, ...]) -> tuple[float, ...]:
        values = []
        for i, (least, most) in enumerate(zip(low, high, strict=True)):
            if i:
                self.expect(",")
            start = self.at
            value = self.number()
            if not least <= value <= most:
                self.at = start
                raise self.mistake(f"a number from {least:g} to {most:g} is wanted")
            values.append(value)
        return tuple(values)

    def _linear(self) -> Linear:
        bias, weights = [], []
        for head, names in enumerate(self.words.actions):
            if head:
                self.expect("|")
            self.expect("argmax")
            self.expect("(")
            found: dict[int, tuple[float, tuple[tuple[int, float], ...]]] = {}
            while True:
                start = self.at
                category = self.name(names, "action")
                if category in found:
                    self.at = start
                    raise self.mistake("this action stands here already")
                self.expect(":")
                b, row = self.number(), []
                while self.maybe("+"):
                    w = self.number()
                    self.expect("*")
                    row.append((self.name(self.words.features, "feature"), w))
                found[category] = (b, tuple(row))
                if not self.maybe(";"):
                    break
            missing = [name for i, name in enumerate(names) if i not in found]
            if missing:
                raise self.mistake(f"action {missing[0]} is missing")
            self.expect(")")
            bias.append(tuple(found[i][0] for i in range(len(names))))
            weights.append(tuple(found[i][1] for i in range(len(names))))
        return Linear(tuple(bias), tuple(weights))

    def _pid(self) -> Pid:
        self.expect("pid")
        self.expect("(")
        axes = []
        for axis, names in enumerate(self.words.actions):
            if axis:
                self.expect(";")
            self.name(names, "axis")
            self.expect(":")
            k = [self.number()]
            for mark in ("*e", "*sum", "*diff"):
                self.expect("+")
                k.append(self.number())
                self.expect(mark)
            self.expect(",")
            self.expect("e")
            self.expect("=")
            feature = self.name(self.words.features, "feature")
            self.expect("-")
            axes.append(Control(feature, self.number(), *k))
        self.expect(")")
        return Pid(tuple(axes))

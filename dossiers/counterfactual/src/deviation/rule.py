"""The rule of a foil policy: `if P [and P ...]: A`, where P is a predicate or `not` one, and A an action."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FORM = "if PREDICATE [and PREDICATE ...]: ACTION"
_SHAPE = re.compile(r"\s*if\s+(?P<tests>[^:]+):\s*(?P<action>\S.*?)\s*", re.DOTALL)


class NotARule(ValueError):
    """The text is no rule; the message says what a rule is, or which predicates there are."""


@dataclass(frozen=True)
class Condition:
    """One condition: a predicate that holds, or that does not where `wanted` is false."""

    predicate: str
    wanted: bool = True

    def __str__(self) -> str:
        return self.predicate if self.wanted else f"not {self.predicate}"


@dataclass(frozen=True)
class Rule:
    """Where every test holds, the action takes the place of the policy's."""

    tests: tuple[Condition, ...]
    action: str
    """As written; what it stands for depends on the environment."""

    def __str__(self) -> str:
        return f"if {' and '.join(map(str, self.tests))}: {self.action}"

    def demands(self, predicates: Sequence[str]) -> list[int]:
        """Per predicate 1 where it is to hold, 0 where it is not to, -1 where it is not asked, 2 where both are."""
        found = []
        for name in predicates:
            wanted = {test.wanted for test in self.tests if test.predicate == name}
            found.append(-1 if not wanted else 2 if len(wanted) == 2 else int(wanted.pop()))
        return found


def parse(text: str, predicates: Sequence[str]) -> Rule:
    """The rule that a text writes; raises `NotARule` for another form or a predicate that is not one of these."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise NotARule(f"{text!r} is no rule; a rule is {FORM!r}")
    tests = tuple(_test(part, text) for part in re.split(r"\band\b", shape["tests"]))
    unknown = [test.predicate for test in tests if test.predicate not in predicates]
    if unknown:
        raise NotARule(f"no predicate {unknown[0]!r}; predicates are {', '.join(predicates)}")
    return Rule(tests, shape["action"])


def _test(part: str, text: str) -> Condition:
    words = part.split()
    negated = words[:1] == ["not"]
    if len(words) != 1 + negated:
        raise NotARule(f"{text!r} is no rule: {part.strip()!r} is not one predicate; a rule is {FORM!r}")
    return Condition(words[-1], not negated)

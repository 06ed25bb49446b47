"""A program: rules asked in order, each an action under tests, and an action for the rest."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 12
"""Tests and rules, the `else` among them, that a program of rules has at most."""


@dataclass(frozen=True)
class Words:
    """What a program may speak of in one environment."""

    predicates: tuple[str, ...]
    features: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    """Per head the names of its categories; per axis its one name."""
    continuous: bool
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def heads(self) -> tuple[int, ...]:
        """Categories of each head; one per axis where actions are continuous."""
        return tuple(len(names) for names in self.actions)


@dataclass(frozen=True)
class Test:
    """A predicate (or its contrary), or a feature above or below a number."""

    entry: int
    """Index into predicates, then features."""
    above: bool
    """True for a predicate that holds, or a feature above the number."""
    number: float = 0.5


@dataclass(frozen=True)
class Constant:
    """One action: a category per head, or a number per axis."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class Linear:
    """The category of the largest b + sum of w * feature, per head: rows (b, (feature, w), ...) per category."""

    bias: tuple[tuple[float, ...], ...]
    weights: tuple[tuple[tuple[tuple[int, float], ...], ...], ...]


@dataclass(frozen=True)
class Control:
    """One axis of a PID controller: clip(k0 + kp*e + ki*sum(e) + kd*change of e), e = feature - target."""

    feature: int
    target: float
    k0: float
    kp: float
    ki: float
    kd: float


@dataclass(frozen=True)
class Pid:
    """A controller per axis."""

    axes: tuple[Control, ...]


Action = Constant | Linear | Pid


@dataclass(frozen=True)
class Rule:
    """An action where all tests hold."""

    tests: tuple[Test, ...]
    action: Action


@dataclass(frozen=True)
class Program:
    """Rules in order; the first whose tests hold acts, otherwise `rest`."""

    rules: tuple[Rule, ...]
    rest: Action

    @property
    def size(self) -> int:
        """Tests and rules, the last one included."""
        return sum(len(rule.tests) for rule in self.rules) + len(self.rules) + 1

    @property
    def actions(self) -> tuple[Action, ...]:
        """The action of every rule, the last one included."""
        return (*(rule.action for rule in self.rules), self.rest)

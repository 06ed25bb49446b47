"""The numbers of a program by name, each with its range, and programs with one of them changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from programs.program import Action, Constant, Linear, Pid, Program, Rule, Words


@dataclass(frozen=True)
class Number:
    """One number: the rule it stands in (the last for `else`), where in it, its value and range."""

    name: str
    rule: int
    where: tuple[int, ...]
    value: float
    span: float
    feature: int | None = None
    """The feature that a test compares with it; none for numbers of an action."""


def numbers(program: Program, words: Words, spans: np.ndarray) -> list[Number]:
    """Every number; `spans` (d,) are the observed ranges of the features."""
    found = []
    for place, rule in enumerate(program.rules):
        for i, test in enumerate(rule.tests):
            feature = test.entry - len(words.predicates)
            if feature >= 0:
                name = f"rule {place + 1} test {i + 1} {words.features[feature]}"
                found.append(Number(name, place, (-1, i), test.number, float(spans[feature]), feature))
    for place, action in enumerate(program.actions):
        title = f"rule {place + 1}" if place < len(program.rules) else "else"
        found += _of_action(title, place, action, words, spans)
    return found


def _of_action(title: str, place: int, action: Action, words: Words, spans: np.ndarray) -> list[Number]:
    if isinstance(action, Constant):
        if not words.continuous:
            return []
        width = [high - low for low, high in zip(words.low, words.high, strict=True)]
        return [
            Number(f"{title} {words.actions[i][0]}", place, (i,), value, width[i])
            for i, value in enumerate(action.values)
        ]
    if isinstance(action, Linear):
        found = []
        for head, (bias, rows) in enumerate(zip(action.bias, action.weights, strict=True)):
            whose = f"{title} head {head}" if len(words.actions) > 1 else title
            for category, (b, row) in enumerate(zip(bias, rows, strict=True)):
                name = f"{whose} {words.actions[head][category]}"
                found.append(Number(f"{name} b", place, (head, category, -1), b, 2.0))
                for i, (feature, w) in enumerate(row):
                    span = 2.0 / max(float(spans[feature]), 1e-9)
                    found.append(Number(f"{name} {words.features[feature]}", place, (head, category, i), w, span))
        return found
    found = []
    for axis, control in enumerate(action.axes):
        width, span = words.high[axis] - words.low[axis], max(float(spans[control.feature]), 1e-9)
        ranges = {"target": span, "k0": width, "kp": width / span, "ki": width / span / 10, "kd": width / span}
        for i, (part, size) in enumerate(ranges.items()):
            name = f"{title} {words.actions[axis][0]} {part}"
            found.append(Number(name, place, (axis, i), getattr(control, part), size))
    return found


def changed(program: Program, number: Number, value: float, words: Words) -> Program:
    """The program with one number at another value."""
    if number.where[0] == -1:
        rule = program.rules[number.rule]
        tests = list(rule.tests)
        tests[number.where[1]] = replace(tests[number.where[1]], number=value)
        return _with_rule(program, number.rule, replace(rule, tests=tuple(tests)))
    action = _with_value(program.actions[number.rule], number.where, value, words)
    if number.rule == len(program.rules):
        return replace(program, rest=action)
    return _with_rule(program, number.rule, replace(program.rules[number.rule], action=action))


def _with_rule(program: Program, place: int, rule: Rule) -> Program:
    return replace(program, rules=(*program.rules[:place], rule, *program.rules[place + 1 :]))


def _with_value(action: Action, where: tuple[int, ...], value: float, words: Words) -> Action:
    if isinstance(action, Constant):
        values = list(action.values)
        values[where[0]] = float(np.clip(value, words.low[where[0]], words.high[where[0]]))
        return Constant(tuple(values))
    if isinstance(action, Pid):
        part = ("target", "k0", "kp", "ki", "kd")[where[1]]
        axes = list(action.axes)
        axes[where[0]] = replace(axes[where[0]], **{part: value})
        return Pid(tuple(axes))
    head, category, i = where
    bias = [list(row) for row in action.bias]
    weights = [[list(row) for row in rows] for rows in action.weights]
    if i < 0:
        bias[head][category] = value
    else:
        weights[head][category][i] = (weights[head][category][i][0], value)
    return Linear(tuple(tuple(row) for row in bias), tuple(tuple(tuple(row) for row in rows) for rows in weights))

"""The search: neighbours of a program, the nearest to the agent, and the outer loop on returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from programs.histories import Histories, act, distance, distances
from programs.numbers import changed, numbers
from programs.program import Constant, Program, Rule, Test, Words
from programs.templates import best

NEIGHBOURS = 200
STEPS = (0.5, 0.1, 0.02)
KEPT = 5000
ROUNDS = {"rules": 60, "linear": 8, "pid": 30}
"""Rounds of neighbours at most in one iteration; a linear program has hundreds of numbers, so each costs more."""

PATIENCE = 3


@dataclass(frozen=True)
class Found:
    """The program that was kept."""

    program: Program
    iterations: int
    histories: Histories
    value: float
    """Its mean return."""


def search(
    sketch: str,
    histories: Histories,
    words: Words,
    size: int,
    iterations: int,
    generator: np.random.Generator,
    visited: Callable[[Program, int], Histories],
    value: Callable[[Program], float],
) -> Found:
    """NDPS: imitate on the histories so far, add those of the new program, stop when its return no longer rises.

    `visited(program, iteration)` gives the histories of a program's own episodes, labelled by the agent;
    `value(program)` its mean return.
    """
    program = best(sketch, histories, words)
    worth, done = value(program), 0
    for iteration in range(iterations):
        histories = histories.joined(visited(program, iteration), KEPT)
        new = nearest(program, histories, words, size, generator, sketch)
        done = iteration + 1
        gained = value(new)
        if gained <= worth:
            if gained == worth and distance(new, histories, words) < distance(program, histories, words):
                program = new
            break
        program, worth = new, gained
    return Found(program, done, histories, worth)


def nearest(
    program: Program, histories: Histories, words: Words, size: int, generator: np.random.Generator, sketch: str
) -> Program:
    """Goes to the best of 200 neighbours again and again until three rounds bring nothing."""
    spans = np.ptp(histories.seen, axis=0).astype(np.float64)
    least, idle = distance(program, histories, words), 0
    for _ in range(ROUNDS[sketch]):
        if least == 0 or idle == PATIENCE:
            break
        missed = np.flatnonzero(distances(act(program, histories, words), histories.wanted, words) > 0)
        around = neighbours(program, histories, words, size, generator, sketch, spans, missed)
        scores = [distance(candidate, histories, words) for candidate in around]
        first = int(np.argmin(scores))
        idle = 0 if scores[first] < least else idle + 1
        if scores[first] < least or (scores[first] == least and around[first].size < program.size):
            program, least = around[first], scores[first]
    return program


def neighbours(
    program: Program,
    histories: Histories,
    words: Words,
    size: int,
    generator: np.random.Generator,
    sketch: str,
    spans: np.ndarray,
    missed: np.ndarray,
) -> list[Program]:
    """200 programs that differ from one in a rule, a test, an order, an action or a number."""
    known = numbers(program, words, spans)
    found = []
    while len(found) < NEIGHBOURS:
        if known and (sketch != "rules" or generator.random() < 0.3):
            one = known[generator.integers(len(known))]
            step = float(generator.choice(STEPS)) * one.span * (1 if generator.random() < 0.5 else -1)
            found.append(changed(program, one, one.value + step, words))
        elif sketch == "rules":
            found.append(_edited(program, histories, words, size, generator, missed))
        else:
            found.append(program)
    return found


def _edited(
    program: Program,
    histories: Histories,
    words: Words,
    size: int,
    generator: np.random.Generator,
    missed: np.ndarray,
) -> Program:
    """One edit of rules: add, drop or replace a test or a rule, swap two rules, take another action."""
    row = int(missed[generator.integers(len(missed))]) if len(missed) else int(generator.integers(len(histories.seen)))
    rules = list(program.rules)
    edits = ["rule", "rule", "rest"]
    if rules:
        edits += ["test", "test", "retest", "untest", "unrule", "swap", "action"]
    edit = edits[generator.integers(len(edits))]
    place = int(generator.integers(len(rules))) if rules else 0
    wanted = Constant(tuple(float(x) for x in histories.wanted[row]))
    if edit == "rest":
        return replace(program, rest=wanted)
    if edit == "rule":
        count = 1 if generator.random() < 0.5 else 2
        tests = tuple(_test(histories, words, generator, row) for _ in range(count))
        at = int(generator.integers(len(rules) + 1))
        edited = [*rules[:at], Rule(tests, wanted), *rules[at:]]
    elif edit == "swap":
        other = int(generator.integers(len(rules)))
        rules[place], rules[other] = rules[other], rules[place]
        edited = rules
    elif edit == "unrule":
        edited = rules[:place] + rules[place + 1 :]
    else:
        rule = rules[place]
        tests = list(rule.tests)
        which = int(generator.integers(len(tests)))
        if edit == "test":
            tests.append(_test(histories, words, generator, row))
        elif edit == "retest":
            tests[which] = _test(histories, words, generator, row)
        elif edit == "untest" and len(tests) > 1:
            tests.pop(which)
        rule = Rule(tuple(tests), wanted if edit == "action" else rule.action)
        edited = [*rules[:place], rule, *rules[place + 1 :]]
    new = replace(program, rules=tuple(edited))
    return new if new.size <= size else program


def _test(histories: Histories, words: Words, generator: np.random.Generator, row: int) -> Test:
    """A test that holds, or by chance does not hold, in one history; numbers lie midway between two observed values."""
    count = len(words.predicates)
    entry = int(generator.integers(count + len(words.features)))
    if generator.random() < 0.5 and count:
        entry = int(generator.integers(count))
    upright = generator.random() < 0.8
    if entry < count:
        return Test(entry, bool(histories.truths[row, entry]) == upright)
    values = np.unique(histories.seen[:, entry - count])
    if len(values) < 2:
        return Test(entry, True, float(values[0]) - 1.0)
    at = int(generator.integers(len(values) - 1))
    middle = (float(values[at]) + float(values[at + 1])) / 2
    return Test(entry, (float(histories.seen[row, entry - count]) > middle) == upright, middle)

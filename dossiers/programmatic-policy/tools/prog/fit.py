"""Searches for a program that acts as the agent does."""

from __future__ import annotations

import argparse

import numpy as np

from prog import setting
from programs.histories import Histories, agreement, distance
from programs.numbers import numbers
from programs.program import Program, Words
from programs.search import Found, search
from programs.templates import default_sketch
from programs.text import write
from xrl_common.estimates import estimate, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table

JUDGED = 50


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """One block."""
    words = setting.words_of(settings)
    sketch = wanted.sketch or default_sketch(words)
    if (sketch == "pid") != words.continuous and sketch != "rules":
        raise usage(f"--sketch {sketch}: {'pid' if words.continuous else 'linear'} or rules fits these actions")
    found = fitted(settings, words, sketch, wanted.size, wanted.iterations)
    setting.keep(write(found.program, words))
    return [shown(settings, words, sketch, found, wanted.iterations)]


def fitted(settings: Settings, words: Words, sketch: str, size: int, iterations: int) -> Found:
    """Runs the search; the same arguments and seed give the same program."""
    simulator = settings.simulator

    def visited(program: Program, iteration: int) -> Histories:
        first = setting.FRESH + (iteration + 1) * setting.TEACHING
        trace = setting.player(settings, program, words).episodes(setting.TEACHING, first=first)
        return setting.histories_of(settings, trace)

    def value(program: Program) -> float:
        return float(setting.player(settings, program, words).episodes(JUDGED).returns.mean())

    start = setting.histories_of(settings, simulator.episodes(setting.TEACHING, first=setting.FRESH))
    return search(sketch, start, words, size, iterations, simulator.generator("programs"), visited, value)


def shown(settings: Settings, words: Words, sketch: str, found: Found, most: int) -> Report:
    """The program, how closely it follows the agent, what both earn, and its numbers."""
    program, histories = found.program, found.histories
    earned = setting.player(settings, program, words).episodes(JUDGED).returns
    own = settings.simulator.episodes(JUDGED).returns
    odd = nonfinite(earned, own)
    told = f"sketch {sketch}  iterations {found.iterations} of {most}  histories {len(histories.seen)}"
    lines = settings.header(told, nonfinite=odd)
    lines += setting.shown(program, words)
    near, alike = distance(program, histories, words), agreement(program, histories, words)
    returns = {"program": estimate(earned), "agent": estimate(own)}
    lines += [
        f"size {program.size}   distance {number(near)}   agreement {number(alike)}",
        "   ".join(f"return {who} {number(got.mean)} ({number(got.se)})" for who, got in returns.items()),
    ]
    spans = np.ptp(histories.seen, axis=0).astype(np.float64)
    known = numbers(program, words, spans)
    if known and sketch == "rules":
        lines += [
            "",
            *table(Column("number", [one.name for one in known]), [Column("value", [one.value for one in known])]),
        ]
    return Report(
        lines,
        {
            "program": write(program, words),
            "sketch": sketch,
            "size": program.size,
            "distance": near,
            "agreement": alike,
            "iterations": found.iterations,
            "histories": len(histories.seen),
            "return": returns,
            "nonfinite": odd,
        },
    )

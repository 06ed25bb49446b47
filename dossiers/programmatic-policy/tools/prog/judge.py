"""How well a program stands for the agent: agreement and return, where they part, which numbers matter."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import jax
import numpy as np

from prog import setting
from programs.histories import Histories, act, agreement, distance, distances
from programs.numbers import Number, changed, numbers
from programs.program import Program, Words
from programs.text import write
from xrl_common.actions import name_of
from xrl_common.estimates import EPISODES, estimate
from xrl_common.features import apart_columns, one, state_columns
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table, thousandths

ROWS = 20
MOVE = 0.1
"""How far a number is moved for its sensitivity, as a share of its range."""

Judge = Callable[[Settings, Words, Program, str], Report]


def evaluate(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Agreement and return."""
    return _of_program(settings, wanted, _evaluated)


def disagree(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The states in which program and agent part."""
    return _of_program(settings, wanted, _parted)


def parameters(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The numbers of a program, the most sensitive first."""
    return _of_program(settings, wanted, _sensitive)


def _of_program(settings: Settings, wanted: argparse.Namespace, judge: Judge) -> list[Report]:
    words = setting.words_of(settings)
    found = setting.given(settings, wanted.file, words)
    if found is None:
        lines = [*settings.header("no program"), *setting.listing(settings, words)]
        return [Report(lines, {"predicates": words.predicates, "features": words.features, "actions": words.actions})]
    return [judge(settings, words, *found)]


def _evaluated(settings: Settings, words: Words, program: Program, called: str) -> Report:
    trace = settings.simulator.episodes(EPISODES)
    played = setting.player(settings, program, words).episodes(EPISODES)
    rows = {}
    for who, lanes in (("agent", trace), ("program", played)):
        histories = setting.histories_of(settings, lanes)
        rows[who] = {
            "states": len(histories.seen),
            "agreement": agreement(program, histories, words),
            "distance": distance(program, histories, words),
            "return": estimate(lanes.returns),
        }
    lines = settings.header(f"program {called}  size {program.size}  episodes {EPISODES}")
    lines += setting.shown(program, words)
    lines += table(
        Column("who acts", list(rows)),
        [
            Column("states", [str(row["states"]) for row in rows.values()]),
            *(Column(name, [row[name] for row in rows.values()]) for name in ("agreement", "distance", "return")),
        ],
    )
    return Report(lines, {"program": write(program, words), "size": program.size, "acting": rows})


def _parted(settings: Settings, words: Words, program: Program, called: str) -> Report:
    simulator, subject = settings.simulator, settings.subject
    trace = simulator.episodes(EPISODES)
    places = np.argwhere(trace.alive)
    histories = setting.histories_of(settings, trace)
    done = act(program, histories, words)
    apart = distances(done, histories.wanted, words)
    weight = apart if words.continuous else apart * _certainty(settings, histories.seen, histories.wanted, done)
    order = [int(row) for row in np.argsort(-weight, kind="stable")[:ROWS] if apart[row] > 0]
    states = [one(trace.states, *places[row]) for row in order]
    alike = agreement(program, histories, words)
    lines = settings.header(
        f"program {called}  size {program.size}  states {len(places)}", remarks=(f"agreement {number(alike)}",)
    )

    def spoken(values: np.ndarray) -> str:
        return name_of(subject, values if len(words.actions) > 1 or words.continuous else values[0])

    if order:
        lines += table(
            Column("episode", [str(int(places[row][0])) for row in order]),
            [
                Column("t", [str(int(places[row][1])) for row in order]),
                *state_columns(subject, trace, states, histories.seen[order]),
                *apart_columns(subject, histories.wanted[order], done[order], ("agent", "program")),
                Column("weight", [float(weight[row]) for row in order]),
            ],
        )
    rows = [
        {
            "state": subject.state_to_json(state),
            "agent": spoken(histories.wanted[row]),
            "program": spoken(done[row]),
            "weight": float(weight[row]),
        }
        for row, state in zip(order, states, strict=True)
    ]
    return Report(lines, {"agreement": alike, "rows": rows})


def _certainty(settings: Settings, seen: np.ndarray, wanted: np.ndarray, done: np.ndarray) -> np.ndarray:
    """How much likelier the agent's policy holds its own action than the program's, in nats, (M,), at least 0."""
    policy = settings.subject.policy
    scalar = not tuple(settings.subject.action_space.shape)
    log_prob = jax.jit(policy.log_prob)

    def logs(actions: np.ndarray) -> np.ndarray:
        whole = actions.astype(np.int32)
        return np.asarray(log_prob(policy.agent, seen, whole[:, 0] if scalar else whole), np.float64)

    return np.maximum(logs(wanted) - logs(done), 0.0)


def _moved(entry: Number, histories: Histories) -> tuple[float, float]:
    """A number less and plus a tenth of its range, in a test at least past the next value seen."""
    low, high = entry.value - MOVE * entry.span, entry.value + MOVE * entry.span
    if entry.feature is not None:
        seen = histories.seen[:, entry.feature].astype(np.float64)
        below, above = seen[seen <= entry.value], seen[seen >= entry.value]
        low = min(low, np.nextafter(below.max(), -np.inf)) if len(below) else low
        high = max(high, np.nextafter(above.min(), np.inf)) if len(above) else high
    return low, high


def _sensitive(settings: Settings, words: Words, program: Program, called: str) -> Report:
    histories = setting.histories_of(settings, settings.simulator.episodes(EPISODES))
    spans = np.ptp(histories.seen, axis=0).astype(np.float64)
    base = distance(program, histories, words)
    known = numbers(program, words, spans)
    moved = [
        max(
            distance(changed(program, entry, value, words), histories, words) - base
            for value in _moved(entry, histories)
        )
        for entry in known
    ]
    order = np.argsort(-np.array(moved), kind="stable")[:ROWS] if known else np.zeros(0, int)
    lines = settings.header(
        f"program {called}  size {program.size}  states {len(histories.seen)}  numbers {len(known)}",
        remarks=(f"distance {number(base)}; sensitivity: what it gains when a number is moved",),
    )
    if len(order):
        lines += table(
            Column("number", [known[i].name for i in order]),
            [
                Column("value", [known[i].value for i in order]),
                Column("range", [known[i].span for i in order]),
                thousandths("sensitivity", [float(moved[i]) for i in order]),
            ],
        )
    else:
        lines.append("no number stands in this program")
    rows = [{"name": known[i].name, "value": known[i].value, "sensitivity": moved[i]} for i in order]
    return Report(lines, {"distance": base, "numbers": rows})

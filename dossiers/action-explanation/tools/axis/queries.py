"""The four queries: what if, what, remove, add."""

from __future__ import annotations

import argparse

import numpy as np

from axis import asking
from axis.answer import answered, compared
from axis.runs import Episode, continued, episode, recorded, time_of
from interrogation.things import Thing, UnknownThing, find, listed, with_value
from interrogation.verbal import wrapped
from xrl_common.actions import kind, name_of, own_row, parse, probe_set
from xrl_common.estimates import vector_q
from xrl_common.failure import usage
from xrl_common.features import state_columns
from xrl_common.outcome import brief
from xrl_common.report import Report, Settings
from xrl_common.tables import Column, number, table

ROLLOUTS = 32


def whatif(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The agent's episode, and the same with some actions forced from a step on."""
    subject = settings.subject
    forced = None if wanted.actions is None else [parse(subject, text) for text in _items(wanted.actions)]
    if forced is not None:
        asking.checked_round()
    chosen = episode(settings, wanted)
    t = time_of(chosen, wanted)
    if forced is None:
        actions = [_best_other(settings, chosen, t)]
    else:
        actions = forced
    names = ";".join(name_of(subject, action) for action in actions)
    asked = f"time {t}  actions {names}"
    query = None if forced is None else f"whatif time {t} actions {names} (episode {chosen.number})"
    other = continued(settings.simulator, chosen.state(t), chosen.number, t, actions)
    return [compared(settings, wanted, chosen, query, asked, recorded(settings, chosen, t), other)]


def what(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """State, action, reward and what held at one step."""
    if wanted.time is not None:
        asking.checked_round()
    chosen = episode(settings, wanted)
    t = time_of(chosen, wanted)
    subject, trace = settings.subject, chosen.trace
    steps = range(max(t - 1, 0), min(t + 2, chosen.length))
    run = recorded(settings, chosen, steps.start)
    shown = [step - steps.start for step in steps]
    seen = trace.observations[chosen.number, steps.start : steps.stop]
    lines = table(
        Column("step", [str(step) for step in steps]),
        [
            *state_columns(subject, trace, [run.states[i] for i in shown], seen),
            Column("action", [name_of(subject, run.actions[i]) for i in shown]),
            *(
                Column(name, [float(run.rewards[i, c]) for i in shown])
                for c, name in enumerate(settings.simulator.components)
            ),
        ],
    )
    here = run.predicates[t - steps.start]
    lines += wrapped("holds", brief(here, 80))
    if kind(subject).value != "continuous":
        lines += wrapped("likelihood", f"{_likelihood(settings, chosen, t):.3f} of the action under the agent's policy")
    asked = f"time {t}"
    query = None if wanted.time is None else f"what time {t} (episode {chosen.number})"
    numbers = {
        "episode": chosen.number,
        "query": asked,
        "state": subject.state_to_json(chosen.state(t)),
        "action": name_of(subject, run.actions[t - steps.start]),
        "predicates": list(here),
    }
    return [answered(settings, chosen, query, asked, lines, numbers)]


def remove(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The agent's episode, and the same with a thing at 0 from a step on."""
    if wanted.thing is None:
        return [_choice(settings, wanted, "--thing X")]
    return [_changed(settings, wanted, wanted.thing, 0.0, f"remove {wanted.thing}")]


def add(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The agent's episode, and the same with a thing at a value from a step on."""
    if wanted.thing is None:
        return [_choice(settings, wanted, "--thing X=V")]
    address, equals, text = wanted.thing.partition("=")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not equals or not np.isfinite(value):
        raise usage(f"--thing {wanted.thing!r}: write it as X=V, V a number")
    return [_changed(settings, wanted, address, value, f"add {address.strip()}={value:g}")]


def _changed(settings: Settings, wanted: argparse.Namespace, address: str, value: float, asked: str) -> Report:
    simulator, subject = settings.simulator, settings.subject
    chosen = episode(settings, wanted)
    t = time_of(chosen, wanted)
    state = chosen.state(t)
    thing = _found(settings, address, state)
    params, changed = with_value(thing, value, subject.params, state)
    if thing.owner == "state":
        try:
            subject.reset_to(changed, params)
        except ValueError as problem:
            raise usage(f"--thing {address}: {problem}") from problem
    asking.checked_round()
    other = continued(simulator.with_params(params), changed, chosen.number, t)
    told = f"time {t}  {asked} (was {number(thing.value)}, {thing.owner})"
    query = f"{asked} at time {t} (episode {chosen.number})"
    return compared(settings, wanted, chosen, query, told, recorded(settings, chosen, t), other)


def _found(settings: Settings, address: str, state: object) -> Thing:
    try:
        return find(address, settings.subject.params, state)
    except UnknownThing as problem:
        raise usage(str(problem)) from problem


def _choice(settings: Settings, wanted: argparse.Namespace, form: str) -> Report:
    """What could be given; no round is used."""
    chosen = episode(settings, wanted)
    names = listed(settings.subject.params, chosen.state(0))
    lines = settings.header(f"episode {chosen.number}  nothing asked, no round used ")
    lines += wrapped("form", form) + wrapped("things", ", ".join(names))
    return Report(lines, {"things": names})


def _items(text: str) -> list[str]:
    """The actions of a list; an empty or nested one is refused."""
    if any(bracket in text for bracket in "[](){}"):
        raise usage(f"--actions {text!r}: write actions joined by ; without brackets")
    items = [item.strip() for item in text.split(";")]
    if not all(items):
        raise usage(f"--actions {text!r}: an action is missing; write actions joined by ;")
    return items


def _best_other(settings: Settings, chosen: Episode, t: int) -> np.ndarray:
    """The action of highest value beside the agent's own."""
    simulator, state = settings.simulator, chosen.state(t)
    probes = probe_set(simulator, state)
    totals = vector_q(simulator, state, probes, settings.count(ROLLOUTS, least=4), settings.gamma).totals
    own = own_row(simulator, probes, state)
    return probes[max((row for row in range(len(probes)) if row != own), key=lambda row: totals[row])]


def _likelihood(settings: Settings, chosen: Episode, t: int) -> float:
    policy, trace = settings.subject.policy, chosen.trace
    seen, action = trace.observations[chosen.number, t : t + 1], trace.actions[chosen.number, t : t + 1]
    return float(np.exp(np.asarray(policy.log_prob(policy.agent, seen, action))[0]))

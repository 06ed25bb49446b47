"""`remove(thing)` and `add(thing)`: a parameter or an entry of the state with another number from a step on."""

from __future__ import annotations

import argparse

from axis import names
from axis.asking import Answer, Asking
from interrogation import things, verbalise
from interrogation.course import continued
from interrogation.things import Thing
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.subject import Tree

LONGEST = 10
"""How many times the horizon may grow, which bounds the memory."""


def removing(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The thing becomes 0."""
    asking = Asking(settings, wanted)
    state = asking.state(wanted.time)
    if wanted.thing is None:
        return [listing(asking, wanted.time, "axis-remove --thing {0}")]
    thing = things.find(settings.subject.params, state, wanted.thing)
    return [_asked(asking, "remove", {"thing": thing.address}, wanted.time, thing, 0.0)]


def adding(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The thing gets a value."""
    asking = Asking(settings, wanted)
    state = asking.state(wanted.time)
    if wanted.thing is None:
        return [listing(asking, wanted.time, "axis-add --thing {0}={1}")]
    thing, value = things.parse(settings.subject.params, state, wanted.thing)
    return [_asked(asking, "add", {"thing": f"{thing.address}={value:.9g}"}, wanted.time, thing, value)]


def changed(asking: Asking, time: int, thing: Thing, value: float) -> tuple[Tree, Tree]:
    """Parameters and state with the new number; what the environment refuses ends with code 2."""
    subject = asking.settings.subject
    params, state = thing.put(subject.params, asking.state(time), value)
    longest = LONGEST * subject.horizon
    if not int(state.t) < int(params.horizon) <= longest:
        raise usage(f"{thing.address}={value:g}: no episode of 1 to {longest} steps has a step {int(state.t)} then")
    try:
        subject.reset_to(state, params)
    except (ValueError, TypeError) as problem:
        raise usage(f"{thing.address}={value:g} is refused by the environment: {problem}") from problem
    return params, state


def _asked(asking: Asking, name: str, arguments: dict[str, str], time: int, thing: Thing, value: float) -> Report:
    params, state = changed(asking, time, thing, value)
    written = {**arguments, "time": str(time)}
    return asking.query(name, written, lambda: _answer(asking, time, thing, params, state), f"N={asking.noises}", time)


def _answer(asking: Asking, time: int, thing: Thing, params: Tree, state: Tree) -> Answer:
    subject = asking.settings.subject
    simulator = asking.settings.simulator.with_params(params)
    other, trace = continued(simulator, state, None, asking.episode, time, asking.noises - 1)
    before, after = (thing.value(*pair) for pair in ((subject.params, asking.state(time)), (params, state)))
    kind = "parameter, from step" if thing.place == things.PARAMS else "entry of the state, at step"
    above = verbalise.folded(thing.address, [f"{before:.6g} -> {after:.6g}", f"({kind} {time})"])
    answer = asking.compared(time, other, asking.pairs(time, trace), above)
    return Answer(answer.lines, {**answer.numbers, "thing": thing.address, "from": before, "to": after}, answer.odd)


def listing(asking: Asking, time: int, example: str) -> Report:
    """Every thing with its value."""
    subject, state = asking.settings.subject, asking.state(time)
    first = things.things(subject.params, state)[0]
    query = example.format(first.address, f"{first.value(subject.params, state):.6g}")
    return asking.listing(
        [f"things at step {time}:", *names.values(subject, state), f"a query: {query}"],
        {"time": time, "things": names.document(subject, state)},
    )

"""Run as a program in a workspace: queries on its environment, and the laws that hold for all kinds of actions.

Prints one line at the end. Uses a quarter of the noises. `XRL_STATE` names an empty directory.
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Callable

import jax
import numpy as np

import laws
from axis.__main__ import TOOLS
from axis.asking import Asking
from interrogation import course, record, things
from xrl_common import actions, arguments, entry, workspace
from xrl_common.entry import render
from xrl_common.failure import ToolFailure
from xrl_common.report import Settings
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject

Ask = Callable[..., str]
STEPS = 3
"""Step of the queries."""


def asker(subject: Subject) -> Ask:
    """`ask(name, *argv)` runs a tool with a small budget and a document."""

    def ask(name: str, *argv: str) -> str:
        tool = TOOLS[name]
        return render(tool, arguments.parse(tool.parser, [*argv, "--budget", "small", "--json"]), subject)

    return ask


def result(output: str) -> dict:
    """The first block's numbers."""
    return laws.document_of(output)["results"][0]


def form(subject: Subject, ask: Ask) -> None:
    """Every tool with nothing added, twice alike, and no round is used."""
    for name, tool in TOOLS.items():
        first, second = ask(name), ask(name)
        assert first == second, name
        laws.check_output(first, tool, subject, document=True)
    assert record.read()[0].untouched


def exact(subject: Subject, ask: Ask) -> None:
    """Taking the recorded actions gives the recorded trajectory to the last bit, by chance or not."""
    for acting in (Acting.SERVED, Acting.SAMPLED):
        simulator = Simulator(subject, 0, acting)
        trace = simulator.episodes(64)
        for episode in (0, 17):
            whole = course.recorded(simulator, trace, episode)
            for t in (0, min(STEPS, whole.length - 1)):
                rest = course.recorded(simulator, trace, episode, t)
                for forced in (rest.actions[:5], None):
                    again, _ = course.continued(simulator, whole.state(t), forced, episode, t, 1)
                    one, other = (
                        jax.tree.leaves((c.states, c.actions, c.rewards, c.observations, c.truth))
                        for c in (rest, again)
                    )
                    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
                    assert rest.outcome == again.outcome


def queries(subject: Subject, ask: Ask) -> None:
    """Each query in a round of its own, again under the same number; components add up; forms are kept."""
    settings = Settings("axis", Simulator(subject, 0, Acting.SERVED), subject.gamma, "", "small")
    asking = Asking(settings, Namespace(episode=None, complexity="1"))
    whole = asking.whole
    assert whole.length > STEPS + 3
    low = actions.bounds(subject)[0] if actions.kind(subject) is actions.Kind.CONTINUOUS else None
    other = actions.name_of(subject, np.zeros(subject.action_space.shape, np.int32) if low is None else low)
    entry_ = next(t for t in things.things(subject.params, whole.state(0)) if t.place == things.STATE)
    value = entry_.value(subject.params, whole.state(1))
    asked = (
        ("whatif", "--time", str(STEPS), f"--actions={other};{other}"),
        ("what", "--time", str(STEPS), "--complexity", "3"),
        ("remove", "--thing", things.things(subject.params, whole.state(0))[0].address, "--complexity", "2"),
        ("add", "--thing", f"{entry_.address}={value:.9g}", "--time", str(STEPS)),
    )
    for number, argv in enumerate(asked, 1):
        first, second = ask(*argv), ask(*argv)
        assert first == second, argv
        laws.check_output(first, TOOLS[argv[0]], subject, document=True)
        assert f"round {number} of 5" in first
        body = [line for line in first.splitlines()[:-1] if line and not line.startswith(("#", "how to read"))]
        assert len(body) >= 6
        if "--complexity" not in argv:
            assert len(body) <= 12, (argv, body)
        got = result(first)
        if argv[0] != "what":
            for side in ("recorded", "alternative"):
                parts = sum(got[side]["components"].values())
                assert abs(parts - got[side]["return"]) < 1e-6
            assert abs(got["alternative"]["return"] - got["recorded"]["return"] - got["total"]) < 1e-6
            assert got["noises"] >= 2
    named = {run["action"] for run in result(ask(*asked[0]))["alternative"]["macro_actions"][:1]}
    assert named == {other}
    parted = result(ask(*asked[0]))["first_difference"]
    assert parted is None or parted["step"] >= STEPS
    policy = result(ask(*asked[1]))["policy"]
    if low is None:
        assert len(policy) == len(actions.heads(subject))
        assert all(abs(sum(head.values()) - 1) < 1e-6 for head in policy)
    else:
        assert list(policy[0]) == [name for (name,) in subject.action_names]


def every_thing(subject: Subject, ask: Ask) -> None:
    """Every thing is found under its address, takes back its own number, and the environment accepts that."""
    simulator = Simulator(subject, 0, Acting.SERVED)
    state = course.recorded(simulator, simulator.episodes(64), 0).state(0)
    for thing in things.things(subject.params, state):
        assert things.find(subject.params, state, thing.address) == thing
        params, changed = thing.put(subject.params, state, thing.value(subject.params, state))
        leaves = zip(jax.tree.leaves((params, changed)), jax.tree.leaves((subject.params, state)), strict=True)
        for one, other in leaves:
            assert np.array_equal(one, other)
            assert np.asarray(one).dtype == np.asarray(other).dtype
        subject.reset_to(changed, params)


def refusals(subject: Subject, ask: Ask) -> None:
    """What is not there, what the environment rejects, and lists that are none: code 2, and no round."""
    before = record.read()
    families = things.families(subject.params, Simulator(subject, 0, Acting.SERVED).blank_state)
    refused(ask, 2, ", ".join(families), "remove", "--thing", "nothing")
    refused(ask, 2, "is refused by the environment: t: ", "add", "--thing", "t=-1")
    refused(ask, 2, "no episode of 1 to", "remove", "--thing", "horizon")
    refused(ask, 2, "actions are ", "whatif", "--actions", "")
    refused(ask, 2, "holds no list", "whatif", "--actions", "[[0]]")
    assert record.read() == before


def rounds(subject: Subject, ask: Ask) -> None:
    """The fifth round, then none; a complete dialogue is followed by another."""
    assert "round 5 of 5" in ask("what", "--time", "0")
    refused(ask, 4, "five rounds used", "what", "--time", "1")
    ask("note", "the fifth answer")
    ask("note", "all in all")
    assert record.read()[0].synthesis == "all in all"
    assert "round 1 of 5" in ask("what", "--time", "1")
    for name in ("transcript", "prompt", "context"):
        got = ask(name, *(["--complexity", "3"] if name != "transcript" else []))
        laws.check_output(got, TOOLS[name], subject, document=True)
    assert len(re.findall(r"^  round \d: ", ask("transcript"), re.MULTILINE)) == 6


def refused(ask: Ask, code: int, message: str, *argv: str) -> None:
    """Ends with a code and a message."""
    try:
        ask(*argv)
    except ToolFailure as failure:
        assert failure.code == code, failure
        assert message in str(failure), failure
    else:
        raise AssertionError(f"{argv} was not refused")


def main() -> None:
    """All of it on the workspace in the working directory."""
    entry.configure()
    subject = workspace.load()
    ask = asker(subject)
    for law in (form, exact, queries, every_thing, refusals, rounds):
        law(subject, ask)
    print(f"{subject.name} {actions.kind(subject)} keeps the laws")


if __name__ == "__main__":
    sys.exit(main())

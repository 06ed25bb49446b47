"""Run as a program in a workspace: the five tools on its environment, and the laws that hold for all kinds of actions.

Prints one line at the end. Uses a quarter of the rollouts.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import laws
from cf import places
from cf.__main__ import TOOLS
from cf.flip import MOVE, acting, observe
from deviation.deviate import deviate
from xrl_common import actions, arguments, entry, outcome, states, workspace
from xrl_common.entry import render
from xrl_common.failure import ToolFailure
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject

Ask = Callable[..., str]


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
    """Every tool with nothing added."""
    for name, tool in TOOLS.items():
        got = ask(name)
        laws.check_output(got, tool, subject, document=True)
        assert re.search("^how to read: ", got, re.MULTILINE)


def deviations(subject: Subject, ask: Ask) -> None:
    """Alternatives are the probe set without the recorded action; rows are in order; parts add up."""
    got = result(ask("actions", "--random", "2", "--h", "5"))
    heads = actions.heads(subject)
    axes = len(subject.action_names)
    sizes = {
        actions.Kind.DISCRETE: sum(heads) - 1,
        actions.Kind.MULTI_DISCRETE: sum(heads) - len(heads),
        actions.Kind.CONTINUOUS: 2 * axes + actions.DRAWS,
    }
    rows = got["deviations"]
    assert len(rows) == 2 * sizes[actions.kind(subject)]
    changes = [round(abs(row["change"]["mean"]), 3) for row in rows]
    assert changes == sorted(changes, reverse=True)
    for row in rows:
        assert row["alternative"] != row["policy_action"]
        parts = sum(change["mean"] for change in row["components"].values())
        assert abs(parts - row["change"]["mean"]) < 1e-6
        assert row["rejoined"] is None or row["t"] < row["rejoined"] <= row["t"] + 5


def own_action(subject: Subject, ask: Ask) -> None:
    """The policy's action as its own alternative changes nothing to the last bit; as written text, next to nothing."""
    simulator = Simulator(subject, 0, Acting.SAMPLED)
    trace = simulator.episodes(states.EPISODES)
    several = [places.recorded(trace, episode, 0) for episode in range(4)]
    twice = [np.stack([place.action, place.action]) for place in several]
    for continued in deviate(simulator, several, twice, 10, 3, subject.gamma)[0]:
        assert (continued.sums[1] == continued.sums[0]).all()
        assert (continued.discounted[1] == continued.discounted[0]).all()
    continuous = actions.kind(subject) is actions.Kind.CONTINUOUS
    own = result(ask("whynot"))["policy_action"]
    got = result(ask("whynot", f"--a={own}"))
    limit = 1e-2 if continuous else 0.0
    for change in (got["change"], got["discounted_change"], *got["components"].values()):
        assert abs(change["mean"]) <= limit
        assert change["se"] <= limit
    if not continuous:
        assert (got["first_difference"], got["rejoined"]) == (None, got["state"]["state"]["t"] + 1)


def changed_axis(subject: Subject, ask: Ask) -> None:
    """A continuous action is also given by what it changes."""
    if actions.kind(subject) is not actions.Kind.CONTINUOUS:
        return
    (name,) = subject.action_names[1]
    got = result(ask("whynot", "--a", f"{name}=0.5"))
    one, other = (np.array(got[field].split(","), float) for field in ("policy_action", "alternative"))
    assert other[1] == 0.5
    assert np.allclose(np.delete(one, 1), np.delete(other, 1))
    refused(ask, ["whynot", "--a", "nothing=0.5"], "axes are ")
    refused(ask, ["whynot", "--a", f"{name}=77"], f"{name} is ")


def flips(subject: Subject, ask: Ask) -> None:
    """A flip value flips, and the one two ten-thousandths of the range nearer does not."""
    if actions.kind(subject) is actions.Kind.CONTINUOUS:
        subject = livelier(subject)
        ask = asker(subject)
    simulator = Simulator(subject, 0, Acting.SERVED)
    acts, seen = acting(simulator), 0
    continuous = actions.kind(subject) is actions.Kind.CONTINUOUS
    for block in laws.document_of(ask("flip", "--random", "3"))["results"]:
        observation = observe(simulator, subject.state_from_json(block["state"], subject.params))
        own = acts(observation[None])[0]
        for flip in block["flips"]:
            feature = subject.obs_names.index(flip["feature"])
            at, nearer = observation.copy(), observation.copy()
            step = 2e-4 * flip["range"]
            at[feature] = flip["flips_at"]
            if abs(flip["flips_at"] - flip["value"]) > step:
                nearer[feature] = flip["flips_at"] - np.sign(flip["flips_at"] - flip["value"]) * step
            apart = np.abs(acts(np.stack([at, nearer])) - own).reshape(2, -1).astype(np.float64)
            if continuous:
                low, high = actions.bounds(subject)
                apart = np.maximum(apart - MOVE * (high - low), 0)
            assert (apart > 0).any(axis=1).tolist() == [True, False], flip
            seen += 1
        every = {flip["feature"] for flip in block["flips"]} | set(block["no_flip"]) | set(block["never_varied"])
        assert every == set(subject.obs_names)
        ways = [abs(move["way"]) for move in block["moves"]]
        assert ways == sorted(ways, reverse=True)
        assert len(ways) == (len(subject.obs_names) if continuous else 0)
        for move in block["moves"]:
            axis = [name for (name,) in subject.action_names].index(move["axis"])
            at = observation.copy()
            at[subject.obs_names.index(move["feature"])] = move["at"]
            assert abs(acts(at[None])[0][axis] - move["after"]) < 1e-4
    assert seen


def livelier(subject: Subject) -> Subject:
    """The same with an agent that moves, since one that was never trained hardly does: less saturated, more gain."""
    parameters, moments = subject.policy.agent
    factors = {"policy/0/w": 0.1, "policy/2/w": 300.0}
    larger = {name: factors.get(name, 1.0) * leaf for name, leaf in parameters.items()}
    return replace(subject, policy=replace(subject.policy, agent=(larger, moments)))


def foils(subject: Subject, ask: Ask) -> None:
    """A rule that never applies changes nothing; an unknown predicate is refused with the list."""
    names = outcome.names(Simulator(subject, 0, Acting.SERVED))
    low = actions.bounds(subject)[0] if actions.kind(subject) is actions.Kind.CONTINUOUS else None
    action = actions.name_of(subject, np.zeros(subject.action_space.shape, np.int32) if low is None else low)
    never = result(ask("policy", "--rule", f"if {names[0]} and not {names[0]}: {action}"))
    assert never["returns"]["difference"] == {"mean": 0.0, "se": 0.0}
    assert never["applies"] == {"fact": 0.0, "foil": 0.0}
    assert never["differences"]["predicates"] == {"fact": [], "foil": []}
    always = result(ask("policy", "--rule", f"if {names[-1]}: {action}"))
    assert always["action"] == action
    refused(ask, ["policy", "--rule", f"if nothing: {action}"], f"predicates are {', '.join(names)}")


def documents(subject: Subject, ask: Ask) -> None:
    """A state printed by one tool is read by the others."""
    document = result(ask("whynot", "--random", "1"))["state"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.json"
        file.write_text(json.dumps(document))
        for name in ("actions", "whynot", "flip"):
            got = ask(name, "--state", str(file))
            laws.check_output(got, TOOLS[name], subject, document=True)


def refused(ask: Ask, argv: list[str], message: str) -> None:
    """Ends with code 2 and a message."""
    try:
        ask(*argv)
    except ToolFailure as failure:
        assert failure.code == 2
        assert message in str(failure), failure
    else:
        raise AssertionError(f"{argv} was not refused")


def main() -> None:
    """All of it on the workspace in the working directory."""
    entry.configure()
    subject = workspace.load()
    ask = asker(subject)
    for law in (form, deviations, own_action, changed_axis, flips, foils, documents):
        law(subject, ask)
    print(f"{subject.name} {actions.kind(subject)} keeps the laws")


if __name__ == "__main__":
    sys.exit(main())

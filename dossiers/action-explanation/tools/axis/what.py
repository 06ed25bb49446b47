"""`what(time)`: what the agent does at a step, and what follows."""

from __future__ import annotations

import argparse

import jax
import numpy as np

from axis import names
from axis.asking import Answer, Asking
from interrogation import course, verbalise
from interrogation.verbalise import folded
from xrl_common import actions
from xrl_common.estimates import nonfinite
from xrl_common.features import key_features
from xrl_common.report import Report, Settings
from xrl_common.subject import Subject
from xrl_common.tables import number

LIKELY = {1: 2, 2: 4, 3: 16}
"""Actions told with their probabilities, by complexity; half as many of each where there are several heads."""


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """The answer, or the steps there are."""
    asking = Asking(settings, wanted)
    if wanted.time is None:
        return [listing(asking)]
    time = asking.at(wanted.time)
    return [asking.query("what", {"time": str(time)}, lambda: what(asking, time), time=time)]


def what(asking: Asking, time: int) -> Answer:
    """State, action, policy, facts, observation, reward, and the rest of the episode."""
    settings, subject = asking.settings, asking.settings.subject
    rest = course.recorded(settings.simulator, asking.trace, asking.episode, time)
    name = actions.name_of(subject, rest.actions[0])
    (run,) = (run for run, _ in verbalise.macro_actions(subject, asking.whole, False) if run.first <= time <= run.last)
    components = settings.simulator.components
    paid = [f"{part} {number(x)}" for part, x in zip(components, rest.rewards[0], strict=True)]
    seen = rest.observations[0]
    shares = policy(subject, seen)
    lines = [
        *folded("state", [subject.label(rest.state(0))]),
        *folded("action", [name, f"{time - run.first + 1}. of {run.count} alike" if run.count > 1 else "once"]),
        *folded("policy", likely(subject, shares, LIKELY[asking.complexity])),
        *folded("facts", [verbalise.changes(rest.names, None, rest.truth[0]).removeprefix("holds ")]),
        *folded("then", [verbalise.changes(rest.names, rest.truth[0], rest.truth[1]) or "the same facts"]),
        *folded("observation", _observed(asking, seen)),
        *folded("reward", [*paid, f"total {number(float(rest.rewards[0].sum()))}"]),
        *folded("follows", verbalise.told(subject, rest, asking.complexity), " "),
        *folded("", [f"outcome {rest.outcome.text}", f"return from here {number(rest.total)}"]),
    ]
    return Answer(
        lines,
        {
            "state": subject.state_to_json(rest.state(0)),
            "action": name,
            "policy": shares,
            "predicates": [fact for fact, holds in zip(rest.names, rest.truth[0], strict=True) if holds],
            "observation": dict(zip(subject.obs_names, seen, strict=True)),
            "reward": dict(zip(components, rest.rewards[0], strict=True)),
            "follows": asking.numbers(rest),
        },
        nonfinite(rest.rewards, seen),
    )


def policy(subject: Subject, seen: np.ndarray) -> list[dict[str, float]]:
    """Per head the probability of each action, or one entry with the mean of each axis."""
    outputs = np.asarray(jax.jit(subject.policy.outputs)(subject.policy.agent, seen[None]), np.float64)[0]
    if actions.kind(subject) is actions.Kind.CONTINUOUS:
        return [{name: float(mean) for (name,), mean in zip(subject.action_names, outputs, strict=True)}]
    ends = np.cumsum([len(head) for head in subject.action_names])
    parts = np.split(outputs, ends[:-1])
    shares = [np.exp(part - part.max()) / np.exp(part - part.max()).sum() for part in parts]
    return [
        {actions.short(name): float(p) for name, p in zip(head, share, strict=True)}
        for head, share in zip(subject.action_names, shares, strict=True)
    ]


def likely(subject: Subject, shares: list[dict[str, float]], most: int) -> list[str]:
    """The most probable actions of each head, or all means."""
    if actions.kind(subject) is actions.Kind.CONTINUOUS:
        return [f"{name} {number(mean)}" for name, mean in shares[0].items()]
    several = len(shares) > 1
    told = []
    for head, share in enumerate(shares):
        ranked = sorted(share.items(), key=lambda pair: -pair[1])[: most // (1 + several)]
        text = ", ".join(f"{name} {number(p)}" for name, p in ranked)
        told.append(f"head {head}: {text}" if several else text)
    return told


def _observed(asking: Asking, seen: np.ndarray) -> list[str]:
    subject, trace = asking.settings.subject, asking.trace
    if asking.complexity > 1:
        return verbalise.observation(subject, seen)
    visited, taken = trace.observations[trace.alive], trace.actions[trace.alive]
    keys = key_features(visited, taken, actions.kind(subject), names=subject.obs_names)
    return [f"{subject.obs_names[key]} {number(float(seen[key]))}" for key in keys] or ["never varies"]


def listing(asking: Asking) -> Report:
    """The steps, as macro-actions."""
    whole = asking.whole
    told = verbalise.told(asking.settings.subject, whole, 2)
    lines = [names.lines(asking.settings.subject, whole.state(0), whole.length)[0], *folded("recorded", told, " ")]
    return asking.listing([*lines, "a query: axis-what --time 0"], {"steps": whole.length})

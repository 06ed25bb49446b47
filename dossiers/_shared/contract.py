"""The environment contract that all methods share, as one check; run as a program it checks a workspace.

Round trip of states, at most ten groups that cover every entry, components that add up, observations after a restart,
predicates in one order, distances, and the actions that tools try.
"""

from __future__ import annotations

import json
import sys

import jax
import numpy as np

from xrl_common import actions, features, outcome
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject, Tree

EPISODES = 64
PAIRS = 1000
RESTARTS = 40
GROUPS = 10


def check(subject: Subject) -> None:
    """Raises `AssertionError` where the contract does not hold."""
    simulator = Simulator(subject, 0, Acting.SERVED)
    trace = simulator.episodes(EPISODES, uniform=True)
    visited = np.argwhere(trace.alive)
    chosen = np.random.default_rng(0).permutation(visited)
    states = jax.tree.map(lambda leaf: leaf[chosen[:PAIRS, 0], chosen[:PAIRS, 1]], trace.states)
    seen = trace.observations[chosen[:PAIRS, 0], chosen[:PAIRS, 1]]
    names_and_groups(subject, seen.shape[1])
    components(simulator, trace.rewards[trace.alive], trace.reward[trace.alive])
    restarts(subject, states, seen)
    predicates(simulator, states)
    distances(subject, states)
    probes(simulator, states)


def row(states: Tree, index: int) -> Tree:
    """One state of a batch."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], states)


def names_and_groups(subject: Subject, size: int) -> None:
    """Every entry has a name of its own, and at most ten runs of names cover all."""
    assert len(subject.obs_names) == len(set(subject.obs_names)) == size
    found = features.groups(subject.obs_names)
    assert len(found) == len({group.name for group in found}) <= GROUPS
    assert [i for group in found for i in range(group.entries.start, group.entries.stop)] == list(range(size))


def components(simulator: Simulator, rewards: np.ndarray, reward: np.ndarray) -> None:
    """The scalar reward is the sum of its named components."""
    assert rewards.shape[1] == len(set(simulator.components))
    assert np.abs(rewards.sum(axis=1) - reward).max() <= 1e-5


def restarts(subject: Subject, states: Tree, seen: np.ndarray) -> None:
    """A state survives JSON to the last bit, and a restart in it shows what the step had shown."""
    for index in range(RESTARTS):
        state = row(states, index)
        written = json.dumps(subject.state_to_json(state))
        again = subject.state_from_json(json.loads(written), subject.params)
        for one, other in zip(jax.tree.leaves(state), jax.tree.leaves(again), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
        observation, _ = subject.reset_to(again, subject.params)
        assert np.allclose(observation, seen[index], rtol=0, atol=1e-5)


def predicates(simulator: Simulator, states: Tree) -> None:
    """Named truths, the same under a batch as alone, in one order."""
    found = outcome.facts(simulator, states)
    assert found
    for index in range(5):
        alone = simulator.subject.predicates(row(states, index), simulator.subject.params)
        assert tuple(alone) == tuple(found)
        assert all(bool(alone[name]) == bool(found[name][index]) for name in found)


def distances(subject: Subject, states: Tree) -> None:
    """Symmetric, never negative, and zero for equal states, on 1000 random pairs."""
    count = len(jax.tree.leaves(states)[0])
    pairs = np.random.default_rng(1).integers(count, size=(PAIRS, 2))
    for first, second in pairs:
        one, other = row(states, first), row(states, second)
        there, back = subject.distance(one, other), subject.distance(other, one)
        assert there == back >= 0
    assert all(subject.distance(row(states, i), row(states, i)) == 0 for i in range(RESTARTS))


def probes(simulator: Simulator, states: Tree) -> None:
    """Distinct actions of the space, the policy's own among them, each written so that it is read again."""
    subject = simulator.subject
    few = jax.tree.map(lambda leaf: np.asarray(leaf)[:8], states)
    tried = actions.probe_sets(simulator, few)
    sizes = {
        actions.Kind.DISCRETE: lambda: actions.heads(subject)[0],
        actions.Kind.MULTI_DISCRETE: lambda: 1 + sum(size - 1 for size in actions.heads(subject)),
        actions.Kind.CONTINUOUS: lambda: 1 + 2 * len(actions.bounds(subject)[0]) + actions.DRAWS,
    }
    assert tried.shape[1] == sizes[actions.kind(subject)]()
    for index in range(8):
        own = actions.own_row(simulator, tried[index], row(few, index))
        assert own == 0 or actions.kind(subject) is actions.Kind.DISCRETE
        for action in tried[index]:
            assert bool(subject.action_space.contains(action))
            read = actions.parse(subject, actions.name_of(subject, action))
            assert np.allclose(read, action, rtol=0, atol=5e-4)


def main() -> None:
    """Checks the workspace in the working directory."""
    from xrl_common import entry, workspace

    entry.configure()
    subject = workspace.load()
    check(subject)
    print(f"{subject.name} keeps the contract")


if __name__ == "__main__":
    sys.exit(main())

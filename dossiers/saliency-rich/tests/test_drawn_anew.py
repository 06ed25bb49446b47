"""Where the last layer of a policy holds what was learned, drawing it anew changes the ranking of `sal-policy`.

Run as a program in a workspace of Treasure Grid, it teaches the last layer to step onto a small treasure beside the
agent, and prints the rank correlation with each of ten agents whose last layer is drawn anew. The hidden layers stay as
drawn: where they are trained too, they hold much of the ranking, and correlations of .9 and more are common.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import pruned
from xrl_common.subject import Subject, Tree

DEFAULT = Path(__file__).parents[2] / "saliency"
RICH = Path(__file__).parents[1]
SEEDS = 10


def test_the_ranking_changes_when_the_last_layer_is_drawn_anew(tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", "treasure_grid")
    got = pruned.call(root, (RICH, DEFAULT), ["python", __file__], tmp_path / "cache")
    assert got.returncode == 0, got.stderr
    agreement, *correlations = map(float, got.stdout.split())
    assert agreement > 0.9, "the lesson was not learned"
    assert len(correlations) == SEEDS
    assert sum(correlation < 0.9 for correlation in correlations) >= 9


def main() -> None:
    """Prints how often the taught agent does as it was told, then the ten correlations."""
    from sal_more import agents, compare
    from xrl_common import entry, workspace
    from xrl_common.report import Settings
    from xrl_common.simulation import Acting, Simulator

    entry.configure()
    subject = workspace.load()
    seen = Simulator(subject, 0, Acting.SERVED).episodes(64, uniform=True)
    observations = seen.observations[seen.alive]
    told = _onto(observations, subject.obs_names)
    taught = replace(subject, policy=replace(subject.policy, agent=_teach(subject, observations, told)))
    done = np.asarray(subject.policy.greedy(taught.policy.agent, observations))
    print(float(np.mean(done == told)))
    for seed in range(SEEDS):
        settings = Settings("sal-compare", Simulator(taught, seed, Acting.SERVED), subject.gamma, "test", "small")
        other = agents.with_new_last_layer(taught, np.random.default_rng(seed))
        print(compare.report(settings, taught, other, ["taught", "drawn anew"]).numbers["rank_correlation"])


def _onto(observations: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """The direction in which a small treasure lies beside the agent, the first one where there is none."""
    beside = observations[:, [i for i, name in enumerate(names) if name.startswith("small_near/")]]
    return beside.argmax(axis=1)


def _teach(subject: Subject, observations: np.ndarray, told: np.ndarray) -> Tree:
    """The agent after 400 steps of Adam on the last layer of its policy."""
    parameters, moments = subject.policy.agent
    last = {name: jnp.asarray(array) for name, array in parameters.items() if name.startswith("policy/2/")}

    def loss(last: dict[str, jax.Array]) -> jax.Array:
        return -jnp.mean(subject.policy.log_prob((parameters | last, moments), observations, told))

    slope = jax.jit(jax.grad(loss))
    mean, square = ({name: jnp.zeros_like(array) for name, array in last.items()} for _ in range(2))
    for step in range(1, 401):
        grads = slope(last)
        for name, grad in grads.items():
            mean[name] = 0.9 * mean[name] + 0.1 * grad
            square[name] = 0.999 * square[name] + 0.001 * grad**2
            size = jnp.sqrt(square[name] / (1 - 0.999**step)) + 1e-8
            last[name] = last[name] - 3e-3 * mean[name] / (1 - 0.9**step) / size
    return {**parameters, **{name: np.asarray(array) for name, array in last.items()}}, moments


if __name__ == "__main__":
    sys.exit(main())

"""The subject that lies in the caller's directory: the workspace's own environment, configuration and agent.

Imports `core`, `agents`, `serving.server` and the `explain` module of the one environment present, no more.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from xrl_common.actions import legend
from xrl_common.failure import unreadable
from xrl_common.subject import Policy, Subject, Tree

AGENT = Path("agent/parameters.safetensors")
PROVENANCE = "simulated in this workspace's environment as it stands"
LABEL_WIDTH = 48


def load() -> Subject:
    """Reads the workspace; what cannot be read ends the tool with code 3."""
    try:
        import evalxrl_envs
        from evalxrl_envs.agents import checkpoint, train
        from evalxrl_envs.core import registry
    except (ImportError, SyntaxError) as problem:
        raise unreadable(f"evalxrl_envs of this workspace cannot be imported: {problem}") from problem
    root = Path(evalxrl_envs.__file__).parents[1]
    present = registry.names()
    if len(present) != 1:
        raise unreadable(f"a workspace has one environment, this one has {', '.join(present) or 'none'}")
    name = present[0]
    environment, defaults = registry.make(name)
    explain = registry.part(name, "explain")
    try:
        setting = train.read_config(environment, defaults)
        agent = checkpoint.read_agent(os.path.relpath(root / AGENT), environment)
    except (train.InvalidConfig, checkpoint.InvalidAgent) as problem:
        raise unreadable(str(problem)) from problem
    names = tuple(explain.action_names)
    return Subject(
        name=name,
        environment=environment,
        params=setting.params,
        policy=_policy(environment, agent),
        action_space=environment.action_space,
        action_names=names,
        obs_names=tuple(explain.obs_names),
        gamma=float(str(np.float32(setting.hyper.gamma))),
        gamma_source="config.toml",
        state_to_json=explain.state_to_json,
        state_from_json=explain.state_from_json,
        reset_to=explain.reset_to,
        predicates=explain.predicates,
        distance=explain.distance,
        label=label,
        training_rewards=partial(training_rewards, setting, agent),
        remarks=(*legend(environment.action_space, names), PROVENANCE),
    )


def label(state: Tree) -> str:
    """The single numbers of a state, as in `position=7 t=0`; only the step where that is too long."""
    single = [(field.name, np.asarray(getattr(state, field.name))) for field in fields(state)]
    text = " ".join(f"{name}={value:g}" for name, value in single if value.ndim == 0)
    complete = all(value.ndim == 0 for _, value in single)
    return text if complete and len(text) <= LABEL_WIDTH else f"t={int(state.t)}"


def training_rewards(setting: Any, agent: Any, seed: int, episodes: int) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401
    """Plays batches as the trainer does, with the agent as it is, until so many episodes ended; see `Subject`."""
    from evalxrl_envs.agents import networks, ppo, train

    training = train.start(setting, seed)
    learner = training.learner._replace(vector=networks.flatten(agent.parameters))
    training = training._replace(learner=learner, moments=agent.moments)
    rewards, components, ended, played = [], [], 0, 0
    most = episodes * int(setting.params.horizon)
    while ended < episodes and played < most:
        actors, batch, reward = _learned_from(ppo, setting, training, ppo.draw(setting, seed, len(rewards)))
        training = training._replace(actors=actors)
        rewards.append(np.asarray(reward, np.float64).ravel())
        components.append(np.asarray(batch.components, np.float64).reshape(-1, batch.components.shape[-1]))
        ended += int(np.asarray(batch.finished).sum())
        played += rewards[-1].size
    return np.concatenate(rewards), np.concatenate(components)


class _Reached(Exception):
    """Ends an update where its advantages begin."""


def _learned_from(ppo: Any, setting: Any, training: Any, draws: Any) -> tuple[Any, Any, np.ndarray]:  # noqa: ANN401
    """Actors after a batch, the batch, and the rewards that `update` hands to the advantage estimate.

    The trainer's own `update` runs up to there, so that what it does with the rewards of `collect` counts too.
    """
    collect, gae = ppo.collect, ppo.gae
    played: list[Any] = []
    learned: list[Any] = []

    def keep(*given: Any) -> Any:  # noqa: ANN401
        played.append(collect(*given))
        return played[-1]

    def stop(reward: Any, *_: Any, **__: Any) -> None:  # noqa: ANN401
        learned.append(reward)
        raise _Reached

    ppo.collect, ppo.gae = keep, stop
    try:
        ppo.update(setting, training, draws)
    except _Reached:
        pass
    finally:
        ppo.collect, ppo.gae = collect, gae
    actors, batch, reward = played[-1]
    return actors, batch, np.asarray(learned[-1] if learned else reward)


def _policy(environment: Any, agent: Any) -> Policy:  # noqa: ANN401
    carried = (agent.parameters, agent.moments)
    rules = _Rules(environment, replace(agent, parameters=None, moments=None))
    return Policy(
        agent=carried,
        served=rules.served,
        greedy=rules.greedy,
        sampled=rules.sampled,
        outputs=rules.outputs,
        log_prob=rules.log_prob,
        entropy=rules.entropy,
        value=rules.value,
    )


@dataclass(frozen=True, eq=False)
class _Rules:
    """The agent's ways of acting; its arrays are arguments, so that they are no part of the program."""

    environment: Any
    without_arrays: Any

    def served(self, carried: Tree, observations: jax.Array) -> jax.Array:
        """As the server answers."""
        from evalxrl_envs.serving import server

        parameters, moments = carried
        agent = replace(self.without_arrays, parameters=parameters, moments=moments)
        return server.actions(agent, self.environment, observations)

    def greedy(self, carried: Tree, observations: jax.Array) -> jax.Array:
        """The most probable action, or the mean."""
        from evalxrl_envs.agents import networks

        return networks.greedy(self._space, self._distribution(carried, observations))

    def sampled(self, carried: Tree, keys: jax.Array, observations: jax.Array) -> jax.Array:
        """A draw from the policy's distribution."""
        from evalxrl_envs.agents import networks

        outputs = self._distribution(carried, observations)
        shape = (networks.output_size(self._space),)
        draw = jax.random.normal if self._continuous else jax.random.gumbel
        noise = jax.vmap(lambda key: draw(key, shape))(keys)
        return networks.sample(self._space, outputs, noise)

    def outputs(self, carried: Tree, observations: jax.Array) -> jax.Array:
        """Logits of all heads side by side, or means."""
        outputs = self._distribution(carried, observations)
        return outputs[..., : outputs.shape[-1] // 2] if self._continuous else outputs

    def log_prob(self, carried: Tree, observations: jax.Array, actions: jax.Array) -> jax.Array:
        """Log-probability or log-density of actions."""
        from evalxrl_envs.agents import networks

        return networks.log_probability(self._space, self._distribution(carried, observations), actions)

    def entropy(self, carried: Tree, observations: jax.Array) -> jax.Array:
        """Entropy of the policy's distribution, in nats."""
        from evalxrl_envs.agents import networks

        return networks.entropy(self._space, self._distribution(carried, observations))

    def value(self, carried: Tree, observations: jax.Array) -> jax.Array:
        """The critic's V."""
        from evalxrl_envs.agents import networks, normalise

        parameters, moments = carried
        return networks.value(parameters, normalise.apply(moments, observations))

    @property
    def _space(self) -> Any:  # noqa: ANN401
        return self.environment.action_space

    @property
    def _continuous(self) -> bool:
        return hasattr(self._space, "low")

    def _distribution(self, carried: Tree, observations: jax.Array) -> jax.Array:
        from evalxrl_envs.agents import networks, normalise

        parameters, moments = carried
        return networks.policy(parameters, normalise.apply(moments, observations))

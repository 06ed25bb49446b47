"""Each self-check turns red on a planted copy of the defect that it guards against.

| check | defect |
|---|---|
| seeds differ | the trainer ignores its seed; the scorer ignores its seed |
| two paths agree | the scorer plays other episodes than `evaluate` |
| episode accounting order | the last reward of an episode is lost, in lockstep and over auto-reset |
| endings apart | a time limit counts as an ending, in credit and in an environment |
| buffers stay | an adapter and the server write every observation into one array |
| parameters act | an environment and the trainer use a constant in a parameter's place |
| served = trained | the server scales observations with fresh statistics |
| names and directions | two names are in each other's place |
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
import selfchecks
import test_environment
import test_ppo
from test_selfchecks import agents as agents
from test_selfchecks import gymnasium_observations

from evalxrl_envs.adapters import GymnasiumAdapter
from evalxrl_envs.agents import normalise, ppo, train
from evalxrl_envs.agents.evaluate import greedy_actions
from evalxrl_envs.core import registry, rollout
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.datacenter_cooling.environment import DatacenterCooling
from evalxrl_envs.scoring import keys
from evalxrl_envs.serving import protocol, server


@pytest.fixture
def red():
    """What a check raises on a defect."""
    return pytest.raises(AssertionError)


def test_a_trainer_that_ignores_its_seed(monkeypatch, red):
    original = ppo.generator
    monkeypatch.setattr(ppo, "generator", lambda seed, stream: original(0, stream))
    with red:
        selfchecks.seeds_differ(selfchecks.short("cartpole"))


def test_a_scorer_that_ignores_its_seed(monkeypatch, red):
    monkeypatch.setattr(keys, "episodes_key", lambda seed: seed_key(1))
    with red:
        selfchecks.keys_are_distinct(selfchecks.short("cartpole"))


def test_a_scorer_that_plays_other_episodes(agents, monkeypatch, red):
    original = keys.episodes_key
    monkeypatch.setattr(keys, "episodes_key", lambda seed: original(seed[::-1]))
    with red:
        selfchecks.two_paths_agree(*agents("cartpole"))


def test_returns_that_lose_the_last_reward_in_lockstep(monkeypatch, red):
    original = rollout.Lockstep.step

    def step(self, actions):
        before = self._sums.copy()
        original(self, actions)
        self._sums[~self.active] = before[~self.active]

    monkeypatch.setattr(rollout.Lockstep, "step", step)
    with red:
        test_ppo.test_returns_and_lengths_are_accounted_in_order_over_auto_reset_and_in_lockstep()


def test_returns_that_lose_the_last_reward_over_auto_reset(monkeypatch, red):
    original = ppo.autoreset_steps

    def late(*arguments):
        step = original(*arguments)
        return step._replace(reward=jnp.where(step.terminated | step.truncated, 0.0, step.reward))

    monkeypatch.setattr(ppo, "autoreset_steps", late)
    with red:
        test_ppo.test_returns_and_lengths_are_accounted_in_order_over_auto_reset_and_in_lockstep()


def test_credit_that_takes_a_time_limit_for_an_ending(monkeypatch, red):
    original = ppo.gae

    def gae(reward, value, next_value, terminated, truncated, hyper):
        return original(reward, value, next_value, terminated | truncated, truncated, hyper)

    monkeypatch.setattr(ppo, "gae", gae)
    with red:
        test_ppo.test_gae_equals_a_short_loop_for_all_four_flag_combinations()


def test_an_environment_that_takes_a_time_limit_for_an_ending(red):
    class Ending(DatacenterCooling):
        def terminated(self, state, params):
            return state.t >= params.horizon

    with red:
        selfchecks.time_limits_are_no_endings(Ending(), registry.make("datacenter_cooling")[1])


def test_an_adapter_with_one_buffer(red):
    adapter, buffer = GymnasiumAdapter(*registry.make("cartpole")), np.zeros(4, np.float32)
    original = adapter.step

    def step(action):
        observation, *rest = original(action)
        buffer[:] = observation
        return buffer, *rest

    adapter.step = step
    with red:
        selfchecks.buffers_stay(gymnasium_observations(adapter))


def test_a_server_with_one_buffer(agents, monkeypatch, red):
    original, buffers = protocol.read_npy, {}

    def read(payload, dtype, shape):
        array = original(payload, dtype, shape)
        buffer = buffers.setdefault((dtype, shape), np.empty(shape, dtype))
        buffer[...] = array
        return buffer

    monkeypatch.setattr(protocol, "read_npy", read)
    with red:
        selfchecks.server_buffers_stay(*agents("cartpole"), monkeypatch)


def test_an_environment_that_ignores_a_parameter(red):
    class Deaf(DatacenterCooling):
        def transition(self, key, state, action, params):
            return super().transition(key, state, action, dataclasses.replace(params, air_gain=1.5))

    with red:
        test_environment.test_every_parameter_changes_some_trajectory((Deaf(), registry.make("datacenter_cooling")[1]))


def test_a_trainer_that_ignores_a_number_of_its_configuration(tmp_path, red):
    def read(*arguments):
        setting = train.read_config(*arguments)
        return setting._replace(hyper=typed(setting.hyper, {"learning_rate": 1e-3}))

    with red:
        selfchecks.configuration_acts(selfchecks.short("cartpole"), tmp_path, {"hyper"}, read)


def test_a_server_with_fresh_statistics(agents, monkeypatch, red):
    def actions(agent, env, observations):
        fresh = normalise.initial(env.observation_space.shape[0])
        return greedy_actions(agent.parameters, fresh, observations, env.action_space)

    monkeypatch.setattr(server, "actions", actions)
    with red:
        selfchecks.served_is_trained(*agents("datacenter_cooling"))


@pytest.mark.parametrize("swapped", registry.names())
def test_names_in_each_others_place(swapped, red):
    first, *others = registry.part(swapped, "explain").action_names
    if len(first) > 1:
        names = ((first[1], first[0], *first[2:]), *others)
    else:
        names = (others[0], first, *others[1:])
    with red:
        selfchecks.names_are_directions(swapped, names)

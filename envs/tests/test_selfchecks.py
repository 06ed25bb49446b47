"""Seeds, paths, endings, buffers, parameters, serving and names, checked on every environment.

What needs no environment of ours is in `test_ppo.py`: credit over endings, and the accounting of episodes.
"""

import jax
import numpy as np
import pytest
import selfchecks

from evalxrl_envs.adapters import GymnasiumAdapter, GymnaxAdapter
from evalxrl_envs.agents import checkpoint
from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.rollout import Lockstep


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """One agent of each environment, trained for a moment and read back from its file."""
    made = {}

    def get(name):
        if name not in made:
            setting = selfchecks.short(name)
            path = tmp_path_factory.mktemp("agent") / f"{name}.safetensors"
            checkpoint.write_agent(path, selfchecks.agent_of(setting))
            made[name] = setting, checkpoint.read_agent(path, setting.env)
        return made[name]

    return get


def gymnasium_observations(adapter):
    adapter.reset(seed=0)
    adapter.action_space.seed(0)

    def next_one():
        observation, _, terminated, truncated, _ = adapter.step(adapter.action_space.sample())
        return adapter.reset()[0] if terminated or truncated else observation

    return next_one


def gymnax_observations(adapter):
    key = jax.random.key(0)
    _, state = adapter.reset(key)

    def next_one():
        nonlocal key, state
        key, for_action, for_step = jax.random.split(key, 3)
        observation, state, *_ = adapter.step(for_step, state, adapter.action_space().sample(for_action))
        return observation

    return next_one


def lockstep_observations(env, params):
    lanes, draw = Lockstep(env, params, seed_key(1), 32), jax.vmap(env.action_space.sample)

    def next_one():
        lanes.step(np.asarray(draw(jax.random.split(jax.random.key(lanes.t), 32))))
        return lanes.observations

    return next_one


def test_seeds_train_different_agents(name):
    selfchecks.seeds_differ(selfchecks.short(name))


def test_keys_of_training_development_and_scoring_are_pairwise_distinct():
    selfchecks.keys_are_distinct(selfchecks.short("cartpole"))


def test_an_agent_in_process_as_served_and_over_the_wire_has_the_same_returns(name, agents):
    selfchecks.two_paths_agree(*agents(name))


def test_a_time_limit_is_no_ending(name):
    selfchecks.time_limits_are_no_endings(*registry.make(name))


def test_observations_kept_from_a_step_stay_as_they_were(name):
    env, params = registry.make(name)
    selfchecks.buffers_stay(gymnasium_observations(GymnasiumAdapter(env, params)))
    selfchecks.buffers_stay(gymnax_observations(GymnaxAdapter(env, params)))
    selfchecks.buffers_stay(lockstep_observations(env, params))


def test_what_the_server_was_sent_stays_as_it_was(agents, monkeypatch):
    selfchecks.server_buffers_stay(*agents("cartpole"), monkeypatch)


def test_every_number_of_the_configuration_changes_the_run(name, tmp_path):
    selfchecks.configuration_acts(selfchecks.short(name), tmp_path, {"hyper", "reward_weights", "params"})


def test_every_size_of_the_configuration_changes_the_run(tmp_path):
    selfchecks.configuration_acts(selfchecks.short("cartpole"), tmp_path, {"static"})


def test_the_server_acts_as_the_trainer_does(name, agents):
    selfchecks.served_is_trained(*agents(name))


def test_actions_do_what_their_names_say(name):
    selfchecks.names_are_directions(name, registry.part(name, "explain").action_names)

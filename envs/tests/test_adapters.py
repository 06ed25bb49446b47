"""The adapters in loops written for gymnax and for Gymnasium."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny import Params, Tiny

from evalxrl_envs.adapters import GymnasiumAdapter, GymnaxAdapter
from evalxrl_envs.core import registry
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.core.spaces import Box, MultiDiscrete


def heads_of(env, action):
    """The environment's own action of an adapter's, which is one number for several heads."""
    several = isinstance(env.action_space, MultiDiscrete) and env.action_space.shape
    return jnp.stack(jnp.unravel_index(action, env.action_space.n)) if several else action


def test_a_gymnax_loop_runs_with_six_and_with_five_values(name):
    env, params = registry.make(name)
    adapter = GymnaxAdapter(env, params)
    older = GymnaxAdapter(env, params, legacy=True)
    assert adapter.name == name and adapter.default_params.max_steps_in_episode == params.horizon

    def loop(key):
        key, for_reset = jax.random.split(key)
        observation, state = adapter.reset(for_reset, adapter.default_params)

        def advance(carry, key):
            observation, state = carry
            for_action, for_step = jax.random.split(key)
            action = adapter.action_space(adapter.default_params).sample(for_action)
            observation, state, reward, terminated, truncated, info = adapter.step(for_step, state, action)
            five = older.step(for_step, carry[1], action, older.default_params)
            same = jnp.allclose(five[0], observation, atol=1e-4) & jnp.allclose(five[2], reward, atol=1e-4)
            same &= five[3] == (terminated | truncated)
            plain = env.step(jax.random.split(for_step)[0], carry[1].inner, heads_of(env, action), params)
            same &= jnp.allclose(info["final_observation"], plain.observation, atol=1e-4)
            return (observation, state), (reward, terminated | truncated, state.time, same)

        return jax.lax.scan(advance, (observation, state), jax.random.split(key, 200))[1]

    reward, done, time, same = jax.jit(jax.vmap(loop))(jax.random.split(jax.random.key(0), 8))
    assert bool(jnp.all(same)) and bool(done.any())
    assert np.all(np.asarray(time)[np.asarray(done)] == 0) and reward.shape == (8, 200)


def test_gymnax_itself_offers_the_same_members():
    gymnax = pytest.importorskip("gymnax")
    theirs, their_params = gymnax.make("CartPole-v1")
    ours = GymnaxAdapter(*registry.make("treasure_grid"))
    for member in ("default_params", "num_actions", "action_space", "observation_space", "name", "reset", "step"):
        assert hasattr(theirs, member) and hasattr(ours, member)
    observation, state = theirs.reset(jax.random.key(0), their_params)
    assert len(theirs.step(jax.random.key(1), state, 0, their_params)) == 6
    assert hasattr(state, "time") and hasattr(their_params, "max_steps_in_episode")


def test_several_heads_become_one_number_with_the_first_head_most_significant():
    env = Tiny(MultiDiscrete((2, 3, 5)))
    adapter = GymnaxAdapter(env, typed(Params()))
    assert adapter.num_actions == adapter.action_space().n == 30
    for action in range(30):
        expected = (action // 15, action // 5 % 3, action % 5)
        np.testing.assert_array_equal(adapter._action(jnp.int32(action)), expected)


def test_gymnasiums_checker_passes_and_observations_stay(name):
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    env, params = registry.make(name)
    adapter = GymnasiumAdapter(env, params, "rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(adapter)
    first, _ = adapter.reset(seed=3)
    kept = first.copy()
    for _ in range(5):
        observation, reward, terminated, truncated, info = adapter.step(adapter.action_space.sample())
        assert type(reward) is float and type(terminated) is type(truncated) is bool
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(adapter.reset(seed=3)[0], kept)


def test_gymnasium_starts_from_a_given_state(name):
    pytest.importorskip("gymnasium")
    env, params = registry.make(name)
    explain = registry.part(name, "explain")
    adapter = GymnasiumAdapter(env, params, "ansi")
    _, state = env.reset(jax.random.key(9), params)
    observation, _ = adapter.reset(seed=0, options={"state": explain.state_to_json(state)})
    np.testing.assert_allclose(observation, env.observe(state, params), atol=1e-6)
    assert isinstance(adapter.render(), str)


def test_gymnax_takes_our_own_state_and_parameters_as_well(name):
    env, params = registry.make(name)
    adapter, key = GymnaxAdapter(env, params), jax.random.key(0)
    observation, state = adapter.reset(key)
    np.testing.assert_array_equal(adapter.reset(key, params)[0], observation)
    action = adapter.action_space().sample(key)
    named, ours = adapter.step(key, state, action), adapter.step(key, state.inner, action, params)
    np.testing.assert_array_equal(named[0], ours[0])


def test_gymnasium_refuses_what_cannot_be_and_stays_where_it_was(name):
    gymnasium = pytest.importorskip("gymnasium")
    env, params = registry.make(name)
    with pytest.raises(ValueError, match="'human' is not one of rgb_array, ansi"):
        GymnasiumAdapter(env, params, "human")
    adapter = GymnasiumAdapter(env, params, "ansi")
    action = adapter.action_space.sample()
    for early in (adapter.render, lambda: adapter.step(action)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            early()
    adapter.reset(seed=0)
    shown = adapter.render()
    shape = adapter.action_space.shape
    wrong = [None, "x", np.zeros((3, 7)), np.full(shape, np.nan), np.zeros((*shape, 1), np.int32)]
    if not isinstance(env.action_space, Box):
        wrong += [np.full(shape, 99), np.full(shape, -1), np.full(shape, 0.7), np.full(shape, True)]
    for each in wrong:
        with pytest.raises(ValueError, match="is not one of"):
            adapter.step(each)
    for state in (None, "x", [], {}, {"format": "evalxrl.state/1"}):
        with pytest.raises(ValueError, match="not a state of"):
            adapter.reset(options={"state": state})
    adapter.reset(seed=0)
    assert adapter.render() == shown
    adapter.step(action)

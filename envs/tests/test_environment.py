"""What every registered environment must keep: purity, shapes, rewards, endings, auto-reset."""

from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.core.rollout import Lockstep, autoreset_step, rollout


@pytest.fixture
def made(name):
    return registry.make(name)


def bits(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def uniform(env):
    return lambda key, observation: env.action_space.sample(key)


def test_reset_and_step_run_under_jit_vmap_and_scan_without_retracing_for_new_values(made):
    env, params = made
    traces = []

    @jax.jit
    def play(keys, params):
        traces.append(1)
        return rollout(env, uniform(env), keys, params, 5).reward

    keys = jax.random.split(jax.random.key(0), 256)
    assert play(keys, params).shape == (256, 5)
    for field in fields(params):
        play(keys, typed(params, {field.name: getattr(params, field.name) * 2}))
    assert len(traces) == 1


def test_one_key_gives_one_result_and_another_key_another(made):
    env, params = made
    play = jax.jit(lambda key: rollout(env, uniform(env), jax.random.split(key, 4), params, 20))
    first = bits(play(jax.random.key(1)))
    assert first == bits(play(jax.random.key(1)))
    assert first != bits(play(jax.random.key(2)))


def test_compiled_and_plain_steps_agree(made):
    env, params = made
    key = jax.random.key(3)
    with jax.disable_jit():
        observation, state = env.reset(key, params)
        action = env.action_space.sample(key)
        plain = env.step(key, state, action, params)
    compiled = jax.jit(env.step)(key, state, action, params)
    for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(compiled), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_thousand_random_steps_keep_shapes_dtypes_and_spaces(made):
    env, params = made
    step = jax.jit(lambda key, state, action: autoreset_step(env, key, state, action, params))
    observation, state = env.reset(jax.random.key(0), params)
    shape = jax.tree.map(lambda x: (x.shape, x.dtype), (observation, state))
    assert observation.dtype == jnp.float32 and observation.shape == env.observation_space.shape

    def advance(state, key):
        action = env.action_space.sample(key)
        after = step(key, state, action)
        valid = env.observation_space.contains(after.observation) & env.action_space.contains(action)
        return after.state, (after.observation, after.reward, after.terminated, after.truncated, valid)

    last, (observations, reward, terminated, truncated, valid) = jax.lax.scan(
        advance, state, jax.random.split(jax.random.key(1), 1000)
    )
    assert jax.tree.map(lambda x: (x.shape, x.dtype), (observations[-1], last)) == shape
    assert reward.dtype == jnp.float32 and terminated.dtype == truncated.dtype == jnp.bool_
    assert np.all(np.isfinite(observations)) and bool(jnp.all(valid))


def test_the_reward_is_the_sum_of_its_named_components(made):
    env, params = made
    steps = jax.jit(lambda keys: rollout(env, uniform(env), keys, params, 50))(jax.random.split(jax.random.key(5), 16))
    components = steps.info["reward"]
    assert components._fields == env.components
    total = np.zeros_like(np.asarray(components[0]))
    for component in components:
        total = total + np.asarray(component)
    np.testing.assert_array_equal(np.asarray(steps.reward), total)


def test_truncation_comes_at_the_horizon_and_termination_when_declared(made):
    env, params = made
    lanes = Lockstep(env, params, seed_key(7), 512)
    draw = jax.jit(jax.vmap(env.action_space.sample))
    while lanes.active.any():
        lanes.step(np.asarray(draw(jax.random.split(jax.random.key(lanes.t), 512))))
    unfinished = lanes.lengths[~lanes.terminated]
    assert lanes.lengths.max() <= int(params.horizon) and np.all(unfinished == int(params.horizon))
    assert lanes.terminated.any() == env.ends


def test_a_step_after_the_end_stays_finite_and_does_not_reset(made):
    env, params = made
    step = jax.jit(env.step)
    observation, state = env.reset(jax.random.key(0), params)
    for i in range(int(params.horizon) + 3):
        after = step(jax.random.key(i), state, env.action_space.sample(jax.random.key(i)), params)
        state = after.state
        assert np.all(np.isfinite(after.observation)) and np.isfinite(after.reward)
    assert bool(after.truncated) and int(state.t) == int(params.horizon) + 3


def test_what_is_exogenous_does_not_depend_on_the_action(made):
    env, params = made
    step = jax.jit(jax.vmap(env.step, (None, None, 0, None)))
    for seed in range(50):
        key = jax.random.key(seed)
        _, state = env.reset(key, params)
        actions = jax.vmap(env.action_space.sample)(jax.random.split(key, 8))
        after = step(key, state, actions, params).state
        for field in env.exogenous_fields:
            values = np.asarray(getattr(after, field))
            assert np.all(values == values[0]), field


def test_auto_reset_keeps_the_final_observation_and_resets_with_the_second_half_of_the_key(made):
    env, params = made
    both = jax.jit(
        lambda key, state, action: (
            autoreset_step(env, key, state, action, params),
            env.step(jax.random.split(key)[0], state, action, params),
            env.reset(jax.random.split(key)[1], params),
        )
    )
    _, state = env.reset(jax.random.key(0), params)
    ended = 0
    for i in range(3 * int(params.horizon)):
        key = jax.random.key(i)
        auto, plain, fresh = both(key, state, env.action_space.sample(key))
        assert bits(auto.info["final_observation"]) == bits(plain.observation)
        over = bool(plain.terminated | plain.truncated)
        assert bits((auto.observation, auto.state)) == bits(fresh if over else (plain.observation, plain.state))
        ended, state = ended + over, auto.state
    assert ended


def test_every_parameter_changes_some_trajectory(made):
    env, params = made
    keys = jax.random.split(jax.random.key(0), 64)

    def lowest(key, observation):
        """Leads where random play does not: racks grow hot, queues long."""
        return jnp.full_like(env.action_space.sample(key), getattr(env.action_space, "low", 0))

    @jax.jit
    def play(params):
        plays = [rollout(env, policy, keys, params, 150) for policy in (uniform(env), lowest)]
        return [(steps.observation, steps.reward) for steps in plays]

    base = bits(play(params))
    for field in fields(params):
        value = getattr(params, field.name)
        others = (value + 1, value // 20) if value.dtype.kind == "i" else (value * 2 + 0.1, value * 0.05)
        assert any(bits(play(typed(params, {field.name: other}))) != base for other in others), field.name


def test_an_unknown_environment_is_an_error_that_lists_the_known(name):
    with pytest.raises(KeyError, match=name):
        registry.make("atlantis")
    entry = registry.entry(name)
    env, params = registry.make(name)
    assert entry.id == env.name == name and entry.horizon == params.horizon
    assert entry.action == env.action_space.describe()["kind"]
    assert bool(env.action_space.contains(np.asarray(entry.default_action, env.action_space.dtype)))

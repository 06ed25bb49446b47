"""CartPole against a second reading of its equations in NumPy, and against gymnax's."""

import jax
import numpy as np
import pytest
from baselines_cartpole import lean

from evalxrl_envs.cartpole import explain
from evalxrl_envs.cartpole.environment import State
from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.core.rollout import Lockstep

ENV, PARAMS = registry.make("cartpole")
STEP = jax.jit(ENV.step)
REST = State(*np.zeros(4, np.float32), np.int32(0))


def numbers(state):
    return np.array([state.x, state.x_dot, state.theta, state.theta_dot], np.float64)


def replica_step(y, action):
    """One step by hand: the four numbers after it, and whether that ends the episode."""
    x, x_dot, theta, theta_dot = y
    force = 10.0 if action == 1 else -10.0
    u = (force + 0.05 * theta_dot**2 * np.sin(theta)) / 1.1
    turn = (9.8 * np.sin(theta) - u * np.cos(theta)) / (0.5 * (4 / 3 - 0.1 * np.cos(theta) ** 2 / 1.1))
    push = u - 0.05 * turn * np.cos(theta) / 1.1
    after = y + 0.02 * np.array([x_dot, push, theta_dot, turn])
    return after, abs(after[0]) > 2.4 or abs(after[2]) > 12 * 2 * np.pi / 360


@pytest.mark.parametrize("seed", range(4))
def test_fifty_steps_agree_with_the_equations_by_hand(seed):
    random, key = np.random.default_rng(seed), jax.random.key(seed)
    _, state = ENV.reset(key, PARAMS)
    y, ended = numbers(state), 0
    for t in range(50):
        action = int(random.random() < 0.5 + np.sign(y[2] + 0.5 * y[3]) * random.choice([0.5, -0.1]))
        after = STEP(key, state, np.int32(action), PARAMS)
        y, over = replica_step(y, action)
        np.testing.assert_allclose(numbers(after.state), y, atol=1e-4)
        np.testing.assert_array_equal(after.observation, numbers(after.state).astype(np.float32))
        assert bool(after.terminated) == over and float(after.reward) == 1.0 and int(after.state.t) == t + 1
        state, ended = after.state, ended + over
        if over:
            _, state = ENV.reset(jax.random.key(100 + t), PARAMS)
            state = State(state.x, state.x_dot, state.theta, state.theta_dot, np.int32(t + 1))
            y = numbers(state)


def test_it_equals_gymnax_from_equal_states_until_termination():
    gymnax = pytest.importorskip("gymnax")
    from gymnax.environments.classic_control.cartpole import EnvState

    theirs, their_params = gymnax.make("CartPole-v1")
    their_step = jax.jit(theirs.step_env)
    for seed in range(8):
        random = np.random.default_rng(seed)
        state = State(*random.uniform(-0.05, 0.05, 4).astype(np.float32), np.int32(0))
        other = EnvState(time=0, x=state.x, x_dot=state.x_dot, theta=state.theta, theta_dot=state.theta_dot)
        over = False
        while not over:
            action = np.int32(random.integers(2))
            after = STEP(jax.random.key(0), state, action, PARAMS)
            observation, other, reward, *flags, _ = their_step(jax.random.key(0), other, action, their_params)
            np.testing.assert_allclose(after.observation, observation, atol=1e-4)
            state, over = after.state, bool(after.terminated)
            assert over == bool(np.any(flags)) and float(reward) == float(after.reward) == 1.0
        assert int(state.t) < 200


def test_starts_are_uniform_and_small():
    states = jax.jit(jax.vmap(ENV.initial, (0, None)))(jax.random.split(jax.random.key(0), 20_000), PARAMS)
    for name in ("x", "x_dot", "theta", "theta_dot"):
        values = np.sort(np.asarray(getattr(states, name)))
        assert -0.05 <= values[0] and values[-1] <= 0.05
        distance = np.abs((values + 0.05) / 0.1 - np.linspace(0, 1, len(values))).max()
        assert distance < 0.02, name  # Kolmogorov and Smirnov, p < 1e-6
    assert np.all(np.asarray(states.t) == 0)


def test_every_action_pushes_as_its_name_says_and_the_pole_leans_the_other_way():
    for action, name in enumerate(explain.action_names[0]):
        after = STEP(jax.random.key(0), REST, np.int32(action), PARAMS).state
        side = {"left": -1, "right": 1}[name]
        assert np.sign(after.x_dot) == side and np.sign(after.theta_dot) == -side


def test_left_and_right_are_mirror_images():
    random = np.random.default_rng(3)
    for _ in range(20):
        y, action = random.uniform(-0.2, 0.2, 4).astype(np.float32), int(random.integers(2))
        one = STEP(jax.random.key(0), State(*y, np.int32(0)), np.int32(action), PARAMS).state
        other = STEP(jax.random.key(0), State(*-y, np.int32(0)), np.int32(1 - action), PARAMS).state
        np.testing.assert_allclose(numbers(one), -numbers(other), atol=1e-6)


def test_an_upright_pole_at_rest_stays_without_force_and_a_leaning_one_falls():
    free = typed(PARAMS, {"force": 0.0})
    np.testing.assert_array_equal(numbers(STEP(jax.random.key(0), REST, np.int32(0), free).state), np.zeros(4))
    for lean_to in (-0.02, 0.02):
        state = State(np.float32(0), np.float32(0), np.float32(lean_to), np.float32(0), np.int32(0))
        while not bool((after := STEP(jax.random.key(0), state, np.int32(0), free)).terminated):
            state = after.state
        assert np.sign(after.state.theta) == np.sign(lean_to) and int(after.state.t) < 200


def test_derived_quantities_follow_what_they_are_made_of():
    heavy = typed(PARAMS, {"pole": 0.4, "length": 1.0})
    assert float(heavy.total) == pytest.approx(1.4) and float(heavy.pole_length) == pytest.approx(0.4)


def test_predicates_say_what_their_names_say():
    def of(**values):
        state = State(**{**vars(REST), **{name: np.float32(value) for name, value in values.items()}})
        return {name: bool(value) for name, value in explain.predicates(state, PARAMS).items()}

    assert of(theta=0.1)["leaning_right"] and not of(theta=-0.1)["leaning_right"]
    assert of(theta=-0.1, theta_dot=-1)["falling_faster"] and not of(theta=-0.1, theta_dot=1)["falling_faster"]
    assert of(x=-1.81)["near_edge"] and not of(x=1.79)["near_edge"]
    assert of(x=1, x_dot=1)["drifting_out"] and not of(x=-1, x_dot=1)["drifting_out"]


def test_distance_is_the_root_mean_square_in_units_of_the_scale():
    a = State(np.float32(1.2), np.float32(0), np.float32(0), np.float32(0), np.int32(5))
    assert explain.distance(REST, a) == pytest.approx(0.25)


def test_the_simple_rule_holds_the_pole_and_random_play_does_not():
    lanes = Lockstep(ENV, PARAMS, seed_key(3), 64)
    while lanes.active.any():
        lanes.step(lean(lanes.observations))
    assert np.all(lanes.returns == 500)
    lanes, random = Lockstep(ENV, PARAMS, seed_key(3), 512), np.random.default_rng(0)
    while lanes.active.any():
        lanes.step(random.integers(0, 2, 512, np.int32))
    assert abs(lanes.returns.mean() - 22.3) < 2.5 and lanes.terminated.all()

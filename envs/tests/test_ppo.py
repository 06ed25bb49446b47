"""The trainer: its parts against short loops, its caches, and its files."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny import SPACES, tiny

from evalxrl_envs.agents import checkpoint, evaluate, networks, normalise, ppo, train
from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.core.spaces import Box, MultiDiscrete


def quiet(line):
    pass


def vector(result):
    return np.asarray(result.training.learner.vector)


def test_gae_equals_a_short_loop_for_all_four_flag_combinations():
    random = np.random.default_rng(0)
    reward, value, next_value = (random.normal(size=(12, 4)).astype(np.float32) for _ in range(3))
    terminated, truncated = np.zeros((2, 12, 4), bool)
    terminated[5] = [False, True, False, True]
    truncated[5] = [False, False, True, True]
    hyper = typed(ppo.Hyper(), {"gamma": 0.9, "gae_lambda": 0.8})
    advantage, target = ppo.gae(reward, value, next_value, terminated, truncated, hyper)
    expected, later = np.zeros_like(reward), np.zeros(4)
    for t in reversed(range(12)):
        delta = reward[t] + 0.9 * next_value[t] * ~terminated[t] - value[t]
        later = expected[t] = delta + 0.9 * 0.8 * ~(terminated[t] | truncated[t]) * later
    np.testing.assert_allclose(advantage, expected, atol=1e-5)
    np.testing.assert_allclose(target, expected + value, atol=1e-5)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_distributions_agree_with_samples(space):
    outputs = np.random.default_rng(1).normal(size=2 * 2 if isinstance(space, Box) else sum(space.heads))
    outputs = np.broadcast_to(outputs.astype(np.float32), (40_000, outputs.size))
    noise = networks.noise(space, np.random.default_rng(2), (40_000,))
    actions = networks.sample(space, outputs, noise)
    assert actions.shape == (40_000, *space.shape) and actions.dtype == space.dtype
    log_p = np.asarray(networks.log_probability(space, outputs, actions))
    entropy = float(networks.entropy(space, outputs)[0])
    assert abs(-log_p.mean() - entropy) < 0.03
    best = networks.greedy(space, outputs[:1])
    assert float(networks.log_probability(space, outputs[:1], best)[0]) >= log_p.max() - 1e-5
    if not isinstance(space, Box):
        choices = np.stack(np.meshgrid(*map(np.arange, space.heads), indexing="ij"), -1).reshape(-1, len(space.heads))
        every = jnp.asarray(choices if space.shape else choices[:, 0])
        total = np.exp(networks.log_probability(space, outputs[: len(every)], every)).sum()
        assert abs(total - 1) < 1e-5


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_any_action_space_learns_and_its_agent_survives_a_file(space, tmp_path):
    env, setting = tiny(space, updates=32)
    result = train.run(setting, [3], quiet, chunk=16)
    agent = train.agent_of(setting, result.training, 3, "config.toml")
    act = evaluate.greedy_policy(agent, space)
    lanes = evaluate.evaluate(env, setting.params, act, seed_key(1), 64)
    assert lanes.component_returns["match"].mean() > 0.8 * 5 * lanes.lengths.mean()
    checkpoint.write_agent(tmp_path / "agent.safetensors", agent)
    again = checkpoint.read_agent(tmp_path / "agent.safetensors", env)
    observations = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
    np.testing.assert_array_equal(act(observations), evaluate.greedy_policy(again, space)(observations))
    assert all(np.array_equal(again.parameters[k], agent.parameters[k]) for k in agent.parameters)
    assert all(map(np.array_equal, again.moments, agent.moments)) and again.metadata["seed"] == "3"


def test_returns_and_lengths_are_accounted_in_order_over_auto_reset_and_in_lockstep():
    env, setting = tiny(MultiDiscrete((2, 3, 5)), updates=4, steps=64)
    setting = setting._replace(params=typed(setting.params, {"bonus": 0.0}))
    state = train.start(setting, 0)
    for i in range(2):
        state, _ = ppo.update(setting, state, ppo.draw(setting, 0, i))
    _, batch = ppo.play(state, ppo.draw(setting, 0, 2), setting.params, env)
    t = np.round(np.asarray(batch.final_observation)[..., 1] * 8)
    length = np.round(np.asarray(batch.final_observation)[..., 2] * 8)
    np.testing.assert_array_equal(batch.terminated, t >= length)
    np.testing.assert_array_equal(batch.truncated, t >= 6)
    np.testing.assert_array_equal(batch.finished_return, np.where(batch.finished, t * (t + 1) / 2, 0))
    lanes = evaluate.evaluate(env, setting.params, lambda o: np.zeros((len(o), 3), np.int32), seed_key(2), 50)
    np.testing.assert_array_equal(lanes.returns, lanes.lengths * (lanes.lengths + 1) / 2)
    assert set(lanes.lengths) == {1, 2, 3, 4, 5, 6}


def test_running_moments_are_those_of_all_that_was_seen():
    parts = [np.random.default_rng(i).normal(i, 1 + i, (50, 3)).astype(np.float32) for i in range(3)]
    moments = normalise.initial(3)
    for part in parts:
        moments = normalise.merge(moments, part)
    seen = np.concatenate(parts)
    np.testing.assert_allclose(moments.mean, seen.mean(0), rtol=1e-4)
    np.testing.assert_allclose(moments.var, seen.var(0), rtol=1e-3)
    assert float(jnp.abs(normalise.apply(moments, seen * 100)).max()) == normalise.CLIP


def test_initial_weights_are_orthogonal():
    weights = networks.initial_parameters(np.random.default_rng(0), registry.make("treasure_grid")[0])
    for name, gain in (("policy/0/w", 2**0.5), ("value/1/w", 2**0.5), ("policy/2/w", 0.01), ("value/2/w", 1.0)):
        w = weights[name] / gain
        w = w if w.shape[0] <= w.shape[1] else w.T
        np.testing.assert_allclose(w @ w.T, np.eye(len(w)), atol=1e-5)


@pytest.fixture(scope="module")
def grid():
    env, params = registry.make("treasure_grid")
    setting = train.read_config(env, params)
    return setting._replace(static=setting.static._replace(updates=6))


def test_the_chunk_size_does_not_change_the_result(grid):
    one = train.run(grid, [7], quiet, chunk=6)
    assert np.array_equal(vector(one), vector(train.run(grid, [7], quiet, chunk=4)))
    assert np.array_equal(vector(one), vector(train.run(grid, [7], quiet, chunk=1)))
    assert one.returns[-1][0] == 6


def test_other_seeds_train_other_agents(grid):
    first, second = (train.run(grid, [seed], quiet, chunk=6) for seed in (0, 1))
    assert not np.array_equal(vector(first), vector(second)) and first.returns != second.returns


def test_several_seeds_at_once_are_those_seeds(grid):
    together = train.run(grid, [7, 8], quiet, chunk=6)
    for row, seed in enumerate((7, 8)):
        alone = train.run(grid, [seed], quiet, chunk=6)
        np.testing.assert_allclose(vector(together)[row], vector(alone), atol=2e-2)


def test_every_number_acts_and_none_compiles_anew(grid):
    misses = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, duration, **_: misses.append(event) if event.endswith("backend_compile_duration") else None
    )
    train.run(grid, [2], quiet, chunk=1, chunks=3)
    before = len(misses)
    base = vector(train.run(grid, [2], quiet, chunk=1, chunks=3))
    changed = [grid._replace(hyper=typed(grid.hyper, {name: value * 0.5})) for name, value in vars(grid.hyper).items()]
    changed += [
        grid._replace(weights=grid.weights * np.where(np.arange(4) == i, 3, 1).astype(np.float32)) for i in range(4)
    ]
    halves = {k: v // 5 if v.dtype.kind == "i" else v * 0.5 for k, v in vars(grid.params).items()}
    changed += [grid._replace(params=typed(grid.params, {name: value})) for name, value in halves.items()]
    for setting in changed:
        assert not np.array_equal(vector(train.run(setting, [2], quiet, chunk=1, chunks=3)), base)
    assert len(misses) == before


def test_parameters_that_are_not_finite_are_never_an_agent(grid):
    wild = grid._replace(hyper=typed(grid.hyper, {"reward_scale": float("inf")}))
    result = train.run(wild, [0], quiet, chunk=1, chunks=1)
    with pytest.raises(train.Diverged):
        train.agent_of(wild, result.training, 0, "config.toml")


def test_configurations_are_checked(grid, tmp_path):
    path = tmp_path / "config.toml"
    for text, message in (
        ("[hyper]\ngama = 1.0", "did you mean 'gamma'"),
        ("[hiper]\ngamma = 1.0", "did you mean 'hyper'"),
        ("[static]\nsteps = 1.5", "steps = 1.5 is not a whole number"),
        ("[static]\nnormalise = 1", "normalise"),
        ("[hyper]\ngamma = nan", "gamma"),
        ("[hyper]\ngamma = true", "gamma"),
        ("[params]\nslip = 'much'", "slip"),
        ("[static]\nminibatches = 5", "minibatches"),
        ("[hyper", "config.toml"),
        ("hyper = 1", "hyper is not a table"),
    ):
        path.write_text(text)
        with pytest.raises(train.InvalidConfig, match=message):
            train.read_config(grid.env, grid.params, path)


def test_the_shipped_configuration_states_the_defaults_of_the_environment(name):
    env, params = registry.make(name)
    setting = train.read_config(env, params)
    assert all(np.array_equal(getattr(setting.params, k), v) for k, v in vars(params).items())
    assert np.all(setting.weights == 1)


def test_agent_files_that_do_not_fit_are_refused(grid, tmp_path):
    agent = train.agent_of(grid, train.start(grid, 0), 0, "config.toml")
    path = tmp_path / "agent.safetensors"

    def refuse(message, **changes):
        checkpoint.write_agent(path, checkpoint.Agent(**vars(agent) | changes))
        with pytest.raises(checkpoint.InvalidAgent, match=message):
            checkpoint.read_agent(path, grid.env)

    arrays = agent.parameters
    refuse("trained on tiny", metadata=agent.metadata | {"environment": "tiny"})
    refuse("policy/0/w is missing", parameters={k: v for k, v in arrays.items() if k != "policy/0/w"})
    refuse("extra is not known", parameters=arrays | {"extra": np.zeros(1, np.float32)})
    refuse("value/2/b is not float32 of shape", parameters=arrays | {"value/2/b": np.zeros(2, np.float32)})
    refuse("value/2/b is not finite", parameters=arrays | {"value/2/b": np.array([np.nan], np.float32)})
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(checkpoint.InvalidAgent):
        checkpoint.read_agent(path, grid.env)

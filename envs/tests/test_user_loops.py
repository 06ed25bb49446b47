"""Loops of gymnax and Gymnasium users run on our environments after a change of the line that makes the environment."""

import sys

import jax
import numpy as np
import pytest
from conftest import ROOT

from evalxrl_envs.adapters import GymnasiumAdapter, GymnaxAdapter
from evalxrl_envs.core import registry

sys.path.append(str(ROOT.parent / "benchmarks"))


def as_gymnax(name):
    adapter = GymnaxAdapter(*registry.make(name))
    return adapter, adapter.default_params


@pytest.mark.parametrize(("name", "scale", "better"), [("cartpole", 0.1, 3.0), ("treasure_grid", 1.0, 3.0)])
def test_a_gymnax_users_ppo_learns(name, scale, better):
    pytest.importorskip("optax")
    from peer_ppo import Sizes, Tuning, trainer

    env, params = as_gymnax(name)  # theirs: gymnax.make("CartPole-v1")
    tuning = Tuning(2.5e-3, 0.99, 0.95, 0.2, 0.01, 0.5, scale, 0.5, 1e-5)
    _, seen = trainer(env, params, Sizes(32, 64, 24, 4, 4), tuning)(jax.random.key(0))
    first, last = (reward / ended / scale for reward, ended in (seen[:3].mean(0), seen[-3:].mean(0)))
    assert last > first * better if name == "cartpole" else last > first + better


def cross_entropy_search(env, rounds=4, candidates=8):
    """Improves a linear policy by keeping the best of some random ones; returns the mean return of each round."""
    random = np.random.default_rng(0)
    shape = (env.observation_space.shape[0], env.action_space.n)
    centre, means = np.zeros(shape), []
    for _ in range(rounds):
        tried = centre + random.normal(size=(candidates, *shape))
        returns = []
        for weights in tried:
            observation, _ = env.reset(seed=int(random.integers(2**31)))
            total, over = 0.0, False
            while not over:
                action = int(np.argmax(observation @ weights))
                observation, reward, terminated, truncated, _ = env.step(action)
                total, over = total + reward, terminated or truncated
            returns.append(total)
        centre = tried[np.argsort(returns)[-2:]].mean(0)
        means.append(np.mean(returns))
    return means


@pytest.mark.parametrize("make", ["theirs", "cartpole", "treasure_grid"])
def test_a_gymnasium_users_search_runs_under_its_wrappers(make):
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("CartPole-v1") if make == "theirs" else GymnasiumAdapter(*registry.make(make))
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    means = cross_entropy_search(env)
    assert env.episode_count == 32 and len(env.return_queue) == 32
    np.testing.assert_allclose(np.mean(env.return_queue), np.mean(means), atol=1e-4)
    assert make == "treasure_grid" or means[-1] > means[0]


def test_gymnasium_steps_several_of_ours_at_once():
    gymnasium = pytest.importorskip("gymnasium")
    made = [lambda: GymnasiumAdapter(*registry.make("traffic_lights"))] * 2
    several = gymnasium.vector.SyncVectorEnv(made)
    observations, _ = several.reset(seed=1)
    assert observations.shape == (2, 72) and not np.array_equal(*observations)
    observations, rewards, terminated, truncated, _ = several.step(several.action_space.sample())
    assert observations.shape == (2, 72) and rewards.shape == (2,) and not terminated.any() and not truncated.any()

"""Rules for Datacenter cooling without learning, and the search for their best gains.

A rule is a function of gains in [-1, 1] and one observation. The best constant has one action per actuator; a
proportional controller has a base and a slope for fans and one for cooling, and a setpoint, and watches either the
hottest rack of the room or the hotter one of each unit's own two racks.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from evalxrl_envs.core.keys import episode_keys, reset_key, seed_key, step_key
from evalxrl_envs.datacenter_cooling.environment import RACKS, UNITS


def constant(gains, observation):
    """The same action at any time; gains (6,)."""
    return gains


def _proportional(gains, heat):
    base_fan, base_cool, slope_fan, slope_cool, setpoint = gains
    push = jnp.clip((heat - (28 + 4 * setpoint)) / 5, -1, 1)
    return jnp.concatenate([base_fan + (1 + slope_fan) * push, base_cool + (1 + slope_cool) * push])


def room_controller(gains, observation):
    """All units by the hottest rack; gains (5,): two bases, two slopes less one, (setpoint - 28) / 4."""
    return _proportional(gains, jnp.full(UNITS, observation[:RACKS].max()))


def unit_controller(gains, observation):
    """Each unit by the hotter of its own two racks; gains as `room_controller`."""
    return _proportional(gains, observation[:RACKS].reshape(UNITS, 2).max(1))


RULES = {constant: 2 * UNITS, room_controller: 5, unit_controller: 5}
"""Each rule with its number of gains."""


@partial(jax.jit, static_argnames=("env", "rule", "episodes"))
def returns(env, params, rule, gains, key, episodes):
    """Returns (candidates, episodes) of one rule with gains (candidates, n), on the episodes of `core.rollout`."""

    def one(gains, key):
        def advance(carry, t):
            observation, state = carry
            step = env.step(step_key(key, t), state, rule(gains, observation), params)
            return (step.observation, step.state), step.reward

        return jax.lax.scan(advance, env.reset(reset_key(key), params), jnp.arange(env_horizon(params)))[1].sum()

    over_episodes = jax.vmap(one, (None, 0))
    return jax.vmap(over_episodes, (0, None))(gains, episode_keys(key, episodes))


def env_horizon(params):
    """Steps of a day: fixed here, for a scan needs a number."""
    return 144


def search(env, params, rule, seed=11, rounds=8, candidates=128, episodes=32):
    """The best gains found: uniform draws, then normal steps round the best four, ever shorter."""
    random, count = np.random.default_rng(seed), RULES[rule]
    pool = random.uniform(-1, 1, (4 * candidates, count)).astype(np.float32)
    if rule is constant:
        pool[: 2 * candidates, :UNITS] = pool[: 2 * candidates, :1]
        pool[: 2 * candidates, UNITS:] = pool[: 2 * candidates, UNITS:][:, :1]
    for i in range(rounds):
        scores = np.asarray(returns(env, params, rule, pool, seed_key(seed), episodes)).mean(1)
        best = pool[np.argsort(-scores)[:4]]
        steps = random.normal(0, 0.4 * 0.6**i, (candidates // 4, 4, count))
        pool = np.concatenate([best, np.clip(best + steps, -1, 1).reshape(-1, count)]).astype(np.float32)
    return best[0]

"""Rules that a trained traffic agent must beat: the fullest phase, the best fixed cycle, uniform random phases."""

import numpy as np

from evalxrl_envs.core.rollout import Lockstep
from evalxrl_envs.traffic_lights.environment import GREEN

PHASES = 4


def max_queue(queue):
    """The phase per intersection (n, 4) whose green lanes hold most of the cars queued (n, 4, 4, 2)."""
    return np.einsum("niab,pab->nip", np.asarray(queue), GREEN).argmax(-1).astype(np.int32)


def cycle(t, steps):
    """The phase of every intersection at a time, each in turn wanted for some steps."""
    return t // steps % PHASES


def play(env, params, key, episodes, rule):
    """Plays episodes to their end with actions `rule(lanes)`; returns the `Lockstep` lanes."""
    lanes = Lockstep(env, params, key, episodes)
    while lanes.active.any():
        lanes.step(np.broadcast_to(rule(lanes), (episodes, 4)).astype(np.int32))
    return lanes


def play_max_queue(env, params, key, episodes):
    """Returns of the fullest phase first."""
    return play(env, params, key, episodes, lambda lanes: max_queue(lanes.states.queue)).returns


def play_best_cycle(env, params, key, episodes, candidates=range(2, 9)):
    """Returns of the fixed cycle that does best on these very episodes, and its steps per phase."""
    played = {n: play(env, params, key, episodes, lambda lanes, n=n: cycle(lanes.t, n)).returns for n in candidates}
    best = max(played, key=lambda n: played[n].mean())
    return played[best], best


def play_random(env, params, key, episodes):
    """Returns of phases drawn uniformly at every step."""
    draw = np.random.default_rng(0)
    return play(env, params, key, episodes, lambda lanes: draw.integers(0, PHASES, (episodes, 4))).returns

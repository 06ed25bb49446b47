"""Rules for CartPole that were never trained. `python tests/baselines_cartpole.py` prints their levels."""

import numpy as np

from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.rollout import Lockstep

ANGLE, TURNING = 1.0, 0.5


def lean(observations):
    """Pushes the cart to the side that the pole leans to or falls to."""
    return (ANGLE * observations[:, 2] + TURNING * observations[:, 3] > 0).astype(np.int32)


def angle(observations):
    """Pushes the cart to the side that the pole leans to."""
    return (observations[:, 2] > 0).astype(np.int32)


def main():
    """Plays each rule and uniform actions on the 256 episodes of seed 1."""
    env, params = registry.make("cartpole")
    random = np.random.default_rng(0)
    rules = {
        "angle and its speed": lean,
        "angle alone": angle,
        "random": lambda observations: random.integers(0, 2, len(observations), np.int32),
    }
    for name, rule in rules.items():
        lanes = Lockstep(env, params, seed_key(1), 256)
        while lanes.active.any():
            lanes.step(rule(lanes.observations))
        error = lanes.returns.std() / 255**0.5
        print(f"{name}: {lanes.returns.mean():.2f} ± {error:.2f}, from {lanes.returns.min():.0f}")


if __name__ == "__main__":
    main()

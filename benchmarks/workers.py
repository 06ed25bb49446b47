"""One thing to measure, in a process of its own: compiles first, then measures once per line on stdin.

`python benchmarks/workers.py KIND NAME SETTINGS`: KIND is `rollout`, `ppo` or `scoring`; NAME an environment of ours,
or `gymnax`; SETTINGS says with whose options XLA runs: `ours` (those of `python -m evalxrl_envs`) or `default`. Writes
one number per line: first the CPU-seconds until everything was compiled, then one measurement for each line read.
"""

import atexit
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ENVS = Path(__file__).resolve().parents[1] / "envs"
sys.path.insert(0, str(ENVS))

LANES, LENGTH, EPISODES = 256, 2000, 256
Measure = Callable[[], float]


def cpu_rate(work: Callable[[int], Any], amount: int) -> Measure:
    """Amount of work per CPU-second; each call is given another number."""
    count = 0

    def measure() -> float:
        nonlocal count
        count += 1
        begun = time.process_time()
        work(count)
        return amount / (time.process_time() - begun)

    measure()
    return measure


def rollout(name: str) -> Measure:
    """Steps per CPU-second of random play with auto-reset, everything that a step returns being used."""
    import jax

    if name == "gymnax":
        import gymnax

        env, params = gymnax.make("CartPole-v1")
        space = env.action_space(params)

        def one(key: jax.Array) -> Any:
            for_reset, for_steps = jax.random.split(key)

            def advance(state: Any, key: jax.Array) -> Any:
                for_action, for_step = jax.random.split(key)
                observation, state, *rest, _ = env.step(for_step, state, space.sample(for_action), params)
                return state, (observation, *rest)

            return jax.lax.scan(advance, env.reset(for_reset, params)[1], jax.random.split(for_steps, LENGTH))[1]

        def play(key: jax.Array) -> Any:
            return jax.vmap(one)(jax.random.split(key, LANES))

    else:
        from evalxrl_envs.core import registry
        from evalxrl_envs.core import rollout as playing

        env, params = registry.make(name)

        def play(key: jax.Array) -> Any:
            keys = jax.random.split(key, LANES)
            step = playing.rollout(env, lambda key, _: env.action_space.sample(key), keys, params, LENGTH)
            return step.observation, step.reward, step.terminated, step.truncated

    total = jax.jit(lambda key: sum(part.sum() for part in play(key)))
    return cpu_rate(lambda seed: total(jax.random.key(seed)).block_until_ready(), LANES * LENGTH)


def ppo(name: str) -> Measure:
    """Steps per CPU-second of training on CartPole by our configuration, compilation apart."""
    import jax
    from evalxrl_envs.agents import train
    from evalxrl_envs.core import registry

    setting = train.read_config(*registry.make("cartpole" if name == "gymnax" else name))
    static = setting.static
    steps = static.environments * static.steps * static.updates
    if name != "gymnax":
        return cpu_rate(lambda seed: train.run(setting, [seed], lambda line: None), steps)

    import gymnax
    from peer_ppo import Sizes, Tuning, trainer

    tuning = Tuning(**{key: float(value) for key, value in vars(setting.hyper).items()})
    sizes = Sizes(**{key: getattr(static, key) for key in Sizes._fields})
    run = trainer(*gymnax.make("CartPole-v1"), sizes, tuning)
    return cpu_rate(lambda seed: jax.block_until_ready(run(jax.random.key(seed))), steps)


def scoring(name: str) -> Measure:
    """Wall seconds of scoring 256 episodes with a server that has answered before, less those of the steps alone."""
    import numpy as np
    from evalxrl_envs.agents import checkpoint, train
    from evalxrl_envs.core import registry
    from evalxrl_envs.core.rollout import Lockstep
    from evalxrl_envs.scoring import driver, keys

    env, params = registry.make(name)
    setting, seed = train.read_config(env, params), "ab" * 32
    training = train.run(setting, [1], lambda line: None).training if env.ends else train.start(setting, 1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "agent.safetensors"
        checkpoint.write_agent(path, train.agent_of(setting, training, 1, "config.toml"))
        line = [sys.executable, "-m", "evalxrl_envs", "serve", "--environment", name, "--agent", str(path)]
        line += ["--host", "127.0.0.1", "--port", "0", "--device", "cpu"]
        server = subprocess.Popen(line, cwd=ENVS, stderr=subprocess.PIPE, text=True)
        atexit.register(server.kill)
        assert server.stderr
        port = server.stderr.readline().split()[-1]
    deadlines = {"ready": 60.0, "first": 60.0, "reply": 10.0, "total": 300.0}
    request = driver.read_request(
        {"environment": name, "seed": seed, "permutation_seed": "cd" * 32, "episodes": EPISODES}
        | {"address": f"127.0.0.1:{port}", "deadlines": deadlines}
    )

    def alone(steps: int) -> float:
        lanes = Lockstep(env, params, keys.episodes_key(seed), EPISODES)
        actions = np.zeros((EPISODES, *env.action_space.shape), env.action_space.dtype)
        begun = time.perf_counter()
        for _ in range(steps):
            lanes.step(actions)
        return time.perf_counter() - begun

    def measure() -> float:
        result = driver.score(request)
        assert result["status"] == "scored", result
        return result["seconds"] - alone(max(result["lengths"]))

    measure()
    return measure


def main() -> None:
    """Compiles, then measures once per line."""
    kind, name, settings = sys.argv[1:]
    if settings == "ours":
        from evalxrl_envs.core import runtime

        runtime.prepare()
    import jax

    jax.config.update("jax_platforms", "cpu")
    begun = time.process_time()
    measure = {"rollout": rollout, "ppo": ppo, "scoring": scoring}[kind](name)
    print(json.dumps(time.process_time() - begun), flush=True)
    for _ in sys.stdin:
        print(json.dumps(measure()), flush=True)


if __name__ == "__main__":
    main()

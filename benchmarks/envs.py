"""Times the Treasure Grid rows of the performance targets and prints them as JSON.

Runs `python benchmarks/envs.py` from the repository root, with `envs/requirements.lock` installed. Times are
CPU-seconds of whole processes, imports included, unless a name says otherwise; every figure is the median of 5.
"""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENVS = Path(__file__).resolve().parents[1] / "envs"
RUNS = 5
ROLLOUT = """
import sys, time
import jax
from evalxrl_envs.core import registry
from evalxrl_envs.core.rollout import rollout
env, params = registry.make("treasure_grid")
play = jax.jit(lambda key: rollout(env, lambda k, o: env.action_space.sample(k), jax.random.split(key, 256), params,
                                   2000).reward.sum())
play(jax.random.key(0)).block_until_ready()
begun = time.process_time()
play(jax.random.key(1)).block_until_ready()
print(256 * 2000 / (time.process_time() - begun))
"""
PEER = """
import time
import jax, jax.numpy as jnp
import gymnax
env, params = gymnax.make("CartPole-v1")
def one(key):
    first, rest = jax.random.split(key)
    _, state = env.reset(first, params)
    def advance(state, key):
        for_action, for_step = jax.random.split(key)
        after = env.step(for_step, state, env.action_space(params).sample(for_action), params)
        return after[1], after[2]
    return jax.lax.scan(advance, state, jax.random.split(rest, 2000))[1].sum()
play = jax.jit(lambda key: jax.vmap(one)(jax.random.split(key, 256)).sum())
play(jax.random.key(0)).block_until_ready()
begun = time.process_time()
play(jax.random.key(1)).block_until_ready()
print(256 * 2000 / (time.process_time() - begun))
"""


def cpu_seconds(*arguments: str, cache: str) -> float:
    """CPU-seconds of one command line, its children included."""
    before = os.times()
    environment = os.environ | {"EVALXRL_XLA_CACHE": cache}
    line = [sys.executable, "-m", "evalxrl_envs", *arguments]
    subprocess.run(line, cwd=ENVS, env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def rate(program: str) -> float | None:
    """Steps per CPU-second that a program prints; None where it cannot run."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ENVS, capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def start_seconds(line: list[str], stream: str, **options: int) -> float:
    """Wall seconds until a long-lived process prints its first line."""
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", *line], cwd=ENVS, text=True, **options) as process:
        getattr(process, stream).readline()
        taken = time.perf_counter() - begun
        process.kill()
    return taken


def once(folder: Path, run: int) -> dict[str, float | None]:
    """One round of every measurement."""
    agent, cache = str(folder / "agent.safetensors"), str(folder / f"cache{run}")
    config = folder / "config.toml"
    text = (ENVS / "evalxrl_envs/treasure_grid/config.toml").read_text()
    config.write_text(re.sub(r"gamma = .*", "gamma = 0.9", text))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return {
        "cold_train": cpu_seconds("train", "--agent", agent, cache=cache),
        "cold_evaluate": cpu_seconds("evaluate", "--agent", agent, cache=cache),
        "warm_train_after_scalar_edit": cpu_seconds("train", "--agent", agent, "--config", str(config), cache=cache),
        "warm_evaluate": cpu_seconds("evaluate", "--agent", agent, cache=cache),
        "server_start_wall": start_seconds(
            ["evalxrl_envs", "serve", "--agent", agent, "--port", "0", "--device", "cpu"],
            "stderr",
            stderr=subprocess.PIPE,
        ),
        "scorer_start_wall": start_seconds(["evalxrl_envs.scoring"], "stdout", **pipes),
        "random_rollout_steps_per_cpu_second": rate(ROLLOUT),
        "gymnax_cartpole_steps_per_cpu_second": rate(PEER),
    }


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = [once(Path(folder), run) for run in range(RUNS)]
    table = {}
    for name in rounds[0]:
        values = [found[name] for found in rounds]
        table[name] = None if None in values else round(statistics.median(values), 3)
    ours, theirs = (
        table["random_rollout_steps_per_cpu_second"],
        table["gymnax_cartpole_steps_per_cpu_second"],
    )
    table["cold_train_and_evaluate"] = round(table["cold_train"] + table["cold_evaluate"], 3)
    table["rollout_ratio_to_gymnax_cartpole"] = round(ours / theirs, 3) if theirs else None
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }
    document = {"format": "evalxrl.benchmark/1", "machine": machine, "runs": RUNS, "medians": table}
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()

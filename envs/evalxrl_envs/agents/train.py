"""A training run: its configuration file, its start, its loop, and its result."""

import difflib
import math
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..core import registry
from ..core.protocol import SIMPLEST, Environment, typed
from . import networks, normalise, ppo
from .checkpoint import Agent

START = 2**64 - 1
"""The random stream of a run's start; update i uses stream i."""


class InvalidConfig(ValueError):
    """A configuration that cannot be used; the message names the file and the key."""


class Diverged(RuntimeError):
    """Training that ended in parameters that are not finite."""


def _checked(where: str, table: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Checks a table's keys and types against the defaults it may replace."""
    for key, value in table.items():
        if key not in defaults:
            near = difflib.get_close_matches(key, defaults, 1, 0.0)
            raise InvalidConfig(f"{where}: unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        kinds = {"b": (bool, "true or false"), "i": (int, "a whole number"), "f": (int | float, "a number")}
        kind, words = kinds[np.asarray(defaults[key]).dtype.kind]
        fits = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
        if not fits or not math.isfinite(value):
            raise InvalidConfig(f"{where}: {key} = {value!r} is not {words}")
    return table


def read_config(env: Environment, params: Any, path: Path | str | None = None) -> ppo.Setting:
    """Reads a `config.toml`, by default the environment's own; what it leaves out keeps its default."""
    path = Path(path) if path else registry.entry(env.name).folder / "config.toml"
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidConfig(f"{path}: {error}") from error
    weights = dict.fromkeys(env.components, 1.0)
    defaults = {
        "static": ppo.Static()._asdict(),
        "hyper": asdict(ppo.Hyper()),
        "reward_weights": weights,
        "params": {field.name: getattr(params, field.name) for field in fields(params)},
    }
    _checked(str(path), dict.fromkeys(tables, 0), dict.fromkeys(defaults, 0))
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise InvalidConfig(f"{path}: {name} is not a table")
    read = {name: _checked(f"{path} [{name}]", tables.get(name, {}), defaults[name]) for name in defaults}
    static = ppo.Static(**read["static"])
    if min(static[:5]) < 1 or static.environments * static.steps % static.minibatches:
        raise InvalidConfig(f"{path} [static]: sizes are at least 1, and minibatches divide environments * steps")
    weights |= read["reward_weights"]
    return ppo.Setting(
        env,
        static,
        typed(ppo.Hyper(), read["hyper"]),
        np.array([weights[name] for name in env.components], np.float32),
        typed(params, read["params"]),
    )


@partial(jax.jit, static_argnames="env", compiler_options=SIMPLEST)
def _reset(keys: jax.Array, params: Any, env: Environment) -> Any:
    return jax.vmap(env.reset, (0, None))(jax.random.wrap_key_data(keys), params)


def start(setting: ppo.Setting, seed: int) -> ppo.Training:
    """The state before the first update."""
    env, count = setting.env, setting.static.environments
    random = ppo.generator(seed, START)
    parameters = networks.initial_parameters(random, env)
    observation, state = _reset(random.integers(0, 2**32, (count, 2), np.uint32), setting.params, env)
    actors = ppo.Actors(observation, state, np.zeros(count, np.float32))  # type: ignore[arg-type]
    vector = np.concatenate([array.ravel() for array in parameters.values()])
    moments = normalise.initial(env.observation_space.shape[0]) if setting.static.normalise else None
    learner = ppo.Learner(vector, np.zeros_like(vector), np.zeros_like(vector), np.float32(0))  # type: ignore[arg-type]
    return ppo.Training(learner, moments, actors, np.float32(0))  # type: ignore[arg-type]


def agent_of(setting: ppo.Setting, training: ppo.Training, seed: int, config: str) -> Agent:
    """The agent that a training state holds; parameters that are not finite raise `Diverged`."""
    vector, moments = jax.device_get((training.learner.vector, training.moments))
    parameters = networks.unflatten(vector, setting.env)
    if not all(np.all(np.isfinite(array)) for array in parameters.values()):
        raise Diverged(f"training diverged with seed {seed}: parameters are not finite")
    metadata = {
        "environment": setting.env.name,
        "config": config,
        "seed": str(seed),
        "evalxrl_envs": registry.VERSION,
        "jax": jax.__version__,
    }
    return Agent(parameters, moments, metadata)


@dataclass
class Run:
    """A training run's result: final state, and (update, mean return of episodes finished) after each chunk."""

    training: ppo.Training
    returns: list[tuple[int, float | None]]


def _default_chunk(updates: int) -> int:
    return max(k for k in range(1, max(updates // 8, 1) + 1) if updates % k == 0)


def _mean_return(reports: list[ppo.Report]) -> float | None:
    finished = sum(int(np.sum(report.finished)) for report in reports)
    return sum(float(np.sum(report.finished_return)) for report in reports) / finished if finished else None


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)


def run(
    setting: ppo.Setting,
    seeds: Sequence[int],
    say: Callable[[str], None],
    chunks: int | None = None,
    chunk: int | None = None,
) -> Run:
    """Trains one agent, or several at once with a leading axis on the whole state; stops after `chunks` chunks."""
    updates = setting.static.updates
    chunk = chunk or _default_chunk(updates)
    advance = partial(ppo.update_many, setting)
    if len(seeds) == 1:
        training = start(setting, seeds[0])
    else:
        training, advance = _stack([start(setting, seed) for seed in seeds]), jax.vmap(advance)
    returns: list[tuple[int, float | None]] = []
    for done in range(0, min(updates, (chunks or updates) * chunk), chunk):
        k, begun = min(chunk, updates - done), time.perf_counter()
        draws = [[ppo.draw(setting, seed, i) for i in range(done, done + k)] for seed in seeds]
        training, reports = advance(training, draws[0] if len(seeds) == 1 else _stack(draws))
        mean, entropy = _mean_return(reports), float(np.mean(reports[-1].entropy))
        returns.append((done + k, mean))
        rate = len(seeds) * setting.static.environments * setting.static.steps * k / (time.perf_counter() - begun)
        shown = "nan" if mean is None else f"{mean:.1f}"
        say(f"update {done + k}/{updates}  return {shown}  entropy {entropy:.2g}  steps/s {rate / 1e3:.0f}k")
    return Run(training, returns)

"""One scoring run: lockstep episodes of a clean environment against an agent's answers."""

import functools
import hashlib
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..core import registry
from ..core.protocol import Environment
from ..core.rollout import Lockstep
from ..core.spaces import Box
from ..serving.protocol import ProtocolError
from . import keys
from .client import Client, Deadlines

MOST_INVALID = 10
"""More invalid actions than these, or more than half of an episode's, put the episode at the floor."""


@dataclass(frozen=True)
class Request:
    """What to score: environment, seeds in hexadecimal, number of episodes, agent `host:port`, deadlines."""

    environment: str
    seed: str
    permutation_seed: str
    episodes: int
    address: str
    deadlines: Deadlines


def read_request(document: dict[str, Any]) -> Request:
    """Reads a request; a missing, unknown or ill-typed field raises `ValueError` or `TypeError`."""
    request = Request(**document | {"deadlines": Deadlines(**document.get("deadlines", {}))})
    if not isinstance(request.episodes, int) or request.episodes < 1:
        raise ValueError("episodes is not a positive whole number")
    return request


def valid_actions(env: Environment, actions: np.ndarray, default: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Puts the default action in place of invalid ones; returns actions, and per lane invalid and out of bounds."""
    rows, space = actions.reshape(len(actions), -1), env.action_space
    if isinstance(space, Box):
        invalid = ~np.isfinite(rows).all(axis=1)
        beyond = ~invalid & ((rows < space.low) | (rows > space.high)).any(axis=1)
        safe = np.clip(np.where(invalid[:, None], 0, rows), space.low, space.high)
        rows = np.where(beyond[:, None], safe, rows)
    else:
        invalid = ((rows < 0) | (rows >= np.asarray(space.heads))).any(axis=1)
        beyond = np.zeros(len(rows), bool)
    rows = np.where(invalid[:, None], np.asarray(default, rows.dtype).reshape(1, -1), rows)
    return rows.astype(space.dtype).reshape(actions.shape), invalid, beyond


def score(request: Request) -> dict[str, Any]:
    """Plays the episodes; returns a result whose status is `scored`, or `agent_unserved` with a reason."""
    begun, used = time.perf_counter(), time.process_time()
    env, params = registry.make(request.environment)
    entry = registry.entry(request.environment)
    lanes = Lockstep(env, params, keys.episodes_key(request.seed), request.episodes)
    invalid, clipped = np.zeros(request.episodes, int), 0
    generator = keys.permutation_generator(request.permutation_seed)
    try:
        client = Client(env, request.episodes, request.address, request.deadlines, generator)
    except ProtocolError as error:
        return {"status": "agent_unserved", "reason": str(error)[:200]}
    try:
        while lanes.active.any():
            observations, active = lanes.observations, lanes.active
            answer = client.act(observations)
            actions, wrong, beyond = valid_actions(env, answer, entry.default_action)
            invalid += wrong & active
            clipped += int(np.sum(beyond & active))
            lanes.step(actions)
            client.repeat(observations, answer)
    except ProtocolError as error:
        if lanes.t == 0:
            return {"status": "agent_unserved", "reason": str(error)[:200]}
    finally:
        client.close()
    return {
        "status": "scored",
        **_result(lanes, invalid, entry.return_floor),
        "invalid": int(invalid.sum()),
        "clipped": clipped,
        "consistency": client.consistency,
        "seconds": time.perf_counter() - begun,
        "cpu_seconds": time.process_time() - used,
        "source_hash": source_hash(),
        "versions": versions(),
    }


def _result(lanes: Lockstep, invalid: np.ndarray, floor: float) -> dict[str, Any]:
    """Returns per episode. Unfinished and mostly invalid episodes are at the floor; none lies below it."""
    lost = lanes.active | (invalid > MOST_INVALID) | (2 * invalid > lanes.lengths)
    returns = np.where(lost, floor, np.maximum(lanes.returns, floor))
    if not np.all(np.isfinite(lanes.returns)):
        raise ArithmeticError("the environment gave a return that is not finite")
    return {
        "returns": returns.tolist(),
        "unfloored_returns": lanes.returns.tolist(),
        "lengths": lanes.lengths.tolist(),
        "terminated": lanes.terminated.tolist(),
        "components": {name: values.tolist() for name, values in lanes.component_returns.items()},
        "floored": int(np.sum(lost | (lanes.returns < floor))),
    }


def self_drive(environment: str, episodes: int) -> dict[str, Any]:
    """Plays the constant default action; the scorer is sound if this ends with finite returns."""
    env, params = registry.make(environment)
    space, entry = env.action_space, registry.entry(environment)
    actions = np.broadcast_to(np.asarray(entry.default_action, space.dtype), (episodes, *space.shape))
    lanes = Lockstep(env, params, keys.episodes_key("0" * 64), episodes)
    while lanes.active.any():
        lanes.step(actions)
    result = _result(lanes, np.zeros(episodes, int), entry.return_floor)
    return {"self_drive": True, "returns": result["returns"], "lengths": result["lengths"]}


def warm(environment: str, episodes: int) -> dict[str, Any]:
    """Compiles what a run of so many episodes needs."""
    env, params = registry.make(environment)
    space = env.action_space
    Lockstep(env, params, keys.episodes_key("0" * 64), episodes).step(np.zeros((episodes, *space.shape), space.dtype))
    return {"warmed": True}


@functools.cache
def source_hash() -> str:
    """Hash of every file of the package that is here."""
    root, digest = Path(__file__).parents[1], hashlib.blake2b(digest_size=32)
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".toml")):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    return {
        "evalxrl_envs": registry.VERSION,
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }

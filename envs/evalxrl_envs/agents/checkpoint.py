"""The agent file: parameters and observation moments in safetensors, with what they were trained on."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..core.protocol import Environment
from . import networks, normalise

FORMAT = "evalxrl.agent/1"


class InvalidAgent(ValueError):
    """An agent file that cannot be used; the message names the file and the reason."""


@dataclass(frozen=True)
class Agent:
    """Network parameters, observation moments (None: not normalised), and the file's metadata."""

    parameters: dict[str, np.ndarray]
    moments: normalise.Moments | None
    metadata: dict[str, str]


def _ordered(data: bytes) -> bytes:
    """The same file with its metadata in alphabetic order, which the library leaves to chance."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def write_agent(path: Path | str, agent: Agent) -> None:
    """Writes the file atomically."""
    arrays = {name: np.asarray(array) for name, array in agent.parameters.items()}
    if agent.moments is not None:
        arrays |= {f"normalise/{k}": np.asarray(v) for k, v in agent.moments._asdict().items()}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(_ordered(save(arrays, {"format": FORMAT, **agent.metadata})))
    os.replace(temporary, path)


def _read(path: Path) -> tuple[dict[str, str], dict[str, Any]]:
    try:
        with safe_open(path, "numpy") as file:
            return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}
    except (OSError, SafetensorError) as error:
        raise InvalidAgent(f"{path}: {error}") from error


def read_agent(path: Path | str, env: Environment) -> Agent:
    """Reads the file and checks every shape against the environment."""
    metadata, arrays = _read(Path(path))
    if metadata.get("format") != FORMAT:
        raise InvalidAgent(f"{path}: format is not {FORMAT}")
    if metadata.get("environment") != env.name:
        raise InvalidAgent(f"{path}: trained on {metadata.get('environment')}, not {env.name}")
    wanted = networks.shapes(env)
    if any(name.startswith("normalise/") for name in arrays):
        size = env.observation_space.shape
        wanted |= {"normalise/mean": size, "normalise/var": size, "normalise/count": ()}
    for name in sorted(wanted.keys() | arrays.keys()):
        if name not in arrays or name not in wanted:
            raise InvalidAgent(f"{path}: {name} is {'missing' if name in wanted else 'not known'}")
        if arrays[name].shape != wanted[name] or arrays[name].dtype != np.float32:
            raise InvalidAgent(f"{path}: {name} is not float32 of shape {wanted[name]}")
        if not np.all(np.isfinite(arrays[name])):
            raise InvalidAgent(f"{path}: {name} is not finite")
    parameters = {name: arrays[name] for name in wanted if not name.startswith("normalise/")}
    moments = None
    if "normalise/mean" in wanted:
        moments = normalise.Moments(*(arrays[f"normalise/{k}"] for k in normalise.Moments._fields))
    return Agent(parameters, moments, metadata)

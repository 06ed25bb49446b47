"""Finding environments: every folder of the package with an `environment.toml`, and installed entry points."""

import functools
import importlib
import tomllib
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from .protocol import Environment, typed

VERSION = "0.1.0"
FORMAT = "evalxrl.environment/1"
PACKAGE = __name__.split(".")[0]


@dataclass(frozen=True)
class Entry:
    """What `environment.toml` says, with the folder and the Python package it stands in."""

    id: str
    title: str
    summary: str
    horizon: int
    action: str
    default_action: Any
    return_floor: float
    folder: Path
    package: str


def _read(folder: Path, package: str) -> Entry:
    table = tomllib.loads((folder / "environment.toml").read_text())
    if table.pop("format", None) != FORMAT:
        raise ValueError(f"{folder / 'environment.toml'}: format is not {FORMAT}")
    return Entry(folder=folder, package=package, **table)


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="evalxrl_envs.environments")}


def names() -> list[str]:
    """The ids of all known environments, sorted."""
    found = {path.parent.name for path in Path(__file__).parents[1].glob("*/environment.toml")}
    return sorted(found | set(_installed()))


@functools.cache
def entry(name: str) -> Entry:
    """Reads an environment's description; an unknown name is a `KeyError` that lists the known ones."""
    folder = Path(__file__).parents[1] / name
    if (folder / "environment.toml").is_file():
        return _read(folder, f"{PACKAGE}.{name}")
    if point := _installed().get(name):
        module = importlib.import_module(point.value)
        return _read(Path(module.__path__[0]), point.value)
    raise KeyError(f"no environment {name!r}; known: {', '.join(names())}")


def part(name: str, module: str) -> ModuleType:
    """Imports one module of an environment, such as `explain` or `render`."""
    return importlib.import_module(f"{entry(name).package}.{module}")


@functools.cache
def make(name: str) -> tuple[Environment, Any]:
    """Returns the environment and its default parameters."""
    env, params = part(name, "environment").make()
    return env, typed(params)

"""A workspace for tests: the environment package as a coder gets it, and an agent that was never trained."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "envs" / "evalxrl_envs"
SHARED = Path(__file__).parent
ALWAYS = ("__init__.py", "__main__.py", "core", "agents", "serving")

WRITE_AGENT = """
import sys
import numpy as np
from evalxrl_envs.agents import checkpoint, networks
from evalxrl_envs.core import registry
environment, _ = registry.make(sys.argv[1])
parameters = networks.initial_parameters(np.random.default_rng(0), environment)
agent = checkpoint.Agent(parameters, None, {"environment": environment.name})
checkpoint.write_agent("agent/parameters.safetensors", agent)
"""


def build(root: Path, environment: str) -> Path:
    """Fills an empty folder; returns it."""
    for name in (*ALWAYS, environment):
        source, target = PACKAGE / name, root / "evalxrl_envs" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    subprocess.run([sys.executable, "-B", "-c", WRITE_AGENT, environment], cwd=root, check=True)
    return root


def call(
    root: Path,
    dossier: Path | Sequence[Path],
    argv: Sequence[str],
    cache: Path,
    directory: Path | None = None,
    state: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command of a dossier's manifest in a workspace as the harness does; `state` is what `XRL_STATE` names.

    `dossier` is its folder, or all folders that its code comes from.
    """
    folders = [dossier] if isinstance(dossier, Path) else dossier
    places = (*(folder / part for part in ("src", "tools") for folder in folders), SHARED, root)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "EVALXRL_XLA_CACHE": str(cache),
        **({} if state is None else {"XRL_STATE": str(state)}),
    }
    command = [sys.executable, *argv[1:]]
    return subprocess.run(command, cwd=directory or root, env=environment, capture_output=True, text=True, check=False)


def contents(root: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

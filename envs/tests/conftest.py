"""Shared fixtures: the environments under test, command lines, and one agent trained once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from evalxrl_envs.core import runtime

runtime.prepare()

import jax  # noqa: E402
import pytest  # noqa: E402

jax.config.update("jax_platforms", "cpu")

from evalxrl_envs.core import registry  # noqa: E402

ROOT = Path(__file__).parents[1]
GRID = ("--environment", "treasure_grid")
"""What a command line says when its promise needs one environment only."""


@pytest.fixture(params=registry.names())
def name(request):
    return request.param


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """The compilation cache of this session, for this process and those that it starts."""
    folder = tmp_path_factory.mktemp("xla")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    return folder


@pytest.fixture(scope="session")
def run(cache):
    """Runs `python -m evalxrl_envs ...` and returns the finished process."""

    def call(*arguments, cwd=ROOT, module="evalxrl_envs", cores=None, **options):
        environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC", "PYTHONPATH")}
        environment |= {"EVALXRL_XLA_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        line = [sys.executable, "-m", module, *map(str, arguments)]
        if cores and shutil.which("taskset"):
            line = ["taskset", "-c", cores, *line]
        return subprocess.run(line, cwd=cwd, env=environment, capture_output=True, text=True, **options)

    return call


@pytest.fixture(scope="session")
def small_config(tmp_path_factory):
    """Treasure Grid's configuration with fewer updates."""
    text = (ROOT / "evalxrl_envs/treasure_grid/config.toml").read_text()
    path = tmp_path_factory.mktemp("config") / "config.toml"
    lines = ["updates = 16" if line.startswith("updates") else line for line in text.splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def agent_file(run, small_config, tmp_path_factory):
    """A Treasure Grid agent of 16 updates, trained by the command line."""
    path = tmp_path_factory.mktemp("agent") / "parameters.safetensors"
    done = run("train", *GRID, "--config", small_config, "--agent", path, "--seed", 5)
    assert done.returncode == 0, done.stderr
    return path

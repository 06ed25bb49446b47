"""The guide to a new environment ends in an environment that works."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
from conftest import ROOT
from guide import follow

KEPT = ("conftest.py", "test_environment.py", "test_explain.py")


def test_the_guide_to_a_new_environment_makes_one(tmp_path, cache):
    root, elsewhere = tmp_path / "repository", tmp_path / "elsewhere"
    shutil.copytree(ROOT / "evalxrl_envs", root / "envs/evalxrl_envs", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "envs/tests").mkdir()
    elsewhere.mkdir()
    for name in KEPT:
        shutil.copy(ROOT / "tests" / name, root / "envs/tests")
    shutil.copy(ROOT / "pyproject.toml", root / "envs")
    environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC", "PYTHONPATH")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "EVALXRL_XLA_CACHE": str(cache)}
    text = (ROOT.parent / "docs/guides/new-environment.md").read_text()
    follow(text, root, environment | {"PYTHONDONTWRITEBYTECODE": "1"}, elsewhere)
    made = elsewhere / "corridor"
    clean, random = (json.loads((made / f"{name}.json").read_text())["agents"][0] for name in ("clean", "random"))
    assert np.mean(clean["returns"]) > 0.6 > 0.4 > np.mean(random["returns"])
    assert (made / "episode.gif").read_bytes().startswith(b"GIF89a")
    assert (made / "strip.png").read_bytes().startswith(b"\x89PNG")

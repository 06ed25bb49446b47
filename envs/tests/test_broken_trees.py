"""Every broken tree keeps the contract, formatting and types, and trains without a word that the clean tree lacks.

A tree whose environment, core and parameters are those of the clean tree needs no second run of the contract. Trees
that differ in numbers only share one compilation.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import pytest
from broken_trees import break_tree, every_tree
from conftest import ROOT
from test_workspace import PROGRESS, copy_pruned

from evalxrl_envs.agents import train
from evalxrl_envs.core import registry

HERE = ROOT / "tests"


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """The broken trees of the catalogue."""
    return every_tree(tmp_path_factory.mktemp("broken"))


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The folder of a clean pruned copy, by environment."""
    folders = {}
    for name in registry.names():
        folders[name] = copy_pruned(tmp_path_factory.mktemp("clean"), name)
    return folders


def wants_contract(tree):
    """True where something that the contract is about differs from the clean tree."""
    env, params = registry.make(tree.environment)
    config = tree.folder / "evalxrl_envs" / tree.environment / "config.toml"
    changed = train.read_config(env, params, config).params
    return tree.changes("core", tree.environment) or any(
        getattr(changed, name) != value for name, value in vars(params).items()
    )


def probe(environment, clean, trees, cache):
    """What each tree failed and said; the clean one comes first, so that others find its programs compiled."""
    groups = defaultdict(list, {(): [(str(clean), True)]})
    for tree in trees:
        groups[tree.source].append((str(tree.folder), wants_contract(tree)))
    done = subprocess.run(
        [sys.executable, str(HERE / "contract.py")],
        input=json.dumps([environment, list(groups.values())]),
        env={k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "NPROC", "PYTHONPATH")}
        | {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
        | {"XLA_FLAGS": "--xla_backend_optimization_level=0", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def shape(lines):
    """Lines of progress with their numbers left out."""
    assert all(PROGRESS.fullmatch(line) for line in lines), lines
    return [re.sub(r"nan|-?\d[\d.e-]*", "#", line) for line in lines]


def faults_in(report, clean):
    """What is wrong with each tree beside the clean one, by folder."""
    expected, wrong = report.pop(str(clean)), {}
    assert not expected["failed"], expected["failed"]
    for folder, seen in report.items():
        if seen["failed"]:
            wrong[folder] = seen["failed"]
        elif shape(seen["lines"]) != shape(expected["lines"]) or seen["printed"] != expected["printed"]:
            wrong[folder] = f"said {seen['lines']} and printed {seen['printed']!r}"
        elif set(seen["warnings"]) - set(expected["warnings"]):
            wrong[folder] = f"warned {seen['warnings']}"
    return wrong


def ruff(folder):
    """What ruff finds in the formatting and the code below a folder."""
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")
    found = ""
    for line in (["format", "--check"], ["check"]):
        done = subprocess.run([sys.executable, "-m", "ruff", *line, "--no-cache", "."], cwd=folder, capture_output=True)
        found += (done.stdout + done.stderr).decode() if done.returncode else ""
    return found


class Types:
    """One copy of the package in which trees take their turn, so that mypy reads anew only what differs."""

    def __init__(self, folder, cache):
        self.folder, self.cache = folder, cache
        shutil.copytree(ROOT / "evalxrl_envs", folder / "evalxrl_envs", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.clean = self.errors()

    def errors(self):
        line = [sys.executable, "-m", "mypy", "--cache-dir", str(self.cache), "evalxrl_envs"]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True)
        return {re.sub(r":\d+:", ":", line) for line in done.stdout.splitlines() if ": error: " in line}

    def errors_of(self, tree):
        """What mypy finds in a tree and not in the clean package."""
        kept = {path: (self.folder / path).read_text() for path, _ in tree.source}
        for path, text in tree.source:
            (self.folder / path).write_text(text)
        found = self.errors()
        for path, text in kept.items():
            (self.folder / path).write_text(text)
        return found - self.clean


@pytest.fixture(scope="module")
def types(tmp_path_factory):
    return Types(tmp_path_factory.mktemp("types"), tmp_path_factory.mktemp("mypy"))


def test_every_broken_tree_keeps_the_contract_and_trains_as_quietly_as_the_clean_one(name, trees, clean, cache):
    report, talk = probe(name, clean[name], [tree for tree in trees if tree.environment == name], cache)
    assert faults_in(report, clean[name]) == {} and talk == ""


def test_every_broken_tree_is_formatted_and_lint_free(trees):
    assert trees and ruff(trees[0].folder.parent) == ""


def test_the_clean_package_has_no_type_error(types):
    assert types.clean == set()


def test_every_broken_tree_has_the_types_of_the_clean_one(trees, types):
    distinct = {tree.source: tree for tree in trees if tree.source}
    assert {tree.name: found for tree in distinct.values() if (found := types.errors_of(tree))} == {}


PLANTED = {
    "reward": (
        "core/protocol.py",
        "            functools.reduce(operator.add, components),\n",
        "            0.5 * functools.reduce(operator.add, components),\n",
        "Arrays are not equal",
    ),
    "reset": (
        "core/rollout.py",
        "    fresh = env.reset(for_reset, params)\n",
        "    fresh = env.reset(for_step, params)\n",
        "Not equal to tolerance",
    ),
    "picture": ("cartpole/render.py", "return frame\n", "return frame.astype(float)\n", "AssertionError"),
    "constant": (
        "cartpole/environment.py",
        "\n    def observe(self, state: State, params: Params) -> jax.Array:\n",
        "\n    def observe(self, state: State, params: Params) -> jax.Array:\n        float(params.force)\n",
        "ConcretizationTypeError",
    ),
    "line": (
        "agents/train.py",
        "        returns.append((done + k, mean))\n",
        "        returns.append((done + k, mean))\n        print(mean)\n",
        "printed",
    ),
    "warning": (
        "agents/train.py",
        "        returns.append((done + k, mean))\n",
        "        returns.append((done + k, mean))\n        np.log(np.zeros(1))\n",
        "divide by zero",
    ),
    "infinite": (
        "agents/ppo.py",
        "    return actors, batch, reward\n",
        "    return actors, batch, reward / 0\n",
        "Diverged",
    ),
}


def planted(what, folder, path, old, new):
    """A tree with one defect written into it, as if by a fault."""
    tree = break_tree(what, "cartpole", "", folder)
    file = tree.folder / "evalxrl_envs" / path
    text = file.read_text()
    assert text.count(old) == 1, f"{path}: {old}"
    file.write_text(text.replace(old, new))
    tree.changed[f"evalxrl_envs/{path}"] = file.read_text()
    return tree


def test_planted_defects_of_trees_are_found(tmp_path, clean, cache):
    trees = [planted(what, tmp_path / what, *edit[:3]) for what, edit in PLANTED.items()]
    report, _ = probe("cartpole", clean["cartpole"], trees, cache)
    wrong = faults_in(report, clean["cartpole"])
    for tree in trees:
        assert PLANTED[tree.name][3] in wrong.get(str(tree.folder), "nothing"), (tree.name, wrong)


def test_planted_defects_of_form_are_found(tmp_path, types):
    text = "    return actors, batch, reward\n"
    kind = "draws: Draws) -> tuple[Actors, Batch, jax.Array]:\n"
    ill = planted("ill", tmp_path / "a" / "tree", "agents/ppo.py", kind, kind.replace(", jax.Array", ""))
    crooked = planted("crooked", tmp_path / "b" / "tree", "agents/ppo.py", text, "    return actors,batch,reward\n")
    idle = planted("idle", tmp_path / "c" / "tree", "agents/ppo.py", text, f"    unused = 1\n{text}")
    assert "reformatted" in ruff(crooked.folder.parent) and "F841" in ruff(idle.folder.parent)
    assert ruff(ill.folder.parent) == ""
    assert types.errors_of(ill) and not types.errors_of(crooked)

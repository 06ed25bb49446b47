"""The residual: what the trainer learns from beside what the environment documents."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
import pruned
from fixtures import F6
from rdx_more.__main__ import TOOLS
from xrl_common.failure import ToolFailure

DOSSIER = Path(__file__).parent.parent
CODE = (DOSSIER, DOSSIER.parent / "reward-decomposition")
MANIFEST = tomllib.loads((DOSSIER / "dossier.toml").read_text())
(TOOL,) = (tool for tool in MANIFEST["tool"] if tool["name"] == "rdx-residual")
GRID, *OTHERS = MANIFEST["environments"]
COLLECTED = "    actors, batch, reward = collect(setting, training, draws)\n"

Residual = Callable[..., dict]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pruned.build(tmp_path_factory.mktemp("workspace"), GRID)


@pytest.fixture
def residual(pristine: Path, tmp_path: Path, cache: Path) -> Residual:
    """Runs the tool in a copy of the workspace after one edit, (file, old, new); returns its one result."""

    def call(file: str = "", old: str = "", new: str = "") -> dict:
        root = shutil.copytree(pristine, tmp_path / "workspace")
        if file:
            path = root / "evalxrl_envs" / file
            assert path.read_text().count(old) == 1
            path.write_text(path.read_text().replace(old, new))
        got = pruned.call(root, CODE, [*TOOL["argv"], "--json", "--budget", "small"], cache)
        assert (got.returncode, got.stderr) == (0, "")
        (result,) = laws.document_of(got.stdout)["results"]
        return result

    return call


def test_the_table_compares_step_by_step_and_component_by_component(tmp_path: Path) -> None:
    asked = []

    def trained(seed: int, episodes: int) -> tuple[np.ndarray, np.ndarray]:
        asked.append((seed, episodes))
        components = np.tile([[10.0, 0, 0], [0, 1, 0], [0, 0, -5], [0, 0, 0]], (25, 1))
        return np.clip(components.sum(axis=1), -1, 1), components

    greedy = exact.greedy(exact.optimal_q(F6))
    subject = replace(F6.subject(greedy), training_rewards=trained)
    got = laws.asker(TOOLS, subject, tmp_path)("residual", "--json", "--seed", "3")
    assert asked == [(3, 64)]
    laws.check_output(got, TOOLS["residual"], subject, document=True)
    (result,) = laws.document_of(got)["results"]
    assert result["residual"]["differs"] == 0.5
    assert result["residual"]["largest"] == 9
    assert result["residual"]["mean"]["mean"] == pytest.approx((-9 + 4) / 4)
    assert result["components"] == {
        "large": {"steps": 25, "mean": -9.0},
        "small": {"steps": 25, "mean": 0.0},
        "pit": {"steps": 25, "mean": 4.0},
    }
    assert "policy sampled" in got, "the trainer draws its actions, whatever --policy says"


def test_a_difference_of_one_part_in_100_000_is_tolerated_and_not_a_number_is_none(tmp_path: Path) -> None:
    apart = np.array([0.0, 9e-6, -9e-6, 2e-5, np.nan])
    subject = replace(
        F6.subject(exact.uniform(F6)), training_rewards=lambda *_: (1.0 + apart, np.tile([1.0, 0, 0], (5, 1)))
    )
    got = laws.asker(TOOLS, subject, tmp_path)("residual", "--json")
    (result,) = laws.document_of(got)["results"]
    assert (result["residual"]["differs"], result["nonfinite"]) == (0.4, 1)
    assert "non-finite 1" in got


def test_a_subject_without_a_trainer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="no trainer"):
        laws.asker(TOOLS, F6.subject(exact.uniform(F6)), tmp_path)("residual")


def test_training_as_documented_leaves_no_residual(residual: Residual) -> None:
    result = residual()
    assert (result["residual"]["differs"], result["policy"]) == (0, "sampled")
    assert result["residual"]["largest"] <= 1e-5
    assert result["steps"] > 0


def test_a_scale_takes_its_share_of_every_component(residual: Residual) -> None:
    result = residual(f"{GRID}/config.toml", "reward_scale = 1.0", "reward_scale = 0.5")
    assert result["residual"]["differs"] == 1


def test_a_weight_shows_on_the_steps_of_its_component_alone(residual: Residual) -> None:
    result = residual(f"{GRID}/config.toml", "pit = 1.0", "pit = 0.0")
    pits = result["components"]["pit"]
    assert pits["mean"] == pytest.approx(5)
    assert result["residual"]["differs"] == pytest.approx(pits["steps"] / result["steps"])
    assert result["components"]["small"]["mean"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (COLLECTED, COLLECTED + "    reward = jnp.clip(reward, -1.0, 1.0)\n"),
        (
            "    reward = batch.components @ (setting.hyper.reward_scale * setting.weights)\n",
            "    reward = jnp.clip(batch.components @ setting.weights, -1.0, 1.0)\n",
        ),
    ],
    ids=["after the batch", "in the batch"],
)
def test_a_clip_shows_wherever_it_stands_before_the_advantages(residual: Residual, old: str, new: str) -> None:
    result = residual("agents/ppo.py", old, new)
    assert result["components"]["pit"]["mean"] == pytest.approx(4.05)
    assert result["components"]["large"]["mean"] == pytest.approx(-8.95)
    assert result["components"]["small"]["mean"] == pytest.approx(0, abs=0.06)


@pytest.mark.parametrize("environment", OTHERS)
def test_the_residual_is_what_the_configuration_makes_of_the_components(
    environment: str, tmp_path: Path, cache: Path
) -> None:
    root = pruned.build(tmp_path / "workspace", environment)
    hyper = tomllib.loads((root / "evalxrl_envs" / environment / "config.toml").read_text())["hyper"]
    got = pruned.call(root, CODE, [*TOOL["argv"], "--json", "--budget", "small"], cache)
    assert (got.returncode, got.stderr) == (0, "")
    (result,) = laws.document_of(got.stdout)["results"]
    assert result["residual"]["differs"] == (0 if hyper["reward_scale"] == 1 else 1)
    shown = float(next(line for line in got.stdout.splitlines() if line.startswith("sum of comp")).split()[3])
    assert result["residual"]["mean"]["mean"] == pytest.approx((hyper["reward_scale"] - 1) * shown, abs=1e-3)

"""The training reward beside the documented components; the examples; and what packagings share."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import exact
import laws
import pruned
from fixtures import F6, GWB
from rdx.__main__ import TOOLS as SHARED
from rdx_more.__main__ import TOOLS
from xrl_common import arguments
from xrl_common.entry import render
from xrl_common.failure import ToolFailure

DOSSIER = Path(__file__).parent.parent
DOSSIERS = DOSSIER.parent
BEST = exact.greedy(exact.optimal_q(F6))


def test_the_residual_is_what_the_trainer_adds_to_the_documented_components() -> None:
    def trained(seed: int, episodes: int) -> tuple[np.ndarray, np.ndarray]:
        components = np.tile([[10.0, 0, 0], [0, 1, 0], [0, 0, -5], [0, 0, 0]], (25, 1))
        return np.clip(components.sum(axis=1), -1, 1), components

    tool = TOOLS["residual"]
    subject = replace(F6.subject(BEST), training_rewards=trained)
    got = render(tool, arguments.parse(tool.parser, ["--json"]), subject)
    laws.check_output(got, tool, subject, document=True)
    (result,) = laws.document_of(got)["results"]
    assert result["residual"]["differs"] == 0.5
    assert result["residual"]["largest"] == 9
    assert result["residual"]["mean"]["mean"] == pytest.approx((-9 + 4) / 4)
    assert result["components"] == {
        "large": {"steps": 25, "mean": -9.0},
        "small": {"steps": 25, "mean": 0.0},
        "pit": {"steps": 25, "mean": 4.0},
    }
    with pytest.raises(ToolFailure, match="no trainer"):
        render(tool, arguments.parse(tool.parser, []), F6.subject(BEST))


@pytest.mark.parametrize(
    ("change", "differs"),
    [(None, 0), (("reward_scale = 1.0", "reward_scale = 0.5"), 1), (("pit = 1.0", "pit = 0.0"), 0.08)],
)
def test_the_residual_shows_a_weight_or_a_scale_of_training(
    tmp_path: Path, change: tuple[str, str] | None, differs: float
) -> None:
    root = pruned.build(tmp_path / "workspace", "treasure_grid")
    config = root / "evalxrl_envs" / "treasure_grid" / "config.toml"
    if change is not None:
        assert change[0] in config.read_text()
        config.write_text(config.read_text().replace(*change))
    folders = (DOSSIER, DOSSIERS / "reward-decomposition")
    got = pruned.call(
        root, folders, ["python", "-m", "rdx_more", "residual", "--json", "--budget", "small"], tmp_path / "cache"
    )
    assert (got.returncode, got.stderr) == (0, "")
    (result,) = json.loads(got.stdout.splitlines()[-1])["results"]
    assert result["residual"]["differs"] == pytest.approx(differs, abs=0.05)


def test_the_examples_are_what_the_tools_print(tmp_path: Path) -> None:
    ask = laws.asker(SHARED, F6.subject(BEST), tmp_path)
    assert ask("when", "--episode", "0", "--a", "right") in (DOSSIER / "examples" / "f6-when.md").read_text()
    policy = exact.uniform_over_best(exact.optimal_q(GWB))
    ask = laws.asker(SHARED, GWB.subject(policy), tmp_path)
    assert ask("policy", "--policy", "sampled") in (DOSSIER / "examples" / "gwb.md").read_text()


def test_the_packagings_run_the_same_code_and_show_tools_in_order_of_richness() -> None:
    named = {
        packaging: [tool["name"] for tool in tomllib.loads((DOSSIERS / packaging / "dossier.toml").read_text())["tool"]]
        for packaging in ("reward-decomposition-minimal", "reward-decomposition", "reward-decomposition-rich")
    }
    minimal, default, rich = named.values()
    assert minimal == ["rdx-audit", "rdx-compare"]
    assert set(minimal) < set(default) < set(rich)
    assert set(rich) - set(default) == {"rdx-residual"}
    assert not (DOSSIERS / "reward-decomposition-minimal" / "src").exists()


def test_the_minimal_packaging_leaves_out_how_to_read(tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", "cartpole")
    manifest = tomllib.loads((DOSSIERS / "reward-decomposition-minimal" / "dossier.toml").read_text())
    got = pruned.call(root, (DOSSIERS / "reward-decomposition",), manifest["tool"][0]["argv"], tmp_path / "cache")
    assert got.returncode == 0
    assert "how to read" not in got.stdout

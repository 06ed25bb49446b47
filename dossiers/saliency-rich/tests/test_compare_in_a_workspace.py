"""Two agents side by side, in a workspace with a real network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import laws
import pruned

DOSSIERS = Path(__file__).parents[2]
CODE = (DOSSIERS / "saliency-rich", DOSSIERS / "saliency")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pruned.build(tmp_path_factory.mktemp("workspace"), "cartpole")


def compare(root: Path, cache: Path, *argv: str) -> tuple[int, str, str]:
    command = ["python", "-m", "sal_more", "compare", "--budget", "small", *argv]
    got = pruned.call(root, CODE, command, cache)
    return got.returncode, got.stdout, got.stderr


def test_an_agent_compared_with_its_own_copy_is_the_same(root: Path, cache: Path, tmp_path: Path) -> None:
    copy = shutil.copy(root / "agent" / "parameters.safetensors", tmp_path / "copy.safetensors")
    code, output, errors = compare(root, cache, "--b", str(copy), "--json")
    assert (code, errors) == (0, "")
    (result,) = laws.document_of(output)["results"]
    assert result["a"]["actor"] == result["b"]["actor"]
    assert (result["rank_correlation"], result["same_action"]) == (pytest.approx(1), 1)


def test_the_default_draws_the_last_layer_anew_and_the_seed_decides_how(root: Path, cache: Path) -> None:
    outputs = [compare(root, cache, "--json", "--seed", seed)[1] for seed in ("0", "0", "1")]
    assert outputs[0] == outputs[1]
    first, _, other = (json.loads(output.splitlines()[-1])["results"][0] for output in outputs)
    assert first["a"]["actor"] != first["b"]["actor"]
    assert first["b"]["actor"] != other["b"]["actor"]
    assert "# b: a with the last layer of its policy drawn anew" in outputs[0]
    assert "rank correlation" in outputs[0]


def test_a_file_that_is_no_agent_of_this_environment_ends_with_code_3(root: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.safetensors").write_bytes(b"")
    for name in ("absent.safetensors", "empty.safetensors"):
        code, output, errors = compare(root, cache, "--b", str(tmp_path / name))
        assert (code, output) == (3, "")
        assert name in errors

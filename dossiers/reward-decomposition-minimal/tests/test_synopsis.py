"""The minimal packaging: the two marked tools of the default, without how to read."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pruned

DOSSIER = Path(__file__).parent.parent
CODE = (DOSSIER, DOSSIER.parent / "reward-decomposition")


def manifest(folder: Path) -> dict:
    return tomllib.loads((folder / "dossier.toml").read_text())


def test_all_packagings_run_the_same_programs() -> None:
    default, rich = manifest(CODE[1]), manifest(DOSSIER.parent / "reward-decomposition-rich")
    assert [tool["name"] for tool in manifest(DOSSIER)["tool"]] == ["rdx-audit", "rdx-compare"]
    assert rich["tool"][:-1] == default["tool"]
    assert rich["tool"][-1]["name"] == "rdx-residual"
    for tool, same in zip(manifest(DOSSIER)["tool"], default["tool"], strict=False):
        assert tool == {**same, "argv": [*same["argv"][:3], "--plain", *same["argv"][3:]]}
    assert len({manifest(folder)["version"] for folder in (*CODE, CODE[1].with_name(f"{CODE[1].name}-rich"))}) == 1


def test_its_output_is_that_of_the_default_less_how_to_read(tmp_path: Path) -> None:
    root = pruned.build(tmp_path / "workspace", manifest(DOSSIER)["environments"][0])
    for tool, same in zip(manifest(DOSSIER)["tool"], manifest(CODE[1])["tool"], strict=False):
        plain, full = (
            pruned.call(root, CODE, [*argv, "--budget", "small"], tmp_path / "cache").stdout
            for argv in (tool["argv"], same["argv"])
        )
        assert full.startswith(plain + "\nhow to read: ")
        assert "how to read" not in plain

"""The dossiers of this folder and their tools, for tests that go through all of them."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import laws
import pruned

DOSSIERS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Shipped:
    """One tool of one dossier."""

    dossier: Path
    name: str
    argv: tuple[str, ...]
    timeout_s: int
    environments: tuple[str, ...]

    @property
    def code(self) -> tuple[Path, ...]:
        """Folders that its code comes from: packagings without source of their own add to that of the default."""
        method = tomllib.loads((self.dossier / "dossier.toml").read_text())["method"]
        return (self.dossier,) if (self.dossier / "src").is_dir() else (self.dossier, DOSSIERS / method)

    def call(
        self, root: Path, cache: Path, added: Sequence[str] = (), state: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs it in a workspace; `state` is what `XRL_STATE` names."""
        return pruned.call(root, self.code, [*self.argv, *added], cache, state=state)


def tools() -> Iterator[Shipped]:
    """Every tool of every dossier, in order of folders and manifests."""
    for manifest in sorted(DOSSIERS.glob("*/dossier.toml")):
        if manifest.parent.name.startswith("_"):
            continue
        read = tomllib.loads(manifest.read_text())
        for tool in read["tool"]:
            yield Shipped(
                manifest.parent, tool["name"], tuple(tool["argv"]), tool["timeout_s"], tuple(read["environments"])
            )


def check(tool: Shipped, environment: str, got: subprocess.CompletedProcess[str]) -> None:
    """What section 3 of the specification asks of an output with `--json`."""
    assert (got.returncode, got.stderr) == (0, "")
    *lines, document = got.stdout.splitlines()
    assert laws.document_of(document)["format"] == "evalxrl.tool/1"
    assert lines[0].startswith(f"# {tool.name}  {environment}")
    assert "# simulated in this workspace's environment as it stands" in lines
    assert max(len(line) for line in lines) <= laws.WIDTH
    assert got.stdout.isascii()
    assert not laws.VERDICTS.search(got.stdout)
    assert sum(line.startswith("how to read: ") for line in lines) <= 3
    if laws.USES_Q.search("\n".join(line for line in lines if not line.startswith("how to read: "))):
        assert laws.EVALUATES.search(got.stdout), "Q is used, and its source is not named"

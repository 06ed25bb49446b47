"""The dossier is like the others in cost, length and number of papers; nothing a coder sees names its purpose."""

from __future__ import annotations

import re
import statistics
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import exact
import laws
from dg.__main__ import TOOLS
from fixtures import F6, Params
from xrl_common.simulation import Simulator

DOSSIER = Path(__file__).parents[1]
SHARED = DOSSIER.parent / "_shared" / "xrl_common"
SUBJECT = F6.subject(exact.greedy(exact.optimal_q(F6)), Params(slip=0.1))


def others() -> list[Path]:
    """Folders of the default packagings of every other method."""
    return [
        path.parent
        for path in DOSSIER.parent.glob("[!_]*/dossier.toml")
        if path.parent != DOSSIER and tomllib.loads(path.read_text())["packaging"] == "default"
    ]


def seen() -> Iterator[Path]:
    """Every file that a coder gets."""
    yield DOSSIER / "README.md"
    for folder in (*(DOSSIER / part for part in ("papers", "examples", "src", "tools")), SHARED):
        yield from (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `Simulator.sums` was asked for, call by call."""
    calls: list[Any] = []
    real = Simulator.sums

    def noted(simulator: Simulator, *asked: Any) -> np.ndarray:  # noqa: ANN401
        calls.append((simulator.seed, simulator.acting, *asked))
        return real(simulator, *asked)

    monkeypatch.setattr(Simulator, "sums", noted)
    return calls


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_rollouts_are_those_of_a_summary(name: str, sums: list[Any], tmp_path: Path) -> None:
    summary = DOSSIER.parent / "behaviour-summary"
    sys.path[:0] = [str(summary / "src"), str(summary / "tools")]
    from hl.__main__ import TOOLS as summaries

    laws.asker(summaries, SUBJECT, tmp_path)("summary", "--k", "1")
    first = sums.pop(0)
    sums.clear()
    laws.asker(TOOLS, SUBJECT, tmp_path)(name)
    assert len(sums) == 1
    assert jax.tree.all(jax.tree.map(lambda a, b: np.array_equal(a, b), first, sums[0]))


def test_the_readme_is_as_long_as_the_median_within_a_tenth() -> None:
    lengths = [len((folder / "README.md").read_text().split()) for folder in others()]
    own = len((DOSSIER / "README.md").read_text().split())
    assert 0.9 <= own / statistics.median(lengths) <= 1.1


@pytest.mark.parametrize("part", ["papers", "examples"])
def test_papers_and_examples_are_alike_in_number(part: str) -> None:
    counts = [len(list((folder / part).glob("*.md"))) for folder in others()]
    assert len(list((DOSSIER / part).glob("*.md"))) == statistics.median(counts)


def test_nothing_that_is_shown_names_its_purpose() -> None:
    told = re.compile(r"placebo|sham|dummy|useless|control arm|baseline", re.IGNORECASE)
    for path in seen():
        assert not told.search(path.name), path
        assert not told.search(path.read_text()), path


def test_prose_passes_no_verdict() -> None:
    for path in seen():
        if path.suffix == ".md":
            assert not laws.VERDICTS.search(path.read_text()), path

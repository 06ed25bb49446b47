"""Each tool on each environment it lists, twice with seed 0: same bytes, in form, within its limit.

Run by `make test-slow`, apart from the other tests: it takes about an hour on two cores.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import pruned
import shipped

CASES = [(tool, environment) for tool in shipped.tools() for environment in tool.environments]


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {}


@pytest.mark.parametrize(
    ("tool", "environment"), CASES, ids=[f"{tool.dossier.name}-{tool.name}-{place}" for tool, place in CASES]
)
def test_twice_alike(
    tool: shipped.Shipped,
    environment: str,
    places: dict[str, Path],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if environment not in places:
        places[environment] = pruned.build(tmp_path_factory.mktemp(environment), environment)
    outputs = []
    for run in ("first", "second"):
        begun = time.monotonic()
        got = tool.call(places[environment], tmp_path / f"cache-{run}", ["--json"], tmp_path / f"state-{run}")
        seconds = time.monotonic() - begun
        shipped.check(tool, environment, got)
        print(f"{tool.dossier.name} {tool.name} {environment} {seconds:.1f} s of {tool.timeout_s}")
        assert seconds <= tool.timeout_s
        outputs.append(got.stdout)
    assert outputs[0] == outputs[1]

"""The reference data, and how close a result must come to it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import evalxrl
import numpy as np
import pytest

SHARED = Path(os.environ.get("EVALXRL_SHARED", Path(__file__).parents[2] / ".." / "shared"))


def cases(file: str) -> list[dict[str, Any]]:
    """Read the cases of one file, or skip the test where the reference data is absent."""
    path = SHARED / "data" / "statistics" / file
    if not path.exists():
        pytest.skip(f"{path} is absent; set EVALXRL_SHARED")
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def close(target: float | tuple[float, ...], relative: float = 1e-10) -> Any:  # noqa: ANN401 - pytest names no type
    """Compare to 1e-10 relative, 1e-12 absolute near 0."""
    return pytest.approx(target, rel=relative, abs=1e-12)


def tidy(scores: list[list[list[float]]]) -> dict[str, Any]:
    """Lay ``[method][malfunction][replication]`` out as tidy arrays, the replication as block."""
    array = np.array(scores)
    method, malfunction, replication = np.indices(array.shape)
    return {
        "score": array.ravel(),
        "method": np.char.add("m", method.ravel().astype(str)),
        "malfunction": np.char.add("k", malfunction.ravel().astype(str)),
        "block": np.char.add("b", replication.ravel().astype(str)),
    }


def there(value: Any) -> Any:  # noqa: ANN401 - any result
    """Give a result that must exist."""
    assert not isinstance(value, evalxrl.NotComputed), value
    return value


def counts(p: object) -> tuple[int | None, int | None]:
    """Give the integers of an exact p-value."""
    assert isinstance(p, evalxrl.PValue)
    assert p.exact
    return p.count, p.total

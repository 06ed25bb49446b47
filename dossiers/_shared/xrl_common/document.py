"""The JSON document behind `--json`: format `evalxrl.tool/1`, numbers unrounded."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np

FORMAT = "evalxrl.tool/1"


def text(fields: dict[str, Any]) -> str:
    """One line of JSON; numbers that are not finite are written as strings, since JSON has none."""
    return json.dumps({"format": FORMAT, **_plain(fields)}, allow_nan=False)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value

"""Puts the packages of this dossier and of the default packaging on the path."""

from __future__ import annotations

import sys
from pathlib import Path

RICH = Path(__file__).parent.parent
DEFAULT = RICH.parent / "saliency"
sys.path[:0] = [str(RICH / "tools"), *(str(DEFAULT / part) for part in ("src", "tools", "tests"))]

"""Puts the dossier's own tools, and the packages of the default packaging that it runs, on the path."""

from __future__ import annotations

import sys
from pathlib import Path

DOSSIERS = Path(__file__).parents[2]
DEFAULT = DOSSIERS / "reward-decomposition"
sys.path[:0] = [str(Path(__file__).parent.parent / "tools"), str(DEFAULT / "src"), str(DEFAULT / "tools")]

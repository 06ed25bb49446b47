"""Puts the dossier's own packages and those of the default packaging on the path."""

from __future__ import annotations

import sys
from pathlib import Path

DOSSIER = Path(__file__).parent.parent
DEFAULT = DOSSIER.parent / "reward-decomposition"
sys.path[:0] = [str(DOSSIER / "tools"), str(DEFAULT / "src"), str(DEFAULT / "tools")]

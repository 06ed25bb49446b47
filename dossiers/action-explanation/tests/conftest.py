"""Puts the dossier's own packages, and what its tests share, on the path."""

from __future__ import annotations

import sys
from pathlib import Path

DOSSIER = Path(__file__).parent.parent
sys.path[:0] = [str(DOSSIER / "src"), str(DOSSIER / "tools"), str(DOSSIER / "tests")]

"""How these tools write groups, values and scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xrl_common import features, tables
from xrl_common.features import Group
from xrl_common.report import Settings
from xrl_common.subject import Subject
from xrl_common.tables import Column, number

VALUES = 4
"""Entries of a group that a table shows."""

LEAST = 7
"""Characters that a table gives any column."""


def groups(subject: Subject) -> list[Group]:
    """The features: groups of observation entries."""
    return features.groups(subject.obs_names)


def slices(subject: Subject) -> list[slice]:
    """Their entries."""
    return [group.entries for group in groups(subject)]


def values(observation: np.ndarray, found: Sequence[Group]) -> list[str]:
    """What an observation (d,) holds in each group; the number of further entries after the first few."""
    texts = []
    for group in found:
        entries = observation[group.entries]
        text = " ".join(number(float(value)) for value in entries[:VALUES])
        texts.append(text + (f" +{len(entries) - VALUES}" if len(entries) > VALUES else ""))
    return texts


def texts(heading: str, cells: Sequence[str]) -> Column:
    """A column of text set from the left."""
    width = max(LEAST, *(len(cell) for cell in [heading, *cells]))
    return Column(heading, [cell.ljust(width) for cell in cells])


def head(settings: Settings, fields: Sequence[str], word: str, odd: int = 0, remarks: Sequence[str] = ()) -> list[str]:
    """The `# ` lines: tool, environment, the given fields, discount, policy, estimator and seed."""
    subject = settings.subject
    return tables.header(
        [
            settings.tool,
            subject.name,
            *fields,
            f"gamma {number(settings.gamma)} ({settings.gamma_source})",
            f"policy {settings.simulator.acting.word}",
            f"{word} seed {settings.seed}".strip(),
            *([f"non-finite {odd}"] if odd else []),
        ],
        (*remarks, *subject.remarks),
    )

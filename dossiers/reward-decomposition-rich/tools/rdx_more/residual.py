"""The reward that the trainer learns from beside the documented components."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from xrl_common.estimates import EPISODES, estimate, nonfinite
from xrl_common.failure import usage
from xrl_common.report import Report, Settings
from xrl_common.simulation import Acting
from xrl_common.tables import Column, table

TOLERANCE = 1e-5


def body(settings: Settings, wanted: argparse.Namespace) -> list[Report]:
    """Plays batches as the trainer does, with the agent as it is; the trainer always draws its actions."""
    drawing = replace(settings, simulator=replace(settings.simulator, acting=Acting.SAMPLED))
    return [residual(drawing, settings.count(EPISODES, least=8))]


def residual(settings: Settings, episodes: int) -> Report:
    """r_train - sum of r_c per step: largest size, mean, and share of steps on which it is not zero."""
    if settings.subject.training_rewards is None:
        raise usage("this subject has no trainer")
    rewards, components = settings.subject.training_rewards(settings.seed, episodes)
    total = components.sum(axis=1)
    apart = rewards - total
    differs = float(np.mean(~(np.abs(apart) <= TOLERANCE)))
    odd = nonfinite(rewards, components)
    lines = settings.header(f"steps {len(rewards)} of training batches, episodes {episodes}", nonfinite=odd)
    rows = {"training reward": rewards, "sum of components": total, "residual": apart}
    lines += table(
        Column("per step", list(rows)),
        [
            Column("mean", [estimate(values) for values in rows.values()]),
            Column("min", [float(values.min()) for values in rows.values()]),
            Column("max", [float(values.max()) for values in rows.values()]),
            Column("largest size", [float(np.abs(values).max()) for values in rows.values()]),
            Column("differs", ["-", "-", f"{differs:.3f}"]),
        ],
    )
    paid = {
        name: (int(np.count_nonzero(column)), apart[column != 0])
        for name, column in zip(settings.simulator.components, components.T, strict=True)
    }
    lines += ["", "steps on which a component is not zero:"]
    lines += table(
        Column("component", list(paid)),
        [
            Column("steps", [str(count) for count, _ in paid.values()]),
            Column("mean residual", [float(part.mean()) if count else 0.0 for count, part in paid.values()]),
            Column("largest size", [float(np.abs(part).max()) if count else 0.0 for count, part in paid.values()]),
        ],
    )
    numbers = {
        "steps": len(rewards),
        "policy": settings.simulator.acting.word,
        "nonfinite": odd,
        "residual": {"mean": estimate(apart), "largest": float(np.abs(apart).max()), "differs": differs},
        "components": {
            name: {"steps": count, "mean": float(part.mean()) if count else 0.0} for name, (count, part) in paid.items()
        },
    }
    return Report(lines, numbers)

"""Where the search begins: the best template of a sketch on the first histories."""

from __future__ import annotations

import numpy as np

from programs.histories import Histories, distance
from programs.program import Action, Constant, Control, Linear, Pid, Program, Words

SKETCHES = ("rules", "linear", "pid")
RIDGE = 1e-3
READ = 16
"""Features in a linear rule of one head."""


def default_sketch(words: Words) -> str:
    """Rules for one head, a linear rule per head for several, a controller for continuous actions."""
    if words.continuous:
        return "pid"
    return "rules" if len(words.actions) == 1 else "linear"


def best(sketch: str, histories: Histories, words: Words) -> Program:
    """The template of least distance."""
    candidates = [Program((), action) for action in _of(sketch, histories, words)]
    return min(candidates, key=lambda program: distance(program, histories, words))


def _of(sketch: str, histories: Histories, words: Words) -> list[Action]:
    if sketch == "rules":
        return _constants(histories, words)
    return [_linear(histories, words)] if sketch == "linear" else [_pid(histories, words)]


def _constants(histories: Histories, words: Words) -> list[Action]:
    """The actions that the agent takes most; the mean for continuous ones."""
    if words.continuous:
        return [Constant(tuple(float(x) for x in np.clip(histories.wanted.mean(axis=0), words.low, words.high)))]
    rows, counts = np.unique(histories.wanted, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:20]
    return [Constant(tuple(float(x) for x in rows[i])) for i in order]


def _linear(histories: Histories, words: Words) -> Linear:
    """Least squares towards +1 for the action taken and -1 for the others, one head after another.

    Solved with all features first, then again with those of the largest slopes (in standard deviations), so that
    a program can be read.
    """
    seen = histories.seen.astype(np.float64)
    mean, spread = seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-9)
    varied = np.flatnonzero(seen.std(axis=0) > 1e-9)
    scaled = (seen - mean) / spread
    bias, weights = [], []
    for head, size in enumerate(words.heads):
        targets = np.where(histories.wanted[:, head : head + 1] == np.arange(size), 1.0, -1.0)
        kept = varied
        if len(varied) > READ:
            first = _solved(scaled[:, varied], targets)
            kept = varied[np.sort(np.argsort(-np.abs(first[1:]).max(axis=1), kind="stable")[:READ])]
        solved = _solved(scaled[:, kept], targets)
        slopes = solved[1:] / spread[kept][:, None]
        offsets = solved[0] - mean[kept] @ slopes
        bias.append(tuple(float(b) for b in offsets))
        weights.append(
            tuple(tuple((int(f), float(w)) for f, w in zip(kept, slopes[:, k], strict=True)) for k in range(size))
        )
    return Linear(tuple(bias), tuple(weights))


def _solved(columns: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Ridge regression with a constant, (1 + features, categories)."""
    whole = np.concatenate([np.ones((len(columns), 1)), columns], axis=1)
    square = whole.T @ whole + RIDGE * len(whole) * np.eye(whole.shape[1])
    return np.linalg.solve(square, whole.T @ targets)


def _pid(histories: Histories, words: Words) -> Pid:
    """Per axis the feature on which the agent's action depends best by a straight line with sum and change."""
    axes = []
    for axis in range(len(words.actions)):
        wanted = histories.wanted[:, axis]
        fits = [_control(histories, wanted, feature) for feature in range(histories.seen.shape[1])]
        axes.append(min(fits, key=lambda fit: fit[0])[1])
    return Pid(tuple(axes))


def _control(histories: Histories, wanted: np.ndarray, feature: int) -> tuple[float, Control]:
    here = histories.seen[:, feature].astype(np.float64)
    target = float(here.mean())
    parts = [
        here - target,
        histories.summed[:, feature] - target * histories.count,
        here - histories.before[:, feature],
    ]
    columns = np.stack([np.ones(len(here)), *parts], axis=1)
    scale = np.maximum(np.abs(columns).max(axis=0), 1e-9)
    solved, *_ = np.linalg.lstsq(columns / scale, wanted, rcond=1e-8)
    k0, kp, ki, kd = (float(x) for x in solved / scale)
    missed = float(((columns @ np.array([k0, kp, ki, kd]) - wanted) ** 2).mean())
    return missed, Control(feature, target, k0, kp, ki, kd)

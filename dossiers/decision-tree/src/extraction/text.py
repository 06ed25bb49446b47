"""A tree in lines: one condition each, leaves with their action and count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from extraction.trees import Tree

INDENT = "    "


def lines(
    tree: Tree, names: Sequence[str], action: Callable[[np.ndarray], str], number: Callable[[float], str]
) -> list[str]:
    """The whole tree; consecutive questions about one entry are joined to an interval."""
    if tree.feature[0] < 0:
        return [f"always   {action(tree.action[0])}   n {tree.samples[0]}"]
    rows: list[tuple[str, str, str]] = []

    def branches(node: int, low: float | None) -> list[tuple[str, int]]:
        name, bound = names[tree.feature[node]], float(tree.threshold[node])
        start = f"{name} <= " if low is None else f"{name} >  {number(low)} and <= "
        right = int(tree.right[node])
        if tree.feature[right] == tree.feature[node]:
            rest = branches(right, bound)
        else:
            rest = [(f"{name} >  {number(bound)}", right)]
        return [(start + number(bound), int(tree.left[node])), *rest]

    def walk(node: int, indent: str) -> None:
        for condition, child in branches(node, None):
            if tree.feature[child] < 0:
                rows.append((indent + condition, action(tree.action[child]), str(tree.samples[child])))
            else:
                rows.append((indent + condition, "", ""))
                walk(child, indent + INDENT)

    walk(0, "")
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [f"{a.ljust(widths[0])}   {b.ljust(widths[1])}   n {c.rjust(widths[2])}" if b else a for a, b, c in rows]


def conditions(tree: Tree, way: Sequence[int], names: Sequence[str], number: Callable[[float], str]) -> list[str]:
    """The condition met at each inner node of a way from the root to a leaf."""
    met = []
    for node, child in pairwise(way):
        sign = "<=" if child == tree.left[node] else "> "
        met.append(f"{names[tree.feature[node]]} {sign} {number(float(tree.threshold[node]))}")
    return met

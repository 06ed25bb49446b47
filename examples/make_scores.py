"""Writes scores.csv: a synthetic table, the same bytes from the same seed, with every column that a run writes.

No session behind it ever took place. Four explanation methods help on different malfunctions, one of them harms on one,
the cheat oracle stays a little below an optimal repair, and some sessions end without a submission.
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

MALFUNCTIONS = ("cheap-large", "few-maps", "lasting-small", "reward-clip", "short-sight", "slippery")
SESSIONS = 8
BUDGET = 40
NOISE = 0.15

NO_METHOD = (0.35, 0.30, 0.40, 0.25, 0.45, 0.30)
"""Mean score without a dossier, per malfunction."""

EFFECTS = {
    "counterfactual": (0.30, 0.05, 0.25, 0.00, 0.00, 0.05),
    "policy-summary": (0.05, 0.00, 0.05, 0.05, -0.55, 0.00),
    "reward-decomposition": (0.25, 0.00, 0.20, 0.40, 0.05, 0.00),
    "saliency": (0.00, 0.25, 0.00, 0.05, 0.05, 0.30),
}
"""What each explanation method adds to it."""

COLUMNS = ["malfunction", "environment", "method", "replication", "coder", "invocations", "block", "raw", "clipped"]
COLUMNS += ["outcome", "tool_calls", "cost_usd", "wall_s"]


def mean(method: str, malfunction: int) -> float:
    """Give the mean score of a cell; the oracle and the optimal repair do not depend on the malfunction."""
    if method == "optimal-repair":
        return 0.97
    if method == "cheat-oracle":
        return 0.80
    return NO_METHOD[malfunction] + EFFECTS.get(method, (0.0,) * len(MALFUNCTIONS))[malfunction]


def session(rng: random.Random, method: str, malfunction: int, replication: int, block: float) -> dict[str, str]:
    """Draw one session; `block` is the shift that all methods of a malfunction share in this replication."""
    optimal = method == "optimal-repair"
    raw = round(mean(method, malfunction) + block + rng.gauss(0.0, 0.05 if optimal else NOISE), 4)
    outcome, calls = "submitted", rng.randint(6, BUDGET)
    if not optimal and rng.random() < 0.07:
        outcome, calls, raw = rng.choice([("budget_spent", BUDGET, 0.0), ("gave_up", calls, 0.0)])
    name = MALFUNCTIONS[malfunction]
    return {
        "malfunction": name,
        "environment": "treasure-grid",
        "method": method,
        "replication": str(replication),
        "coder": "optimal" if optimal else "search",
        "invocations": "unlimited",
        "block": f"{name}/r{replication:02}",
        "raw": repr(raw),
        "clipped": repr(min(1.0, max(0.0, raw))),
        "outcome": outcome,
        "tool_calls": str(calls),
        "cost_usd": repr(round(calls * 0.0125, 4)),
        "wall_s": repr(round(calls * rng.uniform(8.0, 12.0), 1)),
    }


def table(seed: int) -> list[dict[str, str]]:
    """Draw every session, sorted as a run writes them: coder, invocations, malfunction, method, replication."""
    rng = random.Random(seed)
    rows = []
    for malfunction in range(len(MALFUNCTIONS)):
        blocks = [rng.gauss(0.0, 0.05) for _ in range(SESSIONS)]
        for method in sorted([*EFFECTS, "cheat-oracle", "no-method", "optimal-repair"]):
            rows += [session(rng, method, malfunction, number, blocks[number]) for number in range(SESSIONS)]
    return sorted(rows, key=lambda row: (row["coder"], row["malfunction"], row["method"], int(row["replication"])))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("scores.csv"))
    arguments = parser.parse_args()
    with arguments.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table(arguments.seed))


if __name__ == "__main__":
    main()

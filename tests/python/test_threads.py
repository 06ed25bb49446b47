"""The same seed gives the same digits at any number of threads, and from the command line."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import evalxrl
import numpy as np
import pytest
from golden import there

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "examples" / "scores.csv"

EVERYTHING = """
import numpy as np
import evalxrl

rng = np.random.default_rng(5)
names, walls = ["no-method", "cheat-oracle", "a", "b", "a+b"], ["u", "v", "w"]
table = rng.normal(0.5, 0.3, (5, 3, 7))
table[2, 1, 5:] = np.nan
few = {"resamples": 1_000, "seed": 11}
print(evalxrl.interaction(table, names, walls, range(7), permutations=999, **few))
print(evalxrl.interaction(table, tests=["literal", "session_f"], permutations=2_000, seed=11))
print(evalxrl.oracle_gap(table, names, walls, **few))
print(evalxrl.harm(table, names, walls, range(7), exact_limit=100, permutations=2_000, seed=11))
print(evalxrl.lift(table, names, walls, **few))
print(evalxrl.aggregate(table, names, walls, **few))
print(evalxrl.interval(table[0], statistic="iqm", kind="bca", **few))
print(evalxrl.performance_profile(table, names, walls, **few))
print(evalxrl.probability_of_improvement(table, names, walls, first="a", second="b", **few))
print(evalxrl.two_sample_permutation(table[0, 0], table[1, 0], exact_limit=10, draws=3_000, seed=11))
print(evalxrl.sign_flip(table[0, 0], exact_limit=10, draws=3_000, seed=11))
arrays = np.broadcast_arrays(table, np.array(names)[:, None, None], np.array(walls)[:, None])
tidy = [array[~np.isnan(table)] for array in arrays]
print(evalxrl.ablation(*tidy, pairs=[("b", "a+b")], **few))
print(evalxrl.shapley(*tidy, **few))
print(evalxrl.planned_budget_curve(*tidy, np.arange(tidy[0].size) % 3, **few))
print(evalxrl.agreement(rng.integers(0, 3, 80), rng.integers(0, 3, 80), **few))
"""


def run(threads: int) -> bytes:
    """Run every stochastic function in a process with so many threads."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", EVERYTHING], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_one_two_and_four_threads_print_the_same_bytes() -> None:
    alone = run(1)
    assert len(alone) > 10_000
    assert run(2) == alone
    assert run(4) == alone


def command_line() -> Path:
    """Find the command line, or skip the test where it was not built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for place in (os.environ.get("EVALXRL_COMMAND"), target / "debug" / "evalxrl", shutil.which("evalxrl")):
        if place and Path(place).exists():
            return Path(place)
    pytest.skip("the command line is not built; `cargo build` or EVALXRL_COMMAND names it")


def findings(seed: int, tmp_path: Path, table: Path = TABLE) -> dict[str, Any]:
    """Let the command line analyse a table."""
    plan = tmp_path / "plan.toml"
    plan.write_text('format = "evalxrl.experiment/1"\n[analysis]\npermutations = 999\nresamples = 999\n')
    command: list[str | Path] = [command_line(), "analyze", table, "--seed", str(seed), "--plan", plan, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def same(ours: Any, theirs: Any) -> None:  # noqa: ANN401 - any result
    """Compare named tuples with a JSON document field by field, numbers to the last digit."""
    if hasattr(ours, "_asdict"):
        assert set(ours._fields) == set(theirs)
        for name, value in ours._asdict().items():
            same(value, theirs[name])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    else:
        assert ours == theirs


def test_the_command_line_gives_the_same_digits(tmp_path: Path) -> None:
    (theirs,) = findings(4, tmp_path)["strata"]
    with TABLE.open(newline="") as file:
        rows = sorted(
            csv.DictReader(file), key=lambda row: (row["malfunction"], row["method"], int(row["replication"]))
        )
    reserved = {"no-method", "cheat-oracle", "optimal-repair"}

    def columns(chosen: list[dict[str, str]]) -> tuple[list[float], list[str], list[str]]:
        raw = [float(row["raw"]) for row in chosen]
        return raw, [row["method"] for row in chosen], [row["malfunction"] for row in chosen]

    explaining = [row for row in rows if row["method"] not in reserved]
    blocks = [row["block"] for row in rows]
    for scale in ("clipped", "raw", "raw_unwinsorised"):
        ours = evalxrl.interaction(
            *columns(explaining),
            [row["block"] for row in explaining],
            scale=scale,
            permutations=999,
            resamples=999,
            seed=4,
        )
        same(ours, theirs["h1"][scale])
    for scale in ("clipped", "raw"):
        same(evalxrl.oracle_gap(*columns(rows), scale=scale, resamples=999, seed=4), theirs["h2"][scale])
    same(evalxrl.harm(*columns(rows), blocks, seed=4), theirs["h3"])
    same(evalxrl.aggregate(*columns(rows), resamples=999, seed=4), theirs["aggregates"])
    lifts = [evalxrl.lift(*columns(rows), scale=scale, resamples=999, seed=4) for scale in ("clipped", "raw")]
    for found in lifts:
        for method in found.methods:
            (their,) = [
                entry
                for entry in theirs["lifts"]["methods"]
                if (entry["method"], entry["scale"]) == (method.method, method.scale)
            ]
            same(method, their)
    calls = [int(row["tool_calls"]) for row in rows]
    outcomes = [row["outcome"] for row in rows]
    same(evalxrl.tool_calls(*columns(rows), calls, outcome=outcomes, resamples=999, seed=4), theirs["tool_calls"])


def test_the_command_line_gives_the_same_planned_curves(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    arms = [("saliency", budget) for budget in ("unlimited", "3", "10")] + [("a", "3"), ("a", "10"), ("no-method", "3")]
    rows = [
        (malfunction, method, replication, budget, rng.normal(0.5, 0.3))
        for method, budget in arms
        for malfunction in ("doors", "walls")
        for replication in range(5)
    ]
    table = tmp_path / "budgets.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["malfunction", "method", "replication", "invocations", "raw"])
        writer.writerows(rows)
    malfunctions, methods, _, budgets, raw = zip(*rows, strict=True)
    ours = there(evalxrl.planned_budget_curve(raw, methods, malfunctions, budgets, resamples=999, seed=4))
    assert [len(curve.points) for curve in ours] == [2, 2, 3, 3]
    same(ours, findings(4, tmp_path, table)["budget_curves"]["planned"])


def test_other_threads_run_while_one_computes() -> None:
    table = np.random.default_rng(3).normal(size=(6, 12, 8))
    span: list[float] = []

    def compute() -> None:
        span.append(time.perf_counter())
        evalxrl.interaction(table, tests=["literal"], permutations=300_000, seed=1)
        span.append(time.perf_counter())

    worker = threading.Thread(target=compute)
    worker.start()
    moments = []
    while worker.is_alive():
        moments.append(time.perf_counter())
        time.sleep(0)
    worker.join()
    start, end = span
    middle = [moment for moment in moments if start + 0.25 * (end - start) < moment < start + 0.75 * (end - start)]
    assert middle, "the interpreter was held all the while"

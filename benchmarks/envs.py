"""Measures every performance target of the environments in one run and prints JSON, each figure beside its target.

    make bench-envs                                     # the whole table, under 10 minutes
    python benchmarks/envs.py --only ppo --only scoring # some rows, with the packages of envs/requirements-test.lock

CPU-seconds are those of whole processes, imports and children included. Figures are medians of interleaved runs: what
is compared takes turns in long-lived processes, so that another load on the machine meets all of them.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ENVS = HERE.parent / "envs"
RUNS, COLD_RUNS = 5, 2
COLD = {"treasure_grid": 16.0, "cartpole": 16.0, "datacenter_cooling": 30.0, "traffic_lights": 30.0}
"""Most CPU-seconds of training and evaluating with an empty compilation cache, by environment."""
WARM = 6.0
"""Most CPU-seconds of training again after a number was edited."""
PLAY = {"treasure_grid": 1e6, "datacenter_cooling": 0.7e6, "traffic_lights": 0.5e6}
"""Fewest steps of random play per CPU-second, by environment; CartPole is compared with gymnax."""
SCORING = 2.0
"""Most wall seconds of scoring 256 episodes beyond those of the environment's steps."""
LOAD_MIB = 2048
"""What the reference load hashes."""
Row = dict[str, Any]


def row(name: str, unit: str, values: list[float], at_most: float | None = None, at_least: float | None = None) -> Row:
    """One line of the table: the median, and whether it keeps its target."""
    median = statistics.median(values)
    target = {"at_most": at_most} if at_most is not None else {"at_least": at_least}
    met = median <= at_most if at_most is not None else at_least is None or median >= at_least
    digits = 0 if median > 1000 else 3
    rounded = [round(value, digits) for value in values]
    kept = {"target": target, "met": met} if at_most is not None or at_least is not None else {}
    return {"row": name, "unit": unit, "median": round(median, digits), **kept, "runs": rounded}


def cpu_seconds(*arguments: str, cache: Path) -> float:
    """CPU-seconds of one command line, its children included."""
    environment = os.environ | {"EVALXRL_XLA_CACHE": str(cache)}
    before = os.times()
    line = [sys.executable, "-m", "evalxrl_envs", *arguments]
    subprocess.run(line, cwd=ENVS, env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def whole_commands(cold_runs: int, warm_runs: int) -> Iterator[Row]:
    """Training and evaluating with an empty cache, and training again after the discount was edited."""
    cold: dict[str, list[float]] = {name: [] for name in COLD}
    warm: dict[str, list[float]] = {name: [] for name in COLD}
    with tempfile.TemporaryDirectory() as folder:
        agent, config = str(Path(folder, "agent.safetensors")), Path(folder, "config.toml")
        for run in range(cold_runs):
            for name in COLD:
                cache, line = Path(folder, f"{name}{run}"), ["--environment", name, "--agent", agent]
                trained = cpu_seconds("train", *line, cache=cache)
                cold[name].append(trained + cpu_seconds("evaluate", *line, cache=cache))
                text = (ENVS / "evalxrl_envs" / name / "config.toml").read_text()
                for edit in range(len(warm[name]), -(-warm_runs * (run + 1) // cold_runs)):
                    config.write_text(re.sub(r"gamma = .*", f"gamma = {0.9 + 0.01 * edit}", text))
                    warm[name].append(cpu_seconds("train", *line, "--config", str(config), cache=cache))
    for name, most in COLD.items():
        yield row(f"cold train and evaluate, {name}", "CPU-seconds", cold[name], at_most=most)
        yield row(f"warm train after an edited number, {name}", "CPU-seconds", warm[name], at_most=WARM)


@contextmanager
def worker(kind: str, name: str, settings: str) -> Iterator[subprocess.Popen[str]]:
    """A process that measures whenever it is sent a line, and ends with its input."""
    line = [sys.executable, str(HERE / "workers.py"), kind, name, settings]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


def read(process: subprocess.Popen[str]) -> float:
    """The next number that a worker writes."""
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"{' '.join(map(str, process.args))}: ended with {process.wait()}")  # type: ignore[arg-type]
    return float(line)


def in_turns(runs: int, *jobs: tuple[str, str, str]) -> tuple[list[float], list[list[float]]]:
    """Compiles each job, then lets all take turns; returns CPU-seconds of compiling, and the figures of each job."""
    compiled, processes = [], []
    figures: list[list[float]] = [[] for _ in jobs]
    with ExitStack() as stack:
        for job in jobs:
            processes.append(stack.enter_context(worker(*job)))
            compiled.append(read(processes[-1]))
        for _ in range(runs):
            for process, found in zip(processes, figures, strict=True):
                assert process.stdin
                process.stdin.write("again\n")
                process.stdin.flush()
                found.append(read(process))
    return compiled, figures


def ratios(ours: list[float], *theirs: list[float]) -> list[float]:
    """Ours to the best of the peer's settings, run by run."""
    return [mine / max(others) for mine, *others in zip(ours, *theirs, strict=True)]


def rollout(runs: int) -> Iterator[Row]:
    """Random play with auto-reset, 256 environments at a time."""
    jobs = [("rollout", name, "ours") for name in ("cartpole", "gymnax", *PLAY)]
    _, figures = in_turns(runs, ("rollout", "gymnax", "default"), ("rollout", "cartpole", "default"), *jobs)
    by_default, plain, cartpole, tuned, *others = figures
    yield row("random play, cartpole", "steps/CPU-second", cartpole)
    yield row("random play, gymnax CartPole", "steps/CPU-second", by_default)
    yield row("random play, gymnax CartPole with our XLA options", "steps/CPU-second", tuned)
    yield row(
        "random play, cartpole to gymnax at its better options",
        "ratio",
        ratios(cartpole, by_default, tuned),
        at_least=1.0,
    )
    yield row(
        "random play, cartpole to gymnax, both at default options", "ratio", ratios(plain, by_default), at_least=1.0
    )
    for (name, fewest), found in zip(PLAY.items(), others, strict=True):
        yield row(f"random play, {name}", "steps/CPU-second", found, at_least=fewest)


def ppo(runs: int) -> Iterator[Row]:
    """Training on CartPole, compilation apart, against one compiled scan over updates with the same sizes."""
    jobs = ("ppo", "cartpole", "ours"), ("ppo", "gymnax", "default"), ("ppo", "gymnax", "ours")
    compiled, (ours, by_default, tuned) = in_turns(runs, *jobs)
    yield row("PPO on CartPole", "steps/CPU-second", ours)
    yield row("PPO on CartPole, peer", "steps/CPU-second", by_default)
    yield row("PPO on CartPole, peer with our XLA options", "steps/CPU-second", tuned)
    yield row("PPO on CartPole, to the peer at its own options", "ratio", ratios(ours, by_default), at_least=1.0)
    yield row(
        "PPO on CartPole, to the peer at its better options", "ratio", ratios(ours, by_default, tuned), at_least=1.0
    )
    names = ("PPO on CartPole", "PPO on CartPole, peer", "PPO on CartPole, peer with our XLA options")
    for name, seconds in zip(names, compiled, strict=True):
        yield row(f"{name}: import, compilation and first run", "CPU-seconds", [seconds])


def scoring(runs: int) -> Iterator[Row]:
    """Scoring 256 episodes over the wire."""
    _, figures = in_turns(runs, *(("scoring", name, "ours") for name in COLD))
    for name, found in zip(COLD, figures, strict=True):
        yield row(
            f"scoring 256 episodes beyond the environment's steps, {name}", "wall seconds", found, at_most=SCORING
        )


def reference_load() -> float:
    """CPU-seconds of a fixed load: it tells a slow program from a machine that others slow at the time."""
    before, digest = os.times(), hashlib.sha256()
    for _ in range(LOAD_MIB):
        digest.update(bytes(1 << 20))
    after = os.times()
    return after.user + after.system - before.user - before.system


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    info = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", info.read_text()) if info.exists() else []
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg()}


def show(table: list[Row], part: str, found: Row) -> None:
    """Adds a line to the table and prints it."""
    table.append({"part": part, **found})
    verdict = {True: "met", False: "MISSED"}.get(found.get("met"), "")  # type: ignore[arg-type]
    print(f"{found['median']:>12} {found['unit']:<17} {verdict:<7} {found['row']}", file=sys.stderr)


def main() -> int:
    """Measures and prints; the exit code is 1 when a target is missed."""
    rows = {
        "commands": lambda: whole_commands(COLD_RUNS, RUNS),
        "rollout": lambda: rollout(RUNS),
        "ppo": lambda: ppo(RUNS),
        "scoring": lambda: scoring(RUNS),
    }
    parser = argparse.ArgumentParser(description="Measures the performance targets and prints JSON.")
    parser.add_argument(
        "--only", action="append", choices=rows, metavar="ROW", help=f"one of {', '.join(rows)}; may be repeated"
    )
    chosen = parser.parse_args().only or list(rows)
    before, table, loads = machine(), [], [reference_load()]
    for name in chosen:
        for found in rows[name]():
            show(table, name, found)
        loads.append(reference_load())
    show(table, "machine", row(f"reference load, SHA-256 of {LOAD_MIB} MiB, between the parts", "CPU-seconds", loads))
    document = {"format": "evalxrl.benchmark/2", "machine": before | {"load_after": os.getloadavg()}, "rows": table}
    print(json.dumps(document, indent=2))
    return 0 if all(found.get("met", True) for found in table) else 1


if __name__ == "__main__":
    sys.exit(main())

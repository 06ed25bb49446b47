"""Recomputes H1, H2, H3 and lifts from a scores.csv with the package `evalxrl`, and prints tables.

    python examples/rerun_hypotheses.py examples/scores.csv
    python examples/rerun_hypotheses.py runs/pilot/scores.csv --csv expected.csv

With --csv, the numbers that rerun_hypotheses.R recomputes with base R are written as well.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import evalxrl
from evalxrl import NotComputed, PValue

RESERVED = ("no-method", "cheat-oracle", "optimal-repair", "placebo")
REQUIRED = ("malfunction", "method", "replication", "raw")


class Row(NamedTuple):
    """One session."""

    coder: str
    invocations: str
    malfunction: str
    method: str
    replication: int
    block: str | None
    raw: float


class BadTable(Exception):
    """A table that cannot be read, with every reason."""


def read(path: Path) -> list[Row]:
    """Read the sessions, sorted as the command line sorts them; every bad line is reported at once."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or []
            lines = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadTable(f"{path}: {error}") from error
    lacking = [column for column in REQUIRED if column not in columns]
    if lacking:
        raise BadTable(f"{path}: no column {', '.join(lacking)}; {', '.join(REQUIRED)} are needed")
    rows, problems = [], []
    for number, line in enumerate(lines, start=2):
        try:
            rows.append(row(line))
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")
    if problems:
        raise BadTable("\n".join(problems))
    return sorted(rows, key=lambda row: (row.coder, row.invocations, row.malfunction, row.method, row.replication))


def row(line: dict[str, str]) -> Row:
    """Read one line; ``ValueError`` says which column is wrong."""
    for column in REQUIRED:
        if not line[column]:
            raise ValueError(f"{column}: empty")
    try:
        raw = float(line["raw"])
    except ValueError as error:
        raise ValueError(f"raw {line['raw']}: not a number") from error
    if not math.isfinite(raw):
        raise ValueError(f"raw {line['raw']}: not finite; a missing session is an absent row")
    if not line["replication"].isdecimal():
        raise ValueError(f"replication {line['replication']}: not a whole number from 0")
    return Row(
        line.get("coder") or "",
        line.get("invocations") or "",
        line["malfunction"],
        "+".join(sorted(line["method"].split("+"))),
        int(line["replication"]),
        line.get("block") or None,
        raw,
    )


def stratum(rows: Sequence[Row], coder: str | None, invocations: str | None) -> list[Row]:
    """Take the sessions of one coder and budget, with the reserved arms that join them."""
    own = sorted({(row.coder, row.invocations) for row in rows if row.method not in RESERVED})
    chosen = [pair for pair in own if coder in (None, pair[0]) and invocations in (None, pair[1])]
    if len(chosen) != 1:
        known = ", ".join(f"--coder {pair[0]} --invocations {pair[1]}" for pair in own)
        raise BadTable(f"{len(chosen)} strata fit; one is analysed at a time: {known or 'there is none'}")
    (pair,) = chosen
    taken = [row for row in rows if (row.coder, row.invocations) == pair]
    for arm in ("no-method", "cheat-oracle", "optimal-repair"):
        if not any(row.method == arm for row in taken):
            same = [row for row in rows if row.method == arm and row.coder == pair[0]]
            anywhere = [row for row in rows if row.method == arm] if arm == "optimal-repair" else []
            taken += same or anywhere
    return sorted(taken, key=lambda row: (row.malfunction, row.method, row.replication))


def enters(method: str) -> bool:
    """Say whether a method enters H1 and H3: a simple explanation method in default packaging."""
    return method not in RESERVED and "+" not in method and not method.endswith(("-minimal", "-rich"))


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with aligned columns."""
    lines = [list(columns), *[[cell(value) for value in row] for row in rows]]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    print(f"\n{title}")
    for line in lines:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def cell(value: object) -> str:
    """Write one value; a p-value with its integers, what is absent with its reason."""
    match value:
        case PValue(exact=True, count=int()):
            return f"{value.value:.6g} ({value.count}/{value.total})"
        case PValue(monte_carlo_error=float()):
            return f"{value.value:.6g} ± {value.monte_carlo_error:.2g}"
        case PValue():
            return f"{value.value:.6g}"
        case evalxrl.Interval():
            return f"[{value.low:.4f}, {value.high:.4f}]"
        case NotComputed(reason):
            return f"not computed: {reason}"
        case float():
            return f"{value:.4f}"
        case _:
            return str(value)


class Rerun:
    """The hypotheses of one stratum, and the numbers that R recomputes."""

    def __init__(self, rows: Sequence[Row], seed: int, permutations: int, resamples: int) -> None:
        self.rows = rows
        self.seed, self.permutations, self.resamples = seed, permutations, resamples
        self.numbers: list[list[object]] = []

    def columns(self, rows: Sequence[Row]) -> tuple[list[float], list[str], list[str]]:
        """Give score, method and malfunction of some sessions."""
        return [row.raw for row in rows], [row.method for row in rows], [row.malfunction for row in rows]

    def blocks(self, rows: Sequence[Row]) -> list[str] | None:
        """Give the blocks, if every session has one."""
        blocks = [row.block for row in rows if row.block is not None]
        return blocks if len(blocks) == len(rows) else None

    def h1(self, scale: str) -> None:
        """Print H1 on one scale."""
        rows = [row for row in self.rows if enters(row.method)]
        if not rows:
            print(f"\nH1 on {scale}: not computed: no explanation method")
            return
        found = evalxrl.interaction(
            *self.columns(rows),
            self.blocks(rows),
            scale=scale,
            permutations=self.permutations,
            resamples=self.resamples,
            seed=self.seed,
        )
        if isinstance(found, NotComputed):
            print(f"\nH1 on {scale}: {cell(found)}")
            return
        show(
            f"H1 on {scale}: SS_I = {found.decomposition.ss_interaction:.10g}",
            ["test", "role", "statistic", "p"],
            [(test.name, test.role, test.statistic, test.p) for test in found.tests],
        )
        structure = found.structure
        print("  verdict:", cell(structure) if isinstance(structure, NotComputed) else structure.word)
        literal = found.test("literal").p
        self.numbers.append(["h1", scale, "", "", "ss_interaction", found.decomposition.ss_interaction, ""])
        if isinstance(literal, PValue):
            self.numbers.append(["h1", scale, "", "", "literal_p", literal.value, literal.monte_carlo_error or ""])

    def h2(self, scale: str) -> None:
        """Print H2 on one scale."""
        found = evalxrl.oracle_gap(*self.columns(self.rows), scale=scale, resamples=self.resamples, seed=self.seed)
        if isinstance(found, NotComputed):
            print(f"\nH2 on {scale}: {cell(found)}")
            return
        rows: list[Sequence[object]] = [("all", found.gap.estimate, found.gap.percentile, found.verdict, "", "")]
        rows += [
            (gap.malfunction, gap.gap.estimate, gap.gap.percentile, gap.verdict, gap.p, gap.p_adjusted)
            for gap in found.malfunctions
        ]
        show(
            f"H2 on {scale}: optimal repair minus cheat oracle, margin {found.margin}",
            ["malfunction", "gap", "95 %", "verdict", "p", "adjusted"],
            rows,
        )

    def h3(self) -> None:
        """Print H3."""
        found = evalxrl.harm(*self.columns(self.rows), self.blocks(self.rows), seed=self.seed)
        if isinstance(found, NotComputed):
            print(f"\nH3: {cell(found)}")
            return
        rows = []
        for harm in found.cells:
            primary = harm.test("permutation_mean")
            rows.append((harm.method, harm.malfunction, harm.lift, primary.p, primary.p_adjusted, primary.discovery))
            if isinstance(primary.p, PValue) and isinstance(primary.p_adjusted, float):
                key = ["h3", "raw", harm.method, harm.malfunction]
                self.numbers.append([*key, "p", primary.p.value, primary.p.monte_carlo_error or ""])
                self.numbers.append([*key, "p_adjusted", primary.p_adjusted, ""])
        show(
            f"H3: {found.verdict}, over {found.planned_cells} planned cells at q = {found.q}",
            ["method", "malfunction", "lift", "p", "adjusted", "discovery"],
            rows,
        )
        for warning in found.warnings:
            print("  warning:", warning)

    def lifts(self, scale: str) -> None:
        """Print lifts on one scale."""
        found = evalxrl.lift(*self.columns(self.rows), scale=scale, resamples=self.resamples, seed=self.seed)
        rows: list[Sequence[object]] = []
        for method in found.methods:
            mean = method.mean
            if isinstance(mean, NotComputed):
                rows.append((method.method, mean, ""))
            else:
                rows.append((method.method, mean.estimate, mean.percentile))
        show(f"Lift on {scale} over no-method", ["method", "lift", "95 %"], rows)

    def write(self, path: Path) -> None:
        """Write the numbers for rerun_hypotheses.R."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["question", "scale", "method", "malfunction", "quantity", "value", "error"])
            writer.writerows(self.numbers)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, help="a scores.csv")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--permutations", type=int, default=9_999)
    parser.add_argument("--resamples", type=int, default=50_000)
    parser.add_argument("--coder", help="the stratum, where there are several")
    parser.add_argument("--invocations", help="the stratum, where there are several")
    parser.add_argument("--csv", type=Path, help="write the numbers that rerun_hypotheses.R recomputes")
    arguments = parser.parse_args()
    try:
        rows = stratum(read(arguments.scores), arguments.coder, arguments.invocations)
        rerun = Rerun(rows, arguments.seed, arguments.permutations, arguments.resamples)
        print(f"{arguments.scores}: {len(rows)} sessions, seed {arguments.seed}")
        for scale in ("clipped", "raw"):
            rerun.h1(scale)
        for scale in ("clipped", "raw"):
            rerun.h2(scale)
        rerun.h3()
        for scale in ("clipped", "raw"):
            rerun.lifts(scale)
        if arguments.csv:
            rerun.write(arguments.csv)
    except (BadTable, evalxrl.InputError, OSError) as error:
        print(f"rerun_hypotheses: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

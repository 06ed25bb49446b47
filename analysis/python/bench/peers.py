"""Times evalxrl against scipy, rliable and statsmodels: one process, the same data, calls in turn; prints one table.

    make bench        # builds the wheel in release, installs the locked peers, and runs this

Times are medians over repeats in which peer and evalxrl take turns, at the default number of threads; the last ratio is
that of evalxrl on one thread, measured in a process of its own. Each job checks that both computed the same thing.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Settings that tie NumPy to another machine's kernel; peers must not suffer from them."""

if any(name in os.environ for name in SLOWING):
    kept = {name: value for name, value in os.environ.items() if name not in SLOWING}
    os.execve(sys.executable, [sys.executable, *sys.argv], kept)

import evalxrl  # noqa: E402 - imported once the environment is right
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import rliable.library  # noqa: E402
import rliable.metrics  # noqa: E402
import scipy.stats  # noqa: E402
import statsmodels  # noqa: E402
import statsmodels.formula.api as formula  # noqa: E402
from statsmodels.stats.anova import anova_lm  # noqa: E402
from statsmodels.stats.inter_rater import cohens_kappa  # noqa: E402
from statsmodels.stats.power import TTestIndPower  # noqa: E402

Call = Callable[[], Any]


class Job(NamedTuple):
    """One thing that several packages compute."""

    name: str
    peers: dict[str, Call]
    ours: Call
    agree: Callable[[Any, Any], str]
    """Compares the peer's result with ours: empty, or what is wrong."""
    target: float | None
    repeats: int


def scores(seed: int, *shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw scores around .5 that differ by their first two axes."""
    rng = np.random.default_rng(seed)
    means = 0.5 + rng.normal(0.0, 0.1, (shape[0], 1, 1)) + rng.normal(0.0, 0.1, (1, shape[1], 1))
    return np.round(means + rng.normal(0.0, 0.25, shape), 4)


class Labels:
    """Session labels permuted within each malfunction, 7 × 15 × 6, 9,999 times, as scipy draws them."""

    methods, malfunctions, sessions, draws = 7, 15, 6, 9_999

    def __init__(self) -> None:
        self.table = scores(1, self.methods, self.malfunctions, self.sessions)
        self.pools = [self.table[:, k, :].ravel() for k in range(self.malfunctions)]
        self.squares = float(sum(((pool - pool.mean()) ** 2).sum() for pool in self.pools))
        self.kept: list[Any] = []

    def sums(self, *data: Any, ratio: bool) -> tuple[Any, Any]:
        """Give SS_I, and SS_I/SSE where asked for: F_I but for a constant."""
        shape = (self.malfunctions, *data[0].shape[:-1], self.methods, self.sessions)
        cells = np.stack(data).reshape(shape).mean(axis=-1)
        cells -= cells.mean(axis=-1, keepdims=True)
        centred = cells - cells.mean(axis=0)
        interaction = self.sessions * np.einsum("k...m,k...m->...", centred, centred)
        if not ratio:
            return interaction, None
        within = self.squares - self.sessions * np.einsum("k...m,k...m->...", cells, cells)
        return interaction, interaction / within

    def test(self, statistic: Call, batch: int | None) -> Any:
        """Run scipy's permutation test with a vectorised statistic."""
        return scipy.stats.permutation_test(
            self.pools,
            statistic,
            permutation_type="pairings",
            vectorized=True,
            n_resamples=self.draws,
            batch=batch,
            alternative="greater",
            axis=-1,
            rng=np.random.default_rng(7),
        )

    def literal(self, *data: Any, axis: int = -1) -> Any:
        """Give SS_I."""
        return self.sums(*data, ratio=False)[0]

    def f(self, *data: Any, axis: int = -1) -> Any:
        """Give F_I but for a constant."""
        return self.sums(*data, ratio=True)[1]

    def keeping(self, *data: Any, axis: int = -1) -> Any:
        """Give SS_I, and keep F_I aside."""
        interaction, ratio = self.sums(*data, ratio=True)
        self.kept.append(np.atleast_1d(ratio))
        return interaction

    def two_calls(self, batch: int | None) -> list[float]:
        """Give both p-values, each by its own call."""
        return [self.test(statistic, batch).pvalue for statistic in (self.literal, self.f)]

    def one_call(self, batch: int | None) -> list[float]:
        """Give both p-values from one call, whose statistic keeps the other one aside."""
        self.kept = []
        literal = self.test(self.keeping, batch).pvalue
        observed, drawn = self.kept[0], np.concatenate(self.kept[1:])
        return [literal, float((1 + np.count_nonzero(drawn >= observed * (1 - 1e-9))) / (drawn.size + 1))]

    def job(self, name: str, peer: Callable[[int | None], list[float]], tests: list[str], target: float | None) -> Job:
        """Compare with our tests of the same permutations, by their p-values; the fastest of batch 200 and none."""

        def ours() -> evalxrl.InteractionTests:
            return evalxrl.interaction(self.table, tests=tests, permutations=self.draws, seed=7)

        def agree(theirs: list[float], found: evalxrl.InteractionTests) -> str:
            for value, test in zip(theirs, found.tests, strict=True):
                p = test.p
                if not isinstance(p, evalxrl.PValue) or p.monte_carlo_error is None:
                    return f"no Monte Carlo p: {p}"
                if abs(value - p.value) > 5 * np.sqrt(2) * p.monte_carlo_error + 1e-4:
                    return f"{test.name}: p {value} and {p.value}"
            return ""

        peers: dict[str, Call] = {
            "scipy permutation_test, batch 200": lambda: peer(200),
            "scipy permutation_test, no batch": lambda: peer(None),
        }
        return Job(name, peers, ours, agree, target, 5)


def h1() -> Job:
    """Both p-values; scipy needs a call for each."""
    labels = Labels()
    both = ["literal", "session_f"]
    return labels.job("H1 literal + session_f, 7×15×6, 9,999 permutations", labels.two_calls, both, 40.0)


def h1_aside() -> Job:
    """Both p-values; scipy's statistic keeps one aside, which its interface does not foresee."""
    labels = Labels()
    return labels.job("the same, scipy keeping F_I aside in one call", labels.one_call, ["literal", "session_f"], None)


def h1_literal() -> Job:
    """One p-value."""
    labels = Labels()

    def peer(batch: int | None) -> list[float]:
        return [labels.test(labels.literal, batch).pvalue]

    return labels.job("H1 literal alone", peer, ["literal"], None)


def interquartile_mean() -> Job:
    """The interval of one method's interquartile mean, 6 sessions × 15 malfunctions, 50,000 resamples."""
    table = scores(2, 6, 15, 1)[:, :, 0]
    cells = np.ascontiguousarray(table.T)

    def peer() -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            return rliable.library.get_interval_estimates(
                {"method": table}, lambda x: np.array([rliable.metrics.aggregate_iqm(x)]), reps=50_000
            )

    def ours() -> Any:
        return evalxrl.interval(cells, statistic="iqm", resamples=50_000, seed=7)

    def agree(theirs: Any, found: Any) -> str:
        estimate, ends = theirs[0]["method"][0], theirs[1]["method"][:, 0]
        if not np.isclose(estimate, found.estimate, rtol=1e-10):
            return f"IQM {estimate} and {found.estimate}"
        close = np.allclose(ends, [found.low, found.high], atol=0.02 * float(ends[1] - ends[0]))
        return "" if close else f"ends {ends} and {[found.low, found.high]}"

    return Job("IQM interval, one method, 6×15, 50,000 resamples", {"rliable": peer}, ours, agree, 150.0, 3)


def exact_cells() -> Job:
    """The exact permutation test of means, 6 against 6, in 105 cells."""
    table = scores(3, 2, 105, 6)

    def difference(x: Any, y: Any, axis: int = -1) -> Any:
        return x.mean(axis=axis) - y.mean(axis=axis)

    def peer() -> list[float]:
        return [
            scipy.stats.permutation_test(
                (table[0, k], table[1, k]),
                difference,
                permutation_type="independent",
                vectorized=True,
                n_resamples=np.inf,
                alternative="less",
            ).pvalue
            for k in range(105)
        ]

    def ours() -> list[float]:
        return [evalxrl.two_sample_permutation(table[0, k], table[1, k], seed=7).value for k in range(105)]

    def agree(theirs: list[float], found: list[float]) -> str:
        return "" if np.allclose(theirs, found, rtol=1e-12) else f"p {theirs} and {found}"

    return Job("exact 6v6 permutation, 105 cells", {"scipy permutation_test": peer}, ours, agree, 300.0, 5)


def parametric() -> Job:
    """F_I and its p from two least-squares fits, 7 × 15 × 6."""
    table = scores(1, 7, 15, 6)
    method, malfunction, _ = np.indices(table.shape)
    frame = pd.DataFrame({"y": table.ravel(), "m": method.ravel().astype(str), "k": malfunction.ravel().astype(str)})

    def peer() -> Any:
        return anova_lm(formula.ols("y ~ m + k", frame).fit(), formula.ols("y ~ m * k", frame).fit())

    def ours() -> Any:
        return evalxrl.interaction(table, tests=["parametric"], seed=7)

    def agree(theirs: Any, found: Any) -> str:
        test = found.test("parametric")
        same = np.allclose([theirs["F"][1], theirs["Pr(>F)"][1]], [test.statistic, test.p.value], rtol=1e-8)
        return "" if same else f"{theirs} and {test}"

    return Job("F of the interaction, 7×15×6", {"statsmodels anova_lm": peer}, ours, agree, None, 5)


def kappa() -> Job:
    """Cohen's kappa with its standard error."""
    table = [[7, 0, 2], [2, 9, 6], [4, 1, 9]]

    def agree(theirs: Any, found: Any) -> str:
        same = np.allclose([theirs.kappa, theirs.std_kappa], [found.kappa, found.standard_error], rtol=1e-10)
        return "" if same else f"{theirs.kappa} and {found.kappa}"

    peers: dict[str, Call] = {"statsmodels cohens_kappa": lambda: cohens_kappa(np.array(table))}
    return Job("Cohen's kappa, 3×3", peers, lambda: evalxrl.kappa(table), agree, None, 25)


def power() -> Job:
    """Sessions per arm of the one-sided t test."""

    def peer() -> Any:
        return TTestIndPower().solve_power(0.5, alpha=0.05, power=0.8, alternative="larger")

    def agree(theirs: Any, found: Any) -> str:
        return "" if np.isclose(theirs, found, rtol=1e-6) else f"{theirs} and {found}"

    ours: Call = lambda: evalxrl.two_sample_t_power(0.5, power=0.8)  # noqa: E731 - one expression
    return Job("sessions for power .8 at d = .5", {"statsmodels solve_power": peer}, ours, agree, None, 5)


JOBS: dict[str, Callable[[], Job]] = {
    "h1": h1,
    "h1-aside": h1_aside,
    "h1-literal": h1_literal,
    "iqm": interquartile_mean,
    "exact": exact_cells,
    "parametric": parametric,
    "kappa": kappa,
    "power": power,
}


def timed(call: Call) -> tuple[float, Any]:
    """Give the seconds of one call and its result."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def own_times(names: list[str]) -> dict[str, float]:
    """Time our side alone: medians of 15 calls after one that counts for nothing."""
    medians = {}
    for name in names:
        job = JOBS[name]()
        job.ours()
        medians[name] = statistics.median(timed(job.ours)[0] for _ in range(15))
    return medians


def one_thread(names: list[str]) -> dict[str, float]:
    """Time our side in a process of one thread."""
    command = [sys.executable, __file__, "--own-times", *names]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    medians: dict[str, float] = json.loads(done.stdout)
    return medians


def measure(job: Job) -> tuple[str, float, float]:
    """Give the fastest peer's name and median, and our median; both take turns."""
    found = job.ours()
    for name, peer in job.peers.items():
        wrong = job.agree(peer(), found)
        if wrong:
            print(f"DISAGREES: {job.name}: {name}: {wrong}")
    peers: dict[str, list[float]] = {name: [] for name in job.peers}
    ours = []
    for _ in range(job.repeats):
        for name, peer in job.peers.items():
            peers[name].append(timed(peer)[0])
            ours.append(timed(job.ours)[0])
    medians = {name: statistics.median(times) for name, times in peers.items()}
    best = min(medians, key=lambda name: medians[name])
    return best, medians[best], statistics.median(ours)


def seconds(time_taken: float) -> str:
    """Write a time in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if time_taken >= size:
            return f"{time_taken / size:.3g} {unit}"
    return f"{time_taken / 1e-6:.3g} µs"


def kernel() -> str:
    """Name the kernel that NumPy's OpenBLAS chose."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    for path in folder.glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "openblas_get_corename"):
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                return str(function().decode())
    return "unknown"


def show(rows: list[list[str]]) -> None:
    """Print a table with aligned columns."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    """Measure every job, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)}; none: all")
    parser.add_argument("--own-times", action="store_true", help="print our medians as JSON, and nothing else")
    arguments = parser.parse_args()
    names = arguments.jobs or list(JOBS)
    if arguments.own_times:
        print(json.dumps(own_times(names)))
        return
    packages = {"numpy": np, "scipy": scipy, "pandas": pd, "statsmodels": statsmodels}
    versions = ", ".join(f"{name} {package.__version__}" for name, package in packages.items())
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} processors, OpenBLAS kernel {kernel()}")
    alone = one_thread(names)
    rows = [["job", "peer", "peer time", "ours", "ratio", "one thread", "ratio one thread", "target"]]
    for name in names:
        job = JOBS[name]()
        peer, theirs, ours = measure(job)
        ratios = [f"{theirs / ours:.0f}×", seconds(alone[name]), f"{theirs / alone[name]:.0f}×"]
        target = "" if job.target is None else f"≥ {job.target:.0f}×"
        rows.append([job.name, peer, seconds(theirs), seconds(ours), *ratios, target])
    show(rows)


if __name__ == "__main__":
    try:
        main()
    except Exception:  # a benchmark reports; it does not fail a build
        traceback.print_exc()

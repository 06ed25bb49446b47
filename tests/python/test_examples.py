"""The examples run, refuse clearly, and agree with base R."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from golden import cases, tidy

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = ["--permutations", "1999", "--resamples", "500"]


def rerun(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the Python example."""
    command: list[str | Path] = [sys.executable, EXAMPLES / "rerun_hypotheses.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def in_r(scores: Path, expected: Path) -> subprocess.CompletedProcess[str]:
    """Run the R example, or skip the test where R is not there."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("Rscript is not there; base R would confirm the numbers (Debian: r-base-core)")
    command: list[str | Path] = [rscript, "--vanilla", EXAMPLES / "rerun_hypotheses.R", scores, expected]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_table_is_what_its_script_writes(tmp_path: Path) -> None:
    again = tmp_path / "scores.csv"
    subprocess.run([sys.executable, EXAMPLES / "make_scores.py", "--out", again], check=True)
    assert again.read_bytes() == (EXAMPLES / "scores.csv").read_bytes()


def test_the_example_prints_every_hypothesis() -> None:
    done = rerun(EXAMPLES / "scores.csv", *FEW)
    assert done.returncode == 0, done.stderr
    titles = ["H1 on clipped", "H1 on raw", "H2 on clipped", "H3: harm_found", "Lift on clipped", "Lift on raw"]
    assert all(title in done.stdout for title in titles)
    assert "verdict: structured" in done.stdout
    (harmed,) = [line for line in done.stdout.splitlines() if line.endswith("True")]
    assert harmed.split()[:2] == ["policy-summary", "short-sight"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("method,malfunction,raw\n", "no column replication"),
        ("malfunction,method,replication,raw\nk,a,0,nan\nk,a,1,much\n", r":2: raw nan: not finite"),
        ("malfunction,method,replication,raw\nk,a,0,nan\nk,a,1,much\n", r":3: raw much: not a number"),
        ("malfunction,method,replication,raw\nk,no-method,0,0.5\n", "0 strata fit"),
        ("malfunction,method,replication,coder,raw\nk,a,0,x,0.5\nk,a,0,y,0.5\n", "2 strata fit.*--coder x"),
    ],
)
def test_a_bad_table_is_refused_line_by_line(tmp_path: Path, text: str, message: str) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text(text)
    done = rerun(bad)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stderr), done.stderr


def test_an_absent_table_is_refused(tmp_path: Path) -> None:
    done = rerun(tmp_path / "none.csv")
    assert done.returncode == 1
    assert "none.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_base_r_confirms_the_example(tmp_path: Path) -> None:
    expected = tmp_path / "expected.csv"
    assert rerun(EXAMPLES / "scores.csv", *FEW, "--csv", expected).returncode == 0
    done = in_r(EXAMPLES / "scores.csv", expected)
    assert done.returncode == 0, done.stderr
    assert "52 of 52 numbers agree" in done.stderr


def test_base_r_enumerates_small_reference_tables_to_the_same_p(tmp_path: Path) -> None:
    enumerated = [case for case in cases("h1_balanced.json") if case.get("exact")]
    chosen = [case for case in enumerated if case["exact"]["session_perm_SS_exact"]["total"] <= 20_000]
    assert chosen
    for case in chosen:
        scores, expected = tmp_path / "scores.csv", tmp_path / "expected.csv"
        arrays = tidy(case["Y"])
        with scores.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["malfunction", "method", "replication", "raw"])
            rows = zip(arrays["malfunction"], arrays["method"], arrays["block"], arrays["score"], strict=True)
            writer.writerows([k, m, b[1:], repr(float(y))] for k, m, b, y in rows)
        assert rerun(scores, *FEW, "--csv", expected).returncode == 0
        with expected.open(newline="") as file:
            (p,) = [
                float(row["value"])
                for row in csv.DictReader(file)
                if (row["scale"], row["quantity"]) == ("raw", "literal_p")
            ]
        assert p == pytest.approx(case["exact"]["session_perm_SS_exact"]["p"], rel=1e-12)
        done = in_r(scores, expected)
        assert done.returncode == 0, done.stderr

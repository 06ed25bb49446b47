"""Output stays within 100 columns, keeps three decimals, and says what is not a number."""

from __future__ import annotations

import json
import math

from xrl_common import document
from xrl_common.estimates import Estimate
from xrl_common.tables import Column, header, number, table, thousandths


def test_numbers_have_three_decimals_and_no_negative_zero() -> None:
    written = [number(value) for value in (1.23456, -0.0001, math.nan, -math.inf)]
    assert written == ["1.235", "0.000", "nan", "-inf"]


def test_small_numbers_are_shown_in_thousandths_and_others_as_they_are() -> None:
    assert thousandths("x", [0.004, -0.0005]) == Column("x /1000", [4.0, -0.5])
    assert thousandths("x", [0.004, 0.5]) == Column("x", [0.004, 0.5])
    assert thousandths("x", [0.0, math.nan]).heading == "x"


def test_a_wide_table_is_split_below_itself_and_repeats_its_row_names() -> None:
    columns = [Column(f"component {i}", [Estimate(-1234.5, 10.0), Estimate(0.0, 0.0)]) for i in range(9)]
    lines = table(Column("action", ["up", "down *"]), columns)
    assert max(len(line) for line in lines) <= 100
    assert [line.split()[0] for line in lines if line] == ["action", "up", "down"] * 3
    assert lines.count("") == 2


def test_a_long_header_continues_on_further_header_lines() -> None:
    lines = header(["tool", "x" * 60, "y" * 60], ["a remark"])
    assert all(line.startswith("# ") and len(line) <= 100 for line in lines)
    assert lines[-1] == "# a remark"


def test_the_document_is_json_even_where_numbers_are_not_finite() -> None:
    read = json.loads(document.text({"q": Estimate(math.nan, 0.1), "rows": (1, [math.inf])}))
    assert read == {"format": "evalxrl.tool/1", "q": {"mean": "nan", "se": 0.1}, "rows": [1, ["inf"]]}

"""The rule language of foil policies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviation.foil import fires
from deviation.rule import Condition, NotARule, Rule, parse

NAMES = ("near_pit", "at_wall", "notable", "android")


@pytest.mark.parametrize(
    ("text", "tests", "action"),
    [
        ("if at_wall: left", [("at_wall", True)], "left"),
        ("  if   at_wall   and near_pit :  up ", [("at_wall", True), ("near_pit", True)], "up"),
        ("if not at_wall and notable: 2,0,3,1", [("at_wall", False), ("notable", True)], "2,0,3,1"),
        ("if android: 0.1,-0.4", [("android", True)], "0.1,-0.4"),
    ],
)
def test_a_rule_is_read(text: str, tests: list[tuple[str, bool]], action: str) -> None:
    assert parse(text, NAMES) == Rule(tuple(Condition(*test) for test in tests), action)


@pytest.mark.parametrize(
    "text",
    ["", "left", "at_wall: left", "if: left", "if at_wall", "if at_wall:", "if at_wall or near_pit: up", "if and: up"],
)
def test_another_form_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(NotARule, match=re.escape("if PREDICATE [and PREDICATE ...]: ACTION")):
        parse(text, NAMES)


def test_an_unknown_predicate_is_refused_with_the_list() -> None:
    with pytest.raises(NotARule, match="no predicate 'at_sea'; predicates are near_pit, at_wall, notable, android"):
        parse("if at_wall and at_sea: left", NAMES)


rules = st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), min_size=1, max_size=5).map(
    lambda tests: Rule(tuple(Condition(*test) for test in tests), "left")
)


@given(rules)
def test_what_is_written_is_read_as_the_same_rule(rule: Rule) -> None:
    assert parse(str(rule), NAMES) == rule


@given(rules, st.lists(st.booleans(), min_size=4, max_size=4))
def test_a_rule_applies_exactly_where_each_of_its_conditions_holds(rule: Rule, truths: list[bool]) -> None:
    holds = dict(zip(NAMES, truths, strict=True))
    wanted = all(holds[test.predicate] == test.wanted for test in rule.tests)
    assert bool(fires(np.array(truths), np.array(rule.demands(NAMES)))) == wanted

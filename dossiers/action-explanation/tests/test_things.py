"""Addresses of parameters and entries of the state, found by looking at dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interrogation import things
from xrl_common.failure import ToolFailure


@dataclass(frozen=True)
class Params:
    """Numbers, one that the state has too, and what is no single number."""

    pit: Any = -5.0
    level: Any = field(default_factory=lambda: np.float32(0.5))
    horizon: Any = 50
    open: Any = field(default_factory=lambda: np.bool_(True))
    table: Any = field(default_factory=lambda: np.zeros(3))
    title: str = "words"


@dataclass(frozen=True)
class State:
    """Arrays of several ranks."""

    queue: Any = field(default_factory=lambda: np.arange(8, dtype=np.float32).reshape(2, 2, 2))
    fan: Any = field(default_factory=lambda: np.zeros(3, np.float32))
    phase: Any = field(default_factory=lambda: np.zeros(1, np.int32))
    level: Any = field(default_factory=lambda: np.float32(2.0))
    t: Any = field(default_factory=lambda: np.int32(4))


ALL = things.things(Params(), State())


def test_things_are_scalars_of_the_parameters_and_entries_of_the_state() -> None:
    addresses = [thing.address for thing in ALL]
    assert addresses[:4] == ["pit", "params.level", "horizon", "open"]
    assert addresses[4:6] == ["queue[0,0,0]", "queue[0,0,1]"]
    assert addresses[-6:] == ["fan[0]", "fan[1]", "fan[2]", "phase[0]", "state.level", "t"]
    assert len(addresses) == len(set(addresses)) == 4 + 8 + 3 + 1 + 2


def test_families_join_the_entries_of_an_array() -> None:
    assert list(things.families(Params(), State())) == [
        "pit",
        "params.level",
        "horizon",
        "open",
        "queue[0..1,0..1,0..1]",
        "fan[0..2]",
        "phase[0]",
        "state.level",
        "t",
    ]


@given(st.sampled_from(ALL), st.integers(-100, 100))
def test_what_is_put_is_found_again_and_nothing_else_changes(thing: things.Thing, number: int) -> None:
    value = float(number % 2 if thing.address == "open" else number)
    assert things.find(Params(), State(), thing.address) == thing
    params, state = thing.put(Params(), State(), value)
    assert thing.value(params, state) == value
    for other in ALL:
        if other != thing:
            assert other.value(params, state) == other.value(Params(), State())
    for before, after in ((Params(), params), (State(), state)):
        for name in before.__dataclass_fields__:
            if name != "title":
                assert np.asarray(getattr(before, name)).dtype == np.asarray(getattr(after, name)).dtype
                assert np.shape(getattr(before, name)) == np.shape(getattr(after, name))


def test_words_before_a_name_say_where_it_lies() -> None:
    assert things.find(Params(), State(), "params.pit").address == "pit"
    assert things.find(Params(), State(), "state.fan[ 2 ]").address == "fan[2]"
    assert things.find(Params(), State(), "state.level").place == things.STATE


@pytest.mark.parametrize(
    "text",
    ["tree", "level", "state.pit", "params.t", "fan", "fan[3]", "fan[-1]", "queue[0,1]", "table", "title", "", "["],
)
def test_an_absent_thing_is_refused_with_the_names_there_are(text: str) -> None:
    with pytest.raises(ToolFailure, match=r"things are pit, params\.level, horizon, ") as caught:
        things.find(Params(), State(), text)
    assert caught.value.code == 2
    assert "queue[0..1,0..1,0..1], fan[0..2], phase[0], state.level, t" in str(caught.value)


def test_a_thing_with_a_value_is_read() -> None:
    assert [(thing.address, value) for thing, value in (things.parse(Params(), State(), "fan[1] = -0.5"),)] == [
        ("fan[1]", -0.5)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pit", "gives no value; write pit=NUMBER"),
        ("pit=", "gives no value"),
        ("pit=nan", "gives no value"),
        ("pit=high", "gives no value"),
    ],
)
def test_a_thing_without_a_number_is_refused(text: str, message: str) -> None:
    with pytest.raises(ToolFailure, match=message):
        things.parse(Params(), State(), text)


@pytest.mark.parametrize(
    ("address", "value", "message"),
    [
        ("t", 1.5, "t is a whole number"),
        ("t", 1e12, "t is a whole number"),
        ("phase[0]", -0.1, "is a whole number"),
        ("horizon", 0.5, "is a whole number"),
        ("open", 2.0, "is 0 or 1"),
        ("fan[0]", 1e300, "is a finite number"),
    ],
)
def test_a_value_that_the_type_does_not_hold_is_refused(address: str, value: float, message: str) -> None:
    with pytest.raises(ToolFailure, match=message) as caught:
        things.find(Params(), State(), address).put(Params(), State(), value)
    assert caught.value.code == 2

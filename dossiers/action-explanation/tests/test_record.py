"""Dialogues between calls: two at once, one killed, one broken off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interrogation import protocol, record
from interrogation.protocol import ROUNDS, Dialogue, Round, Stage
from xrl_common.failure import ToolFailure

PLACES = [str(Path(__file__).parent.parent / "src"), str(Path(__file__).parents[2] / "_shared")]

ASK = """
import sys
from interrogation import protocol, record
from interrogation.protocol import Round
from xrl_common.failure import ToolFailure
try:
    _, number = record.change(lambda d: protocol.asked(d, Round(sys.argv[1], "about", ("answer",))))
    print(number)
except ToolFailure as failure:
    sys.exit(failure.code)
"""

WRITE = """
import itertools
from dataclasses import replace
from interrogation import record
for number in itertools.count():
    record.change(lambda d: (replace(d, question=f"{number} " + "x" * 200_000), None))
    print(number, flush=True)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def start(program: str, *argv: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PLACES)}
    return subprocess.Popen(
        [sys.executable, "-B", "-c", program, *argv], env=environment, stdout=subprocess.PIPE, text=True
    )


def test_nothing_kept_is_one_empty_dialogue(place: Path) -> None:
    assert record.read() == (Dialogue(),)
    assert not place.exists()


def test_nothing_is_written_where_nothing_changes(place: Path) -> None:
    record.change(lambda dialogue: (dialogue, None))
    assert not (place / record.NAME).exists()


TEXT = st.text(max_size=20)
ROUND = st.builds(Round, TEXT, TEXT, st.lists(TEXT, max_size=3).map(tuple), st.lists(TEXT, max_size=2).map(tuple))
DIALOGUE = st.builds(
    Dialogue,
    TEXT,
    st.none() | st.integers(0, 63),
    st.lists(TEXT, max_size=2).map(tuple),
    st.lists(ROUND, max_size=5).map(tuple),
    st.booleans(),
    st.none() | TEXT,
)


@given(DIALOGUE)
def test_what_is_kept_is_read_again(dialogue: Dialogue) -> None:
    record.change(lambda current: (dialogue, None))
    assert record.read()[-1] == dialogue


def test_an_act_that_fails_leaves_everything_as_it_was() -> None:
    record.change(lambda dialogue: protocol.noted(dialogue, "all", True))
    before = record.read()
    with pytest.raises(ToolFailure):
        record.change(lambda dialogue: protocol.noted(dialogue, "more"))
    assert record.read() == before


def test_a_new_dialogue_stands_behind_the_others_unless_the_last_is_untouched() -> None:
    def always(current: Dialogue) -> bool:
        return True

    assert len(record.change(lambda dialogue: (dialogue, None), always)[0]) == 1
    record.change(lambda dialogue: protocol.noted(dialogue, "a guess"))
    for _ in range(2):
        book, _ = record.change(lambda dialogue: (dialogue, None), always)
        assert [dialogue.opening for dialogue in book] == [("a guess",), ()]
        assert record.read() == book


def test_calls_at_once_take_turns_and_get_five_rounds_together() -> None:
    calls = [start(ASK, f"query {number}") for number in range(8)]
    outputs = [call.communicate()[0] for call in calls]
    codes = sorted(call.returncode for call in calls)
    assert codes == [0] * ROUNDS + [4] * 3
    assert sorted(int(output) for output in outputs if output) == [1, 2, 3, 4, 5]
    (dialogue,) = record.read()
    assert len({kept.query for kept in dialogue.rounds}) == ROUNDS


def test_the_same_query_at_once_is_one_round() -> None:
    calls = [start(ASK, "the query") for _ in range(4)]
    assert [call.communicate()[0] for call in calls] == ["1\n"] * 4
    assert len(record.read()[0].rounds) == 1


def test_a_call_that_is_killed_leaves_a_whole_file_and_no_lock(place: Path) -> None:
    for pause in (0.0, 0.01, 0.02, 0.03, 0.05):
        call = start(WRITE)
        assert call.stdout is not None
        written = int(call.stdout.readline())
        time.sleep(pause)
        os.kill(call.pid, signal.SIGKILL)
        rest = call.communicate()[0].split()
        told = max([written, *map(int, rest)])
        (dialogue,) = record.read()
        number = int(dialogue.question.partition(" ")[0])
        assert number in (told, told + 1)
        assert len(dialogue.question) == len(str(number)) + 1 + 200_000
    half = place / f".{record.NAME}.half"
    half.write_text("{")
    assert record.change(lambda dialogue: protocol.noted(dialogue, "after"))[1] == "note before round 1"
    assert sorted(path.name for path in place.iterdir()) == [record.NAME, record.LOCK]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": "other/1", "dialogues": []}',
        '{"format": "evalxrl.axis-dialogues/1"}',
        '{"format": "evalxrl.axis-dialogues/1", "dialogues": [{}]}',
        '{"format": "evalxrl.axis-dialogues/1", "dialogues": [3]}',
    ],
)
def test_a_file_that_is_none_of_ours_is_named_with_code_3(place: Path, text: str) -> None:
    place.mkdir()
    (place / record.NAME).write_text(text)
    for act in (record.read, lambda: record.change(lambda dialogue: (dialogue, None))):
        with pytest.raises(ToolFailure, match=record.NAME) as caught:
            act()
        assert caught.value.code == 3
    assert (place / record.NAME).read_text() == text


def test_the_file_says_its_format(place: Path) -> None:
    record.change(lambda dialogue: protocol.noted(dialogue, "a guess"))
    assert json.loads((place / record.NAME).read_text())["format"] == record.FORMAT


def test_without_a_directory_reading_is_possible_and_keeping_ends_with_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XRL_STATE")
    assert record.read()[0].stage is Stage.QUERY
    for act in (record.ready, lambda: record.change(lambda dialogue: protocol.noted(dialogue, "a"))):
        with pytest.raises(ToolFailure, match="XRL_STATE is not set") as caught:
            act()
        assert caught.value.code == 3

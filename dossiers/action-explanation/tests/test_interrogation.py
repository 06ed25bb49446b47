"""Runs in words, addresses of things, and the rounds of the protocol."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interrogation.protocol import Damaged, RoundsUsed, Transcript, prompt, read, write
from interrogation.things import UnknownThing, find, listed, with_value
from interrogation.verbal import first_difference, macro_actions, told, wrapped


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([(), ("p",)])), max_size=30), st.integers(1, 3))
def test_runs_cover_every_step_once_in_order_and_neighbours_differ(steps: list, complexity: int) -> None:
    actions, predicates = [a for a, _ in steps], [p for _, p in steps]
    runs = macro_actions(actions, predicates, 4, complexity)
    covered = [step for run in runs for step in range(run.first, run.last + 1)]
    assert covered == list(range(4, 4 + len(steps)))
    assert all(actions[step - 4] == run.action for run in runs for step in range(run.first, run.last + 1))
    for one, other in pairwise(runs):
        assert one.action != other.action or (complexity > 1 and one.predicates != other.predicates)


def test_runs_are_told_as_documented() -> None:
    actions = ["down", "down", "right", "down", "down", "right", "right", "right"]
    text = told(macro_actions(actions, [()] * 8, 0, 1), 1)
    assert text == "steps 0-1 down x2, step 2 right, steps 3-4 down x2, steps 5-7 right x3"
    many = told(macro_actions(["a", "b"] * 20, [()] * 40, 0, 1), 1)
    assert many.endswith("and 32 more runs")


def test_the_first_difference_is_counted_from_the_first_step() -> None:
    assert first_difference("abc", "abd", 5) == 7
    assert first_difference("abc", "abc", 5) is None
    assert first_difference("abc", "ab", 5) == 7


@given(st.lists(st.text("xy,", min_size=1, max_size=30), max_size=40))
def test_no_wrapped_line_is_longer_than_asked(words: list[str]) -> None:
    lines = wrapped("title", " ".join(words))
    assert all(len(line) <= 100 for line in lines)
    assert "".join("".join(lines).split()) == "".join(["title", *words])


@dataclass(frozen=True)
class Held:
    pit: float
    queue: np.ndarray
    on: bool = True


@dataclass(frozen=True)
class Other:
    slip: float = 0.1


PARAMS, STATE = Held(-5.0, np.zeros(2, np.float32)), Held(1.0, np.arange(6, dtype=np.int32).reshape(2, 3))


def test_a_thing_is_found_changed_and_of_its_own_type() -> None:
    thing = find("queue[1]", PARAMS, STATE)
    assert (thing.owner, thing.address, thing.value) == ("params", "queue[1]", 0.0)
    params, state = with_value(find("pit", PARAMS, STATE), 0, PARAMS, STATE)
    assert params.pit == 0 and state is STATE and PARAMS.pit == -5.0
    _, state = with_value(find("queue[1,2]", Other(), STATE), 9, Other(), STATE)
    assert state.queue[1, 2] == 9 and state.queue.dtype == np.int32 and STATE.queue[1, 2] == 5


@pytest.mark.parametrize("address", ["", "pit[0]", "queue", "queue[2]", "queue[0,0,0,0]", "depth", "queue[-1]", "a b"])
def test_an_absent_thing_is_refused_with_what_there_is(address: str) -> None:
    with pytest.raises(UnknownThing, match=r"things are pit, queue\[0\.\.1\]"):
        find(address, PARAMS, STATE)
    assert listed(PARAMS, STATE) == ["pit", "queue[0..1]", "on"]


def test_five_rounds_two_prompts_each_and_a_synthesis() -> None:
    transcript, prompts = Transcript(), []
    while transcript.asks != "nothing":
        prompts.append(prompt(transcript))
        transcript = (
            transcript.query(f"what time {transcript.rounds}", "an answer")
            if transcript.asks == "query"
            else transcript.note(f"note {len(prompts)}")
        )
    assert len(prompts) == 2 * 5 + 1
    assert prompts[0].startswith("Round 1 of 5. Read") and prompts[-1].startswith("Synthesis.")
    assert "end" in prompt(transcript)
    with pytest.raises(RoundsUsed, match="five rounds used"):
        transcript.query("whatif", "")


def test_rounds_end_early_when_the_reader_says_so() -> None:
    transcript = Transcript(done=True).query("what time 0", "x").note("n")
    assert transcript.asks == "synthesis"
    assert transcript.note("all").asks == "nothing"


def test_a_transcript_survives_being_stored_and_a_damaged_one_is_told() -> None:
    transcript = Transcript().query("what", "a\nb").note("c")
    assert read(write(transcript)) == transcript
    assert read(None) == Transcript()
    for text in ("{", "[]", '{"format": "other"}', '{"format": "evalxrl.axis/1", "entries": [1], "done": false}'):
        with pytest.raises(Damaged):
            read(text)

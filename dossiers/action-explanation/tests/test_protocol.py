"""The protocol of rounds as a state machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interrogation import prompts, protocol
from interrogation.protocol import ROUNDS, Dialogue, Round, Stage
from xrl_common.failure import ToolFailure


def round_of(name: str) -> Round:
    return Round(f"what(time={name})", "episode 0", (f"answer {name}",))


def spent_dialogue(notes: bool = True) -> Dialogue:
    dialogue = Dialogue()
    for number in range(ROUNDS):
        dialogue, _ = protocol.asked(dialogue, round_of(str(number)))
        if notes:
            dialogue, _ = protocol.noted(dialogue, f"note {number}")
    return dialogue


def test_a_whole_dialogue_alternates_queries_and_explanations_and_ends_with_a_synthesis() -> None:
    dialogue, stages = Dialogue(), []
    for number in range(ROUNDS):
        stages.append((dialogue.stage, dialogue.place))
        dialogue, at = protocol.asked(dialogue, round_of(str(number)))
        assert at == number + 1
        stages.append((dialogue.stage, dialogue.place))
        dialogue, kept = protocol.noted(dialogue, f"note {number}")
        assert kept == f"interim explanation of round {at}"
    stages.append((dialogue.stage, dialogue.place))
    dialogue, kept = protocol.noted(dialogue, "all")
    assert kept == "synthesis"
    assert dialogue.stage is Stage.COMPLETE
    rounds = [f"round {k} of 5" for k in range(1, 6)]
    wanted = [(stage, place) for place in rounds for stage in (Stage.QUERY, Stage.EXPLANATION)]
    assert stages == [*wanted, (Stage.SYNTHESIS, "round 5 of 5")]
    assert len(stages) == 2 * ROUNDS + 1


@pytest.mark.parametrize("notes", [True, False])
def test_the_sixth_query_without_a_synthesis_is_refused_with_code_4(notes: bool) -> None:
    dialogue = spent_dialogue(notes)
    with pytest.raises(ToolFailure, match="five rounds used") as caught:
        protocol.asked(dialogue, round_of("5"))
    assert caught.value.code == 4
    assert dialogue.refusal("what(time=5)", "episode 0").code == 4


def test_a_query_after_the_rounds_were_ended_is_refused_with_code_4() -> None:
    dialogue = protocol.ended(protocol.asked(Dialogue(), round_of("0"))[0])
    with pytest.raises(ToolFailure, match="ended after 1 of 5") as caught:
        protocol.asked(dialogue, round_of("1"))
    assert caught.value.code == 4
    assert dialogue.stage is Stage.SYNTHESIS


def test_the_same_query_with_the_same_answer_keeps_its_round_even_when_none_is_left() -> None:
    dialogue = spent_dialogue()
    assert protocol.asked(dialogue, round_of("2")) == (dialogue, 3)
    assert dialogue.refusal("what(time=2)", "episode 0") is None


def test_the_same_query_with_another_answer_is_a_round_of_its_own() -> None:
    dialogue, _ = protocol.asked(Dialogue(), round_of("0"))
    changed = Round("what(time=0)", "episode 0", ("another",))
    assert protocol.asked(dialogue, changed)[1] == 2
    elsewhere = Round("what(time=0)", "episode 1", ("answer 0",))
    assert protocol.asked(dialogue, elsewhere)[1] == 2
    with pytest.raises(ToolFailure, match="five rounds used"):
        protocol.asked(spent_dialogue(), changed)


def test_a_text_said_again_changes_nothing() -> None:
    for start in (Dialogue(), protocol.asked(Dialogue(), round_of("0"))[0]):
        once, kept = protocol.noted(start, "so")
        assert protocol.noted(once, "so") == (once, kept)
    spent = spent_dialogue()
    assert protocol.noted(spent, "note 4") == (spent, "interim explanation of round 5")
    complete, _ = protocol.noted(spent, "all")
    assert protocol.noted(complete, "all") == (complete, "synthesis")


def test_a_second_text_in_one_round_is_kept_beside_the_first() -> None:
    dialogue, _ = protocol.asked(Dialogue(), round_of("0"))
    for text in ("one", "two"):
        dialogue, _ = protocol.noted(dialogue, text)
    assert dialogue.rounds[0].notes == ("one", "two")


def test_a_text_before_any_query_is_an_opening_note() -> None:
    dialogue, kept = protocol.noted(Dialogue(), "guess")
    assert (dialogue.opening, kept) == (("guess",), "note before round 1")
    assert dialogue.stage is Stage.QUERY


def test_done_makes_a_text_the_synthesis_whatever_rounds_are_left() -> None:
    dialogue, kept = protocol.noted(protocol.asked(Dialogue(), round_of("0"))[0], "all", done=True)
    assert (kept, dialogue.synthesis, dialogue.done, dialogue.stage) == ("synthesis", "all", True, Stage.COMPLETE)
    again = protocol.ended(protocol.noted(protocol.asked(Dialogue(), round_of("0"))[0], "so")[0])
    assert protocol.noted(again, "so")[1] == "synthesis"


def test_a_complete_dialogue_takes_no_other_text() -> None:
    complete, _ = protocol.noted(Dialogue(), "all", done=True)
    with pytest.raises(ToolFailure, match="axis-prompt --new") as caught:
        protocol.noted(complete, "more")
    assert caught.value.code == 2
    assert protocol.ended(complete) == complete


def test_a_complete_dialogue_takes_no_query() -> None:
    complete, _ = protocol.noted(spent_dialogue(), "all")
    with pytest.raises(ToolFailure, match="axis-prompt --new") as caught:
        protocol.asked(complete, round_of("5"))
    assert caught.value.code == 4


def test_the_episode_of_the_first_query_that_names_one_is_that_of_the_dialogue() -> None:
    dialogue, _ = protocol.asked(Dialogue(), round_of("0"), None)
    assert dialogue.episode is None
    dialogue, _ = protocol.asked(dialogue, round_of("1"), 7)
    dialogue, _ = protocol.asked(dialogue, round_of("2"), 9)
    assert dialogue.episode == 7


ACTS = st.lists(st.sampled_from(["query", "same", "note", "say again", "done", "end"]), max_size=40)


@given(ACTS)
def test_whatever_is_done_there_are_at_most_2_n_max_plus_1_prompts(acts: list[str]) -> None:
    dialogue, seen, fresh = Dialogue(), [], 0
    for act in acts:
        text = "\n".join(prompts.prompt("world", dialogue, ["context"], ["names"]))
        if dialogue.stage is not Stage.COMPLETE:
            asked_for = (dialogue.stage, dialogue.place if dialogue.stage is not Stage.SYNTHESIS else "")
            if asked_for not in seen:
                seen.append(asked_for)
        assert max(map(len, text.splitlines())) <= 100
        fresh += 1
        try:
            if act in ("query", "same"):
                dialogue, _ = protocol.asked(dialogue, round_of(str(fresh) if act == "query" else "same"))
            elif act == "end":
                dialogue = protocol.ended(dialogue)
            else:
                text = "again" if act == "say again" else f"note {fresh}"
                dialogue, _ = protocol.noted(dialogue, text, act == "done")
        except ToolFailure as failure:
            assert failure.code in (2, 4)
        assert len(dialogue.rounds) <= ROUNDS
    assert len(seen) <= 2 * ROUNDS + 1


@given(st.text(max_size=300))
def test_any_text_is_printed_in_ascii_within_the_width(text: str) -> None:
    for line in prompts.paragraph("note", text):
        assert line.isascii()
        assert line.isprintable()
        assert len(line) <= 100

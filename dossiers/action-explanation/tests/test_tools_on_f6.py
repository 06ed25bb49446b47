"""The eight tools on the fixture F6."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import axis_script
import numpy as np
import pytest
from axis_script import GREEDY, ONE_START

import exact
import laws
from axis.__main__ import TOOLS
from fixtures import F6, Params
from interrogation import record
from laws import Ask, asker, check_output, document_of
from xrl_common.failure import ToolFailure

DOSSIER = Path(__file__).parent.parent

SPECIFIED = """\
# axis-whatif  F6  episode 0  time 0  actions right   round 2 of 5
first difference  step 0
recorded     steps 0-1 down x2, step 2 right, steps 3-4 down x2, steps 5-7 right x3
             outcome at_large   return 10.000
alternative  step 0 right
             outcome at_small   return  1.000
difference   large -10.000   small +1.000   pit +0.000   total -9.000
"""
"""The answer of the specification."""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XRL_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Episodes that start in (1,1)."""
    return asker(TOOLS, axis_script.SUBJECT, tmp_path)


@pytest.fixture
def slippery(tmp_path: Path) -> Ask:
    return asker(
        TOOLS, F6.subject(exact.uniform_over_best(exact.optimal_q(F6)) * 0.8 + 0.05, Params(slip=0.2)), tmp_path
    )


def refused(ask: Ask, *argv: str) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        ask(*argv)
    return caught.value


def test_whatif_prints_the_documented_answer(ask: Ask) -> None:
    ask("what", "--time", "0", "--policy", "greedy")
    got = ask("whatif", "--episode", "0", "--time", "0", "--actions", "right", "--policy", "greedy").splitlines()
    wanted = SPECIFIED.splitlines()
    assert got[0].split()[: len(wanted[0].split())] == wanted[0].split()
    assert got[2 : 2 + len(wanted) - 1] == wanted[1:]


def test_the_scripted_interrogator_yields_the_golden_transcript(ask: Ask) -> None:
    example = (DOSSIER / "examples" / "f6.md").read_text()
    outputs = [axis_script.show(ask, "context", "--episode", "0"), *axis_script.play(ask)]
    for output in (outputs[0], outputs[4], axis_script.show(ask, "transcript")):
        assert f"```\n{output}```\n" in example
    for argv in axis_script.SCRIPT:
        if argv[0] in ("what", "whatif"):
            assert "    " + " ".join(["axis-" + argv[0], *argv[1:]]) + "\n" in example
        elif argv[0] == "note":
            assert f'    axis-note "{argv[1][:30]}' in example


def test_a_script_of_five_rounds_sees_eleven_prompts_and_is_refused_the_sixth_query(ask: Ask) -> None:
    prompts = []

    def prompt() -> None:
        first, second = ask("prompt"), ask("prompt")
        assert first == second
        check_output(first, TOOLS["prompt"], axis_script.SUBJECT)
        prompts.append(first)

    for number in range(5):
        prompt()
        assert f"Round {number + 1} of 5. Choose the query" in prompts[-1]
        got = ask("what", "--time", str(number))
        assert f"round {number + 1} of 5" in got
        prompt()
        assert f"Round {number + 1} of 5. Write an interim explanation" in prompts[-1]
        assert got.splitlines()[2] in prompts[-1].replace("\n  ", "\n")
        ask("note", f"explanation {number}")
    prompt()
    assert "The rounds are over." in prompts[-1]
    assert all(f"explanation {number}" in prompts[-1] for number in range(5))
    assert len(set(prompts)) == 2 * 5 + 1
    failure = refused(ask, "what", "--time", "5")
    assert (failure.code, str(failure).partition(";")[0]) == (4, "five rounds used")
    assert "time 3  round 4 of 5" in ask("what", "--time", "3")
    ask("note", "all in all")
    assert "This dialogue is complete." in ask("prompt")
    assert "round 1 of 5" in ask("what", "--time", "5")
    assert [len(dialogue.rounds) for dialogue in record.read()] == [5, 1]


def test_prompt_new_starts_anew_after_five_rounds(ask: Ask) -> None:
    for number in range(5):
        ask("what", "--time", str(number))
    assert refused(ask, "what", "--time", "5").code == 4
    first, second = ask("prompt", "--new"), ask("prompt", "--new")
    assert first == second
    assert "dialogue 2  rounds used 0 of 5" in first
    assert "round 1 of 5" in ask("what", "--time", "5")


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_succeeds_with_nothing_added_twice_alike_and_uses_no_round(
    slippery: Ask, name: str, state: Path
) -> None:
    for policy in ("served", "sampled"):
        first, second = (slippery(name, "--json", "--policy", policy) for _ in range(2))
        assert first == second
        check_output(first, TOOLS[name], F6.subject(GREEDY), document=True)
    assert not (state / record.NAME).exists()


QUERIES = (
    ("whatif", "--time", "0", "--actions", "right;up"),
    ("what", "--time", "0"),
    ("remove", "--thing", "slip"),
    ("add", "--thing", "cell=0", "--complexity", "3"),
)


@pytest.mark.parametrize("query", QUERIES, ids=[query[0] for query in QUERIES])
def test_a_query_asked_twice_has_the_same_bytes_and_one_round(slippery: Ask, query: tuple[str, ...]) -> None:
    slippery("what", "--time", "1", "--episode", "9")
    first, second = (slippery(*query, "--json") for _ in range(2))
    assert first == second
    check_output(first, TOOLS[query[0]], F6.subject(GREEDY), document=True)
    assert "round 2 of 5" in first
    assert first != slippery(*query, "--json", "--seed", "1")
    assert [kept.query.partition("(")[0] for kept in record.read()[0].rounds] == ["what", query[0], query[0]]


def test_answers_have_6_to_12_lines(ask: Ask) -> None:
    for query in QUERIES[:3]:
        lines = ask(*query).splitlines()
        body = [line for line in lines if line and not line.startswith(("#", "how to read"))]
        assert 6 <= len(body) <= 12


def test_a_changed_workspace_makes_the_same_query_a_round_of_its_own(tmp_path: Path) -> None:
    before = asker(TOOLS, axis_script.SUBJECT, tmp_path)
    after = asker(TOOLS, ONE_START.subject(GREEDY, Params(horizon=3)), tmp_path)
    query = ("whatif", "--time", "0", "--actions", "down")
    assert "round 1 of 5" in before(*query)
    assert "round 2 of 5" in after(*query)
    assert "round 1 of 5" in before(*query)


def test_whatif_with_the_recorded_actions_differs_nowhere(slippery: Ask) -> None:
    for episode in ("3", "8"):
        (listed,) = document_of(slippery("context", "--episode", episode, "--json"))["results"]
        actions = [line["action"] for line in listed["lines"] for _ in range(line["last"] - line["first"] + 1)]
        got = slippery("whatif", "--episode", episode, "--actions", ";".join(actions), "--json")
        (result,) = document_of(got)["results"]
        assert result["first_difference"] is None
        assert "first difference  never" in got
        assert result["alternative"] == result["recorded"] == listed["course"]
        assert set(result["difference"].values()) == {0.0}
        slippery("prompt", "--new")


def test_numbers_over_noises_are_those_of_fresh_simulation_by_the_table(tmp_path: Path) -> None:
    ask = asker(TOOLS, ONE_START.subject(GREEDY, Params(slip=0.2)), tmp_path)
    got = ask("whatif", "--time", "0", "--actions", "right", "--budget", "large", "--json")
    (result,) = document_of(got)["results"]
    assert result["noises"] == 128
    values = exact.evaluate(F6, GREEDY, slip=0.2, steps=50).q.sum(axis=2)[F6.cells.index((1, 1))]
    wanted = values[3] - values[int(GREEDY[F6.cells.index((1, 1))].argmax())]
    found = result["over_noises_discounted"]
    assert abs(found["mean"] - wanted) <= 3 * found["se"]
    assert found["se"] > 0


def test_removing_and_adding_change_what_they_name(ask: Ask) -> None:
    (result,) = document_of(ask("add", "--thing", "horizon=4", "--json"))["results"]
    assert (result["thing"], result["from"], result["to"]) == ("horizon", 50.0, 4.0)
    assert result["alternative"]["return"] == 0.0
    assert result["alternative"]["outcome"]["how"] == "truncated"
    assert result["first_difference"] == {"step": 3, "what": ["end"]}
    got = ask("add", "--thing", f"cell={F6.cells.index((5, 4))}", "--time", "2", "--json")
    (result,) = document_of(got)["results"]
    assert result["alternative"]["macro_actions"] == [{"first": 2, "last": 2, "action": "right"}]
    assert result["alternative"]["return"] == 10.0
    assert re.search(r"^cell +16 -> 28   \(entry of the state, at step 2\)$", got, re.MULTILINE)
    (result,) = document_of(ask("remove", "--thing", "cell", "--json"))["results"]
    taken = result["alternative"]["macro_actions"]
    assert sum(run["last"] - run["first"] + 1 for run in taken) == 10, "(0,0) is ten steps from the large treasure"


def test_actions_that_end_the_episode_early_leave_the_rest_untaken(ask: Ask) -> None:
    got = ask("whatif", "--actions", "right;up;up")
    assert "the alternative ended after 1 of 3 actions" in got


def test_what_tells_state_action_policy_and_what_follows(ask: Ask) -> None:
    got = ask("what", "--time", "7", "--json")
    (result,) = document_of(got)["results"]
    assert result["state"]["state"] == {"cell": F6.cells.index((5, 4)), "t": 7}
    assert result["action"] == "right"
    assert result["predicates"] == ["large_right"]
    assert result["policy"][0]["right"] == pytest.approx(1.0, abs=1e-6)
    assert result["reward"] == {"large": 10.0, "small": 0.0, "pit": 0.0}
    assert "return from here 10.000" in got
    assert re.search(r"^then +\+at_large -large_right$", got, re.MULTILINE)


def test_the_default_episode_is_that_of_the_dialogue_or_the_worst(slippery: Ask) -> None:
    (worst,) = document_of(slippery("context", "--json"))["results"]
    (dg,) = document_of(slippery("what", "--time", "0", "--json"))["results"]
    assert dg["episode"] == worst["episode"]
    returns = [
        document_of(slippery("context", "--episode", str(episode), "--json"))["results"][0]["course"]["return"]
        for episode in range(0, 64, 13)
    ]
    assert worst["course"]["return"] <= min(returns)
    slippery("prompt", "--new", "--episode", "11")
    for name in ("context", "prompt"):
        assert document_of(slippery(name, "--json"))["results"][0]["episode"] == 11
    assert "episode 12" in slippery("context", "--episode", "12")
    assert refused(slippery, "prompt", "--episode", "64").code == 2


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("remove", "--thing", "tree"), "no thing 'tree'; things are slip, horizon, cell, t"),
        (("add", "--thing", "tree=3"), "things are slip, horizon, cell, t"),
        (("add", "--thing", "cell"), "write cell=NUMBER"),
        (("add", "--thing", "cell=1.5"), "cell is a whole number"),
        (("add", "--thing", "cell=29"), "cell=29 is refused by the environment: cell: 29 is not in 0..28"),
        (("add", "--thing", "t=50"), "has a step 50 then"),
        (("add", "--thing", "horizon=501"), "no episode of 1 to 500 steps"),
        (("remove", "--thing", "horizon"), "no episode of 1 to 500 steps has a step 0 then"),
        (("remove", "--thing", "slip", "--time", "8"), "episode 0 has steps 0..7"),
        (("whatif", "--actions", ""), "the list of actions is empty; write A;B;C; actions are up, down, left, right"),
        (("whatif", "--actions", " ; "), "the list of actions is empty"),
        (("whatif", "--actions", "up;;down"), "an action is empty"),
        (("whatif", "--actions", "up;"), "an action is empty"),
        (("whatif", "--actions", "[up;down]"), "a list of actions holds no list"),
        (("whatif", "--actions", "up;(down;left)"), "a list of actions holds no list"),
        (("whatif", "--actions", "up;sideways"), "no action 'sideways'; actions are up, down, left, right"),
        (("whatif", "--time", "8", "--actions", "up"), "episode 0 has steps 0..7"),
        (("whatif", "--time", "7", "--actions", ";".join(["up"] * 44)), "an episode has 43 steps left there"),
        (("what", "--time", "8"), "episode 0 has steps 0..7"),
        (("context", "--time", "8"), "episode 0 has steps 0..7"),
        (("context", "--episode", "64"), "episodes are 0..63"),
        (("note", "  "), "1 to 8000 can be kept"),
        (("note", "x" * 8001), "1 to 8000 can be kept"),
        (("note", "--done"), "give the synthesis as TEXT"),
        (("prompt", "--question", " "), "1 to 2000 can be kept"),
        (("prompt", "--new", "--done"), "--new and --question begin another"),
    ],
)
def test_what_cannot_be_is_a_usage_failure_that_says_what_can_and_uses_no_round(
    ask: Ask, argv: tuple[str, ...], message: str, state: Path
) -> None:
    episode = ["--episode", "0"] if argv[0] not in ("note", "context", "prompt") else []
    failure = refused(ask, *argv, *episode)
    assert failure.code == 2
    assert message in str(failure)
    assert not (state / record.NAME).exists()


def test_an_episode_goes_with_a_new_dialogue(ask: Ask) -> None:
    ask("note", "a guess")
    assert "it goes with --new or --question" in str(refused(ask, "prompt", "--episode", "3"))
    assert "Episode 3, " in ask("prompt", "--new", "--episode", "3")
    ask("note", "another")
    assert "Episode 3, " in ask("prompt", "--episode", "3")


def test_a_question_begins_a_dialogue_once(ask: Ask) -> None:
    ask("what", "--time", "0")
    first, second = (ask("prompt", "--question", "Why down?") for _ in range(2))
    assert first == second
    assert "dialogue 2 " in first
    assert "Question: Why down?" in first
    ask("what", "--time", "0")
    assert "round 1 of 5" in ask("what", "--time", "0")
    assert "Round 1 of 5. Write" in ask("prompt", "--question", "Why down?")


def test_texts_of_any_kind_are_kept_and_printed_in_ascii(ask: Ask) -> None:
    text = "caf\u00e9 \x1b[31m \udc80 " + "long " * 60
    for output in (ask("note", text), ask("transcript"), ask("prompt")):
        assert output.isascii()
        assert "\x1b" not in output
        assert max(map(len, output.splitlines())) <= laws.WIDTH
        assert "caf\\xe9" in output
    assert record.read()[0].opening == (text.strip(),)


def test_values_that_are_not_finite_are_printed_and_counted(tmp_path: Path) -> None:
    rewards = F6.rewards.copy()
    rewards[F6.cells.index((1, 1)), 3, 1] = np.nan
    ask = asker(TOOLS, dataclasses.replace(ONE_START, rewards=rewards).subject(GREEDY), tmp_path)
    got = ask("whatif", "--actions", "right", "--json")
    assert re.search(r"^# .*non-finite 1$", got, re.MULTILINE)
    assert "small nan" in got
    assert document_of(got)["results"][0]["difference"]["small"] == "nan"
    assert "round 1 of 5" in ask("whatif", "--actions", "right")


def test_prose_and_source_hold_no_verdict() -> None:
    files = [path for part in ("papers", "examples", "src", "tools") for path in (DOSSIER / part).rglob("*.*")]
    for path in [DOSSIER / "README.md", *files]:
        if path.suffix in (".md", ".py"):
            assert not laws.VERDICTS.search(path.read_text()), path
    assert len((DOSSIER / "README.md").read_text().split()) <= 1500
    for paper in (DOSSIER / "papers").iterdir():
        assert 300 <= len(paper.read_text().split()) <= 600

"""The five tools on the fixture F6."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import exact
import laws
from cf.__main__ import TOOLS
from cf.actions import both_signs
from cf.flip import acting, differing, observe
from fixtures import F6, Params
from laws import Ask, asker, check_output, document_of
from xrl_common.failure import ToolFailure
from xrl_common.simulation import Acting, Simulator

BEST = exact.optimal_q(F6)
GREEDY = exact.greedy(BEST)
ONE_START = dataclasses.replace(F6, starts=(F6.cells.index((1, 1)),))

SPECIFIED = """\
 t  state  policy  alternative   dR               large    small      pit   end policy  end alternative
 1  (2,1)  down    right        -15.000 (0.000)  -10.000    0.000   -5.000   at_large    in_pit
 0  (1,1)  down    right         -9.000 (0.000)  -10.000    1.000    0.000   at_large    at_small
"""
"""The table of the specification; its heading is 103 columns wide, so that the last one is written `end other`."""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return asker(TOOLS, F6.subject(GREEDY), tmp_path)


@pytest.fixture
def ask_from_11(tmp_path: Path) -> Ask:
    """Episodes that start in (1,1)."""
    return asker(TOOLS, ONE_START.subject(GREEDY), tmp_path)


@pytest.fixture
def slippery(tmp_path: Path) -> Ask:
    return asker(TOOLS, F6.subject(exact.uniform_over_best(BEST) * 0.8 + 0.05, Params(slip=0.2)), tmp_path)


def example_of(ask: Ask) -> str:
    return ask("actions", "--episode", "0", "--times", "0,1", "--h", "50", "--policy", "greedy")


def test_actions_prints_the_documented_table(ask_from_11: Ask) -> None:
    lines = example_of(ask_from_11).splitlines()
    assert lines[0] == "# cf-actions  F6  episode 0  h 50  gamma 0.950 (fixture)  policy greedy  N=32 seed 0"
    heading, *rows = (line.split() for line in SPECIFIED.replace("end alternative", "end other").splitlines())
    assert lines[1].split() == heading
    assert [line.split() for line in lines[2:4]] == rows
    assert lines[4] == ""


def test_the_example_of_the_dossier_is_what_the_tool_prints(ask_from_11: Ask) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert f"```\n{example_of(ask_from_11)}```\n" in example


@pytest.mark.parametrize("name", sorted(TOOLS))
@pytest.mark.parametrize("policy", ["served", "sampled"])
def test_every_tool_succeeds_with_nothing_added_twice_alike(slippery: Ask, name: str, policy: str) -> None:
    first, second = (slippery(name, "--json", "--policy", policy) for _ in range(2))
    assert first == second
    check_output(first, TOOLS[name], F6.subject(GREEDY), document=True)
    assert first != slippery(name, "--json", "--policy", policy, "--seed", "1").replace('"seed": 1', '"seed": 0')


def test_actions_names_the_source_of_its_importance_and_ranks_by_it(ask_from_11: Ask) -> None:
    got = ask_from_11("actions", "--episode", "0", "--m", "2", "--h", "50", "--json")
    assert "m 2 by importance Q simulator N=32 H=50" in got
    places = [(place["t"], place["episode"]) for place in document_of(got)["results"][0]["places"]]
    cells = [cell for cell, _ in walk(GREEDY, (1, 1))]
    spans = [np.ptp(BEST[F6.cells.index(cell)]) for cell in cells]
    assert sorted(t for t, _ in places) == sorted(np.argsort(-np.round(spans, 3), kind="stable")[:2].tolist())
    for row in document_of(got)["results"][0]["deviations"]:
        assert row["importance"] == pytest.approx(spans[row["t"]], abs=1e-3)
    for source in ("critic", "log-policy"):
        assert f"Q {source}" in ask_from_11("actions", "--episode", "0", "--m", "2", "--q-source", source)


def walk(policy: np.ndarray, cell: tuple[int, int], first: int | None = None, steps: int = 50) -> list:
    """(cell, reward) of a deterministic run on the table, in plain Python."""
    index, way = F6.cells.index(cell), []
    while index < len(F6.cells) and len(way) < steps:
        action = int(policy[index].argmax()) if first is None or way else first
        way.append((F6.cells[index], float(F6.rewards[index, action].sum())))
        index = int(F6.successor[index, action])
    return way


def test_regret_of_a_poor_policy_is_that_of_walking_every_way_by_hand(tmp_path: Path) -> None:
    poor = exact.greedy(BEST + np.random.default_rng(3).normal(0, 4, BEST.shape))
    subject = F6.subject(poor)
    (result,) = document_of(asker(TOOLS, subject, tmp_path)("regret", "--h", "15", "--json"))["results"]
    trace = Simulator(subject, 0, Acting.SERVED).episodes(64)
    least = 0.05 * np.ptp(trace.returns)
    assert result["least_gain"] == pytest.approx(least)
    cells = [F6.cells[index] for index in trace.states.cell[trace.alive]]
    assert len(cells) > 1024 or result["predicates"]["all steps"]["examined"] == len(cells)

    def earned(cell: tuple[int, int], first: int | None) -> float:
        return sum(reward for _, reward in walk(poor, cell, first, 15))

    steps = trace.states.t[trace.alive]
    acts = {F6.cells[index]: int(row.argmax()) for index, row in enumerate(poor)}
    gains, changes = [], []
    for cell, t in zip(cells, steps, strict=True):
        left = min(15, 50 - int(t))
        own = sum(reward for _, reward in walk(poor, cell, None, left))
        earns = [sum(reward for _, reward in walk(poor, cell, action, left)) for action in range(4)]
        changes.append(max(earn - own for action, earn in enumerate(earns) if action != acts[cell]))
        best = max(earns)
        gains.append(best - own if best - own > least else 0.0)
    assert result["predicates"]["all steps"]["visited"] == len(cells)
    if len(cells) <= 1024:
        share = np.mean(np.array(gains) > 0)
        assert 0 < share < 1
        assert result["predicates"]["all steps"]["share"] == pytest.approx(share)
        assert result["predicates"]["all steps"]["best"] == pytest.approx(np.mean(changes))
        assert result["predicates"]["all steps"]["gain"] == pytest.approx(np.array(gains)[np.array(gains) > 0].mean())
        for name in ("pit_below", "pit_right", "small_left"):
            holds = np.array([F6.truths[name][F6.cells.index(cell)] for cell in cells])
            assert result["predicates"][name]["visited"] == holds.sum()
            if holds.any():
                assert result["predicates"][name]["share"] == pytest.approx(np.mean(np.array(gains)[holds] > 0))


def test_the_best_policy_leaves_nothing_to_regret(ask: Ask) -> None:
    (result,) = document_of(ask("regret", "--h", "50", "--json"))["results"]
    assert result["predicates"]["all steps"]["share"] == 0.0


def test_whynot_of_the_policys_own_action_is_zero_everywhere(slippery: Ask) -> None:
    own = document_of(slippery("whynot", "--json", "--episode", "7"))["results"][0]["policy_action"]
    got = slippery("whynot", "--json", "--episode", "7", "--a", own)
    (result,) = document_of(got)["results"]
    zero = {"mean": 0.0, "se": 0.0}
    assert result["change"] == result["discounted_change"] == zero
    assert all(change == zero for change in result["components"].values())
    assert result["first_difference"] is None
    assert result["rejoined"] == 1


def test_whynot_takes_the_best_other_action_and_follows_it(ask: Ask) -> None:
    (result,) = document_of(ask("whynot", "--json", "--h", "50", cell=(4, 4)))["results"]
    order = np.argsort(-BEST[F6.cells.index((4, 4))], kind="stable")
    assert result["policy_action"] == F6.action_names[0][order[0]]
    assert result["alternative"] == F6.action_names[0][order[1]]
    got = ask("whynot", "--a", "right", cell=(4, 4))
    assert re.search(r"^0 +down +right +0\.000 +-5\.000 +-5\.000 ", got, re.MULTILINE)
    assert "end other: in_pit" in got


def test_a_flip_value_flips_and_two_ten_thousandths_nearer_does_not(ask: Ask) -> None:
    simulator = Simulator(F6.subject(GREEDY), 0, Acting.SERVED)
    acts = acting(simulator)
    flips = 0
    for cell in F6.cells:
        (result,) = document_of(ask("flip", "--json", cell=cell))["results"]
        observation = observe(simulator, F6.at(cell))
        differs = differing(simulator, acts(observation[None])[0], acts)
        for flip in result["flips"]:
            feature = ("own/row", "own/column").index(flip["feature"])
            at, nearer = observation.copy(), observation.copy()
            at[feature] = flip["flips_at"]
            nearer[feature] = flip["flips_at"] - np.sign(flip["flips_at"] - flip["value"]) * 2e-4 * flip["range"]
            assert differs(np.stack([at, nearer])).tolist() == [True, False]
            assert F6.action_names[0][acts(at[None])[0]] == flip["action"]
            flips += 1
    assert flips > 29


def test_policy_compares_fact_and_foil_in_sets(ask_from_11: Ask) -> None:
    got = ask_from_11("policy", "--json", "--rule", "if small_right: right")
    (result,) = document_of(got)["results"]
    assert result["returns"]["fact"]["mean"] == 10.0
    assert result["returns"]["foil"]["mean"] == 1.0
    assert result["returns"]["difference"] == {"mean": -9.0, "se": 0.0}
    assert result["applies"] == {"fact": 1 / 8, "foil": 1.0}
    way = {name for name, truth in F6.truths.items() for cell, _ in walk(GREEDY, (1, 1)) if truth[F6.cells.index(cell)]}
    here = {name for name, truth in F6.truths.items() if truth[F6.cells.index((1, 1))]}
    predicates = result["differences"]["predicates"]
    assert set(predicates["fact"]) == (way | {"at_large"}) - (here | {"at_small"})
    assert set(predicates["foil"]) == {"at_small"}
    outcomes = {"fact": ["terminated [large] at_large"], "foil": ["terminated [small] at_small"]}
    assert result["differences"]["outcomes"] == outcomes


def test_policy_without_a_rule_lists_what_could_be_given(ask: Ask) -> None:
    got = ask("policy")
    assert all(re.search(rf"^{name} +\d\.\d\d\d +\d+$", got, re.MULTILINE) for name in F6.truths)
    assert "actions: up, down, left, right" in got


@pytest.mark.parametrize(
    ("name", "argv", "message"),
    [
        ("policy", ["--rule", "if at_sea: up"], "no predicate 'at_sea'; predicates are at_large, at_small, in_pit, "),
        ("policy", ["--rule", "if in_pit: sideways"], "no action 'sideways'; actions are up, down, left, right"),
        ("policy", ["--rule", "left always"], "is no rule; a rule is 'if PREDICATE [and PREDICATE ...]: ACTION'"),
        ("whynot", ["--a", "sideways"], "no action 'sideways'; actions are up, down, left, right"),
        ("actions", ["--episode", "64"], "episodes are 0..63"),
        ("actions", ["--worst", "65"], "there are 64 episodes"),
        ("actions", ["--episode", "0", "--t", "49"], "episode 0 has steps 0.."),
        ("actions", ["--episode", "0", "--times", "1,49"], "episode 0 has steps 0.."),
        ("actions", ["--random", "2", "--times", "1"], "--times goes with --episode or --worst"),
    ],
)
def test_what_cannot_be_is_a_usage_failure_that_says_what_can(
    ask: Ask, name: str, argv: list[str], message: str
) -> None:
    with pytest.raises(ToolFailure, match=re.escape(message)) as caught:
        ask(name, *argv)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("changes", "most", "kept"),
    [
        ([-9, -8, 7, -6, 5, -4], 4, [-9, -8, 7, 5]),
        ([-9, -8, -7, 6], 3, [-9, -8, 6]),
        ([9, 8, 7], 2, [9, 8]),
        ([-9, -8, -7], 2, [-9, -8]),
        ([9, 8, -7, 6], 4, [9, 8, -7, 6]),
    ],
)
def test_half_of_the_rows_are_gains_where_as_many_are(changes: list[int], most: int, kept: list[int]) -> None:
    def row(mean: int) -> SimpleNamespace:
        return SimpleNamespace(where=SimpleNamespace(change=lambda _: SimpleNamespace(mean=mean)), number=mean)

    assert [chosen.number for chosen in both_signs([row(mean) for mean in changes], most)] == kept


def test_rows_are_ordered_and_counted(slippery: Ask) -> None:
    got = slippery("actions", "--json", "--worst", "2", "--rows", "5")
    (result,) = document_of(got)["results"]
    rows = result["deviations"]
    sizes = [round(abs(row["change"]["mean"]), 3) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert len(rows) == 3 * len(result["places"])
    assert f"deviations {len(rows)}   with dR not 0.000" in got
    assert "listed 5" in got
    for row in rows:
        parts = sum(change["mean"] for change in row["components"].values())
        assert parts == pytest.approx(row["change"]["mean"], abs=1e-9)


def test_values_that_are_not_finite_are_printed_first_and_counted(tmp_path: Path) -> None:
    rewards = F6.rewards.copy()
    rewards[F6.cells.index((1, 1)), 3, 1] = np.nan
    world = dataclasses.replace(ONE_START, rewards=rewards)
    got = asker(TOOLS, world.subject(GREEDY), tmp_path)("actions", "--episode", "0", "--t", "0", "--json")
    assert re.search(r"^# .*non-finite \d+", got, re.MULTILINE)
    row = document_of(got)["results"][0]["deviations"][0]
    assert row["alternative"] == "right"
    assert row["change"]["mean"] == "nan"
    assert json.dumps(row)


def test_prose_and_source_hold_no_verdict() -> None:
    folder = Path(__file__).parent.parent
    files = [path for part in ("papers", "examples", "src", "tools") for path in (folder / part).rglob("*.*")]
    for path in [folder / "README.md", *files]:
        if path.suffix in (".md", ".py"):
            assert not laws.VERDICTS.search(path.read_text()), path
    assert len((folder / "README.md").read_text().split()) <= 1500
    for paper in (folder / "papers").iterdir():
        assert 300 <= len(paper.read_text().split()) <= 600

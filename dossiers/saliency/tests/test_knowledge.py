"""The two ways of acting with less knowledge agree: by mixing probabilities, and by drawing in a rollout."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest
from sal_worlds import EVEN, linear, passage

import exact
from attribution import coalitions, masking
from fixtures import F6, GWB, World
from sal import layout, sverl, visits, ways
from sal.blind import Blind, Blindness
from sal.networks import Networks
from sal.ways import Question
from xrl_common.report import Settings
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Subject

ALL = coalitions.all_coalitions(2)
DRAWS = 2000


def question(
    subject: Subject, world: World, cell: tuple[int, int], acting: Acting = Acting.SERVED, seed: int = EVEN
) -> Question:
    simulator = Simulator(subject, seed, acting)
    settings = Settings("test", simulator, subject.gamma, "fixture")
    state = world.at(cell)
    observation = simulator.observe(jax.tree.map(lambda leaf: np.asarray(leaf)[None], state))[0]
    found = visits.visits(simulator, simulator.episodes(64))
    return Question(settings, Networks(subject), found, layout.slices(subject), state, observation)


def of_the_grid(acting: Acting, counted: bool, monkeypatch: pytest.MonkeyPatch) -> Question:
    if not counted:
        monkeypatch.setattr(visits, "COUNTED", 0)
    return question(linear(), F6, (0, 1), acting, seed=0)


def acted(rule: Blind, given: Blindness, keys: jax.Array, seen: np.ndarray) -> np.ndarray:
    return np.asarray(jax.jit(lambda *called: rule(called[0], (), *called[1:], None, None)[0])(given, keys, seen))


@pytest.mark.parametrize("acting", [Acting.SERVED, Acting.SAMPLED])
@pytest.mark.parametrize("counted", [True, False])
def test_draws_are_as_frequent_as_the_mixture_says(
    acting: Acting, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = of_the_grid(acting, counted, monkeypatch)
    told = ways.discrete(asked, ALL)
    sampled = acting is Acting.SAMPLED
    policy = linear().policy
    rule = Blind(policy.sampled if sampled else policy.served, sampled, counted)
    keys = jax.random.split(jax.random.key(0), DRAWS)
    seen = np.repeat(asked.observation[None], DRAWS, axis=0)
    for coalition, expected in zip(ALL, told.chances, strict=True):
        known = np.repeat(asked.known(coalition[None]), DRAWS, axis=0)
        given = Blindness(policy.agent, known, asked.rows, asked.observation, np.bool_(False))
        shares = np.bincount(acted(rule, given, keys, seen), minlength=4) / DRAWS
        assert shares == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(DRAWS))


def test_elsewhere_a_local_agent_acts_as_ever_and_a_global_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = of_the_grid(Acting.SERVED, True, monkeypatch)
    policy = linear().policy
    rule = Blind(policy.served, False, True)
    elsewhere = np.repeat(np.array([[0.8, 0.0]], np.float32), 200, axis=0)
    known, keys = np.zeros((200, 2), bool), jax.random.split(jax.random.key(1), 200)

    def done(everywhere: bool) -> np.ndarray:
        given = Blindness(policy.agent, known, asked.rows, asked.observation, np.bool_(everywhere))
        return acted(rule, given, keys, elsewhere)

    assert (done(False) == 3).all()
    assert len(set(done(True).tolist())) > 1


def test_joint_actions_are_mixed_as_single_ones() -> None:
    asked = question(passage(GWB), GWB, (0, 0))
    joint, single = ways.joint(asked, ALL), ways.discrete(asked, ALL)
    spread = np.zeros_like(single.chances)
    spread[:, joint.actions[:, 0]] = joint.chances
    assert spread == pytest.approx(single.chances)
    assert joint.chances.sum(axis=1) == pytest.approx(np.ones(4))


@pytest.mark.parametrize("cell", [(0, 0), (1, 0)])
def test_drawing_in_one_state_agrees_with_trying_every_action(cell: tuple[int, int]) -> None:
    asked = question(passage(GWB), GWB, cell)
    tried = sverl.worth(asked, False)
    drawn = sverl._by_drawing(replace(asked, settings=replace(asked.settings, budget="large")), False)
    assert (abs(drawn.mean - tried.mean) <= 4 * drawn.errors + 1e-9).all()
    assert drawn.errors.max() < 1


def test_global_values_are_those_of_the_exact_blind_policies() -> None:
    asked = question(passage(GWB), GWB, (0, 0))
    policy, cells = exact.uniform_over_best(exact.optimal_q(GWB)), np.array(GWB.cells)
    share = exact.occupancy(GWB, policy)

    def game(chosen: np.ndarray) -> np.ndarray:
        found = []
        for known in chosen:
            agrees = np.array([[(~known | (one == other)).all() for other in cells] for one in cells]) * share
            total = agrees.sum(axis=1, keepdims=True)
            blind = np.where(total > 0, agrees @ policy / np.maximum(total, 1e-300), policy)
            if known.all():
                blind = policy
            found.append(exact.evaluate(GWB, blind).v.sum(axis=1)[0])
        return np.array(found)[:, None]

    expected = coalitions.exact(game, 2)
    found = sverl.worth(replace(asked, settings=replace(asked.settings, budget="large")), True)
    assert found.ends[0] == expected.full[0] == 6
    assert (abs(found.mean - expected.columns[:, 0]) <= 4 * found.errors).all()


def test_sampled_rollouts_have_an_error_that_covers_the_exact_value() -> None:
    table = np.array([[0.3, 0.7, 0, 0], [0.8, 0.2, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0.9, 0.1, 0, 0]])
    subject = replace(GWB.subject(table), params=passage(GWB).params)
    asked = question(subject, GWB, (0, 0), Acting.SAMPLED)
    asked = replace(asked, settings=replace(asked.settings, budget="large"))
    told = ways.discrete(asked, ALL)
    found = sverl.worth(asked, False)

    def game(chosen: np.ndarray) -> np.ndarray:
        values = []
        for way in told.chances:
            changed = table.copy()
            changed[0] = way
            values.append(exact.evaluate(GWB, changed).v.sum(axis=1)[0])
        return np.array(values)[:, None]

    expected = coalitions.exact(game, 2).columns[:, 0]
    assert (abs(found.mean - expected) <= 4 * found.errors + 1e-3).all()
    assert 0 < found.errors.max() < 1


def test_an_entry_without_weight_in_a_real_network_gets_exactly_nothing() -> None:
    generator = np.random.default_rng(0)
    first = generator.normal(size=(7, 64)).astype(np.float32)
    first[3] = 0
    second = generator.normal(size=(64, 4)).astype(np.float32)

    def outputs(agent: tuple, rows: jax.Array) -> jax.Array:
        return jax.numpy.tanh(rows @ agent[0]) @ agent[1]

    policy = replace(
        F6.policy(exact.uniform(F6)),
        agent=(first, second),
        outputs=outputs,
        value=lambda agent, rows: outputs(agent, rows)[:, 0],
    )
    networks = Networks(replace(F6.subject(exact.uniform(F6)), policy=policy))
    rows = generator.normal(size=(65, 7)).astype(np.float32)
    background = masking.Background(rows[1:], np.full(64, 1 / 64), False)
    groups = [slice(i, i + 1) for i in range(7)]
    game = masking.marginal_game(networks, rows[0], background, groups, np.array([0, 1.0, 0, 0, 0]))
    phi = coalitions.exact(game, 7).columns
    assert (phi[3] == 0).all()
    assert (phi[2] != 0).all()
    changes = masking.replaced_changes(networks, rows[:40], background, slice(3, 4))
    assert (changes == 0).all()
    slopes = networks.gradients(np.array([0, 1.0, 0, 0, 0]), rows)
    assert (slopes[:, 3] == 0).all()


def test_an_observation_that_was_never_visited_counts_as_one_visit() -> None:
    asked = question(linear(), F6, (5, 0), seed=0)
    assert len(asked.rows.observations) in (len(asked.visits.distinct), len(asked.visits.distinct) + 1)
    away = replace(asked, observation=np.array([0.5, 0.5], np.float32))
    assert len(away.rows.observations) == len(asked.visits.distinct) + 1
    told = ways.discrete(away, ALL[3:])
    own = asked.networks.probabilities(Acting.SERVED, away.observation[None])
    assert told.chances == pytest.approx(own)

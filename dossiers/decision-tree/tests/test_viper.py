"""The tools on fixtures and on CartPole, whose teacher is a known tree."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import exact
import laws
import pruned
from extraction.trees import Player, fit
from extraction.weights import normalised
from fixtures import F6, Params
from viper import student as students
from viper.__main__ import TOOLS
from xrl_common.report import Settings
from xrl_common.simulation import Acting, Simulator
from xrl_common.subject import Policy, Subject

sys.path.append(str(pruned.PACKAGE.parent))

BEST = exact.greedy(exact.optimal_q(F6))


def cart(rule: object) -> Subject:
    """Standard CartPole with a rule of four numbers as its agent."""
    from evalxrl_envs.core import registry

    environment, params = registry.make("cartpole")
    explain = registry.part("cartpole", "explain")

    def act(agent: object, seen: jax.Array) -> jax.Array:
        return rule(*seen.T).astype(jnp.int32)

    def logits(agent: object, seen: jax.Array) -> jax.Array:
        return 10.0 * jax.nn.one_hot(act(agent, seen), 2)

    policy = Policy(
        agent=(),
        served=act,
        greedy=act,
        sampled=lambda agent, keys, seen: act(agent, seen),
        outputs=logits,
        log_prob=lambda agent, seen, actions: jnp.zeros(len(seen)),
        entropy=lambda agent, seen: jnp.zeros(len(seen)),
        value=lambda agent, seen: jnp.zeros(len(seen)),
    )
    return Subject(
        name="cartpole",
        environment=environment,
        params=params,
        policy=policy,
        action_space=environment.action_space,
        action_names=explain.action_names,
        obs_names=explain.obs_names,
        gamma=0.99,
        gamma_source="fixture",
        state_to_json=explain.state_to_json,
        state_from_json=explain.state_from_json,
        reset_to=explain.reset_to,
        predicates=explain.predicates,
        distance=explain.distance,
        label=str,
    )


def stump(x: jax.Array, x_dot: jax.Array, theta: jax.Array, theta_dot: jax.Array) -> jax.Array:
    """The tree of the specification: by the pole's velocity, and by its angle in between."""
    return jnp.where(theta_dot <= -0.2, False, jnp.where(theta_dot > 0.2, True, theta > 0))


def settings_of(subject: Subject, seed: int = 0, gamma: float | None = None) -> Settings:
    return Settings("viper-fit", Simulator(subject, seed, Acting.SERVED), gamma or subject.gamma, "fixture")


@pytest.mark.parametrize(
    ("rule", "perfect"),
    [
        (stump, True),
        (lambda x, v, theta, omega: theta + 0.5 * omega > 0, True),
        (lambda x, v, theta, omega: theta + omega > 0, False),
    ],
    ids=["tree", "half", "whole"],
)
def test_what_simple_rules_earn_on_standard_cartpole(rule: object, perfect: bool) -> None:
    returns = Simulator(cart(rule), 0, Acting.SERVED).episodes(256).returns
    assert (returns.min() == 500) == perfect
    if not perfect:
        assert returns.mean() == pytest.approx(485, abs=12)


def test_a_teacher_that_is_a_tree_is_recovered() -> None:
    settings = settings_of(cart(stump))
    student = students.grown(settings, 2, 20, None)
    trace = settings.simulator.episodes(50)
    seen = trace.observations[trace.alive]
    fidelity = np.mean(student.tree.act(seen) == trace.actions[trace.alive])
    assert fidelity >= 0.995
    asked = [(int(student.tree.feature[i]), float(student.tree.threshold[i])) for i in range(student.tree.count)]
    speeds = sorted(threshold for feature, threshold in asked if feature == 3)
    angles = [threshold for feature, threshold in asked if feature == 2]
    assert speeds == pytest.approx([-0.2, 0.2], abs=0.05)
    assert angles == pytest.approx([0.0], abs=0.05)
    assert np.all(student.playing(settings).episodes(64).returns == 500)


def test_students_earn_at_least_what_cloning_on_equal_data_earns() -> None:
    subject = F6.subject(BEST, Params(slip=0.1))
    extracted, cloned = [], []
    for seed in range(10):
        settings = settings_of(subject, seed)
        student = students.grown(settings, 3, 5, None)
        count = len(student.data.observations)
        trace = settings.simulator.episodes(200, first=50_000)
        rows = np.argwhere(trace.alive)[:count]
        seen, taught = trace.observations[rows[:, 0], rows[:, 1]], trace.actions[rows[:, 0], rows[:, 1]]
        clone = fit(seen, taught, normalised(np.zeros(len(rows))), 3, seed, continuous=False)
        extracted.append(student.playing(settings).episodes(100).returns.mean())
        cloned.append(settings.simulator.acting_by(Player(), clone.arrays).episodes(100).returns.mean())
    assert np.mean(extracted) >= np.mean(cloned)


def test_the_same_seed_gives_the_same_tree_in_every_tool(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(BEST, Params(slip=0.1)), tmp_path)
    tree = laws.document_of(ask("fit", "--json", "--iterations", "3"))["results"][0]["tree"]
    (way,) = laws.document_of(ask("path", "--json", "--iterations", "3", cell=(4, 4)))["results"]
    assert tree["samples"][way["leaf"]] == way["samples"][-1]
    assert way["samples"][0] == tree["samples"][0]
    assert way["actions"]["tree"] == tree["action"][way["leaf"]]


def test_a_full_tree_follows_the_agent_and_earns_what_it_earns(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(BEST), tmp_path)
    (result,) = laws.document_of(ask("fit", "--json", "--depth", "8"))["results"]
    assert result["fidelity"]["teacher"]["mean"] >= 0.97
    assert result["return"]["student"]["mean"] == pytest.approx(result["return"]["teacher"]["mean"])
    (parted,) = laws.document_of(ask("diff", "--json", "--depth", "8"))["results"]
    assert parted["share"] <= 0.03


def test_diff_orders_by_weight_and_a_blind_tree_parts_often(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(BEST), tmp_path)
    (result,) = laws.document_of(ask("diff", "--json", "--depth", "1", "--iterations", "2"))["results"]
    weights = [row["weight"] for row in result["rows"]]
    assert result["share"] > 0.05 and weights == sorted(weights, reverse=True)
    assert all(row["agent"] != row["tree"] for row in result["rows"])


def test_a_feature_or_a_depth_that_is_none_is_a_usage_failure(tmp_path: Path) -> None:
    ask = laws.asker(TOOLS, F6.subject(BEST), tmp_path)
    with pytest.raises(Exception, match="features are own/row, own/column"):
        ask("fit", "--features", "own/height")
    with pytest.raises(Exception, match=re.escape("depths are 1..8")):
        ask("fit", "--depth", "9")
    with pytest.raises(Exception, match="no range of depths"):
        ask("sweep", "--depths", "3..1")


def test_the_example_is_what_the_tool_prints(tmp_path: Path) -> None:
    example = (Path(__file__).parent.parent / "examples" / "f6.md").read_text()
    assert laws.asker(TOOLS, F6.subject(BEST), tmp_path)("fit", "--depth", "6") in example


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_prints_the_same_twice_in_the_documented_form(name: str, tmp_path: Path) -> None:
    subject = F6.subject(BEST, Params(slip=0.1))
    ask = laws.asker(TOOLS, subject, tmp_path)
    quick = ("--depths", "1..2") if name == "sweep" else ("--iterations", "3")
    first = ask(name, "--json", *quick)
    assert first == ask(name, "--json", *quick)
    laws.check_output(first, TOOLS[name], subject, document=True)

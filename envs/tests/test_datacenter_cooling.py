"""Datacenter cooling against a second reading of its rules in NumPy, its names, and laws of heat and money."""

import math
from dataclasses import replace

import jax
import numpy as np
import pytest
from baselines_datacenter_cooling import RULES, constant, returns, search, unit_controller

from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.core.rollout import Lockstep
from evalxrl_envs.datacenter_cooling import explain

ENV, PARAMS = registry.make("datacenter_cooling")
STEP = jax.jit(ENV.step)
RESET = jax.jit(ENV.reset)
NORMALS = jax.jit(lambda key: jax.random.normal(key, (7,)))
FIELDS = ("rack", "room", "supply", "fan", "cool", "load_noise", "weather_offset", "weather_noise", "previous_action")


def replica_world(s, t):
    """Outdoor temperature, loads and price by hand."""
    h = (t / 6) % 24
    outside = 22 + s["weather_offset"] + 7 * math.sin(2 * math.pi * (h - 9) / 24) + s["weather_noise"]
    lags = [-1.5, -0.9, -0.3, 0.3, 0.9, 1.5]
    load = [
        0.5 + 0.4 * math.sin(2 * math.pi * (h - 8) / 24 + lag) + n for lag, n in zip(lags, s["load_noise"], strict=True)
    ]
    return outside, [min(max(x, 0.1), 1.0) for x in load], 4.0 if 17 <= h < 20 else 1.0


def replica_step(s, t, action, noise):
    """One step by hand, racks and units in loops: the next state and the reward components."""
    outside, load, price = replica_world(s, t)
    a = [min(max(float(x), -1.0), 1.0) for x in action]
    fan = [0.2 + 0.4 * (a[j] + 1) for j in range(3)]
    cool = [0.5 * (a[3 + j] + 1) for j in range(3)]
    supply = [x + 0.8 * ((26 - 12 * cool[j]) - x) for j, x in enumerate(s["supply"])]
    share = [[0.7 if j == i // 2 else 0.15 for j in range(3)] for i in range(6)]
    flow = [[1.5 * share[i][j] * fan[j] * (s["rack"][i] - supply[j]) for j in range(3)] for i in range(6)]
    heat = [2 + 12 * x for x in load]
    leak = [0.15 * (x - s["room"]) for x in s["rack"]]
    rack = [x + 10 / 450 * (heat[i] - sum(flow[i]) - leak[i]) for i, x in enumerate(s["rack"])]
    bypass = [0.3 * fan[j] * (s["room"] - supply[j]) for j in range(3)]
    room = s["room"] + 10 / 60 * (0.4 * (outside - s["room"]) + sum(leak) - sum(bypass))
    power = 0.0
    for j in range(3):
        taken = max(sum(flow[i][j] for i in range(6)) + bypass[j], 0.0)
        power += taken / min(max(9 - 0.35 * (outside - supply[j]), 1.2), 12) + 6 * fan[j] ** 3
    after = {
        "rack": rack,
        "room": room,
        "supply": supply,
        "fan": fan,
        "cool": cool,
        "load_noise": [0.9 * n + 0.02 * x for n, x in zip(s["load_noise"], noise[:6], strict=True)],
        "weather_offset": s["weather_offset"],
        "weather_noise": 0.95 * s["weather_noise"] + 0.1 * noise[6],
        "previous_action": a,
    }
    thermal = -0.06 * sum(max(x - 30, 0) ** 2 for x in rack) - 0.1 * sum(x > 34 for x in rack)
    wear = -0.05 * sum((x - y) ** 2 for x, y in zip(a, s["previous_action"], strict=True))
    return after, (-0.02 * price * power, thermal, wear)


def replica_observation(s, t):
    """What is seen, in the order of the names."""
    outside, load, price = replica_world(s, t)
    angle = 2 * math.pi * t / 144
    seen = [*s["rack"], *load, *s["supply"], *s["fan"], *s["cool"], s["room"], outside, price]
    return [*seen, math.sin(angle), math.cos(angle)]


def by_hand(state):
    """A state as plain numbers."""
    return {name: np.asarray(getattr(state, name), float).tolist() for name in FIELDS}


@pytest.mark.parametrize(("seed", "hold"), [(0, 0.0), (1, 0.0), (2, -1.0), (3, 1.0)])
def test_a_day_agrees_with_the_rules_by_hand(seed, hold):
    observation, state = RESET(jax.random.key(seed), PARAMS)
    mine = by_hand(state)
    np.testing.assert_allclose(observation, replica_observation(mine, 0), atol=1e-4)
    actions = np.random.default_rng(seed).uniform(-1.3, 1.3, (144, 6)).astype(np.float32)
    actions[36:] = hold or actions[36:]
    for t, action in enumerate(actions):
        key = jax.random.fold_in(jax.random.key(seed), t)
        mine, pay = replica_step(mine, t, action, np.asarray(NORMALS(key)).tolist())
        after = STEP(key, state, action, PARAMS)
        np.testing.assert_allclose(after.info["reward"], pay, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(after.observation, replica_observation(mine, t + 1), rtol=1e-5, atol=1e-4)
        for name in FIELDS:
            np.testing.assert_allclose(getattr(after.state, name), mine[name], rtol=1e-5, atol=1e-4, err_msg=name)
        assert int(after.state.t) == t + 1 and bool(after.truncated) == (t == 143) and not bool(after.terminated)
        state = after.state


def test_starts_have_the_stated_spread():
    states = jax.jit(jax.vmap(ENV.initial, (0, None)))(jax.random.split(jax.random.key(0), 20_000), PARAMS)
    for values, mean, spread in (
        (states.rack, 24, 2), (states.load_noise, 0, 0.02), (states.weather_offset, 0, 1.5)
    ):  # fmt: skip
        assert abs(np.mean(values) - mean) < 0.04 * spread and abs(np.std(values) - spread) < 0.02 * spread
    for values, value in ((states.room, 24), (states.supply, 20), (states.fan, 0.5), (states.cool, 0.5), (states.t, 0)):
        assert np.all(np.asarray(values) == value)
    assert not np.any(states.weather_noise) and not np.any(states.previous_action)


def middle(**changes):
    """A quiet state at noon of a mild day."""
    _, state = RESET(jax.random.key(0), PARAMS)
    quiet = {"rack": np.full(6, 28, np.float32), "load_noise": np.zeros(6, np.float32), "t": np.int32(72)}
    quiet["weather_offset"] = np.float32(-5)
    return replace(state, **quiet | changes)


def test_every_action_moves_what_its_name_says_and_cools_its_own_racks_most():
    names = [name for (name,) in explain.action_names]
    still = STEP(jax.random.key(0), middle(), np.zeros(6, np.float32), PARAMS).state
    for axis, name in enumerate(names):
        part, unit = name.split("/")
        moved = STEP(jax.random.key(0), middle(), np.eye(6, dtype=np.float32)[axis], PARAMS).state
        change = np.asarray(getattr(moved, part)) - np.asarray(getattr(still, part))
        assert change[int(unit)] > 0 and np.all(np.delete(change, int(unit)) == 0)
        cooled = np.asarray(still.rack) - np.asarray(moved.rack)
        assert set(np.argsort(-cooled)[:2]) == {2 * int(unit), 2 * int(unit) + 1} and np.all(cooled > 0)


def test_every_observation_is_what_its_name_says():
    for group, value in (("rack", 31.5), ("supply", 16.25), ("fan", 0.75), ("cool", 0.25)):
        for i in range(explain.SIZES[group]):
            state = middle()
            values = np.array(getattr(state, group), np.float32)
            values[i] = value
            before, after = (np.asarray(ENV.observe(s, PARAMS)) for s in (state, replace(state, **{group: values})))
            assert [explain.obs_names[k] for k in np.flatnonzero(before != after)] == [f"{group}/{i}"]
            assert after[explain.obs_names.index(f"{group}/{i}")] == value
    seen = dict(zip(explain.obs_names, np.asarray(ENV.observe(middle(t=np.int32(36)), PARAMS)), strict=True))
    assert seen["clock/sin"] == pytest.approx(1) and seen["clock/cos"] == pytest.approx(0, abs=1e-6)
    assert seen["room/temperature"] == 24 and seen["price/now"] == 1


def test_energy_is_dear_from_five_to_eight_in_the_evening():
    prices = [float(ENV.exogenous(middle(t=np.int32(t)), PARAMS).price) for t in range(144)]
    assert prices == [4.0 if 102 <= t < 120 else 1.0 for t in range(144)]


def test_a_predicate_holds_exactly_beyond_its_threshold():
    def found(**changes):
        return {name: bool(value) for name, value in explain.predicates(middle(**changes), PARAMS).items()}

    def racks(last):
        return np.array([20] * 5 + [last], np.float32)

    assert not any(found().values())
    assert found(t=np.int32(102))["peak_price"] and not found(t=np.int32(120))["peak_price"]
    assert found(rack=racks(30.1))["any_rack_over_limit"] and not found(rack=racks(30.0))["any_rack_over_limit"]
    assert found(rack=racks(34.1))["any_rack_over_alarm"] and not found(rack=racks(34.0))["any_rack_over_alarm"]
    assert found(weather_offset=np.float32(9))["outside_hot"] and found(weather_offset=np.float32(-20))["free_cooling"]
    assert found(load_noise=np.full(6, 0.5, np.float32))["load_high"]
    assert found(fan=np.full(3, 0.91, np.float32))["fans_near_max"]


def test_heat_goes_from_warm_to_cold_and_every_cost_is_a_cost():
    key, action = jax.random.key(0), np.zeros(6, np.float32)
    base = STEP(key, middle(), action, PARAMS)
    warm = STEP(key, middle(weather_offset=np.float32(10)), action, PARAMS)
    assert warm.state.room > base.state.room and warm.info["reward"].energy < base.info["reward"].energy
    busy = STEP(key, middle(load_noise=np.full(6, 0.3, np.float32)), action, PARAMS)
    assert np.all(np.asarray(busy.state.rack) > np.asarray(base.state.rack))
    hot = STEP(key, middle(rack=np.full(6, 36, np.float32)), action, PARAMS)
    assert hot.info["reward"].thermal < -0.6 < base.info["reward"].thermal == 0
    assert base.info["reward"].wear == 0
    assert STEP(key, middle(), action + 0.5, PARAMS).info["reward"].wear == pytest.approx(-0.05 * 6 * 0.25)
    dear = STEP(key, middle(t=np.int32(110)), action, PARAMS)
    cheap = STEP(key, middle(t=np.int32(110)), action, typed(PARAMS, {"price_peak": 1.0}))
    assert dear.info["reward"].energy == pytest.approx(4.0 * float(cheap.info["reward"].energy), rel=1e-5)


def test_heavier_racks_change_more_slowly():
    light, heavy = (
        np.asarray(
            STEP(jax.random.key(0), middle(), np.zeros(6, np.float32), typed(PARAMS, {"rack_mass": m})).state.rack
        )
        for m in (150.0, 450.0)
    )
    np.testing.assert_allclose(light - 28, 3 * (heavy - 28), rtol=1e-3)


def test_distance_is_zero_between_equal_states_and_one_for_one_scale_everywhere():
    state = middle()
    assert explain.distance(state, state) == 0
    warmer = replace(state, rack=np.asarray(state.rack) + 5)
    assert explain.distance(state, warmer) == pytest.approx(math.sqrt(6 / 26), rel=1e-5)


def test_the_floor_is_about_what_random_play_earns():
    lanes, draw = Lockstep(ENV, PARAMS, seed_key(1), 2048), jax.jit(jax.vmap(ENV.action_space.sample))
    while lanes.active.any():
        lanes.step(np.asarray(draw(jax.random.split(jax.random.key(lanes.t), 2048))))
    assert lanes.returns.mean() == pytest.approx(registry.entry("datacenter_cooling").return_floor, rel=0.05)


def test_baselines_play_the_episodes_of_the_scorer_and_the_search_improves_on_a_middling_rule():
    gains = np.zeros((1, RULES[constant]), np.float32)
    mine = np.asarray(returns(ENV, PARAMS, constant, gains, seed_key(1), 16))[0]
    lanes = Lockstep(ENV, PARAMS, seed_key(1), 16)
    while lanes.active.any():
        lanes.step(np.zeros((16, 6), np.float32))
    np.testing.assert_allclose(mine, lanes.returns, rtol=1e-4)
    best = search(ENV, PARAMS, unit_controller, rounds=2, candidates=16, episodes=8)
    found = np.asarray(returns(ENV, PARAMS, unit_controller, best[None], seed_key(1), 16)).mean()
    assert found > mine.mean()

"""Traffic lights against a second reading of their rules in NumPy, and the laws that cars obey."""

import jax
import numpy as np
import pytest
from baselines_traffic_lights import cycle, max_queue, play

from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import seed_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.traffic_lights import explain
from evalxrl_envs.traffic_lights.environment import ENTRANCES

ENV, PARAMS = registry.make("traffic_lights")
STEP = jax.jit(ENV.step)
INITIAL = jax.jit(ENV.initial)
OUTSIDE = ["0N", "0W", "1N", "1E", "2S", "2W", "3E", "3S"]
MOVE = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
RIGHT_OF = {"N": "E", "E": "S", "S": "W", "W": "N"}
NAMES = "NESW"
PHASE = {0: ("NS", 0), 1: ("NS", 1), 2: ("EW", 0), 3: ("EW", 1)}


def plain(params=PARAMS):
    return {name: float(value) for name, value in vars(params).items()}


def leads_to(intersection, heading):
    """The link that a car enters that leaves an intersection by a heading, such as `1W`, or None outside."""
    row, column = intersection // 2 + MOVE[heading][0], intersection % 2 + MOVE[heading][1]
    return f"{2 * row + column}{OPPOSITE[heading]}" if row in (0, 1) and column in (0, 1) else None


def ways(intersection, side, lane, p):
    """Where a lane's cars go: (link or None, share)."""
    ahead = OPPOSITE[side]
    if lane == 1:
        left = OPPOSITE[RIGHT_OF[ahead]]
        return [(leads_to(intersection, left), 1.0)]
    right = RIGHT_OF[ahead]
    return [(leads_to(intersection, ahead), 1 - p["right_share"]), (leads_to(intersection, right), p["right_share"])]


def arrivals_of(key, state, p):
    """Cars that arrive per link, counted from the same draws."""
    tide = p["tide"] * np.sin(2 * np.pi * int(state.t) / p["horizon"] + float(state.tide_phase))
    draws, count = np.asarray(jax.random.uniform(key, (3, 8))), {}
    for column, link in enumerate(OUTSIDE):
        sign = 1 if link[1] in "NS" else -1
        rate = p["rate"] * float(state.level) * (1 + sign * tide)
        count[link] = sum(float(draw < np.float32(rate / 3)) for draw in draws[:, column])
    return count


def replica_step(key, state, action, p):
    """One step by hand: queue, moving, phase, age, amber, and the reward per intersection."""
    links = [f"{i}{side}" for i in range(4) for side in NAMES]
    queue = dict(zip(links, np.asarray(state.queue, float).reshape(16, 2).tolist(), strict=True))
    near, far = (dict(zip(links, row, strict=True)) for row in np.asarray(state.moving, float).tolist())
    phase, age, amber = ([int(x) for x in field] for field in (state.phase, state.age, state.amber))
    want = {}
    for i in range(4):
        if age[i] >= p["minimum_green"] and amber[i] == 0 and action[i] != phase[i]:
            phase[i], amber[i], age[i] = int(action[i]), int(p["amber_steps"]), 0
        else:
            amber[i], age[i] = max(amber[i] - 1, 0), age[i] + 1
        sides, green = PHASE[phase[i]]
        for side in NAMES:
            for lane, most in enumerate((p["through_saturation"], p["left_saturation"])):
                goes = side in sides and lane == green and amber[i] == 0
                want[i, side, lane] = min(queue[f"{i}{side}"][lane], most) if goes else 0.0
    wish = dict.fromkeys(links, 0.0)
    for lane, cars in want.items():
        for link, share in ways(*lane, p):
            if link:
                wish[link] += cars * share
    space = {link: max(p["capacity"] - sum(queue[link]) - near[link], 0) for link in links}
    accept = {link: min(1.0, space[link] / max(wish[link], 1e-6)) for link in links}
    inflow, out = dict.fromkeys(links, 0.0), {}
    for lane, cars in want.items():
        out[lane] = cars * min([1.0, *(accept[link] for link, _ in ways(*lane, p) if link)])
        for link, share in ways(*lane, p):
            if link:
                inflow[link] += out[lane] * share
    arriving, pay = arrivals_of(key, state, p), np.zeros((4, 3))
    for link in links:
        land = near[link] + arriving.get(link, 0.0)
        for lane, share in enumerate((1 - p["left_share"], p["left_share"])):
            gone = out[int(link[0]), link[1], lane]
            queue[link][lane] += land * share - gone
            excess = max(queue[link][lane] - p["long_queue"], 0)
            pay[int(link[0])] += p["delay"] * queue[link][lane], p["throughput"] * gone, p["queue"] * excess**2
    return queue, (far, inflow), (phase, age, amber), pay


def replica_observation(queue, moving, signals):
    phase, age, amber = signals
    seen = []
    for i in range(4):
        seen += [cars for side in NAMES for cars in queue[f"{i}{side}"]]
        seen += [float(phase[i] == k) for k in range(4)] + [min(age[i], 10), amber[i]]
    return seen + [moving[0][link] + moving[1][link] for link in queue]


@pytest.mark.parametrize("seed", range(4))
def test_fifty_steps_agree_with_the_rules_by_hand(seed):
    params = PARAMS if seed else typed(PARAMS, {"capacity": 6.0, "rate": 1.2, "minimum_green": 2, "amber_steps": 1})
    p, state = plain(params), INITIAL(jax.random.key(seed), params)
    draw, wanted = np.random.default_rng(seed), np.zeros(4, np.int32)
    for key in jax.random.split(jax.random.key(100 + seed), 50):
        wanted = np.where(draw.random(4) < 0.3, draw.integers(0, 4, 4), wanted).astype(np.int32)
        queue, moving, signals, pay = replica_step(key, state, wanted, p)
        after = STEP(key, state, wanted, params)
        np.testing.assert_allclose(np.asarray(after.state.queue).reshape(16, 2), list(queue.values()), atol=1e-4)
        np.testing.assert_allclose(after.state.moving, [list(row.values()) for row in moving], atol=1e-4)
        for field, by_hand in zip(("phase", "age", "amber"), signals, strict=True):
            np.testing.assert_array_equal(getattr(after.state, field), by_hand)
        np.testing.assert_allclose(after.info["effects"].local, pay, atol=1e-4)
        np.testing.assert_allclose(after.info["reward"], pay.sum(0), atol=1e-4)
        np.testing.assert_allclose(after.observation, replica_observation(queue, moving, signals), atol=1e-4)
        assert not after.terminated and int(after.state.t) == int(state.t) + 1
        state = after.state


def test_cars_enter_where_the_square_is_open():
    links = [f"{i}{side}" for i in range(4) for side in NAMES]
    assert [links[row.argmax()] for row in ENTRANCES] == OUTSIDE and np.all(ENTRANCES.sum(1) == 1)


def random_play(params, steps=120, lanes=64):
    """States and effects (steps, lanes) under random phases that are kept a while."""

    def one(key):
        def advance(carry, key):
            state, wanted = carry
            for_step, for_action, for_change = jax.random.split(key, 3)
            change = jax.random.uniform(for_change, (4,)) < 0.3
            wanted = jax.numpy.where(change, ENV.action_space.sample(for_action), wanted)
            after = ENV.step(for_step, state, wanted, params)
            return (after.state, wanted), (state, after.state, after.info["effects"])

        first = ENV.initial(key, params)
        return jax.lax.scan(advance, (first, first.phase), jax.random.split(key, steps))[1]

    return jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), lanes)))


def test_every_car_that_arrives_queues_travels_or_has_left():
    before, after, effects = random_play(PARAMS)

    def inside(state):
        return state.queue.sum((2, 3, 4)) + state.moving.sum((2, 3))

    leaving = np.zeros(effects.out.shape)
    for i in range(4):
        for a, side in enumerate(NAMES):
            for lane in range(2):
                share = sum(part for link, part in ways(i, side, lane, plain()) if link is None)
                leaving[:, :, i, a, lane] = share * effects.out[:, :, i, a, lane]
    arrived = inside(after) - inside(before) + leaving.sum((2, 3, 4))
    np.testing.assert_allclose(arrived, np.round(arrived), atol=1e-3)
    assert arrived.min() > -1e-3 and arrived.max() < 24 + 1e-3
    expected = 8 * PARAMS.rate
    assert abs(arrived.mean() - expected) < 0.1 * expected


def test_a_road_takes_in_no_more_than_fits_and_no_queue_is_negative():
    small = typed(PARAMS, {"capacity": 5.0, "first_queue": 2.0, "rate": 1.5})
    before, after, effects = random_play(small)
    inner = ENTRANCES.max(0) == 0
    standing = before.queue.sum(4).reshape(*before.t.shape, 16) + before.moving[:, :, 0]
    inflow = after.moving[:, :, 1]
    assert np.all(inflow <= np.maximum(5.0 - standing, 0) + 1e-5) and np.all(inflow[..., ~inner] == 0)
    assert standing[..., ~inner].max() > 5.0 and after.queue.min() > -1e-5 and after.moving.min() >= 0
    assert np.all(effects.out <= effects.want + 1e-6)
    blocked = effects.want - effects.out > 1e-3
    assert blocked.any() and not blocked.all()


def test_each_action_name_lets_the_cars_go_that_it_names():
    params = typed(PARAMS, {"rate": 0.0})
    sides = {"north_south": "NS", "east_west": "EW"}
    for place, names in enumerate(explain.action_names):
        for wanted, name in enumerate(names):
            axis, lane = name.rsplit("_", 1)
            state = INITIAL(jax.random.key(wanted), params)
            action = np.asarray(state.phase).copy()
            action[place] = wanted
            for _ in range(7):
                after = STEP(jax.random.key(0), state, action, params)
                state = after.state
            gone = np.asarray(after.info["effects"].want)[place]
            going = {(side, n) for a, side in enumerate(NAMES) for n in range(2) if gone[a, n] > 0}
            assert going <= {(side, int(lane == "left")) for side in sides[axis]}
            assert int(state.phase[place]) == wanted


def test_each_observation_name_shows_what_it_says():
    state = INITIAL(jax.random.key(3), PARAMS)
    shown = dict(zip(explain.obs_names, np.asarray(ENV.observe(state, PARAMS)), strict=True))
    queue = np.asarray(state.queue)
    assert shown["northeast_queue/S1"] == queue[1, 2, 1] and shown["southwest_queue/W0"] == queue[2, 3, 0]
    for i, place in enumerate(("northwest", "northeast", "southwest", "southeast")):
        lit = [name for name in explain.action_names[0] if shown[f"{place}_signal/{name}"] == 1]
        assert lit == [explain.action_names[0][int(state.phase[i])]]
        assert shown[f"{place}_signal/age"] == shown[f"{place}_signal/amber"] == 0


def test_a_switch_waits_for_green_and_costs_amber():
    params = typed(PARAMS, {"minimum_green": 3, "amber_steps": 2})
    state = INITIAL(jax.random.key(0), params)
    wanted, flows = (np.asarray(state.phase) + 1) % 4, []
    for _ in range(8):
        after = STEP(jax.random.key(1), state, wanted.astype(np.int32), params)
        state = after.state
        flows.append((np.asarray(state.phase) == wanted).all() and bool((np.asarray(state.amber) == 0).all()))
    assert flows == [False] * 5 + [True] * 3


def test_arrivals_depend_on_the_key_alone():
    state = INITIAL(jax.random.key(0), PARAMS)
    for seed in range(20):
        actions = np.random.default_rng(seed).integers(0, 4, (8, 4)).astype(np.int32)
        after = jax.vmap(STEP, (None, None, 0, None))(jax.random.key(seed), state, actions, PARAMS)
        total = np.asarray(after.state.queue.sum(3) + after.info["effects"].out.sum(3))
        np.testing.assert_allclose(total, np.broadcast_to(total[0], total.shape), atol=1e-5)


def test_demand_follows_the_tide_and_the_level():
    keys = jax.random.split(jax.random.key(2), 4000)
    states = jax.jit(jax.vmap(ENV.initial, (0, None)))(keys, PARAMS)
    level = np.asarray(states.level)
    assert abs(level.mean() - 1) < 0.02 and abs(level.std() - PARAMS.level_spread) < 0.02
    assert 0 <= np.asarray(states.queue).min() and np.asarray(states.queue).max() < PARAMS.first_queue
    assert np.bincount(np.asarray(states.phase).ravel(), minlength=4).min() > 3700
    state = jax.tree.map(lambda x: x[0], states)
    north, east = [], []
    for t in range(int(PARAMS.horizon)):
        now = ENV.exogenous(type(state)(**{**vars(state), "t": np.int32(t)}), PARAMS)
        north.append(float(now.rate[OUTSIDE.index("0N")]))
        east.append(float(now.rate[OUTSIDE.index("1E")]))
        assert (north[-1] > east[-1]) == (float(now.tide) > 0)
    assert np.mean(north) == pytest.approx(PARAMS.rate * level[0], rel=1e-3)
    assert max(north) == pytest.approx(PARAMS.rate * level[0] * (1 + PARAMS.tide), rel=1e-2)


def test_the_distance_is_in_units_of_what_is_observed():
    state = INITIAL(jax.random.key(0), PARAMS)
    longer = type(state)(**{**vars(state), "queue": np.asarray(state.queue) + np.float32(4)})
    assert explain.distance(state, longer) == pytest.approx((32 / 72) ** 0.5, rel=1e-5)


def test_rules_for_comparison_do_what_they_say():
    queue = np.zeros((1, 4, 4, 2))
    queue[0, 0, 1, 0], queue[0, 1, 2, 1], queue[0, 2, :, 0] = 3, 2, (2, 3, 2, 3)
    assert max_queue(queue).tolist() == [[2, 1, 2, 0]]
    assert [cycle(t, 2) for t in range(9)] == [0, 0, 1, 1, 2, 2, 3, 3, 0]
    lanes = play(ENV, PARAMS, seed_key(1), 4, lambda lanes: cycle(lanes.t, 5))
    assert np.all(lanes.lengths == 120) and np.all(np.isfinite(lanes.returns))

"""The contract for explanation tools, for every registered environment."""

import json
from dataclasses import fields, replace

import jax
import numpy as np
import pytest

from evalxrl_envs.core import images, registry
from evalxrl_envs.core.rollout import rollout


@pytest.fixture
def parts(name):
    return *registry.make(name), registry.part(name, "explain")


def random_states(env, params, count):
    """States met from all times of an episode, half of them in random play and half with one action held."""

    length = int(params.horizon)
    keys = jax.random.split(jax.random.key(11), -(-count // length))

    def one(key, hold):
        first = env.action_space.sample(key)
        held = jax.numpy.full_like(first, first.ravel()[0])

        def advance(state, key):
            action = jax.numpy.where(hold, held, env.action_space.sample(key))
            after = env.step(key, state, action, params)
            going_on = ~(after.terminated | after.truncated)
            fresh = replace(env.initial(key, params), t=after.state.t)
            return jax.tree.map(lambda a, b: jax.numpy.where(going_on, a, b), after.state, fresh), state

        return jax.lax.scan(advance, env.initial(key, params), jax.random.split(key, length))[1]

    states = jax.jit(jax.vmap(one))(keys, np.arange(len(keys)) % 2)
    return jax.tree.map(lambda x: np.asarray(x).reshape(-1, *x.shape[2:])[:count], states)


def valid_states(env, params, count):
    """States met in random play, every other one with each bounded field anywhere between its bounds."""
    states, random = random_states(env, params, count), np.random.default_rng(12)

    def scattered(value, low, high):
        if not np.isfinite([low, high]).all():
            return value
        draw = random.uniform(low, high + (value.dtype.kind == "i"), value.shape).astype(value.dtype)
        draw = np.clip(draw, low, high).astype(value.dtype)
        return np.where(np.arange(count).reshape(-1, *[1] * (value.ndim - 1)) % 2 == 1, draw, value)

    bounds = env.bounds(params)
    return type(states)(
        **{
            field.name: scattered(getattr(states, field.name), *bounds.get(field.name, (-np.inf, np.inf)))
            for field in fields(states)
        }
    )


def test_a_state_survives_json_bit_for_bit_and_restarts_exactly(parts):
    env, params, explain = parts
    step = jax.jit(env.step)
    _, state = env.reset(jax.random.key(4), params)
    again = explain.state_from_json(json.loads(json.dumps(explain.state_to_json(state))), params)
    for field in fields(state):
        a, b = np.asarray(getattr(state, field.name)), np.asarray(getattr(again, field.name))
        assert a.tobytes() == b.tobytes() and a.dtype == b.dtype
    observation, restarted = explain.reset_to(again, params)
    np.testing.assert_array_equal(observation, env.observe(state, params))
    for i in range(20):
        key = jax.random.key(i)
        action = env.action_space.sample(key)
        a, b = step(key, state, action, params), step(key, restarted, action, params)
        np.testing.assert_array_equal(a.observation, b.observation)
        assert a.reward == b.reward
        state, restarted = a.state, b.state


def test_a_restart_names_the_field_that_is_wrong(parts):
    env, params, explain = parts
    _, state = env.reset(jax.random.key(0), params)
    for field in fields(state):
        value = np.asarray(getattr(state, field.name))
        low, high = env.bounds(params)[field.name]
        for bad in (
            value[..., None],
            value.astype(np.int64),
            np.full_like(value, high + 1),
            np.full_like(value, low - 1),
        ):
            with pytest.raises(ValueError, match=field.name):
                explain.reset_to(replace(state, **{field.name: bad}), params)
    document = explain.state_to_json(state)
    for wrong in ({"format": "x"}, {"environment": "x"}, {"state": {}}, {"state": {**document["state"], "t": 0.5}}):
        with pytest.raises(ValueError):
            explain.state_from_json(document | wrong, params)


def test_names_are_unique_and_grouped(parts):
    env, params, explain = parts
    assert len(explain.obs_names) == len(set(explain.obs_names)) == env.observation_space.shape[0]
    assert len(explain.obs_scale) == len(explain.obs_names)
    groups = [name.split("/")[0] for name in explain.obs_names]
    runs = [group for i, group in enumerate(groups) if i == 0 or groups[i - 1] != group]
    assert len(runs) == len(set(runs)) <= 10
    heads = getattr(env.action_space, "heads", None)
    assert heads is None or tuple(len(names) for names in explain.action_names) == heads


def test_predicates_have_fixed_keys_and_are_seen_both_true_and_false(parts):
    env, params, explain = parts
    states = valid_states(env, params, 10_000)
    found = jax.jit(jax.vmap(lambda state: explain.predicates(state, params)))(states)
    single = explain.predicates(jax.tree.map(lambda x: x[0], states), params)
    assert list(found) == list(jax.eval_shape(explain.predicates, jax.tree.map(lambda x: x[0], states), params))
    assert set(single) == set(found)
    for name, values in found.items():
        assert 0 < np.asarray(values).sum() < 10_000, name


def test_distance_is_a_metric(parts):
    env, params, explain = parts
    states = random_states(env, params, 40)
    some = [jax.tree.map(lambda x, i=i: x[i], states) for i in range(0, 40, 5)]
    for a in some:
        assert explain.distance(a, a) == 0
        for b in some:
            assert explain.distance(a, b) == explain.distance(b, a) >= 0
            for c in some:
                assert explain.distance(a, c) <= explain.distance(a, b) + explain.distance(b, c) + 1e-9


def test_pictures_need_no_display_and_open_elsewhere(parts, tmp_path):
    env, params, explain = parts
    states = random_states(env, params, 30)
    some = [jax.tree.map(lambda x, i=i: x[i], states) for i in range(0, 30, 7)]
    frames = [explain.render_rgb(state, params) for state in some]
    assert all(explain.render_text(state, params) for state in some)
    assert {(frame.shape, frame.dtype) for frame in frames} == {(frames[0].shape, np.dtype(np.uint8))}
    explain.write_png(tmp_path / "a.png", frames[0])
    explain.write_gif(tmp_path / "a.gif", frames, 4)
    image = pytest.importorskip("PIL.Image")
    np.testing.assert_array_equal(np.asarray(image.open(tmp_path / "a.png")), frames[0])
    movie = image.open(tmp_path / "a.gif")
    for i, frame in enumerate(frames):
        movie.seek(i)
        np.testing.assert_array_equal(np.asarray(movie.convert("RGB")), frame)


@pytest.mark.parametrize("height, width, colours", [(1, 1, 2), (5, 7, 3), (40, 50, 128), (64, 64, 2), (200, 300, 100)])
def test_a_movie_reads_back_exactly_whatever_changes_between_its_frames(tmp_path, height, width, colours):
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(colours)
    palette = random.integers(0, 256, (colours, 3)).astype(np.uint8)
    noise, flat = random.integers(0, colours, (height, width)), np.zeros((height, width), int)
    corner = flat.copy()
    corner[height // 2 :, width // 2 :] = 1
    frames = [palette[frame] for frame in (noise, flat, flat, corner, noise)]
    images.write_gif(tmp_path / "c.gif", frames, 4)
    movie = image.open(tmp_path / "c.gif")
    for i, frame in enumerate(frames):
        movie.seek(i)
        np.testing.assert_array_equal(np.asarray(movie.convert("RGB")), frame)
    assert movie.n_frames == len(frames)


def test_a_picture_of_many_colours_still_makes_a_movie(tmp_path):
    image = pytest.importorskip("PIL.Image")
    frame = np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)
    images.write_gif(tmp_path / "b.gif", [frame, frame[::-1]], 10)
    movie = image.open(tmp_path / "b.gif")
    assert movie.n_frames == 2
    movie.seek(1)
    difference = np.asarray(movie.convert("RGB")).astype(int) - frame[::-1]
    assert np.abs(difference).max() <= 35


def test_a_strip_holds_its_pictures_in_order_with_gaps_between():
    frames = [np.full((4, 3, 3), shade, np.uint8) for shade in (10, 20, 30)]
    strip = images.strip(frames)
    assert strip.shape == (4, 3 * 3 + 2 * 2, 3)
    assert strip[0, :, 0].tolist() == [10] * 3 + [255] * 2 + [20] * 3 + [255] * 2 + [30] * 3


def test_rollout_and_explain_agree_on_names(parts):
    env, params, explain = parts
    steps = jax.eval_shape(
        lambda key: rollout(env, lambda k, o: env.action_space.sample(k), key, params, 2),
        jax.random.split(jax.random.key(0), 2),
    )
    assert steps.info["reward"]._fields == env.components

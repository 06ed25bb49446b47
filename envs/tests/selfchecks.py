"""What guards the clean tree and the scorer against known kinds of defect, as functions that raise `AssertionError`.

`test_selfchecks.py` runs them on every environment; `test_planted_defects.py` shows that each turns red on its defect.
"""

import dataclasses
import hashlib
import re
import threading
from contextlib import contextmanager

import jax
import numpy as np

from evalxrl_envs.agents import evaluate, ppo, train
from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import hex_seed, reset_key, seed_key, step_key
from evalxrl_envs.core.protocol import typed
from evalxrl_envs.scoring import driver, keys
from evalxrl_envs.serving import server

FIRST, SECOND = "ab" * 32, "cd" * 32
SHORT = {"environments": 8, "steps": 160, "updates": 2, "epochs": 1, "minibatches": 2}
"""Sizes of training that reach the end of every episode and take a moment."""


def quiet(line):
    pass


def short(name):
    """The environment's own configuration with small sizes."""
    setting = train.read_config(*registry.make(name))
    return setting._replace(static=setting.static._replace(**SHORT))


def vector_of(setting, seed=0):
    return np.asarray(train.run(setting, [seed], quiet, chunk=1).training.learner.vector)


def agent_of(setting, seed=0):
    return train.agent_of(setting, train.run(setting, [seed], quiet, chunk=1).training, seed, "config.toml")


def played(setting, act, key, episodes=128):
    return evaluate.evaluate(setting.env, setting.params, act, key, episodes)


def seeds_differ(setting):
    """Root seeds 0 and 1 train agents with other parameters and other returns."""
    agents = [agent_of(setting, seed) for seed in (0, 1)]
    hashes = {hashlib.sha256(b"".join(map(bytes, agent.parameters.values()))).digest() for agent in agents}
    assert len(hashes) == 2
    space = setting.env.action_space
    returns = [played(setting, evaluate.greedy_policy(agent, space), seed_key(0)).returns for agent in agents]
    assert not np.array_equal(*returns)


def keys_are_distinct(setting):
    """No two of the keys of training, development and final scoring are the same."""
    found = [np.asarray(ppo.draw(setting, seed, i).keys).reshape(-1, 2) for seed in (0, 1) for i in (0, 1)]
    for root in (seed_key(0), seed_key(1), keys.episodes_key(FIRST), keys.episodes_key(SECOND)):
        for episode in driver_keys(root):
            found.append(np.stack([jax.random.key_data(reset_key(episode)), jax.random.key_data(step_key(episode, 0))]))
    words = np.concatenate(found)
    assert len(np.unique(words, axis=0)) == len(words)


def driver_keys(root, episodes=4):
    return [jax.random.fold_in(root, e) for e in range(episodes)]


@contextmanager
def serving(agent, env):
    """Serves an agent from a thread; gives the address."""
    listening, said = threading.Event(), []

    def say(line):
        said.append(line)
        listening.set()

    threading.Thread(target=server.serve, args=(agent, env, "127.0.0.1", 0, say), daemon=True).start()
    assert listening.wait(60)
    yield f"127.0.0.1:{said[0].split()[-1]}"


def scored(setting, agent, seed, episodes):
    """The returns that the scorer gives over the wire, before the floor."""
    with serving(agent, setting.env) as address:
        deadlines = {"ready": 60.0, "first": 60.0, "reply": 60.0, "total": 600.0}
        document = {"environment": setting.env.name, "seed": seed, "permutation_seed": SECOND, "episodes": episodes}
        result = driver.score(driver.read_request(document | {"address": address, "deadlines": deadlines}))
    assert result["status"] == "scored" and result["consistency"] == 1.0
    return np.array(result["unfloored_returns"])


def two_paths_agree(setting, agent, episodes=64):
    """The agent in process, as served, and over the wire have the same returns; on other episodes the same mean."""
    env, key = setting.env, seed_key(hex_seed(FIRST))
    here = played(setting, evaluate.greedy_policy(agent, env.action_space), key, episodes).returns
    np.testing.assert_array_equal(here, played(setting, server.served_policy(agent, env), key, episodes).returns)
    np.testing.assert_array_equal(here, scored(setting, agent, FIRST, episodes))
    elsewhere = scored(setting, agent, SECOND, episodes)
    assert not np.array_equal(here, elsewhere)
    error = np.sqrt((here.var(ddof=1) + elsewhere.var(ddof=1)) / episodes)
    assert abs(here.mean() - elsewhere.mean()) <= 3 * error


def time_limits_are_no_endings(env, params):
    """At the horizon an episode is truncated, and terminated only if it would be without a horizon."""
    keys_of = jax.random.split(jax.random.key(0), 64)
    states = jax.vmap(env.initial, (0, None))(keys_of, params)
    actions = jax.vmap(env.action_space.sample)(keys_of)
    step = jax.jit(jax.vmap(env.step, (0, 0, 0, None)))
    early = step(keys_of, states, actions, params)
    last = jax.tree.map(lambda x: np.full_like(x, int(params.horizon) - 1), states.t)
    late = step(keys_of, dataclasses.replace(states, t=last), actions, params)
    assert not np.any(early.truncated) and np.all(late.truncated)
    np.testing.assert_array_equal(early.terminated, late.terminated)
    assert env.ends or not np.any(late.terminated)


def buffers_stay(observe_next, steps=6):
    """Observations kept from one step are unchanged by the next ones; `observe_next` gives them one by one."""
    kept = [observe_next() for _ in range(steps)]
    copies = [np.array(one) for one in kept[:-1]]
    assert any(not np.array_equal(kept[0], one) for one in kept[1:]), "nothing moved"
    for _ in range(2):
        observe_next()
    for one, copy in zip(kept, copies, strict=False):
        np.testing.assert_array_equal(one, copy)


def observations_served(setting, agent, monkeypatch, episodes=16):
    """The observations that the server acts on, step by step, and what they were when it did."""
    seen, copies, original = [], [], server.actions

    def watching(agent, env, observations):
        seen.append(observations)
        copies.append(np.array(observations))
        return original(agent, env, observations)

    monkeypatch.setattr(server, "actions", watching)
    scored(setting, agent, FIRST, episodes)
    return seen, copies


def server_buffers_stay(setting, agent, monkeypatch):
    """What the server was sent in one step is unchanged after the next."""
    seen, copies = observations_served(setting, agent, monkeypatch)
    assert len(seen) > 5 and not np.array_equal(copies[1], copies[-1])
    for one, copy in zip(seen, copies, strict=True):
        np.testing.assert_array_equal(one, copy)


def others(value):
    """Values of the same kind, one of which must act."""
    if isinstance(value, bool):
        return (not value,)
    return (value + 1, max(value // 20, 1)) if isinstance(value, int) else (value * 2 + 0.1, value * 0.05)


def configuration_acts(setting, folder, tables, read=None):
    """Each number of the shipped `config.toml`, edited in its text, changes the run; `tables` names which to try."""
    source = (registry.entry(setting.env.name).folder / "config.toml").read_text()
    for name, value in SHORT.items():
        source = re.sub(rf"^{name} = .*$", f"{name} = {value}", source, flags=re.M)
    path, table, tried = folder / "config.toml", "", 0

    def run(text):
        path.write_text(text)
        return vector_of((read or train.read_config)(setting.env, registry.make(setting.env.name)[1], path))

    base = run(source)
    for line in source.splitlines():
        table = line.strip("[]") if line.startswith("[") else table
        key, equals, text = line.partition(" = ")
        if not equals or table not in tables:
            continue
        value = {"true": True, "false": False}.get(text) if text in ("true", "false") else None
        if value is None:
            value = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        if table == "static" and not isinstance(value, bool):
            edits = (2 * value,)
        else:
            edits = tuple(others(value))
        edited = [source.replace(f"\n{line}\n", f"\n{key} = {str(edit).lower()}\n") for edit in edits]
        assert any(not np.array_equal(run(one), base) for one in edited), f"{table}: {key}"
        tried += 1
    assert tried >= len(tables)


def served_is_trained(setting, agent):
    """On 256 observations met in play the server acts exactly as the trainer's greedy policy."""
    env, seen = setting.env, []
    draw = jax.jit(jax.vmap(env.action_space.sample))
    lanes = evaluate.Lockstep(env, setting.params, seed_key(3), 64)
    while len(seen) < 4 and lanes.active.any():
        seen.append(np.array(lanes.observations))
        for _ in range(3):
            lanes.step(np.asarray(draw(jax.random.split(jax.random.key(lanes.t), 64))))
    seen = np.concatenate(seen)
    expected = evaluate.greedy_policy(agent, env.action_space)(seen)
    assert len(np.unique(expected.reshape(len(seen), -1), axis=0)) > 1, "one action everywhere shows nothing"
    np.testing.assert_array_equal(server.served_policy(agent, env)(seen), expected)


def _moved(name, params, **fields):
    """A function from an action to the state after it, from an initial state with some fields replaced."""
    env = registry.make(name)[0]
    state = dataclasses.replace(env.initial(jax.random.key(0), params), **fields)
    return state, lambda action: env.step(jax.random.key(1), state, np.asarray(action, env.action_space.dtype), params)


def _treasure_grid(names):
    params = typed(registry.make("treasure_grid")[1], {"slip": 0.0})
    _, after = _moved("treasure_grid", params, layout=np.int32(0), position=np.int32(21))
    directions = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
    for action, name in enumerate(names[0]):
        row, column = divmod(int(after(action).state.position), 6)
        assert (row - 3, column - 3) == directions[name], name


def _cartpole(names):
    _, after = _moved("cartpole", registry.make("cartpole")[1])
    left, right = (names[0].index(name) for name in ("left", "right"))
    assert float(after(left).state.x_dot) < 0 < float(after(right).state.x_dot)


def _datacenter_cooling(names):
    _, after = _moved("datacenter_cooling", registry.make("datacenter_cooling")[1])
    idle = after(np.zeros(6)).state
    for axis, (name,) in enumerate(names):
        part, unit = name.split("/")
        more = after(np.eye(6)[axis]).state
        for field in ("fan", "cool"):
            rise = np.asarray(getattr(more, field)) - np.asarray(getattr(idle, field))
            expected = (np.arange(3) == int(unit)) & (field == part)
            np.testing.assert_array_equal(rise > 1e-3, expected, name)
            np.testing.assert_array_equal(rise < -1e-3, False, name)


def _traffic_lights(names):
    params = typed(registry.make("traffic_lights")[1], {"amber_steps": 0, "rate": 0.0})
    fields = {"queue": np.full((4, 4, 2), 3.0, np.float32), "moving": np.zeros((2, 16), np.float32)}
    fields |= {"age": np.full(4, 50, np.int32), "amber": np.zeros(4, np.int32)}
    state, after = _moved("traffic_lights", params, **fields)
    for place in range(4):
        for action, name in enumerate(names[place]):
            wanted = np.asarray(state.phase).copy()
            wanted[place] = action
            gone = 3 - np.asarray(after(wanted).state.queue)[place] > 0.1
            lane = int(name.endswith("left"))
            rows = slice(0, None, 2) if name.startswith("north_south") else slice(1, None, 2)
            expected = np.zeros((4, 2), bool)
            expected[rows, lane] = True
            np.testing.assert_array_equal(gone, expected, name)


DIRECTIONS = {
    "treasure_grid": _treasure_grid,
    "cartpole": _cartpole,
    "datacenter_cooling": _datacenter_cooling,
    "traffic_lights": _traffic_lights,
}


def names_are_directions(name, names):
    """Each entry of `action_names` moves the state as its name says."""
    DIRECTIONS[name](names)

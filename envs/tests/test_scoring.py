"""The scorer against honest and misbehaving agents: every row of the event table, and equal paths."""

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import jax
import numpy as np
import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny import Tiny

from evalxrl_envs.agents import checkpoint, evaluate
from evalxrl_envs.core import registry
from evalxrl_envs.core.keys import hex_seed, seed_key
from evalxrl_envs.core.spaces import Box, MultiDiscrete
from evalxrl_envs.scoring import driver
from evalxrl_envs.serving import protocol, server
from evalxrl_envs.serving.protocol import Stream, write_npy

SEED, OTHER = "ab" * 32, "cd" * 32
FLOOR = registry.entry("treasure_grid").return_floor
READY = protocol.write_json({"protocol": 1})


@contextmanager
def serving(target, *arguments):
    """Runs `target(listener, *arguments)` in a thread; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=target, args=(listener, *arguments), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


def fake(listener, reply, ready=READY):
    """An agent that says it is ready and answers step i by what `reply(i, frame, batch, stream)` sends."""
    try:
        stream = Stream(listener.accept()[0])
        hello = stream.receive({protocol.HELLO: 4096})
        batch = protocol.read_json(hello.payload)["batch"]
        if ready is None:
            stream.receive({protocol.BYE: 0})
        stream.send(protocol.READY, hello.sequence, ready)
        step = 0
        while (frame := stream.receive({protocol.OBSERVE: 2**26, protocol.BYE: 0})).kind != protocol.BYE:
            reply(step, frame, batch, stream)
            step += 1
    except (OSError, protocol.ProtocolError):
        pass


def request(address, episodes=32, **deadlines):
    limits = {"ready": 30.0, "first": 30.0, "reply": 10.0, "total": 100.0} | deadlines
    return driver.read_request(
        {
            "environment": "treasure_grid",
            "seed": SEED,
            "permutation_seed": OTHER,
            "episodes": episodes,
            "address": address,
            "deadlines": limits,
        }
    )


def score(reply, hello=READY, later=10.0, **options):
    with serving(fake, reply, hello) as address:
        return driver.score(request(address, reply=later, **options))


def constant(value, dtype="<i4"):
    return lambda step, frame, batch, stream: stream.send(
        protocol.ACT, frame.sequence, write_npy(np.full(batch, value, dtype))
    )


@contextmanager
def served(agent_file):
    """The real server with a trained agent; gives the address."""
    env, _ = registry.make("treasure_grid")
    agent = checkpoint.read_agent(agent_file, env)
    said = threading.Event()
    port = []

    def say(line):
        if line.startswith("listening on "):
            port.append(int(line.split()[-1]))
            said.set()

    threading.Thread(target=server.serve, args=(agent, env, "127.0.0.1", 0, say), daemon=True).start()
    assert said.wait(60)
    yield f"127.0.0.1:{port[0]}"


def test_the_served_agent_and_the_one_in_process_have_identical_returns(agent_file):
    env, params = registry.make("treasure_grid")
    act = evaluate.greedy_policy(checkpoint.read_agent(agent_file, env), env.action_space)
    here = evaluate.evaluate(env, params, act, seed_key(hex_seed(SEED)), 64)
    with served(agent_file) as address:
        result = driver.score(request(address, 64))
        fewer = driver.score(request(address, 16))
    assert result["status"] == "scored" and result["consistency"] == 1.0 and result["invalid"] == 0
    assert result["unfloored_returns"] == here.returns.tolist()
    assert result["returns"] == np.maximum(here.returns, FLOOR).tolist()
    assert result["lengths"] == here.lengths.tolist() and result["terminated"] == here.terminated.tolist()
    np.testing.assert_allclose(sum(map(np.array, result["components"].values())), here.returns, atol=1e-5)
    assert fewer["returns"] == result["returns"][:16]


def test_the_server_acts_as_the_trainer_would_and_keeps_its_buffers(agent_file):
    env, params = registry.make("treasure_grid")
    act = evaluate.greedy_policy(checkpoint.read_agent(agent_file, env), env.action_space)
    observations = np.random.default_rng(0).uniform(-1, 1, (256, 43)).astype("<f4")
    hello = {"batch": 256, "observation": {"dtype": "<f4", "shape": [43]}, "action": {"kind": "discrete", "n": 4}}
    with served(agent_file) as address:
        host, port = address.split(":")
        stream = Stream(socket.create_connection((host, int(port))))
        stream.send(protocol.HELLO, 0, protocol.write_json(hello))
        assert stream.receive({protocol.READY: 4096}) == protocol.Frame(protocol.READY, 0, READY)
        answers = []
        for sequence, batch in ((1, observations), (2, observations[::-1])):
            stream.send(protocol.OBSERVE, sequence, write_npy(batch))
            frame = stream.receive({protocol.ACT: 4096})
            assert frame.sequence == sequence
            answers.append(protocol.read_npy(frame.payload, "<i4", (256,)))
        stream.close()
        with pytest.raises(protocol.ProtocolError):
            again = Stream(socket.create_connection((host, int(port))))
            again.send(protocol.HELLO, 0, protocol.write_json(hello | {"batch": 0}))
            again.receive({protocol.READY: 4096})
    np.testing.assert_array_equal(answers[0], act(observations))
    np.testing.assert_array_equal(
        answers[0], server.served_policy(checkpoint.read_agent(agent_file, env), env)(observations)
    )
    np.testing.assert_array_equal(answers[1], answers[0][::-1])


def test_lanes_are_permuted_and_some_batches_repeated():
    rows, sequences = [], []

    def reply(step, frame, batch, stream):
        rows.append(protocol.read_npy(frame.payload, "<f4", (batch, 43)))
        sequences.append(frame.sequence)
        constant(2)(step, frame, batch, stream)

    result = score(reply, episodes=64)
    assert sequences == list(range(1, len(rows) + 1))
    assert not np.array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(np.unique(rows[0], axis=0), np.unique(rows[1], axis=0))
    assert len(rows) > max(result["lengths"]) and result["consistency"] == 1.0


def test_an_agent_that_answers_otherwise_the_second_time_is_measured_not_refused():
    random = np.random.default_rng(0)

    def reply(step, frame, batch, stream):
        stream.send(protocol.ACT, frame.sequence, write_npy(random.integers(0, 4, batch, np.int32)))

    result = score(reply, episodes=128)
    assert result["status"] == "scored" and 0.1 < result["consistency"] < 0.5


@pytest.mark.parametrize("value", [-1, 4, 2**31 - 1])
def test_actions_that_are_none_of_the_choices_put_every_episode_at_the_floor(value):
    result = score(constant(value))
    assert result["returns"] == [FLOOR] * 32 and result["floored"] == 32
    assert result["invalid"] == sum(result["lengths"])
    assert any(played != FLOOR for played in result["unfloored_returns"])


def test_a_few_invalid_actions_are_defaulted_and_counted():
    def reply(step, frame, batch, stream):
        constant(9 if step == 3 else 0)(step, frame, batch, stream)

    result, plain = score(reply), score(constant(0))
    assert 0 < result["invalid"] < 32 and result["unfloored_returns"] == plain["unfloored_returns"]
    short = np.array(result["lengths"]) < 6
    np.testing.assert_array_equal(np.array(result["returns"])[~short], np.array(plain["returns"])[~short])


def test_more_than_ten_invalid_actions_in_one_long_episode_are_too_many():
    def reply(step, frame, batch, stream):
        constant(-1 if 2 <= step <= 14 else 0)(step, frame, batch, stream)

    result, plain = score(reply), score(constant(0))
    lengths = np.array(result["lengths"])
    long = lengths >= 30  # more than ten, less than half
    assert long.any() and np.all(np.array(result["returns"])[long] == FLOOR)
    assert np.any(np.array(plain["returns"])[long] != FLOOR)


WRONG_REPLIES = {
    "dtype": lambda f, b, s: s.send(4, f.sequence, write_npy(np.zeros(b, "<i8"))),
    "nan": lambda f, b, s: s.send(4, f.sequence, write_npy(np.full(b, np.nan, "<f4"))),
    "shape": lambda f, b, s: s.send(4, f.sequence, write_npy(np.zeros((b, 1), "<i4"))),
    "length": lambda f, b, s: s.send(4, f.sequence, write_npy(np.zeros(b + 1, "<i4"))),
    "kind": lambda f, b, s: s.send(2, f.sequence, write_npy(np.zeros(b, "<i4"))),
    "sequence": lambda f, b, s: s.send(4, f.sequence + 1, write_npy(np.zeros(b, "<i4"))),
    "magic": lambda f, b, s: s._socket.sendall(b"HTTP/1.1 200 OK\r\n\r\n"),
    "huge": lambda f, b, s: s._socket.sendall(protocol.HEADER.pack(b"EVXR", 1, 4, 0, f.sequence, 2**32 - 1)),
    "empty": lambda f, b, s: s.send(4, f.sequence, b""),
    "pickle": lambda f, b, s: s.send(4, f.sequence, b"\x80\x04\x95cos\nsystem\n."),
    "closed": lambda f, b, s: s.close(),
}


@pytest.mark.parametrize("wrong", WRONG_REPLIES)
def test_a_broken_stream_is_unserved_at_first_and_the_floor_later(wrong):
    assert score(lambda step, f, b, s: WRONG_REPLIES[wrong](f, b, s))["status"] == "agent_unserved"

    def later(step, frame, batch, stream):
        if step < 4:
            return constant(1)(step, frame, batch, stream)
        return WRONG_REPLIES[wrong](frame, batch, stream)

    result, plain = score(later), score(constant(1))
    finished = np.array(plain["lengths"]) <= 3
    assert result["status"] == "scored" and result["floored"] >= (~finished).sum() > 0
    np.testing.assert_array_equal(np.array(result["returns"])[finished], np.array(plain["returns"])[finished])
    assert np.all(np.array(result["returns"])[~finished] == FLOOR)
    assert np.all(np.isfinite(result["returns"] + result["unfloored_returns"]))


def test_deadlines_for_ready_first_reply_and_total():
    def silent(step, frame, batch, stream):
        pass

    def drip(step, frame, batch, stream):
        data = write_npy(np.zeros(batch, "<i4"))
        head = protocol.HEADER.pack(b"EVXR", 1, 4, 0, frame.sequence, len(data))
        for byte in head + data:
            stream._socket.sendall(bytes([byte]))
            time.sleep(0.02)

    def falls_silent(step, frame, batch, stream):
        if step < 3:
            constant(0)(step, frame, batch, stream)

    assert "deadline" in score(silent, hello=None, ready=0.2)["reason"]
    assert "deadline" in score(silent, first=0.2)["reason"]
    assert "deadline" in score(drip, first=0.3)["reason"]
    for late in (score(falls_silent, later=0.2), score(falls_silent, total=2.0)):
        assert late["status"] == "scored" and late["floored"] > 0


def test_an_agent_that_is_absent_or_speaks_another_protocol_is_unserved():
    assert driver.score(request("127.0.0.1:1"))["status"] == "agent_unserved"
    for ready in (b"{}", b"[]", b"\xff", protocol.write_json({"protocol": 2})):
        assert score(constant(0), hello=ready)["status"] == "agent_unserved"


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=300), st.integers(0, 3), st.booleans())
def test_random_bytes_never_crash_the_scorer(noise, good, framed):
    def reply(step, frame, batch, stream):
        if step < good:
            return constant(2)(step, frame, batch, stream)
        if framed:
            return stream.send(protocol.ACT, frame.sequence, noise)
        stream._socket.sendall(noise)
        return stream.close()

    result = score(reply, episodes=8)
    assert result["status"] == "agent_unserved" or np.all(np.isfinite(result["returns"]))


def test_box_and_multi_head_actions_are_checked_by_their_rules():
    box, heads = Tiny(Box(-1.0, 1.0, (2,))), Tiny(MultiDiscrete((2, 3, 5)))
    given_actions = np.array([[0.5, 3.0], [np.nan, 0], [0, -np.inf], [-1, 1]], np.float32)
    actions, invalid, beyond = driver.valid_actions(box, given_actions, [0.25, 0.25])
    np.testing.assert_array_equal(actions, np.float32([[0.5, 1], [0.25, 0.25], [0.25, 0.25], [-1, 1]]))
    assert invalid.tolist() == [False, True, True, False] and beyond.tolist() == [True, False, False, False]
    given_actions = np.array([[1, 2, 4], [1, 3, 0], [0, 0, -1]], np.int32)
    actions, invalid, beyond = driver.valid_actions(heads, given_actions, [0, 1, 0])
    assert actions.tolist() == [[1, 2, 4], [0, 1, 0], [0, 1, 0]] and invalid.tolist() == [False, True, True]
    assert not beyond.any()


def test_the_scorer_process_answers_line_by_line_and_survives_bad_requests():
    requests = [
        {"warm": {"environment": "treasure_grid", "episodes": 8}},
        {"self_drive": {"environment": "treasure_grid", "episodes": 8}},
        {"environment": "atlantis", "seed": SEED, "permutation_seed": OTHER, "episodes": 8, "address": "127.0.0.1:1"},
        {"environment": "treasure_grid", "seed": "ab", "permutation_seed": OTHER, "episodes": 8, "address": "x:1"},
        {"environment": "treasure_grid", "colour": 1},
        [1],
        {
            "environment": "treasure_grid",
            "seed": SEED,
            "permutation_seed": OTHER,
            "episodes": 8,
            "address": "127.0.0.1:1",
        },
    ]
    lines = "\n".join([*map(json.dumps, requests), "not json"]) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "evalxrl_envs.scoring"], input=lines, cwd=ROOT, capture_output=True, text=True
    )
    ready, warmed, drive, *rest = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and ready["ready"] and set(ready["versions"]) >= {"jax", "numpy", "evalxrl_envs"}
    assert warmed == {"warmed": True}
    assert drive["self_drive"] and len(drive["returns"]) == 8 and np.all(np.isfinite(drive["returns"]))
    assert [answer["status"] for answer in rest] == ["scorer_failed"] * 4 + ["agent_unserved", "scorer_failed"]


def test_training_and_scoring_keys_are_distinct():
    words = [hex_seed(seed) for seed in (SEED, OTHER)] + [0, 1, 2**64 - 1]
    data = [tuple(np.asarray(jax.random.key_data(seed_key(word)))) for word in words]
    assert len(set(data)) == len(words)
    assert data[2:4] == [(0, 0), (0, 1)]
    with pytest.raises(ValueError):
        seed_key(2**64)

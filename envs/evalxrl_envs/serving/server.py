"""The agent server: answers batches of observations with greedy actions, one connection after another."""

import socket
from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np

from ..agents.checkpoint import Agent
from ..agents.evaluate import greedy_actions
from ..core.protocol import Environment
from . import protocol


def actions(agent: Agent, env: Environment, observations: jax.Array | np.ndarray) -> jax.Array:
    """What the server answers to observations (n, d); everything between a frame and the network is here."""
    return greedy_actions(agent.parameters, agent.moments, observations, env.action_space)


def served_policy(agent: Agent, env: Environment) -> Callable[[np.ndarray], np.ndarray]:
    """The agent as it is served, as a function from observations (n, d) to actions, with no connection between."""
    agent = replace(agent, parameters=jax.device_put(agent.parameters), moments=jax.device_put(agent.moments))
    return lambda observations: np.asarray(actions(agent, env, observations))


def _talk(stream: protocol.Stream, agent: Agent, env: Environment) -> None:
    """Serves one connection until it says goodbye."""
    hello = stream.receive({protocol.HELLO: protocol.TEXT_CAP})
    terms = protocol.read_json(hello.payload)
    batch, (size,) = terms.get("batch"), env.observation_space.shape
    wanted = {"batch": batch, "observation": {"dtype": "<f4", "shape": [size]}, "action": env.action_space.describe()}
    if terms != wanted or not isinstance(batch, int) or not 0 < batch * size * 4 < protocol.OBSERVE_CAP:
        raise protocol.ProtocolError(f"this server offers {wanted}")
    dtype, shape = protocol.action_layout(terms["action"], batch)
    act = served_policy(agent, env)
    act(np.zeros((batch, size), np.float32))
    stream.send(protocol.READY, hello.sequence, protocol.write_json({"protocol": protocol.VERSION}))
    while True:
        frame = stream.receive({protocol.OBSERVE: protocol.OBSERVE_CAP, protocol.BYE: 0})
        if frame.kind == protocol.BYE:
            return
        observations = protocol.read_npy(frame.payload, "<f4", (batch, size))
        answer = act(observations).astype(dtype).reshape(shape)
        stream.send(protocol.ACT, frame.sequence, protocol.write_npy(answer))


def serve(agent: Agent, env: Environment, host: str, port: int, say: Callable[[str], None]) -> None:
    """Listens until killed; a connection that breaks the protocol is closed and the next one served."""
    with socket.create_server((host, port)) as listener:
        say(f"listening on {listener.getsockname()[1]}")
        while True:
            stream = protocol.Stream(listener.accept()[0])
            try:
                _talk(stream, agent, env)
            except protocol.ProtocolError as error:
                if str(error) != "closed":
                    say(f"connection ended: {error}")
            finally:
                stream.close()

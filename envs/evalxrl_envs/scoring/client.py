"""The scorer's end of the wire: one connection, strict replies, deadlines, permuted lanes."""

import socket
import time
from dataclasses import dataclass

import numpy as np

from ..core.protocol import Environment
from ..serving import protocol
from ..serving.protocol import ProtocolError, Stream

REPEATED_SHARE = 0.02


@dataclass(frozen=True)
class Deadlines:
    """Seconds allowed for being ready, for the first reply, for each later reply, and in total."""

    ready: float = 60.0
    first: float = 60.0
    reply: float = 10.0
    total: float = 900.0


class Client:
    """A connected agent. Its `act` raises `ProtocolError` once the stream has broken."""

    def __init__(
        self, env: Environment, batch: int, address: str, deadlines: Deadlines, generator: np.random.Generator
    ) -> None:
        self._generator, self._deadlines, self._sequence, self._repeat = generator, deadlines, 0, False
        self._end = time.monotonic() + deadlines.total
        action = env.action_space.describe()
        self._dtype, self._shape = protocol.action_layout(action, batch)
        host, _, port = address.rpartition(":")
        ready = self._within(deadlines.ready)
        try:
            connection = socket.create_connection((host, int(port)), max(ready - time.monotonic(), 1e-3))
        except (OSError, ValueError, OverflowError) as error:
            raise ProtocolError(f"no connection: {error}") from error
        self._stream = Stream(connection)
        observation = {"dtype": "<f4", "shape": list(env.observation_space.shape)}
        hello = protocol.write_json({"batch": batch, "observation": observation, "action": action})
        try:
            self._ask(protocol.HELLO, hello, {protocol.READY: protocol.TEXT_CAP}, deadlines.ready)
        except ProtocolError:
            self._stream.close()
            raise
        self.compared = self.equal = 0

    def _within(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._end)

    def _ask(self, kind: int, payload: bytes, expected: dict[int, int], seconds: float) -> bytes:
        self._stream.send(kind, self._sequence, payload, self._within(seconds))
        frame = self._stream.receive(expected, self._within(seconds))
        if frame.sequence != self._sequence:
            raise ProtocolError("reply repeats another sequence number")
        if kind == protocol.HELLO and protocol.read_json(frame.payload) != {"protocol": protocol.VERSION}:
            raise ProtocolError("agent speaks another protocol")
        self._sequence += 1
        return frame.payload

    def _once(self, observations: np.ndarray, seconds: float) -> np.ndarray:
        order = self._generator.permutation(len(observations))
        cap = 4 * int(np.prod(self._shape)) * 4 + 256
        payload = protocol.write_npy(observations[order].astype("<f4"))
        reply = self._ask(protocol.OBSERVE, payload, {protocol.ACT: cap}, seconds)
        actions = np.empty(self._shape, self._dtype)
        actions[order] = protocol.read_npy(reply, self._dtype, self._shape)
        return actions

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Asks for the actions of a batch; the first and 2 % of the others are asked twice and compared."""
        first = self._sequence == 1
        actions = self._once(observations, self._deadlines.first if first else self._deadlines.reply)
        self._repeat = first or self._generator.random() < REPEATED_SHARE
        return actions

    def repeat(self, observations: np.ndarray, actions: np.ndarray) -> None:
        """Asks again for a batch chosen to be repeated, and only compares."""
        if self._repeat:
            again = self._once(observations, self._deadlines.reply)
            self.compared += len(actions)
            self.equal += int(np.sum((again == actions).reshape(len(actions), -1).all(axis=1)))

    @property
    def consistency(self) -> float:
        """Share of equal actions among the batches asked twice; 1 before any was."""
        return self.equal / self.compared if self.compared else 1.0

    def close(self) -> None:
        """Says goodbye, if the agent still listens."""
        try:
            self._stream.send(protocol.BYE, self._sequence, b"", time.monotonic() + 1)
        except ProtocolError:
            pass
        self._stream.close()

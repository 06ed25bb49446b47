"""Frames and arrays on the wire between scorer and agent, read strictly. Standard library and NumPy only."""

import ast
import json
import math
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"EVXR"
VERSION = 1
HELLO, READY, OBSERVE, ACT, BYE = 1, 2, 3, 4, 5
TEXT_CAP = 4096
OBSERVE_CAP = 64 * 2**20
HEADER = struct.Struct("<4sBBHII")
NPY_MAGIC = b"\x93NUMPY\x01\x00"


class ProtocolError(Exception):
    """Bytes that break the protocol, a closed stream, or a missed deadline."""


@dataclass(frozen=True)
class Frame:
    """One message."""

    kind: int
    sequence: int
    payload: bytes


def write_npy(array: np.ndarray) -> bytes:
    """An array as npy 1.0 in C order."""
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape!r}, }}"
    header = text.encode() + b" " * (-(len(NPY_MAGIC) + 3 + len(text)) % 64) + b"\n"
    return NPY_MAGIC + struct.pack("<H", len(header)) + header + np.ascontiguousarray(array).tobytes()


def read_npy(data: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Reads npy 1.0 that holds exactly this dtype and shape in C order; anything else is a `ProtocolError`."""
    if data[:8] != NPY_MAGIC or len(data) < 10:
        raise ProtocolError("not an npy 1.0 array")
    (length,) = struct.unpack_from("<H", data, 8)
    header = data[10 : 10 + length]
    if len(header) != length or length > 1024:
        raise ProtocolError("npy header has a wrong length")
    try:
        fields = ast.literal_eval(header.decode("ascii").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ProtocolError("npy header cannot be read") from error
    if repr(fields) != repr({"descr": dtype, "fortran_order": False, "shape": shape}):
        raise ProtocolError(f"npy header is not that of {dtype} {shape}")
    body = data[10 + length :]
    if len(body) != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ProtocolError("npy data has a wrong length")
    return np.frombuffer(body, dtype).reshape(shape)


def action_layout(action: dict[str, Any], batch: int) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape of a batch of actions of a described space."""
    if action["kind"] == "discrete":
        return "<i4", (batch,)
    if action["kind"] == "multi_discrete":
        return "<i4", (batch, len(action["n"]))
    return "<f4", (batch, *action["shape"])


def write_json(document: dict[str, Any]) -> bytes:
    """A document as a payload."""
    return json.dumps(document, separators=(",", ":")).encode()


def read_json(payload: bytes) -> dict[str, Any]:
    """Reads a payload that must be a JSON object."""
    try:
        document = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("payload is not JSON") from error
    if not isinstance(document, dict):
        raise ProtocolError("payload is not a JSON object")
    return document


class Stream:
    """Frames over one TCP connection. A deadline is a time of `time.monotonic`."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @contextmanager
    def _until(self, deadline: float | None) -> Iterator[None]:
        left = None if deadline is None else max(deadline - time.monotonic(), 1e-6)
        try:
            self._socket.settimeout(left)
            yield
        except OSError as error:
            raise ProtocolError("deadline passed" if isinstance(error, TimeoutError) else "closed") from error

    def send(self, kind: int, sequence: int, payload: bytes, deadline: float | None = None) -> None:
        """Sends one frame."""
        with self._until(deadline):
            self._socket.sendall(HEADER.pack(MAGIC, VERSION, kind, 0, sequence, len(payload)) + payload)

    def _read(self, length: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < length:
            with self._until(deadline):
                part = self._socket.recv(min(length - len(data), 2**20))
            if not part:
                raise ProtocolError("closed")
            data += part
        return bytes(data)

    def receive(self, kinds: dict[int, int], deadline: float | None = None) -> Frame:
        """Receives one frame of one of the given kinds, each with its largest payload length."""
        magic, version, kind, reserved, sequence, length = HEADER.unpack(self._read(HEADER.size, deadline))
        if (magic, version, reserved) != (MAGIC, VERSION, 0):
            raise ProtocolError("not a frame of this protocol")
        if kind not in kinds or length > kinds[kind]:
            raise ProtocolError(f"a frame of kind {kind} and {length} bytes is not expected here")
        return Frame(kind, sequence, self._read(length, deadline))

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()

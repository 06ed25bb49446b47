"""Frames and arrays on the wire, read strictly."""

import socket
import struct
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalxrl_envs.serving import protocol
from evalxrl_envs.serving.protocol import ProtocolError


@pytest.mark.parametrize("shape", [(3,), (2, 4), (5, 43), (0, 2)])
@pytest.mark.parametrize("dtype", ["<i4", "<f4"])
def test_arrays_survive_and_numpy_reads_them(shape, dtype, tmp_path):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    data = protocol.write_npy(array)
    np.testing.assert_array_equal(protocol.read_npy(data, dtype, shape), array)
    (tmp_path / "a.npy").write_bytes(data)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), array)
    np.save(tmp_path / "b.npy", array)
    np.testing.assert_array_equal(protocol.read_npy((tmp_path / "b.npy").read_bytes(), dtype, shape), array)


def npy(header, body=bytes(12)):
    return protocol.NPY_MAGIC + struct.pack("<H", len(header)) + header + body


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04\x95pickle",
        protocol.write_npy(np.zeros(3, "<f4")),
        protocol.write_npy(np.zeros(4, "<i4")),
        protocol.write_npy(np.zeros((3, 1), "<i4")),
        protocol.write_npy(np.zeros(3, ">i4")),
        protocol.write_npy(np.zeros(3, "<i4"))[:-1],
        protocol.write_npy(np.zeros(3, "<i4")) + b"x",
        protocol.write_npy(np.zeros(3, "<i4")).replace(b"NUMPY\x01", b"NUMPY\x02"),
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n"),
        npy(b"{'descr': '<i4', 'fortran_order': True, 'shape': (3,), }\n"),
        npy(b"{'descr': '<i4', 'fortran_order': 0, 'shape': (3,), }\n"),
        npy(b"{'descr': '<i4', 'fortran_order': False, 'shape': (3.0,), }\n"),
        npy(b"{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'x': 1}\n"),
        npy(b"__import__('os').getcwd()\n"),
        npy(b"(" * 900),
        protocol.NPY_MAGIC + b"\xff\xff" + bytes(20),
    ],
)
def test_anything_but_the_expected_array_is_refused(data):
    with pytest.raises(ProtocolError):
        protocol.read_npy(data, "<i4", (3,))


@given(st.binary(max_size=200), st.integers(0, 90))
def test_random_bytes_are_an_array_or_refused(noise, cut):
    good = protocol.write_npy(np.arange(3, dtype="<i4"))
    for data in (noise, good[:cut] + noise):
        try:
            assert protocol.read_npy(data, "<i4", (3,)).shape == (3,)
        except ProtocolError:
            pass
    try:
        assert isinstance(protocol.read_json(noise), dict)
    except ProtocolError:
        pass


@pytest.fixture
def pair():
    left, right = socket.socketpair()
    with left, right:
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        other = server.accept()[0]
        yield protocol.Stream(client), other
        client.close()
        other.close()
        server.close()


def header(magic=b"EVXR", version=1, kind=4, reserved=0, sequence=0, length=0):
    return struct.pack("<4sBBHII", magic, version, kind, reserved, sequence, length)


def test_a_frame_survives(pair):
    stream, other = pair
    protocol.Stream(other).send(protocol.ACT, 7, b"abc")
    assert stream.receive({protocol.ACT: 3}) == protocol.Frame(protocol.ACT, 7, b"abc")


@pytest.mark.parametrize(
    "data",
    [
        header(magic=b"HTTP"),
        header(version=2),
        header(reserved=1),
        header(kind=3),
        header(length=4 * 2**20),
        header(length=2**32 - 1),
    ],
)
def test_a_wrong_header_is_refused_before_its_payload_is_read(pair, data):
    stream, other = pair
    other.sendall(data)
    with pytest.raises(ProtocolError):
        stream.receive({protocol.ACT: 100}, time.monotonic() + 30)


def test_a_closed_stream_and_a_passed_deadline_are_errors(pair):
    stream, other = pair
    other.sendall(header(length=10) + b"1")
    with pytest.raises(ProtocolError, match="deadline"):
        stream.receive({protocol.ACT: 100}, time.monotonic() + 0.05)
    with pytest.raises(ProtocolError, match="deadline"):
        stream.receive({protocol.ACT: 100}, time.monotonic() - 1)
    other.close()
    with pytest.raises(ProtocolError, match="closed"):
        stream.receive({protocol.ACT: 100})

"""Writing frames, uint8 (h, w, 3), as PNG or GIF files with the standard library alone."""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def strip(frames: Sequence[np.ndarray], gap: int = 2) -> np.ndarray:
    """Sets frames side by side, `gap` white pixels apart; uint8 (h, w, 3)."""
    between = np.full((len(frames[0]), gap, 3), 255, np.uint8)
    return np.concatenate([part for frame in frames for part in (between, frame)][1:], axis=1)


def write_png(path: Path | str, frame: np.ndarray) -> None:
    """Writes one frame."""
    height, width, _ = frame.shape
    rows = b"".join(b"\0" + row.tobytes() for row in frame.astype(np.uint8))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + body)


def _pixels(indices: np.ndarray) -> bytes:
    """Codes palette indices below 128 as one byte each, clearing the code table before codes grow to 9 bits."""
    flat = indices.ravel().astype(np.uint8)
    codes = b"".join(b"\x80" + flat[i : i + 120].tobytes() for i in range(0, flat.size, 120)) + b"\x81"
    blocks = (codes[i : i + 255] for i in range(0, len(codes), 255))
    return b"\x07" + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def write_gif(path: Path | str, frames: Sequence[np.ndarray], fps: float) -> None:
    """Writes an endless animation; more than 128 colours are rounded to 125 levels."""
    movie = np.stack(frames).astype(np.uint8)
    colours = np.unique(movie.reshape(-1, 3), axis=0)
    if len(colours) > 128:
        movie = np.round(movie / 63.75).astype(np.uint8) * 63
        colours = np.unique(movie.reshape(-1, 3), axis=0)
    code = np.dot(movie.astype(np.int64), [65536, 256, 1])
    palette = np.dot(colours.astype(np.int64), [65536, 256, 1])
    _, height, width = code.shape
    out = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF6, 0, 0)
    out += colours.tobytes() + bytes(3 * (128 - len(colours))) + b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    for frame in code:
        out += b"!\xf9\x04\x04" + struct.pack("<HBB", round(100 / fps), 0, 0)
        out += b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + _pixels(np.searchsorted(palette, frame))
    Path(path).write_bytes(out + b";")

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


def _compressed(pixels: list[int]) -> bytes:
    """Codes palette indices below 128 by the LZW of GIF, in blocks of at most 255 bytes."""
    table: dict[int, int] = {}
    packed, bits, size, fresh, prefix = 128, 8, 8, 130, pixels[0]
    out = bytearray()
    for pixel in [*pixels[1:], 128]:  # 128 follows no prefix: it brings out the last one
        longer = table.get(prefix << 8 | pixel)
        if longer is not None:
            prefix = longer
            continue
        packed |= prefix << bits
        bits += size
        table[prefix << 8 | pixel] = fresh
        size += fresh == 1 << size
        fresh += 1
        if fresh == 4096:
            packed |= 128 << bits
            bits += size
            table, size, fresh = {}, 8, 130
        while bits >= 8:
            out.append(packed & 255)
            packed, bits = packed >> 8, bits - 8
        prefix = pixel
    out += (packed | 129 << bits).to_bytes(4, "little")[: (bits + size + 7) // 8]
    return (
        b"\x07" + b"".join(bytes([len(out[i : i + 255])]) + out[i : i + 255] for i in range(0, len(out), 255)) + b"\0"
    )


def _box(changed: np.ndarray) -> tuple[slice, slice]:
    """The smallest rows and columns that hold every true entry of a mask."""
    rows, columns = (np.flatnonzero(changed.any(axis)) for axis in (1, 0))
    return slice(*(rows[[0, -1]] + [0, 1])), slice(*(columns[[0, -1]] + [0, 1]))


def write_gif(path: Path | str, frames: Sequence[np.ndarray], fps: float) -> None:
    """Writes an endless animation; more than 128 colours are rounded to 125 levels."""
    movie = np.stack(frames).astype(np.int32)
    index = np.zeros(1 << 24, np.uint8)
    index[movie @ [65536, 256, 1]] = 1
    if index.sum(dtype=int) > 128:
        movie = np.round(movie / 63.75).astype(np.int32) * 63
        index[:] = 0
        index[movie @ [65536, 256, 1]] = 1
    palette = np.flatnonzero(index)
    index[palette] = np.arange(len(palette))
    _, height, width, _ = movie.shape
    colours = bytes(np.stack([palette >> 16, palette >> 8 & 255, palette & 255], 1).astype(np.uint8).ravel())
    out = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF6, 0, 0)
    out += colours.ljust(384, b"\0") + b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    before = None
    for frame in index[movie @ [65536, 256, 1]]:
        changed = np.ones_like(frame, bool) if before is None else frame != before
        changed[0, 0] |= not changed.any()
        rows, columns = _box(changed)
        inside = frame[rows, columns]
        out += b"!\xf9\x04\x04" + struct.pack("<HBB", round(100 / fps), 0, 0)
        out += b"," + struct.pack("<HHHHB", columns.start, rows.start, *inside.shape[::-1], 0)
        out += _compressed(inside.ravel().tolist())
        before = frame
    Path(path).write_bytes(out + b";")

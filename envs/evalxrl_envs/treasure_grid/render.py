"""Treasure Grid as text and as a picture."""

import numpy as np

from .environment import KINDS, SIZE, Params, State, tables

SYMBOLS = "".join(sorted(KINDS, key=KINDS.__getitem__))
COLOURS = np.array([(238, 232, 213), (133, 153, 0), (181, 137, 0), (7, 54, 66)], np.uint8)
AGENT = np.array((220, 50, 47), np.uint8)
TILE = 24


def render_text(state: State, params: Params) -> str:
    """The map with the agent as `@`, below a line that says where and when."""
    tiles = [SYMBOLS[kind] for kind in tables().kinds[int(state.layout)]]
    tiles[int(state.position)] = "@"
    rows = ["".join(tiles[start : start + SIZE]) for start in range(0, SIZE**2, SIZE)]
    return "\n".join([f"layout {int(state.layout)}  t {int(state.t)}", *rows])


def render_rgb(state: State, params: Params) -> np.ndarray:
    """The map as uint8 (144, 144, 3), with the agent as a disc."""
    kinds = tables().kinds[int(state.layout)].reshape(SIZE, SIZE)
    frame = COLOURS[kinds].repeat(TILE, 0).repeat(TILE, 1)
    frame[::TILE] = frame[:, ::TILE] = 147
    y, x = np.ogrid[: SIZE * TILE, : SIZE * TILE]
    row, column = (TILE * part + TILE / 2 for part in divmod(int(state.position), SIZE))
    frame[(y - row) ** 2 + (x - column) ** 2 < (0.36 * TILE) ** 2] = AGENT
    return frame

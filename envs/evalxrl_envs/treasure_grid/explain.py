"""What explanation tools may ask of Treasure Grid: restarts, names, predicates, distance, pictures."""

import jax
import jax.numpy as jnp
import numpy as np

from ..core import state_json
from ..core.images import write_gif as write_gif
from ..core.images import write_png as write_png
from .environment import LARGE, MOVES, PIT, SIZE, SMALL, Params, State, TreasureGrid, tables
from .render import render_rgb as render_rgb
from .render import render_text as render_text

ENVIRONMENT = TreasureGrid()
reset_to, state_to_json, state_from_json = state_json.functions(ENVIRONMENT)
DIRECTIONS = ("up", "right", "down", "left")

obs_scale = np.ones(43, np.float32)
action_names: tuple[tuple[str, ...], ...] = (DIRECTIONS,)
obs_names: tuple[str, ...] = (
    *(f"{group}/{part}" for group in ("own", "large", "small") for part in ("row", "column")),
    *(f"{group}/{direction}" for group in ("large_near", "small_near", "wall") for direction in DIRECTIONS),
    *(f"pits/{row:+d}{column:+d}" for row in range(-2, 3) for column in range(-2, 3)),
)


def _steps_to(state: State, kind: int) -> jax.Array:
    """Manhattan distance to the nearest tile of a kind."""
    tile, kinds = np.arange(SIZE**2), jnp.asarray(tables().kinds)[state.layout]
    apart = abs(tile // SIZE - state.position // SIZE) + abs(tile % SIZE - state.position % SIZE)
    return jnp.min(jnp.where(kinds == kind, apart, 2 * SIZE))


def predicates(state: State, params: Params) -> dict[str, jax.Array]:
    """Named facts about a state, in a fixed order."""
    row, column = state.position // SIZE, state.position % SIZE
    beside = jnp.stack([row, column]) + MOVES
    outside = jnp.any((beside < 0) | (beside >= SIZE), axis=1)
    beside = jnp.clip(beside, 0, SIZE - 1)
    kinds = jnp.asarray(tables().kinds)[state.layout, beside[:, 0] * SIZE + beside[:, 1]]
    kinds = jnp.where(outside, -1, kinds)
    return {
        "next_to_large": jnp.any(kinds == LARGE),
        "next_to_small": jnp.any(kinds == SMALL),
        "next_to_pit": jnp.any(kinds == PIT),
        "at_wall": jnp.any(outside),
        "in_corner": outside.sum() == 2,
        "large_closer_than_small": _steps_to(state, LARGE) < _steps_to(state, SMALL),
        "last_quarter": 4 * state.t >= 3 * params.horizon,
    }


def distance(a: State, b: State) -> float:
    """Manhattan distance between positions, and 100 more between different maps."""
    rows, columns = np.divmod(np.array([a.position, b.position], int), SIZE)
    return float(np.ptp(rows) + np.ptp(columns) + 100 * (int(a.layout) != int(b.layout)))

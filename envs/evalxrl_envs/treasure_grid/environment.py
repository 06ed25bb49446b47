"""Treasure Grid: walk to the large treasure past small ones and pits, on one of eight maps."""

import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import Environment, pytree
from ..core.spaces import Box, Discrete

SIZE = 6
MAP = ("s...PL", "..P...", "....P.", ".s....", "P.....", "....s.")
FLOOR, SMALL, LARGE, PIT = range(4)
KINDS = {".": FLOOR, "s": SMALL, "L": LARGE, "P": PIT}
MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)], np.int32)
"""Row and column change of the actions up, right, down, left."""


@pytree
class State:
    """Map 0..7, tile row * 6 + column, and steps taken; all int32."""

    layout: Any
    position: Any
    t: Any


@pytree
class Params:
    """Chance that a move is replaced by a random one, what each tile pays, and the step limit."""

    slip: Any = 0.05
    large: Any = 10.0
    small: Any = 1.0
    pit: Any = -5.0
    step: Any = -0.05
    horizon: Any = 40


class Effects(NamedTuple):
    """The move just made: map, tile left, tile entered, and the kind of the latter."""

    layout: jax.Array
    left: jax.Array
    entered: jax.Array
    kind: jax.Array


class Reward(NamedTuple):
    """Reward components, float32."""

    large: jax.Array
    small: jax.Array
    pit: jax.Array
    step: jax.Array


def observe_tile(grid: np.ndarray, row: int, column: int) -> np.ndarray:
    """What an agent sees on one tile of a 6x6 map of kinds; float32 (43,)."""
    here = np.array([row, column])
    large, small = np.argwhere(grid == LARGE)[0], np.argwhere(grid == SMALL)
    nearest = small[np.argmin(np.abs(small - here).sum(axis=1))]
    neighbours = here + MOVES
    outside = np.any((neighbours < 0) | (neighbours >= SIZE), axis=1)
    kinds = grid[tuple(np.clip(neighbours, 0, SIZE - 1).T)]
    pits = np.pad(grid == PIT, 2)[row : row + 5, column : column + 5]
    parts = (here / 5, (large - here) / 5, (nearest - here) / 5, kinds == LARGE, kinds == SMALL, outside, pits.ravel())
    return np.concatenate(parts).astype(np.float32)


class Tables(NamedTuple):
    """Everything about the eight maps, looked up by (layout, position)."""

    kinds: np.ndarray  # (8, 36) int32
    floor: np.ndarray  # (8, 28) int32, the floor tiles
    observations: np.ndarray  # (8, 36, 43) float32


@functools.cache
def tables() -> Tables:
    """Builds the tables at first use: the map and its images under rotation and reflection."""
    base = np.array([[KINDS[tile] for tile in row] for row in MAP], np.int32)
    grids = [np.rot90(image, turns) for image in (base, base[:, ::-1]) for turns in range(4)]
    kinds = np.stack([grid.ravel() for grid in grids])
    floor = np.stack([np.flatnonzero(row == FLOOR) for row in kinds]).astype(np.int32)
    seen = np.stack([[observe_tile(grid, *divmod(tile, SIZE)) for tile in range(SIZE**2)] for grid in grids])
    return Tables(kinds, floor, seen)


class TreasureGrid(Environment[State, Params]):
    """The environment; its methods are pure and gather from the tables."""

    name: ClassVar[str] = "treasure_grid"
    components: ClassVar[tuple[str, ...]] = Reward._fields
    exogenous_fields: ClassVar[tuple[str, ...]] = ("layout", "t")
    action_space = Discrete(4)
    observation_space = Box(-1.0, 1.0, (43,))

    def initial(self, key: jax.Array, params: Params) -> State:
        """Starts on a uniform map, on a uniform floor tile of it."""
        draw = jax.random.uniform(key, (2,))
        floor = jnp.asarray(tables().floor)
        layout = (draw[0] * floor.shape[0]).astype(jnp.int32)
        start = (draw[1] * floor.shape[1]).astype(jnp.int32)
        return State(layout, floor[layout, start], jnp.int32(0))

    def transition(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> tuple[State, Effects]:
        """Moves one tile, stopped by the edge; a slip replaces the action by a uniform one."""
        draw = jax.random.uniform(key, (2,))
        chance = (draw[1] * len(MOVES)).astype(jnp.int32)
        move = jnp.asarray(MOVES)[jnp.where(draw[0] < params.slip, chance, action)]
        row = jnp.clip(state.position // SIZE + move[0], 0, SIZE - 1)
        column = jnp.clip(state.position % SIZE + move[1], 0, SIZE - 1)
        position = row * SIZE + column
        kind = jnp.asarray(tables().kinds)[state.layout, position]
        effects = Effects(state.layout, state.position, position, kind)
        return State(state.layout, position, state.t + 1), effects

    def reward(self, effects: Effects, params: Params) -> Reward:
        """Pays for the tile entered, and the same for every step."""
        return Reward(
            large=params.large * (effects.kind == LARGE),
            small=params.small * (effects.kind == SMALL),
            pit=params.pit * (effects.kind == PIT),
            step=jnp.float32(params.step),
        )

    def observe(self, state: State, params: Params) -> jax.Array:
        """Looks up what `observe_tile` says of this tile."""
        return jnp.asarray(tables().observations)[state.layout, state.position]

    def terminated(self, state: State, params: Params) -> jax.Array:
        """Ends on any tile that is not floor."""
        return jnp.asarray(tables().kinds)[state.layout, state.position] != FLOOR

    def bounds(self, params: Params) -> dict[str, tuple[float, float]]:
        """Valid values of the state."""
        return {"layout": (0, 7), "position": (0, SIZE**2 - 1), "t": (0, float(params.horizon))}


def make() -> tuple[TreasureGrid, Params]:
    """The environment and its default parameters."""
    return TreasureGrid(), Params()

"""Traffic lights: four signalled intersections in a square, with queues as fluids and cars travelling between them."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import Environment, pytree
from ..core.spaces import Box, MultiDiscrete

SIDE, SLOTS, AGE_SEEN = 2, 3, 10
"""Intersections along each side of the square, chances for a car to arrive per step, and the oldest age that shows."""

HEADINGS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
"""Row and column change of the headings north, east, south, west; an approach is the side that cars come from."""

GREEN = np.zeros((4, 4, 2), np.float32)
"""1 where a phase (first axis) lets an approach's lane (0 through and right, 1 left) go."""
for _phase in range(4):
    GREEN[_phase, _phase // 2 :: 2, _phase % 2] = 1


def links_behind(intersection: int, approach: int, lane: int) -> dict[int, bool]:
    """The links that a lane feeds, as 4 * intersection + approach, and whether by a turn to the right."""
    found = {}
    for turn in (2, 3) if lane == 0 else (1,):
        heading = (approach + turn) % 4
        place = np.add(divmod(intersection, SIDE), HEADINGS[heading])
        if np.all((place >= 0) & (place < SIDE)):
            found[int(4 * (SIDE * place[0] + place[1]) + (heading + 2) % 4)] = turn == 3
    return found


STRAIGHT, RIGHT, LEFT = np.zeros((3, 32, 16), np.float32)
"""1 where cars of a lane (first axis, 8 * intersection + 2 * approach + lane) enter a link of another intersection."""
for _lane in range(32):
    for _link, _right in links_behind(_lane // 8, _lane // 2 % 4, _lane % 2).items():
        (LEFT if _lane % 2 else RIGHT if _right else STRAIGHT)[_lane, _link] = 1

FEEDS = STRAIGHT + RIGHT + LEFT
ENTRANCES = np.eye(16, dtype=np.float32)[FEEDS.max(0) == 0]
"""The links (8, 16) that cars enter from outside, one per row."""

NORTH_SOUTH = ENTRANCES @ np.tile(np.array([1, -1], np.float32), 8)
"""1 for entrances (8,) from north and south, -1 for those from east and west."""


@pytree
class State:
    """Cars queued (intersection, approach, lane), cars two steps or one step away (2, link), signals, and demand."""

    queue: Any  # (4, 4, 2) float32
    moving: Any  # (2, 16) float32; row 0 lands in the next step
    phase: Any  # (4,) int32
    age: Any  # (4,) int32, steps since the last switch
    amber: Any  # (4,) int32, steps of amber left
    tide_phase: Any  # float32, radians
    level: Any  # float32, demand of this episode over the mean
    t: Any  # int32


@pytree
class Params:
    """Demand, roads, signals, and what is paid for; cars, steps, and shares of 1."""

    rate: Any = 0.35
    level_spread: Any = 0.05
    tide: Any = 0.35
    first_queue: Any = 3.0
    capacity: Any = 12.0
    through_saturation: Any = 4.0
    left_saturation: Any = 1.0
    right_share: Any = 0.25
    left_share: Any = 0.25
    minimum_green: Any = 3
    amber_steps: Any = 2
    delay: Any = -0.01
    throughput: Any = 0.05
    queue: Any = -0.002
    long_queue: Any = 8.0
    horizon: Any = 120


class Exogenous(NamedTuple):
    """The tide, positive when north and south are busier, and the mean number of cars arriving per entrance (8,)."""

    tide: jax.Array
    rate: jax.Array


class Effects(NamedTuple):
    """Cars queued after the step, wanting to go, and gone (all 4, 4, 2), and reward components (intersection, 3)."""

    queue: jax.Array
    want: jax.Array
    out: jax.Array
    local: jax.Array


class Reward(NamedTuple):
    """Reward components, float32."""

    delay: jax.Array
    throughput: jax.Array
    queue: jax.Array


class TrafficLights(Environment[State, Params]):
    """The environment; its methods are pure."""

    name: ClassVar[str] = "traffic_lights"
    components: ClassVar[tuple[str, ...]] = Reward._fields
    exogenous_fields: ClassVar[tuple[str, ...]] = ("tide_phase", "level", "t")
    ends: ClassVar[bool] = False
    action_space = MultiDiscrete((4, 4, 4, 4))
    observation_space = Box(0.0, 1000.0, (72,))

    def initial(self, key: jax.Array, params: Params) -> State:
        """Starts with short queues, empty roads, random phases, and a random tide and level of demand."""
        for_uniform, for_level = jax.random.split(key)
        draw = jax.random.uniform(for_uniform, (37,))
        queue = params.first_queue * draw[:32].reshape(4, 4, 2)
        phase = (4 * draw[32:36]).astype(jnp.int32)
        tide_phase = 2 * np.pi * draw[36]
        level = 1 + params.level_spread * jax.random.normal(for_level)
        none = jnp.zeros(4, jnp.int32)
        return State(queue, jnp.zeros((2, 16)), phase, none, none, tide_phase, level, jnp.int32(0))

    def exogenous(self, state: State, params: Params) -> Exogenous:
        """Demand swings between north and south on one hand, east and west on the other, once per horizon."""
        tide = params.tide * jnp.sin(2 * np.pi * state.t / params.horizon + state.tide_phase)
        rate = params.rate * state.level * (1 + tide * NORTH_SOUTH)
        return Exogenous(tide, rate)

    def signals(self, state: State, wanted: jax.Array, params: Params) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Phase, age and amber after the wanted phases (4,) were heard; a switch costs steps of amber."""
        ready = (state.age >= params.minimum_green) & (state.amber == 0)
        switch = ready & (wanted != state.phase)
        phase = jnp.where(switch, wanted, state.phase)
        age = jnp.where(switch, 0, state.age + 1)
        amber = jnp.where(switch, params.amber_steps, jnp.maximum(state.amber - 1, 0))
        return phase, age, amber

    def space(self, state: State, params: Params) -> jax.Array:
        """Cars that still fit on each link (16,), those about to land counted as there."""
        return jnp.maximum(params.capacity - state.queue.sum(2).ravel() - state.moving[0], 0.0)

    def transition(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> tuple[State, Effects]:
        """Sets the signals, lets cars go as far as the roads ahead take them, and adds those that arrive."""
        phase, age, amber = self.signals(state, action, params)
        flows = jnp.asarray(GREEN)[phase] * (amber == 0)[:, None, None]
        saturation = jnp.stack([params.through_saturation, params.left_saturation])
        want = jnp.minimum(state.queue, saturation) * flows
        routes = (1 - params.right_share) * STRAIGHT + params.right_share * RIGHT + LEFT
        short = jnp.maximum(1 - self.space(state, params) / jnp.maximum(want.ravel() @ routes, 1e-6), 0.0)
        out = want * (1 - jnp.maximum((STRAIGHT + LEFT) @ short, RIGHT @ short)).reshape(4, 4, 2)
        inflow = out.ravel() @ routes
        chances = jax.random.uniform(key, (SLOTS, 8))
        arrivals = jnp.sum(chances < self.exogenous(state, params).rate / SLOTS, axis=0)
        land = (state.moving[0] + arrivals @ ENTRANCES).reshape(4, 4, 1)
        lanes = jnp.stack([1 - params.left_share, params.left_share])
        queue = state.queue - out + land * lanes
        moving = jnp.stack([state.moving[1], inflow])
        after = State(queue, moving, phase, age, amber, state.tide_phase, state.level, state.t + 1)
        return after, Effects(queue, want, out, self.local(queue, out, params))

    def local(self, queue: jax.Array, out: jax.Array, params: Params) -> jax.Array:
        """Reward components per intersection (4, 3), in the order of `Reward`."""
        delay = params.delay * queue.sum((1, 2))
        throughput = params.throughput * out.sum((1, 2))
        excess = jnp.maximum(queue - params.long_queue, 0.0)
        return jnp.stack([delay, throughput, params.queue * (excess**2).sum((1, 2))], axis=1)

    def reward(self, effects: Effects, params: Params) -> Reward:
        """Sums over intersections."""
        return Reward(*effects.local.sum(0))

    def observe(self, state: State, params: Params) -> jax.Array:
        """Per intersection its queues, phase, age and amber; then the cars on each link."""
        signal = (state.phase[:, None] == np.arange(4), jnp.minimum(state.age, AGE_SEEN)[:, None], state.amber[:, None])
        seen = jnp.concatenate([state.queue.reshape(4, 8), *signal], axis=1)
        return jnp.concatenate([seen.ravel(), state.moving.sum(0)])

    def terminated(self, state: State, params: Params) -> jax.Array:
        """Never ends by itself."""
        return jnp.bool_(False)

    def bounds(self, params: Params) -> dict[str, tuple[float, float]]:
        """Valid values of the state."""
        horizon = float(params.horizon)
        spread = 6 * float(params.level_spread)
        return {
            "queue": (0, 1000),
            "moving": (0, float(params.capacity)),
            "phase": (0, 3),
            "age": (0, horizon),
            "amber": (0, float(params.amber_steps)),
            "tide_phase": (0, 2 * np.pi),
            "level": (1 - spread, 1 + spread),
            "t": (0, horizon),
        }


def make() -> tuple[TrafficLights, Params]:
    """The environment and its default parameters."""
    return TrafficLights(), Params()

"""Datacenter cooling: keep six racks cool for one day with three cooling units, at little cost."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import Environment, pytree
from ..core.spaces import Box

RACKS, UNITS = 6, 3
SHARE = np.where(np.arange(RACKS)[:, None] // 2 == np.arange(UNITS), 0.7, 0.15).astype(np.float32)
"""How much of the air of a unit (column) passes a rack (row)."""


@pytree
class State:
    """Temperatures in degrees C, fan and cooling duties, noises of load and weather, the last action, steps taken."""

    rack: Any  # (6,)
    room: Any
    supply: Any  # (3,)
    fan: Any  # (3,)
    cool: Any  # (3,)
    load_noise: Any  # (6,)
    weather_offset: Any
    weather_noise: Any
    previous_action: Any  # (6,), clipped
    t: Any  # int32, ten minutes each


@pytree
class Params:
    """Degrees C, shares of one, heat in kW, masses in kW min per degree, hours, prices, reward weights."""

    outside_mean: Any = 22.0
    outside_swing: Any = 7.0
    weather_spread: Any = 1.5
    weather_keep: Any = 0.95
    weather_step: Any = 0.1
    load_mean: Any = 0.5
    load_swing: Any = 0.4
    load_lag: Any = 1.5
    load_keep: Any = 0.9
    load_step: Any = 0.02
    price_peak: Any = 4.0
    peak_start: Any = 17.0
    peak_end: Any = 20.0
    heat_idle: Any = 2.0
    heat_load: Any = 12.0
    actuator_speed: Any = 1.0
    supply_speed: Any = 0.8
    air_gain: Any = 1.5
    rack_mass: Any = 450.0
    room_mass: Any = 60.0
    rack_leak: Any = 0.15
    wall_leak: Any = 0.4
    limit: Any = 30.0
    alarm: Any = 34.0
    energy: Any = 0.02
    excess: Any = 0.06
    alarms: Any = 0.1
    wear: Any = 0.05
    horizon: Any = 144


class World(NamedTuple):
    """What acts from outside: outdoor temperature, load of each rack, price of energy."""

    outside: jax.Array
    load: jax.Array
    price: jax.Array


class Effects(NamedTuple):
    """What one step cost: power of each unit in kW, its price, racks after the step, change of the action."""

    power: jax.Array  # (3,)
    price: jax.Array
    rack: jax.Array  # (6,)
    change: jax.Array  # (6,)


class Reward(NamedTuple):
    """Reward components, float32."""

    energy: jax.Array
    thermal: jax.Array
    wear: jax.Array


def hour(state: State) -> jax.Array:
    """Hour of the day, 0 to 24."""
    return (state.t / 6) % 24


class DatacenterCooling(Environment[State, Params]):
    """The environment; `'` of the specification is `after` here."""

    name: ClassVar[str] = "datacenter_cooling"
    components: ClassVar[tuple[str, ...]] = Reward._fields
    exogenous_fields: ClassVar[tuple[str, ...]] = ("load_noise", "weather_offset", "weather_noise", "t")
    ends: ClassVar[bool] = False
    action_space = Box(-1.0, 1.0, (2 * UNITS,))
    observation_space = Box(-500.0, 500.0, (26,))

    def initial(self, key: jax.Array, params: Params) -> State:
        """Starts at midnight near 24 degrees, with a weather of its own for the day."""
        draw = jax.random.normal(key, (2 * RACKS + 1,))
        half, zero = jnp.full(UNITS, 0.5), jnp.float32(0)
        return State(
            rack=24 + 2 * draw[:RACKS],
            room=jnp.float32(24),
            supply=jnp.full(UNITS, 20.0),
            fan=half,
            cool=half,
            load_noise=params.load_step * draw[RACKS:-1],
            weather_offset=params.weather_spread * draw[-1],
            weather_noise=zero,
            previous_action=jnp.zeros(2 * UNITS),
            t=jnp.int32(0),
        )

    def exogenous(self, state: State, params: Params) -> World:
        """Weather, loads and price at this time."""
        now = hour(state)
        warmth = params.outside_swing * jnp.sin(2 * np.pi * (now - 9) / 24)
        lag = params.load_lag * np.linspace(-1, 1, RACKS, dtype=np.float32)
        load = params.load_mean + params.load_swing * jnp.sin(2 * np.pi * (now - 8) / 24 + lag)
        peak = (now >= params.peak_start) & (now < params.peak_end)
        return World(
            outside=params.outside_mean + state.weather_offset + warmth + state.weather_noise,
            load=jnp.clip(load + state.load_noise, 0.1, 1.0),
            price=jnp.where(peak, params.price_peak, 1.0),
        )

    def transition(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> tuple[State, Effects]:
        """Moves ten minutes on: actuators, then heat flows, then temperatures and noises."""
        world, noise = self.exogenous(state, params), jax.random.normal(key, (RACKS + 1,))
        action = jnp.clip(action, -1.0, 1.0)
        fan_target, cool_target = 0.2 + 0.4 * (action[:UNITS] + 1), 0.5 * (action[UNITS:] + 1)
        fan = state.fan + params.actuator_speed * (fan_target - state.fan)
        cool = state.cool + params.actuator_speed * (cool_target - state.cool)
        supply = state.supply + params.supply_speed * (26 - 12 * cool - state.supply)

        heat = params.heat_idle + params.heat_load * world.load
        flow = params.air_gain * SHARE * fan * (state.rack[:, None] - supply)
        leak = params.rack_leak * (state.rack - state.room)
        bypass = 0.3 * fan * (state.room - supply)
        wall = params.wall_leak * (world.outside - state.room)
        taken = jnp.maximum(flow.sum(0) + bypass, 0.0)
        efficiency = jnp.clip(9 - 0.35 * (world.outside - supply), 1.2, 12.0)
        power = taken / efficiency + 6 * fan**3

        after = State(
            rack=state.rack + 10 / params.rack_mass * (heat - flow.sum(1) - leak),
            room=state.room + 10 / params.room_mass * (wall + leak.sum() - bypass.sum()),
            supply=supply,
            fan=fan,
            cool=cool,
            load_noise=params.load_keep * state.load_noise + params.load_step * noise[:RACKS],
            weather_offset=state.weather_offset,
            weather_noise=params.weather_keep * state.weather_noise + params.weather_step * noise[-1],
            previous_action=action,
            t=state.t + 1,
        )
        return after, Effects(power, world.price, after.rack, action - state.previous_action)

    def reward(self, effects: Effects, params: Params) -> Reward:
        """Charges for energy at its price, for racks over the limit and the alarm, and for moving the actuators."""
        over = jnp.maximum(effects.rack - params.limit, 0.0)
        alarms = jnp.sum(effects.rack > params.alarm)
        return Reward(
            energy=-jnp.sum(params.energy * effects.price * effects.power),
            thermal=-params.excess * jnp.sum(over**2) - params.alarms * alarms,
            wear=-jnp.sum(params.wear * effects.change**2),
        )

    def observe(self, state: State, params: Params) -> jax.Array:
        """Everything in raw units, and the hour as a point on a circle."""
        world, angle = self.exogenous(state, params), 2 * np.pi * hour(state) / 24
        clock = jnp.stack([jnp.sin(angle), jnp.cos(angle)])
        around = jnp.stack([state.room, world.outside, world.price])
        return jnp.concatenate([state.rack, world.load, state.supply, state.fan, state.cool, around, clock])

    def terminated(self, state: State, params: Params) -> jax.Array:
        """Never: a day always lasts to its end."""
        return jnp.bool_(False)

    def bounds(self, params: Params) -> dict[str, tuple[float, float]]:
        """Valid values of the state."""
        degrees, duty, noise = (-100.0, 200.0), (0.0, 1.0), (-50.0, 50.0)
        return {
            "rack": degrees,
            "room": degrees,
            "supply": degrees,
            "fan": duty,
            "cool": duty,
            "load_noise": noise,
            "weather_offset": noise,
            "weather_noise": noise,
            "previous_action": (-1.0, 1.0),
            "t": (0, float(params.horizon)),
        }


def make() -> tuple[DatacenterCooling, Params]:
    """The environment and its default parameters."""
    return DatacenterCooling(), Params()

"""CartPole: push a cart left or right so that the pole on it stays up and the cart stays on its track."""

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import Environment, pytree
from ..core.spaces import Box, Discrete

LEFT, RIGHT = range(2)
"""The actions, named after the direction of the force."""


@pytree
class State:
    """Cart position m and speed m/s, pole angle rad (0 upright, right positive) and its speed rad/s; steps taken."""

    x: Any
    x_dot: Any
    theta: Any
    theta_dot: Any
    t: Any


@pytree
class Params:
    """SI units; `length` is half the pole, `start` the largest size of each entry of the first state."""

    gravity: Any = 9.8
    cart: Any = 1.0
    pole: Any = 0.1
    length: Any = 0.5
    force: Any = 10.0
    tau: Any = 0.02
    start: Any = 0.05
    x_limit: Any = 2.4
    theta_limit: Any = 12 * 2 * np.pi / 360
    horizon: Any = 500

    @property
    def total(self) -> Any:
        """Mass of cart and pole, kg."""
        return self.cart + self.pole

    @property
    def pole_length(self) -> Any:
        """Mass of the pole times half its length, kg m."""
        return self.pole * self.length


class Effects(NamedTuple):
    """The state reached, as the reward may read it."""

    x: jax.Array
    theta: jax.Array


class Reward(NamedTuple):
    """Reward components, float32."""

    alive: jax.Array


class CartPole(Environment[State, Params]):
    """The environment; its methods are pure."""

    name: ClassVar[str] = "cartpole"
    components: ClassVar[tuple[str, ...]] = Reward._fields
    exogenous_fields: ClassVar[tuple[str, ...]] = ("t",)
    action_space = Discrete(2)
    observation_space = Box(float(np.finfo(np.float32).min), float(np.finfo(np.float32).max), (4,))

    def initial(self, key: jax.Array, params: Params) -> State:
        """Starts near the middle, nearly upright and nearly at rest."""
        draw = jax.random.uniform(key, (4,), minval=-params.start, maxval=params.start)
        return State(draw[0], draw[1], draw[2], draw[3], jnp.int32(0))

    def transition(self, key: jax.Array, state: State, action: jax.Array, params: Params) -> tuple[State, Effects]:
        """Moves one time step, every value by its old rate of change."""
        force = jnp.where(action == RIGHT, params.force, -params.force)
        sin, cos = jnp.sin(state.theta), jnp.cos(state.theta)
        push = (force + params.pole_length * state.theta_dot**2 * sin) / params.total
        inertia = params.length * (4 / 3 - params.pole * cos**2 / params.total)
        theta_acceleration = (params.gravity * sin - push * cos) / inertia
        x_acceleration = push - params.pole_length * theta_acceleration * cos / params.total
        after = State(
            x=state.x + params.tau * state.x_dot,
            x_dot=state.x_dot + params.tau * x_acceleration,
            theta=state.theta + params.tau * state.theta_dot,
            theta_dot=state.theta_dot + params.tau * theta_acceleration,
            t=state.t + 1,
        )
        return after, Effects(after.x, after.theta)

    def reward(self, effects: Effects, params: Params) -> Reward:
        """Pays the same for every step, the last included."""
        return Reward(alive=jnp.float32(1.0))

    def observe(self, state: State, params: Params) -> jax.Array:
        """The four numbers of the state, in its units."""
        return jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot])

    def terminated(self, state: State, params: Params) -> jax.Array:
        """Ends when the cart leaves the track or the pole leans too far."""
        return (abs(state.x) > params.x_limit) | (abs(state.theta) > params.theta_limit)

    def bounds(self, params: Params) -> dict[str, tuple[float, float]]:
        """Valid values of the state: twice the limits, and speeds far above any that is met."""
        x, theta = 2 * float(params.x_limit), 2 * float(params.theta_limit)
        return {
            "x": (-x, x),
            "x_dot": (-20.0, 20.0),
            "theta": (-theta, theta),
            "theta_dot": (-20.0, 20.0),
            "t": (0, float(params.horizon)),
        }


def make() -> tuple[CartPole, Params]:
    """The environment and its default parameters."""
    return CartPole(), Params()

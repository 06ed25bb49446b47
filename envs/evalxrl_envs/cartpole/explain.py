"""What explanation tools may ask of CartPole: restarts, names, predicates, distance, pictures."""

import jax
import numpy as np

from ..core import state_json
from ..core.images import write_gif as write_gif
from ..core.images import write_png as write_png
from .environment import CartPole, Params, State
from .render import render_rgb as render_rgb
from .render import render_text as render_text

ENVIRONMENT = CartPole()
reset_to, state_to_json, state_from_json = state_json.functions(ENVIRONMENT)

obs_scale = np.array([2.4, 3.0, 0.2095, 3.0], np.float32)
action_names: tuple[tuple[str, ...], ...] = (("left", "right"),)
obs_names: tuple[str, ...] = ("x/position", "x_dot/velocity", "theta/angle", "theta_dot/angular_velocity")


def predicates(state: State, params: Params) -> dict[str, jax.Array]:
    """Named facts about a state, in a fixed order."""
    return {
        "leaning_right": state.theta > 0,
        "falling_faster": state.theta * state.theta_dot > 0,
        "near_edge": abs(state.x) > 0.75 * params.x_limit,
        "drifting_out": state.x * state.x_dot > 0,
    }


def distance(a: State, b: State) -> float:
    """Root mean square of the differences of the observed values, each in units of its scale."""
    apart = [float(getattr(a, name)) - float(getattr(b, name)) for name in ("x", "x_dot", "theta", "theta_dot")]
    return float(np.sqrt(np.mean((np.array(apart) / obs_scale) ** 2)))

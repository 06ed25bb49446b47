"""What explanation tools may ask of Traffic lights: restarts, names, predicates, distance, pictures."""

import jax
import jax.numpy as jnp
import numpy as np

from ..core import state_json
from ..core.images import write_gif as write_gif
from ..core.images import write_png as write_png
from .environment import FEEDS, GREEN, Params, State, TrafficLights
from .render import PHASES, PLACES
from .render import render_rgb as render_rgb
from .render import render_text as render_text

ENVIRONMENT = TrafficLights()
reset_to, state_to_json, state_from_json = state_json.functions(ENVIRONMENT)
LANES = tuple(f"{side}{lane}" for side in "NESW" for lane in range(2))
INTERNAL = FEEDS.max(0) > 0

action_names: tuple[tuple[str, ...], ...] = (PHASES,) * 4
obs_names: tuple[str, ...] = (
    *(
        name
        for place in PLACES
        for name in (
            *(f"{place}_queue/{lane}" for lane in LANES),
            *(f"{place}_signal/{phase}" for phase in PHASES),
            *(f"{place}_signal/{part}" for part in ("age", "amber")),
        )
    ),
    *(f"moving/{place}_{side}" for place in PLACES for side in "NESW"),
)
obs_scale = np.array([4.0 if "queue" in name else 3.0 if "age" in name else 1.0 for name in obs_names], np.float32)


def predicates(state: State, params: Params) -> dict[str, jax.Array]:
    """Named facts about a state, in a fixed order."""
    named = {}
    for i, place in enumerate(PLACES):
        green = jnp.asarray(GREEN)[state.phase[i]]
        named[f"{place}_amber"] = state.amber[i] > 0
        named[f"{place}_may_switch"] = (state.age[i] >= params.minimum_green) & (state.amber[i] == 0)
        named[f"{place}_serves_longest_queue"] = green.ravel()[jnp.argmax(state.queue[i])] > 0
    full = INTERNAL & (ENVIRONMENT.space(state, params) < 1)
    return named | {
        "spillback": jnp.any(full),
        "tide_north_south": ENVIRONMENT.exogenous(state, params).tide > 0,
        "any_long_queue": jnp.any(state.queue > params.long_queue),
    }


def distance(a: State, b: State) -> float:
    """Root mean square of the differences between observations, each in its own unit."""
    seen = [np.asarray(ENVIRONMENT.observe(state, Params()), np.float64) for state in (a, b)]
    return float(np.sqrt(np.mean(((seen[0] - seen[1]) / obs_scale) ** 2)))

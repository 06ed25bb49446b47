"""What explanation tools may ask of Datacenter cooling: restarts, names, predicates, distance, pictures."""

import jax
import jax.numpy as jnp
import numpy as np

from ..core import state_json
from ..core.images import write_gif as write_gif
from ..core.images import write_png as write_png
from .environment import RACKS, UNITS, DatacenterCooling, Params, State
from .render import render_rgb as render_rgb
from .render import render_text as render_text

ENVIRONMENT = DatacenterCooling()
reset_to, state_to_json, state_from_json = state_json.functions(ENVIRONMENT)
SIZES = {"rack": RACKS, "load": RACKS, "supply": UNITS, "fan": UNITS, "cool": UNITS}
SCALES = {"rack": 5.0, "load": 0.3, "supply": 4.0, "fan": 0.25, "cool": 0.3}
SINGLES = {"room/temperature": 4.0, "outside/temperature": 8.0, "price/now": 1.0, "clock/sin": 0.7, "clock/cos": 0.7}

action_names: tuple[tuple[str, ...], ...] = tuple((f"{part}/{i}",) for part in ("fan", "cool") for i in range(UNITS))
obs_names: tuple[str, ...] = (*(f"{group}/{i}" for group, size in SIZES.items() for i in range(size)), *SINGLES)
obs_scale = np.array([*np.repeat([*SCALES.values()], [*SIZES.values()]), *SINGLES.values()], np.float32)


def predicates(state: State, params: Params) -> dict[str, jax.Array]:
    """Named facts about a state, in a fixed order."""
    world = ENVIRONMENT.exogenous(state, params)
    return {
        "peak_price": world.price > 1,
        "any_rack_over_limit": jnp.any(state.rack > params.limit),
        "any_rack_over_alarm": jnp.any(state.rack > params.alarm),
        "outside_hot": world.outside > 25,
        "free_cooling": world.outside < 12,
        "load_high": jnp.mean(world.load) > 0.7,
        "fans_near_max": jnp.mean(state.fan) > 0.9,
    }


def distance(a: State, b: State, params: Params | None = None) -> float:
    """Root mean square difference of the observations, each divided by its scale."""
    params = params or Params()
    apart = (ENVIRONMENT.observe(a, params) - ENVIRONMENT.observe(b, params)) / obs_scale
    return float(jnp.sqrt(jnp.mean(apart**2)))

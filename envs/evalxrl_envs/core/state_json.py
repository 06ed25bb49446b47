"""States as JSON, bit for bit, and the checks before an episode restarts from one."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .protocol import Environment

FORMAT = "evalxrl.state/1"


def check(env: Environment, state: Any, params: Any) -> Any:
    """Returns the state with NumPy leaves; a wrong shape, dtype or value is a `ValueError` naming the field."""
    template = jax.eval_shape(env.initial, jax.random.key(0), params)
    bounds, checked = env.bounds(params), {}
    for field in fields(template):
        wanted, value = getattr(template, field.name), np.asarray(getattr(state, field.name))
        if value.shape != wanted.shape:
            raise ValueError(f"{field.name}: shape {value.shape} is not {wanted.shape}")
        if value.dtype != wanted.dtype:
            raise ValueError(f"{field.name}: dtype {value.dtype} is not {wanted.dtype}")
        if not np.all(np.isfinite(value)):
            raise ValueError(f"{field.name}: not finite")
        low, high = bounds.get(field.name, (-np.inf, np.inf))
        if np.any(value < low) or np.any(value > high):
            raise ValueError(f"{field.name}: outside {low} to {high}")
        checked[field.name] = value
    return type(state)(**checked)


def to_json(env: Environment, state: Any) -> dict[str, Any]:
    """The state as a JSON document; a float32 survives exactly."""
    values = {field.name: np.asarray(getattr(state, field.name)).tolist() for field in fields(state)}
    return {"format": FORMAT, "environment": env.name, "state": values}


def from_json(env: Environment, document: dict[str, Any], params: Any) -> Any:
    """Reads what `to_json` wrote and checks it."""
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("environment") != env.name:
        raise ValueError(f"not a state of {env.name} in the format {FORMAT}")
    template = jax.eval_shape(env.initial, jax.random.key(0), params)
    wanted, given = {field.name for field in fields(template)}, document.get("state")
    if not isinstance(given, dict) or set(given) != wanted:
        raise ValueError(f"state: its fields must be {', '.join(sorted(wanted))}")
    values = {}
    for name, value in given.items():
        raw = np.asarray(value)
        values[name] = raw.astype(getattr(template, name).dtype)
        if raw.dtype.kind not in "if" or (values[name].dtype.kind == "i" and np.any(raw != values[name])):
            raise ValueError(f"{name}: not of dtype {values[name].dtype}")
    return check(env, type(template)(**values), params)


def functions(
    env: Environment,
) -> tuple[
    Callable[[Any, Any], tuple[jax.Array, Any]], Callable[[Any], dict[str, Any]], Callable[[dict[str, Any], Any], Any]
]:
    """`reset_to`, `state_to_json` and `state_from_json` of one environment, for its `explain.py`."""

    def reset_to(state: Any, params: Any) -> tuple[jax.Array, Any]:
        """Restarts exactly there; an invalid state is a `ValueError` naming the field."""
        state = jax.tree.map(jnp.asarray, check(env, state, params))
        return env.observe(state, params), state

    def state_to_json(state: Any) -> dict[str, Any]:
        """The state as a JSON document."""
        return to_json(env, state)

    def state_from_json(document: dict[str, Any], params: Any) -> Any:
        """Reads what `state_to_json` wrote."""
        return from_json(env, document, params)

    return reset_to, state_to_json, state_from_json

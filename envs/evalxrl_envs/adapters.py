"""The same environments behind the interfaces of gymnax and of Gymnasium."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .core import registry, state_json
from .core.keys import seed_key
from .core.protocol import Environment
from .core.rollout import autoreset_step
from .core.spaces import Box, Discrete, Space


class _Named:
    """A state or parameters under gymnax's names: `time` for `t`, `max_steps_in_episode` for `horizon`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, {"time": "t", "max_steps_in_episode": "horizon"}.get(name, name))


jax.tree_util.register_pytree_node(_Named, lambda named: ((named.inner,), None), lambda _, parts: _Named(*parts))


def _named(value: Any) -> _Named:
    """A state or parameters of ours as the adapter's; the adapter's own as they are."""
    return value if isinstance(value, _Named) else _Named(value)


class GymnaxAdapter:
    """gymnax 1.0: jitted, with auto-reset; `legacy=True` gives the older five values per step.

    A `MultiDiscrete` action becomes one number in mixed radix, the first head most significant.
    """

    def __init__(self, env: Environment, params: Any, legacy: bool = False) -> None:
        self._env, self._legacy = env, legacy
        self.name = env.name
        self.default_params = _Named(params)
        self._reset_compiled, self._step_compiled = jax.jit(self._reset), jax.jit(self._step)

    @property
    def num_actions(self) -> int:
        """Number of discrete actions, or of axes."""
        space = self.action_space()
        return int(np.prod(space.shape if isinstance(space, Box) else space.heads))

    def action_space(self, params: Any = None) -> Space:
        """The action space, flattened to `Discrete` when it has several heads."""
        space = self._env.action_space
        return space if isinstance(space, Box) else Discrete(int(np.prod(space.heads)))

    def observation_space(self, params: Any = None) -> Box:
        """The observation space."""
        return self._env.observation_space

    def _action(self, action: jax.Array) -> jax.Array:
        space = self._env.action_space
        if isinstance(space, Discrete | Box):
            return jnp.asarray(action, space.dtype)
        return jnp.stack(jnp.unravel_index(action, space.n), -1).astype(jnp.int32)

    def _reset(self, key: jax.Array, params: _Named) -> tuple[jax.Array, _Named]:
        observation, state = self._env.reset(key, params.inner)
        return observation, _Named(state)

    def _step(self, key: jax.Array, state: _Named, action: jax.Array, params: _Named) -> tuple[Any, ...]:
        step = autoreset_step(self._env, key, state.inner, self._action(action), params.inner)
        info = step.info | {"terminated": step.terminated, "truncated": step.truncated}
        flags: tuple[Any, ...] = (step.terminated, step.truncated)
        if self._legacy:
            flags = (step.terminated | step.truncated,)
        return step.observation, _Named(step.state), step.reward, *flags, info

    def reset(self, key: jax.Array, params: Any = None) -> tuple[jax.Array, Any]:
        """Starts an episode."""
        return self._reset_compiled(key, self.default_params if params is None else _named(params))

    def step(self, key: jax.Array, state: Any, action: jax.Array, params: Any = None) -> tuple[Any, ...]:
        """Takes one step and starts the next episode after an ending."""
        params = self.default_params if params is None else _named(params)
        return self._step_compiled(key, _named(state), action, params)


def _gymnasium_space(space: Space) -> Any:
    from gymnasium import spaces

    if isinstance(space, Box):
        return spaces.Box(space.low, space.high, space.shape, np.float32)
    return spaces.Discrete(space.n) if isinstance(space, Discrete) else spaces.MultiDiscrete(list(space.n))


def _checked(action: Any, space: Space) -> np.ndarray:
    """The action as an array; what is no action is a `ValueError`. A box is clipped by its environment."""
    given = np.asarray(action)
    kinds = "iuf" if isinstance(space, Box) else "iu"
    fits = given.dtype.kind in kinds and given.shape == space.shape
    if fits:
        fits = bool(np.all(np.isfinite(given)) if isinstance(space, Box) else space.contains(jnp.asarray(given)))
    if not fits:
        raise ValueError(f"action {action!r} is not one of {space}")
    return given.astype(space.dtype)


def GymnasiumAdapter(env: Environment, params: Any, render_mode: str | None = None) -> Any:
    """Makes a `gymnasium.Env`: NumPy and Python values, no auto-reset, `options={"state": JSON}` starts there."""
    import gymnasium

    modes = ["rgb_array", "ansi"]
    if render_mode not in (None, *modes):
        raise ValueError(f"render_mode {render_mode!r} is not one of {', '.join(modes)}")
    reset, step = jax.jit(env.reset), jax.jit(env.step)
    split = jax.jit(partial(jax.random.split, num=2))

    class Adapter(gymnasium.Env):
        metadata = {"render_modes": modes, "render_fps": 4}  # noqa: RUF012

        def __init__(self) -> None:
            self.render_mode = render_mode
            self.action_space = _gymnasium_space(env.action_space)
            self.observation_space = _gymnasium_space(env.observation_space)
            self._key: Any = None
            self._state: Any = None

        def _next_key(self) -> jax.Array:
            if self._key is None:
                self._key = seed_key(int(self.np_random.integers(2**63)))
            self._key, key = split(self._key)
            return key

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict]:
            super().reset(seed=seed)
            if seed is not None:
                self._key = None
            observation, self._state = reset(self._next_key(), params)
            if options and "state" in options:
                self._state = state_json.from_json(env, options["state"], params)
                observation = env.observe(self._state, params)
            return np.array(observation), {}

        def _begun(self) -> Any:
            if self._state is None:
                raise gymnasium.error.ResetNeeded("call reset first: no episode has begun")
            return self._state

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            after = step(self._next_key(), self._begun(), _checked(action, env.action_space), params)
            self._state = after.state
            info = {"reward": {name: float(v) for name, v in after.info["reward"]._asdict().items()}}
            flags = bool(after.terminated), bool(after.truncated)
            return np.array(after.observation), float(after.reward), *flags, info

        def render(self) -> Any:
            drawing = registry.part(env.name, "render")
            draw = drawing.render_rgb if self.render_mode == "rgb_array" else drawing.render_text
            return draw(self._begun(), params) if self.render_mode else None

    return Adapter()

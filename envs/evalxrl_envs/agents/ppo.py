"""Proximal policy optimisation. Arrays of a batch have axes (steps, environments) until an epoch flattens them.

`update` is plain Python around compiled stages, so that an edit compiles only the stage it touches. Every
number that tunes training is an argument of its stage, never a constant in it.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.protocol import SIMPLE, Environment, pytree
from ..core.rollout import autoreset_steps
from ..core.spaces import Space
from . import networks, normalise
from .networks import Parameters


class Static(NamedTuple):
    """Sizes; a new one compiles anew (`updates` excepted)."""

    environments: int = 64
    steps: int = 64
    updates: int = 100
    epochs: int = 4
    minibatches: int = 4
    normalise: bool = True


@pytree
class Hyper:
    """Numbers that tune training."""

    learning_rate: Any = 2.5e-3
    gamma: Any = 0.99
    gae_lambda: Any = 0.95
    clip: Any = 0.2
    entropy_coefficient: Any = 0.01
    value_coefficient: Any = 0.5
    reward_scale: Any = 1.0
    max_gradient_norm: Any = 0.5
    adam_epsilon: Any = 1e-5


class Setting(NamedTuple):
    """What a run is given: environment, sizes, tuning, reward weights (components,), environment parameters."""

    env: Environment
    static: Static
    hyper: Hyper
    weights: np.ndarray
    params: Any


class Learner(NamedTuple):
    """All network parameters as one vector, and Adam's moments of their gradients."""

    vector: jax.Array
    first: jax.Array
    second: jax.Array
    steps: jax.Array


class Actors(NamedTuple):
    """The environments being played: observations, states, and the return of the episode so far."""

    observation: jax.Array
    state: Any
    so_far: jax.Array


class Training(NamedTuple):
    """Everything that one update hands to the next; `progress` runs from 0 to 1."""

    learner: Learner
    moments: normalise.Moments | None
    actors: Actors
    progress: jax.Array


class Draws(NamedTuple):
    """The randomness of one update: two key words each for step and reset, noise of the actions, epoch orders."""

    keys: np.ndarray
    noise: np.ndarray
    orders: list[np.ndarray]


class Batch(NamedTuple):
    """What was played; `final_observation` is the one after the step and before any reset."""

    observation: jax.Array
    action: jax.Array
    log_probability: jax.Array
    components: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    final_observation: jax.Array
    finished: jax.Array
    finished_return: jax.Array


class Report(NamedTuple):
    """Which steps of an update finished an episode, with what return, and the policy's entropy."""

    finished: jax.Array
    finished_return: jax.Array
    entropy: jax.Array


def generator(seed: int, stream: int) -> np.random.Generator:
    """The random numbers of one use in a run; streams of a seed are independent."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, stream], np.uint64)))


def draw(setting: Setting, seed: int, index: int) -> Draws:
    """Draws all randomness of update `index`."""
    static, random = setting.static, generator(seed, index)
    shape = (static.steps, static.environments)
    keys = random.integers(0, 2**32, (*shape, 2, 2), np.uint32)
    noise = networks.noise(setting.env.action_space, random, shape)
    orders = [random.permutation(np.arange(shape[0] * shape[1], dtype=np.int32)) for _ in range(static.epochs)]
    return Draws(keys, noise, orders)


@partial(jax.jit, static_argnames="env", compiler_options=SIMPLE)
def play(training: Training, draws: Draws, params: Any, env: Environment) -> tuple[Actors, Batch]:
    """Plays every environment for the drawn number of steps with sampled actions."""
    parameters, space = networks.unflatten(training.learner.vector, env), env.action_space

    def step(actors: Actors, drawn: Any) -> tuple[Actors, Batch]:
        keys, noise = jax.random.wrap_key_data(drawn[0]), drawn[1]
        outputs = networks.policy(parameters, normalise.apply(training.moments, actors.observation))
        action = networks.sample(space, outputs, noise)
        after = autoreset_steps(env, keys, actors.state, action, params)
        done = after.terminated | after.truncated
        so_far = actors.so_far + after.reward
        played = Batch(
            observation=actors.observation,
            action=action,
            log_probability=networks.log_probability(space, outputs, action),
            components=jnp.stack(after.info["reward"], -1),
            terminated=after.terminated,
            truncated=after.truncated,
            final_observation=after.info["final_observation"],
            finished=done,
            finished_return=jnp.where(done, so_far, 0.0),
        )
        return Actors(after.observation, after.state, jnp.where(done, 0.0, so_far)), played

    return jax.lax.scan(step, training.actors, (draws.keys, draws.noise))


def collect(setting: Setting, training: Training, draws: Draws) -> tuple[Actors, Batch, jax.Array]:
    """Plays one batch; returns the actors after it, the batch, and the training rewards."""
    actors, batch = play(training, draws, setting.params, setting.env)
    reward = batch.components @ (setting.hyper.reward_scale * setting.weights)
    return actors, batch, reward


@partial(jax.jit, static_argnames="env")
def values(training: Training, observations: jax.Array, env: Environment) -> jax.Array:
    """State values of observations (..., d)."""
    parameters = networks.unflatten(training.learner.vector, env)
    return networks.value(parameters, normalise.apply(training.moments, observations))


@partial(jax.jit, compiler_options=SIMPLE)
def gae(
    reward: jax.Array,
    value: jax.Array,
    next_value: jax.Array,
    terminated: jax.Array,
    truncated: jax.Array,
    hyper: Hyper,
) -> tuple[jax.Array, jax.Array]:
    """Generalised advantage estimation over the first axis; returns advantages and value targets.

    An ending by termination has no value after it; one by truncation has. Both end the sum of credit.
    """
    delta = reward + hyper.gamma * next_value * (1 - terminated) - value
    carry_on = hyper.gamma * hyper.gae_lambda * (1 - (terminated | truncated))

    def back(later: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, carry_on = now
        advantage = delta + carry_on * later
        return advantage, advantage

    _, advantage = jax.lax.scan(back, jnp.zeros_like(value[0]), (delta, carry_on), reverse=True)
    return advantage, advantage + value


class Samples(NamedTuple):
    """What the loss reads, one row per step played."""

    observation: jax.Array
    action: jax.Array
    log_probability: jax.Array
    advantage: jax.Array
    target: jax.Array


def ppo_loss(parameters: Parameters, samples: Samples, hyper: Hyper, space: Space) -> tuple[jax.Array, jax.Array]:
    """Clipped surrogate, value and entropy loss of one minibatch; returns the mean entropy beside it."""
    outputs = networks.policy(parameters, samples.observation)
    ratio = jnp.exp(networks.log_probability(space, outputs, samples.action) - samples.log_probability)
    advantage = (samples.advantage - samples.advantage.mean()) / (samples.advantage.std() + 1e-8)
    clipped = jnp.clip(ratio, 1 - hyper.clip, 1 + hyper.clip)
    surrogate = jnp.minimum(ratio * advantage, clipped * advantage).mean()
    error = networks.value(parameters, samples.observation) - samples.target
    entropy = networks.entropy(space, outputs).mean()
    loss = -surrogate + hyper.value_coefficient * 0.5 * (error**2).mean() - hyper.entropy_coefficient * entropy
    return loss, entropy


def adam(learner: Learner, gradient: jax.Array, learning_rate: jax.Array, hyper: Hyper) -> Learner:
    """One Adam step along the gradient, shortened to the largest allowed norm."""
    norm = jnp.sqrt(jnp.sum(gradient**2))
    gradient = gradient * jnp.minimum(1.0, hyper.max_gradient_norm / jnp.maximum(norm, 1e-12))
    steps = learner.steps + 1
    first = 0.9 * learner.first + 0.1 * gradient
    second = 0.999 * learner.second + 0.001 * gradient**2
    size = jnp.sqrt(second / (1 - 0.999**steps)) + hyper.adam_epsilon
    return Learner(learner.vector - learning_rate / (1 - 0.9**steps) * first / size, first, second, steps)


@partial(jax.jit, static_argnames=("env", "minibatches"))
def minibatch_epoch(
    learner: Learner,
    moments: normalise.Moments | None,
    samples: Samples,
    order: jax.Array,
    learning_rate: jax.Array,
    hyper: Hyper,
    env: Environment,
    minibatches: int,
) -> tuple[Learner, jax.Array]:
    """Goes once through the samples in the given order; returns the learner and the mean entropy."""
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
    flat = flat._replace(observation=normalise.apply(moments, flat.observation))

    def step(learner: Learner, rows: jax.Array) -> tuple[Learner, jax.Array]:
        minibatch = jax.tree.map(lambda x: x[rows], flat)
        parameters = networks.unflatten(learner.vector, env)
        gradient, entropy = jax.grad(ppo_loss, has_aux=True)(parameters, minibatch, hyper, env.action_space)
        return adam(learner, networks.flatten(gradient), learning_rate, hyper), entropy

    learner, entropy = jax.lax.scan(step, learner, order.reshape(minibatches, -1))
    return learner, entropy.mean()


def update(setting: Setting, training: Training, draws: Draws) -> tuple[Training, Report]:
    """One round of playing and learning."""
    static, hyper = setting.static, setting.hyper
    actors, batch, reward = collect(setting, training, draws)
    value = values(training, batch.observation, setting.env)
    next_value = values(training, batch.final_observation, setting.env)
    advantage, target = gae(reward, value, next_value, batch.terminated, batch.truncated, hyper)
    samples = Samples(batch.observation, batch.action, batch.log_probability, advantage, target)
    learning_rate = hyper.learning_rate * (1 - training.progress)
    learner, moments = training.learner, training.moments
    for order in draws.orders:
        learner, entropy = minibatch_epoch(
            learner, moments, samples, order, learning_rate, hyper, setting.env, static.minibatches
        )
    if moments is not None:
        moments = normalise.merge(moments, batch.observation)
    progress = training.progress + np.float32(1 / static.updates)
    return Training(learner, moments, actors, progress), Report(batch.finished, batch.finished_return, entropy)


def update_many(setting: Setting, training: Training, draws: list[Draws]) -> tuple[Training, list[Report]]:
    """Makes one update per draw."""
    reports = []
    for drawn in draws:
        training, report = update(setting, training, drawn)
        reports.append(report)
    return training, reports

"""A PPO trainer in the manner of purejaxrl, written for comparison: everything is one compiled scan over updates.

It plays gymnax's CartPole. Networks, sizes, schedule and loss are those of `evalxrl_envs.agents`; what differs is the
way: parameters are a tree, randomness is drawn inside, nothing leaves the device before the last update.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

HIDDEN = (64, 64)


class Sizes(NamedTuple):
    """What decides how much work a run is."""

    environments: int
    steps: int
    updates: int
    epochs: int
    minibatches: int


class Tuning(NamedTuple):
    """What decides how well it learns."""

    learning_rate: float
    gamma: float
    gae_lambda: float
    clip: float
    entropy_coefficient: float
    value_coefficient: float
    reward_scale: float
    max_gradient_norm: float
    adam_epsilon: float


class Moment(NamedTuple):
    """One step of every environment."""

    observation: jax.Array
    action: jax.Array
    log_probability: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


def network(key: jax.Array, inputs: int, outputs: int, last: float) -> list[tuple[jax.Array, jax.Array]]:
    """Orthogonal weights and zero biases, layer by layer."""
    edges = (inputs, *HIDDEN, outputs)
    gains = (*(2**0.5 for _ in HIDDEN), last)
    layers = []
    for i, gain in enumerate(gains):
        draw = jax.nn.initializers.orthogonal(gain)
        layers.append((draw(jax.random.fold_in(key, i), edges[i : i + 2]), jnp.zeros(edges[i + 1])))
    return layers


def forward(layers: list[tuple[jax.Array, jax.Array]], x: jax.Array) -> jax.Array:
    """Two tanh layers and a linear one."""
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def log_probability_of(logits: jax.Array, action: jax.Array) -> jax.Array:
    """Log-probability of the actions taken."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]


def trainer(env: Any, params: Any, sizes: Sizes, tuning: Tuning) -> Callable[[jax.Array], tuple[Any, jax.Array]]:
    """The compiled run: key to networks, and (updates, 2) mean reward per step and share of steps that ended."""
    batch = sizes.environments * sizes.steps
    rate = optax.linear_schedule(tuning.learning_rate, 0.0, sizes.updates * sizes.epochs * sizes.minibatches)
    optimiser = optax.chain(
        optax.clip_by_global_norm(tuning.max_gradient_norm), optax.adam(rate, eps=tuning.adam_epsilon)
    )

    def play(networks: Any, carry: Any, key: jax.Array) -> tuple[Any, Moment]:
        observation, state = carry
        for_action, for_step = jax.random.split(key)
        logits = forward(networks["policy"], observation)
        action = jax.random.categorical(for_action, logits)
        keys = jax.random.split(for_step, sizes.environments)
        after, state, reward, terminated, truncated, _ = jax.vmap(env.step, (0, 0, 0, None))(
            keys, state, action, params
        )
        moment = Moment(
            observation,
            action,
            log_probability_of(logits, action),
            forward(networks["value"], observation)[..., 0],
            tuning.reward_scale * reward,
            terminated | truncated,
        )
        return (after, state), moment

    def advantages(moments: Moment, last: jax.Array) -> jax.Array:
        def back(carry: tuple[jax.Array, jax.Array], now: Moment) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            later, following = carry
            delta = now.reward + tuning.gamma * following * (1 - now.done) - now.value
            later = delta + tuning.gamma * tuning.gae_lambda * (1 - now.done) * later
            return (later, now.value), later

        return jax.lax.scan(back, (jnp.zeros_like(last), last), moments, reverse=True)[1]

    def loss(networks: Any, part: tuple[Moment, jax.Array, jax.Array]) -> jax.Array:
        moment, advantage, target = part
        logits = forward(networks["policy"], moment.observation)
        ratio = jnp.exp(log_probability_of(logits, moment.action) - moment.log_probability)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - tuning.clip, 1 + tuning.clip)
        surrogate = jnp.minimum(ratio * advantage, clipped * advantage).mean()
        error = forward(networks["value"], moment.observation)[..., 0] - target
        entropy = -jnp.sum(jax.nn.softmax(logits) * jax.nn.log_softmax(logits), -1).mean()
        return tuning.value_coefficient * 0.5 * (error**2).mean() - surrogate - tuning.entropy_coefficient * entropy

    def minibatch(learner: Any, part: Any) -> tuple[Any, None]:
        networks, memory = learner
        steps, memory = optimiser.update(jax.grad(loss)(networks, part), memory)
        return (optax.apply_updates(networks, steps), memory), None

    def epoch(carry: Any, key: jax.Array) -> tuple[Any, None]:
        learner, data = carry
        order = jax.random.permutation(key, batch)
        parts = jax.tree.map(lambda x: x[order].reshape(sizes.minibatches, -1, *x.shape[1:]), data)
        return (jax.lax.scan(minibatch, learner, parts)[0], data), None

    def update(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        learner, actors = carry
        for_play, for_epochs = jax.random.split(key)

        def advance(actors: Any, key: jax.Array) -> tuple[Any, Moment]:
            return play(learner[0], actors, key)

        actors, moments = jax.lax.scan(advance, actors, jax.random.split(for_play, sizes.steps))
        advantage = advantages(moments, forward(learner[0]["value"], actors[0])[..., 0])
        data = jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), (moments, advantage, advantage + moments.value))
        (learner, _), _ = jax.lax.scan(epoch, (learner, data), jax.random.split(for_epochs, sizes.epochs))
        return (learner, actors), jnp.stack([moments.reward.mean(), moments.done.mean()])

    @jax.jit
    def run(key: jax.Array) -> tuple[Any, jax.Array]:
        for_policy, for_value, for_reset, for_updates = jax.random.split(key, 4)
        size = env.observation_space(params).shape[0]
        networks = {
            "policy": network(for_policy, size, env.action_space(params).n, 0.01),
            "value": network(for_value, size, 1, 1.0),
        }
        actors = jax.vmap(env.reset, (0, None))(jax.random.split(for_reset, sizes.environments), params)
        carry = ((networks, optimiser.init(networks)), actors)
        (learner, _), seen = jax.lax.scan(update, carry, jax.random.split(for_updates, sizes.updates))
        return learner[0], seen

    return run

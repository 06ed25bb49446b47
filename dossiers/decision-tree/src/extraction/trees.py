"""A fitted tree as arrays, so that it can be played by a compiled simulation, printed, and walked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

DEEPEST = 8
NODES = 2 ** (DEEPEST + 1) - 1
PRUNING = 1e-4


@dataclass(frozen=True)
class Tree:
    """Nodes in scikit-learn's order; arrays have `NODES` rows, of which the first `count` are used."""

    feature: np.ndarray
    """int32; -1 at a leaf."""
    threshold: np.ndarray
    """float32; at most it goes left."""
    left: np.ndarray
    right: np.ndarray
    action: np.ndarray
    """(NODES, ...): what each node would do."""
    samples: np.ndarray
    """States of the fit that reached each node."""
    count: int

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What `Player` takes as its agent."""
        return self.feature, self.threshold, self.left, self.right, self.action

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature[: self.count] < 0))

    @property
    def depth(self) -> int:
        """Conditions on the longest way to a leaf."""
        return self._depth(0)

    def act(self, observations: np.ndarray) -> np.ndarray:
        """Actions (S, ...) for observations (S, d)."""
        return self.action[self.reach(observations)]

    def reach(self, observations: np.ndarray) -> np.ndarray:
        """The leaf of each observation."""
        return np.array([self.way(row)[-1] for row in np.asarray(observations, np.float32)], int)

    def way(self, observation: np.ndarray) -> list[int]:
        """The nodes from the root to the leaf of one observation."""
        nodes = [0]
        while self.feature[nodes[-1]] >= 0:
            node = nodes[-1]
            goes_left = observation[self.feature[node]] <= self.threshold[node]
            nodes.append(int((self.left if goes_left else self.right)[node]))
        return nodes

    def _depth(self, node: int) -> int:
        if self.feature[node] < 0:
            return 0
        return 1 + max(self._depth(int(self.left[node])), self._depth(int(self.right[node])))


@dataclass(frozen=True)
class Player:
    """A tree as a way of acting; its agent is `Tree.arrays`. Every tree is one compiled program."""

    def memory(self, rows: int) -> tuple[()]:
        """Nothing."""
        return ()

    def __call__(
        self,
        agent: tuple[jax.Array, ...],
        memory: tuple[()],
        keys: jax.Array,
        observations: jax.Array,
        states: object,
        params: object,
    ) -> tuple[jax.Array, tuple[()]]:
        """The action of the leaf that each observation reaches."""
        feature, threshold, left, right, action = agent
        node = jnp.zeros(observations.shape[0], jnp.int32)
        for _ in range(DEEPEST):
            asked = feature[node]
            seen = jnp.take_along_axis(observations, jnp.maximum(asked, 0)[:, None], axis=1)[:, 0]
            below = jnp.where(seen <= threshold[node], left[node], right[node])
            node = jnp.where(asked < 0, node, below)
        return action[node], memory


def fit(
    observations: np.ndarray,
    actions: np.ndarray,
    weights: np.ndarray,
    depth: int,
    seed: int,
    continuous: bool,
    features: Sequence[int] | None = None,
) -> Tree:
    """Fits a tree to observations (S, d), actions (S, ...) and weights (S,); `features` are the entries it may ask.

    Classifier by entropy, one output per head; regressor by squared error, one output per axis. Both pruned by 1e-4.
    """
    asked = list(range(observations.shape[1]) if features is None else features)
    columns = np.asarray(observations, np.float32)[:, asked]
    targets = actions.reshape(len(actions), -1)
    if continuous:
        model = DecisionTreeRegressor(max_depth=depth, ccp_alpha=PRUNING, random_state=seed)
    else:
        model = DecisionTreeClassifier(max_depth=depth, criterion="entropy", ccp_alpha=PRUNING, random_state=seed)
    model.fit(columns, targets if continuous else targets.astype(np.int32), sample_weight=weights)
    return _as_arrays(model, asked, actions, continuous)


def _as_arrays(
    model: DecisionTreeClassifier | DecisionTreeRegressor, asked: list[int], actions: np.ndarray, continuous: bool
) -> Tree:
    grown = model.tree_
    count = grown.node_count
    chosen = _actions(model, continuous).reshape(count, *actions.shape[1:]).astype(actions.dtype)
    inner = grown.feature >= 0

    def padded(values: np.ndarray, dtype: type) -> np.ndarray:
        whole = np.zeros((NODES, *values.shape[1:]), dtype)
        whole[:count] = values
        return whole

    feature = np.full(NODES, -1, np.int32)
    feature[:count] = np.where(inner, np.array(asked)[np.maximum(grown.feature, 0)], -1)
    return Tree(
        feature,
        padded(_rounded(grown.threshold), np.float32),
        padded(np.maximum(grown.children_left, 0), np.int32),
        padded(np.maximum(grown.children_right, 0), np.int32),
        padded(chosen, actions.dtype.type),
        padded(grown.n_node_samples, np.int64),
        count,
    )


def _rounded(thresholds: np.ndarray) -> np.ndarray:
    """To float32, one step down where rounding went up, so that entries go where they went in the fit."""
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def _actions(model: DecisionTreeClassifier | DecisionTreeRegressor, continuous: bool) -> np.ndarray:
    """What each node does, (nodes, outputs): means, or the class of the largest weight per head."""
    values = model.tree_.value
    if continuous:
        return values[:, :, 0]
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    best = [known[values[:, head, : len(known)].argmax(axis=1)] for head, known in enumerate(classes)]
    return np.stack(best, axis=1)

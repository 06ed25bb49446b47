"""Things that a query may add or remove: scalars of the parameters and single entries of the state.

Both are found by looking at the two dataclasses; an address is a name (`pit`), or a name with an index (`fan[2]`).
A name that both have is written `params.name` and `state.name`; those words may always stand before a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from xrl_common.failure import usage
from xrl_common.subject import Tree

PARAMS, STATE = "params", "state"

ADDRESS = re.compile(r"(?:(params|state)\.)?([A-Za-z_]\w*)((?:\[[^\]]*\])?)")


@dataclass(frozen=True)
class Thing:
    """One number of the parameters or of a state."""

    place: str
    """`params` or `state`."""
    field: str
    index: tuple[int, ...]
    address: str
    """As it is written."""

    def value(self, params: Tree, state: Tree) -> float:
        """The number there now."""
        leaf = getattr(params if self.place == PARAMS else state, self.field)
        return float(np.asarray(leaf)[self.index])

    def put(self, params: Tree, state: Tree, value: float) -> tuple[Tree, Tree]:
        """Parameters and state with another number there; one that its type does not hold ends with code 2."""
        whole = params if self.place == PARAMS else state
        leaf = np.array(getattr(whole, self.field))
        leaf[self.index] = _fitting(self.address, value, leaf.dtype)
        changed = replace(whole, **{self.field: leaf[()] if leaf.ndim == 0 else leaf})
        return (changed, state) if self.place == PARAMS else (params, changed)


def things(params: Tree, state: Tree) -> list[Thing]:
    """Every thing: parameters in their order, then the entries of the state in theirs."""
    found = [(PARAMS, name, ()) for name, leaf in _numbers(params) if leaf.ndim == 0]
    for name, leaf in _numbers(state):
        found += [(STATE, name, index) for index in product(*map(range, leaf.shape))]
    written = [f"{name}[{','.join(map(str, index))}]" if index else name for _, name, index in found]
    return [
        Thing(place, name, index, f"{place}.{text}" if written.count(text) > 1 else text)
        for (place, name, index), text in zip(found, written, strict=True)
    ]


def families(params: Tree, state: Tree) -> dict[str, list[Thing]]:
    """Things by name, entries of one array together: `queue[0..3,0..1]` and what it holds."""
    grouped: dict[str, list[Thing]] = {}
    shapes = {(PARAMS, name): leaf.shape for name, leaf in _numbers(params)}
    shapes |= {(STATE, name): leaf.shape for name, leaf in _numbers(state)}
    for thing in things(params, state):
        spans = ",".join(f"0..{size - 1}" if size > 1 else "0" for size in shapes[thing.place, thing.field])
        title = thing.address.partition("[")[0] + f"[{spans}]" if thing.index else thing.address
        grouped.setdefault(title, []).append(thing)
    return grouped


def find(params: Tree, state: Tree, text: str) -> Thing:
    """The thing of an address; one that is not there ends with code 2 and the names that are."""
    matched = ADDRESS.fullmatch(text.replace(" ", ""))
    if matched:
        place, name, index = matched.groups()
        for thing in things(params, state):
            written = f"[{','.join(map(str, thing.index))}]" if thing.index else ""
            same = (thing.field, written) == (name, index)
            if same and (thing.place == place or (place is None and not thing.address.startswith(f"{thing.place}."))):
                return thing
    raise usage(f"no thing {text!r}; things are {', '.join(families(params, state))}")


def parse(params: Tree, state: Tree, text: str) -> tuple[Thing, float]:
    """`X=V` as a thing and its new value."""
    address, equals, number = text.partition("=")
    thing = find(params, state, address)
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not equals or not np.isfinite(value):
        raise usage(f"{text!r} gives no value; write {thing.address}=NUMBER")
    return thing, value


def _numbers(record: Tree) -> list[tuple[str, np.ndarray]]:
    leaves = [(field.name, np.asarray(getattr(record, field.name))) for field in fields(record)]
    return [(name, leaf) for name, leaf in leaves if leaf.dtype.kind in "biuf"]


def _fitting(address: str, value: float, dtype: np.dtype) -> np.generic:
    """The value in a type; whole numbers and bounds of the type are checked."""
    kind = dtype.kind
    if kind == "f":
        with np.errstate(over="ignore"):
            fitted = dtype.type(value)
        if np.isfinite(fitted):
            return fitted
    elif kind == "b" and value in (0, 1):
        return dtype.type(value)
    elif kind in "iu" and value == int(value) and np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        return dtype.type(int(value))
    word = {"f": "a finite number", "b": "0 or 1"}.get(kind, "a whole number")
    raise usage(f"{address}={value:g}: {address} is {word} ({dtype})")

"""What can be taken away or set: scalars of the parameters and entries of the state, by address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

ADDRESS = re.compile(r"([A-Za-z_]\w*)(?:\[(\d+(?:,\d+)*)\])?")


class UnknownThing(ValueError):
    """An address that names nothing; the message lists what there is."""


@dataclass(frozen=True)
class Thing:
    """One number of the parameters or of the state."""

    owner: str
    """`params` or `state`."""
    field: str
    index: tuple[int, ...]
    value: float

    @property
    def address(self) -> str:
        """As it is written: `pit`, `queue[0,1,0]`."""
        return self.field + (f"[{','.join(map(str, self.index))}]" if self.index else "")


def find(address: str, params: Any, state: Any) -> Thing:  # noqa: ANN401
    """The thing at an address; parameters come before entries of the state of the same name."""
    match = ADDRESS.fullmatch(address.strip())
    name = match[1] if match else ""
    index = tuple(int(part) for part in match[2].split(",")) if match and match[2] else ()
    for owner, holder in (("params", params), ("state", state)):
        values = named(holder)
        if name in values:
            array = values[name]
            if len(index) == array.ndim and all(i < size for i, size in zip(index, array.shape, strict=True)):
                return Thing(owner, name, index, float(array[index]))
    raise UnknownThing(f"no thing {address!r}; things are {', '.join(listed(params, state))}")


def with_value(thing: Thing, value: float, params: Any, state: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Parameters and state with the thing set to a value of its own type."""
    holder = params if thing.owner == "params" else state
    array = named(holder)[thing.field].copy()
    array[thing.index] = value
    changed = replace(holder, **{thing.field: array if array.ndim else array[()]})
    return (changed, state) if thing.owner == "params" else (params, changed)


def named(holder: Any) -> Mapping[str, np.ndarray]:  # noqa: ANN401
    """The numeric fields of a dataclass as arrays."""
    values = {field.name: np.asarray(getattr(holder, field.name)) for field in fields(holder)}
    return {name: array for name, array in values.items() if array.dtype.kind in "iufb"}


def listed(params: Any, state: Any) -> list[str]:  # noqa: ANN401
    """Every address, entries of one field as a range: `pit`, `queue[0..3,0..3,0..1]`."""

    def one(name: str, array: np.ndarray) -> str:
        return name + (f"[{','.join(f'0..{size - 1}' for size in array.shape)}]" if array.ndim else "")

    in_params = {name: one(name, array) for name, array in named(params).items()}
    in_state = {name: one(name, array) for name, array in named(state).items() if name not in in_params}
    return [*in_params.values(), *in_state.values()]

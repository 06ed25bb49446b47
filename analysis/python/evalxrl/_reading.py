"""How the compiled half's JSON becomes named tuples; one reader per type, made once."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable
from typing import Any, Union, get_args, get_origin, get_type_hints

from evalxrl.results.values import NotComputed

Reader = Callable[[Any], Any]


def read(kind: Any, text: str) -> Any:  # noqa: ANN401 - the shape is the type given as value
    """Turn a JSON document into named tuples of the given type."""
    return _reader(kind)(json.loads(text))


@functools.cache
def _reader(kind: Any) -> Reader:  # noqa: ANN401 - a type as value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _choice(get_args(kind))
    if origin is list:
        (item,) = get_args(kind)
        return _each(_reader(item))
    if origin is dict:
        _, item = get_args(kind)
        return _values(_reader(item))
    if origin is tuple:
        return _parts([_reader(item) for item in get_args(kind)])
    if hasattr(kind, "_fields"):
        return _fields(kind)
    return _as_is


def _as_is(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    return value


def _each(item: Reader) -> Reader:
    if item is _as_is:
        return _as_is
    return lambda values: [item(value) for value in values]


def _values(item: Reader) -> Reader:
    return lambda entries: {key: item(value) for key, value in entries.items()}


def _parts(items: list[Reader]) -> Reader:
    return lambda values: tuple(item(value) for item, value in zip(items, values, strict=True))


def _fields(kind: Any) -> Reader:  # noqa: ANN401 - a type as value
    hints = get_type_hints(kind)
    readers = {name: _reader(hints[name]) for name in kind._fields}

    def fields(value: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of `kind`
        return kind(**{name: readers[name](entry) for name, entry in value.items()})

    return fields


def _choice(options: tuple[Any, ...]) -> Reader:
    absent = _reader(NotComputed) if NotComputed in options else None
    present = [option for option in options if option not in (NotComputed, types.NoneType)]
    (reader,) = {_reader(option) for option in present} if len(present) == 1 else {_as_is}

    def choice(value: Any) -> Any:  # noqa: ANN401 - a JSON value
        if value is None:
            return None
        if absent is not None and isinstance(value, dict) and "not_computed" in value:
            return absent(value)
        return reader(value)

    return choice

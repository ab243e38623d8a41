"""Responses of the service as objects with attributes.

Attributes are typed by the annotations of each class. A response of a newer service may contain
unknown fields: they are attributes too. A response that lacks a field, such as one to a session
token, has no such attribute.
"""

from __future__ import annotations

import types
from functools import lru_cache
from keyword import iskeyword
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterator,
    Literal,
    Mapping,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

Self = TypeVar("Self", bound="Resource")
T = TypeVar("T")
Reader = Callable[[Any], Any]


class Resource:
    """A JSON object of the service. It is read, never written."""

    @classmethod
    def from_dict(cls: type[Self], data: Mapping[str, Any]) -> Self:
        made = cls.__new__(cls)
        readers = _readers(cls)
        fields = made.__dict__
        for name, value in data.items():
            # `from` is a word of Python's own: the attribute is `from_`.
            name = f"{name}_" if iskeyword(name) else name
            reader = readers.get(name)
            fields[name] = value if reader is None or value is None else reader(value)
        fields["_raw"] = data
        return made

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as it came."""
        return dict(self.__dict__["_raw"])

    if not TYPE_CHECKING:  # A checker is to know the attributes by their annotations alone.

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"This {type(self).__name__} has no `{name}`.")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is what the service answered: it is not written to.")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._shown() == other._shown()  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._shown().items())})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        yield from self._shown().items()

    def __getstate__(self) -> Any:
        return self.__dict__["_raw"]

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(type(self).from_dict(state).__dict__)

    def _shown(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_raw"}


def read_as(kind: Any, value: Any) -> Any:
    """A value of the service as this type, at every depth."""
    return value if value is None else _reader(kind)(value)


@lru_cache(maxsize=None)
def _readers(cls: type[Resource]) -> dict[str, Reader]:
    found = {name: _reader(kind) for name, kind in get_type_hints(cls).items()}
    return {name: reader for name, reader in found.items() if reader is not _plain}


@lru_cache(maxsize=None)
def _reader(kind: Any) -> Reader:
    if isinstance(kind, type) and issubclass(kind, Resource):
        return lambda value: kind.from_dict(value) if isinstance(value, dict) else value
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        item = _reader(inner[0])
        return _plain if item is _plain else lambda value: [_or_none(item, each) for each in value]
    if origin is dict:
        held = _reader(inner[1])
        return _plain if held is _plain else lambda value: {key: _or_none(held, each) for key, each in value.items()}
    if origin is Union or origin is getattr(types, "UnionType", None):
        return _union_reader([each for each in inner if each is not type(None)])
    return _plain


def _union_reader(options: list[Any]) -> Reader:
    if len(options) == 1:
        return _reader(options[0])
    classes = [each for each in options if isinstance(each, type) and issubclass(each, Resource)]
    others = [each for each in options if each not in classes and _reader(each) is not _plain]
    if not classes and not others:
        return _plain
    pick = _picker(classes)

    def read(value: Any) -> Any:
        if isinstance(value, dict) and classes:
            return pick(value).from_dict(value)
        fitting = next((each for each in others if isinstance(value, get_origin(each) or ())), None)
        return value if fitting is None else _reader(fitting)(value)

    return read


def _picker(classes: list[type[Resource]]) -> Callable[[Mapping[str, Any]], type[Resource]]:
    """By the constant that tells them apart; else the one that knows most of the fields."""
    hints = {cls: get_type_hints(cls) for cls in classes}
    shared = [name for name in hints[classes[0]] if all(name in each for each in hints.values())] if classes else []
    for name in shared:
        constants = {cls: get_args(each[name]) for cls, each in hints.items() if get_origin(each[name]) is Literal}
        values = [value for each in constants.values() for value in each]
        if len(constants) == len(classes) and len(set(values)) == len(values):
            by_value = {value: cls for cls, each in constants.items() for value in each}
            # An event of a type that is newer than this version is still an object with its fields.
            return lambda value: by_value.get(value.get(name), Resource)
    return lambda value: max(classes, key=lambda cls: len(hints[cls].keys() & value.keys()))


def _plain(value: Any) -> Any:
    return value


def _or_none(reader: Reader, value: Any) -> Any:
    return None if value is None else reader(value)

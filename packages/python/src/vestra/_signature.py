"""Derives the validation and the JSON Schema of a function's arguments from its signature."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
from typing import Any, Callable, Literal, Mapping, Union, get_args, get_origin, get_type_hints, is_typeddict

from ._context import FunctionContext, ToolError


class _Unfit(Exception):
    """Said without the value: it may be anything, and long."""


def arguments_for(function: Callable[..., Any], given: Any, context: FunctionContext) -> dict[str, Any]:
    """The arguments by name, each checked against its annotation; ``ToolError`` tells the agent what is wrong."""
    signature = _signature_of(function)
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ToolError("The arguments do not fit. They are to be an object.")
    faults: list[str] = []
    made: dict[str, Any] = {}
    for name, parameter in signature.named.items():
        if name in given:
            try:
                made[name] = _fit(signature.hints.get(name, Any), given[name], name)
            except _Unfit as unfit:
                faults.append(str(unfit))
        elif parameter.default is inspect.Parameter.empty:
            faults.append(f"{name}: is needed.")
    rest = {name: value for name, value in given.items() if name not in signature.named}
    if signature.takes_rest:
        made.update(rest)
    else:
        faults += [f"{name}: is not known." for name in rest]
    if faults:
        raise ToolError(f"The arguments do not fit. {' '.join(faults)}")
    if signature.context is not None:
        made[signature.context] = context
    return made


def input_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments: what a deployment or a message declares it with."""
    signature = _signature_of(function)
    required = [name for name, each in signature.named.items() if each.default is inspect.Parameter.empty]
    return {
        "type": "object",
        "properties": {name: _schema_of(signature.hints.get(name, Any)) for name in signature.named},
        **({"required": required} if required else {}),
        "additionalProperties": signature.takes_rest,
    }


@dataclasses.dataclass(frozen=True)
class _Signature:
    named: dict[str, inspect.Parameter]
    hints: dict[str, Any]
    takes_rest: bool
    context: str | None


def _signature_of(function: Callable[..., Any]) -> _Signature:
    hints = _hints_of(function)
    named: dict[str, inspect.Parameter] = {}
    takes_rest, context = False, None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_rest = True
        elif _is_context(hints.get(name)):
            context = name
        elif parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            named[name] = parameter
        else:
            raise TypeError(f"{function!r} is called with its arguments by name: `{name}` cannot be given so.")
    return _Signature(named, hints, takes_rest, context)


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(called_by(function))
    except Exception:
        # A name that only a checker can see: such arguments are taken as they are.
        return {}


def called_by(function: Callable[..., Any]) -> Any:
    """The function itself, or of an object that can be called its method for that."""
    return function if inspect.isroutine(function) else getattr(function, "__call__")


def _is_context(hint: Any) -> bool:
    return hint is FunctionContext or FunctionContext in get_args(hint)


_PLAIN: dict[Any, tuple[str, str]] = {
    str: ("string", "text"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
    list: ("array", "a list"),
    dict: ("object", "an object"),
}


def _fit(hint: Any, value: Any, at: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if hint in (Any, object, inspect.Parameter.empty):
        return value
    if hint is None or hint is type(None):
        return _only(value is None, value, at, "null")
    if origin is Literal:
        return _only(value in inner, value, at, f"one of {', '.join(map(str, inner))}")
    if origin is Union or origin is getattr(types, "UnionType", None):
        return _fit_one(inner, value, at)
    if origin in _LISTS:
        items = _only(isinstance(value, list), value, at, "a list")
        return [_fit(inner[0], each, f"{at}.{index}") for index, each in enumerate(items)]
    if origin in _OBJECTS:
        held = _only(isinstance(value, dict), value, at, "an object")
        return {key: _fit(inner[1], each, f"{at}.{key}") for key, each in held.items()}
    if hint in _PLAIN:
        return _fit_plain(hint, value, at)
    if isinstance(hint, enum.EnumMeta):
        values = _values_of(hint)
        return hint(_only(value in values, value, at, f"one of {', '.join(map(str, values))}"))
    if is_typeddict(hint) or dataclasses.is_dataclass(hint):
        return _fit_fields(hint, value, at)
    if hasattr(hint, "model_validate"):
        return _fit_model(hint, value, at)
    return value


_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)


def _fit_plain(hint: Any, value: Any, at: str) -> Any:
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    # JSON knows one kind of number: 5.0 is a whole one.
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    fits = isinstance(value, hint) and not (hint is int and isinstance(value, bool))
    return _only(fits, value, at, _PLAIN[hint][1])


def _fit_one(options: tuple[Any, ...], value: Any, at: str) -> Any:
    said: list[str] = []
    for option in options:
        try:
            return _fit(option, value, at)
        except _Unfit as unfit:
            said.append(str(unfit))
    raise _Unfit(said[0])


def _fit_fields(hint: Any, value: Any, at: str) -> Any:
    _only(isinstance(value, dict), value, at, "an object")
    hints = get_type_hints(hint)
    needed = _needed_of(hint)
    for name in needed:
        if name not in value:
            raise _Unfit(f"{at}.{name}: is needed.")
    made = {name: _fit(hints.get(name, Any), each, f"{at}.{name}") for name, each in value.items()}
    if is_typeddict(hint):
        return made
    for name in made:
        if name not in hints:
            raise _Unfit(f"{at}.{name}: is not known.")
    return hint(**made)


def _needed_of(hint: Any) -> list[str]:
    if is_typeddict(hint):
        return sorted(hint.__required_keys__)
    missing = dataclasses.MISSING
    return [
        each.name for each in dataclasses.fields(hint) if each.default is missing and each.default_factory is missing
    ]


def _fit_model(hint: Any, value: Any, at: str) -> Any:
    """A pydantic model, which this package knows nothing else of."""
    try:
        return hint.model_validate(value)
    except ValueError as error:
        raise _Unfit(f"{at}: {error}") from error


def _values_of(hint: Any) -> list[Any]:
    return [each.value for each in hint]


def _only(fits: bool, value: Any, at: str, wanted: str) -> Any:
    if not fits:
        raise _Unfit(f"{at}: must be {wanted}.")
    return value


def _schema_of(hint: Any) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is Union or origin is getattr(types, "UnionType", None):
        return {"anyOf": [_schema_of(each) for each in inner]}
    if hint is None or hint is type(None):
        return {"type": "null"}
    if origin in _LISTS:
        return {"type": "array", "items": _schema_of(inner[0])}
    if origin in _OBJECTS:
        return {"type": "object", "additionalProperties": _schema_of(inner[1])}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint][0]}
    if isinstance(hint, enum.EnumMeta):
        return {"enum": _values_of(hint)}
    if is_typeddict(hint) or dataclasses.is_dataclass(hint):
        properties = {name: _schema_of(each) for name, each in get_type_hints(hint).items()}
        return {"type": "object", "properties": properties, "required": _needed_of(hint)}
    if hasattr(hint, "model_json_schema"):
        schema: dict[str, Any] = hint.model_json_schema()
        return schema
    return {}

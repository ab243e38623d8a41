"""Runs one call of your function and delivers its answer."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from typing import Any, Callable, Iterable, Mapping, TypeVar, Union

from . import types
from ._commands import Api
from ._context import FunctionContext, ToolError
from ._signature import arguments_for, called_by, input_schema
from .errors import InvalidRequestError, VestraError, is_passing

T = TypeVar("T")
Function = Callable[..., Any]
Functions = Union[Mapping[str, Function], Iterable[Function]]

LONGEST_REASON = 32_000
MOST_ATTEMPTS = 10

# Somebody else answered it, its time ran out, or the work it belonged to was stopped: nothing is left to do.
SETTLED = ("already_answered", "interaction_expired", "interaction_not_found")


def named(functions: Functions) -> dict[str, Function]:
    """By name; a list of functions by their own names."""
    if isinstance(functions, Mapping):
        found = dict(functions)
    else:
        found = {each.__name__: each for each in functions}
    if not found:
        raise ValueError("`functions` names no function.")
    for function in found.values():
        input_schema(function)
    return found


async def carry_out(
    function: Function, call: types.ToolCall | types.ConversationPendingToolCall, context: FunctionContext
) -> tuple[dict[str, Any], BaseException | None]:
    """Returns the answer for the agent. The error is for the operator."""
    try:
        given = arguments_for(function, call.arguments, context)
        result = await run(function, given)
        # A value that is not serialisable is a failure of the function, not of the delivery.
        return {"output": json.loads(json.dumps(result, allow_nan=False))}, None
    except ToolError as error:
        return {"error": reason_from(str(error))}, error
    except Exception as error:
        return {"error": "The function failed."}, error


async def run(function: Function, given: Mapping[str, Any]) -> Any:
    """Runs a coroutine function on the loop, any other in a separate thread."""
    if inspect.iscoroutinefunction(called_by(function)):
        return await function(**given)
    result: Any = await in_thread(lambda: function(**given))
    return await result if inspect.isawaitable(result) else result


async def in_thread(work: Callable[[], T]) -> T:
    """In a daemon: a function that never ends must not keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not done.cancelled():
            set_it(value)

    def work_apart() -> None:
        try:
            outcome: tuple[Callable[[Any], None], Any] = (done.set_result, work())
        except BaseException as error:  # noqa: BLE001
            outcome = (done.set_exception, _settable(error))
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:
            pass  # The loop has ended: nobody waits.

    threading.Thread(target=work_apart, name="vestra-function", daemon=True).start()
    return await done


def _settable(error: BaseException) -> BaseException:
    """A future cannot hold the error that ends iterations, and a function that exits must not end the server."""
    return error if isinstance(error, Exception) and not isinstance(error, StopIteration) else RuntimeError(repr(error))


async def deliver(api: Api, call_id: str, made: Mapping[str, Any]) -> str | None:
    """Until it is known to have arrived: an answer that arrived and was not confirmed meets ``already_answered``.

    Gives the code with which the call was found settled, or None where this answer settled it.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            await api.interactions.answer(call_id, **made)
            return None
        except VestraError as error:
            if error.code in SETTLED:
                return error.code
            if isinstance(error, InvalidRequestError) and "output" in made:
                made = {"error": reason_from(f"The server refused the result of the function: {error.message}")}
                continue
            if not is_passing(error) or attempt == MOST_ATTEMPTS:
                raise
        await api.transport.back_off(attempt)


def reason_from(text: str) -> str:
    said = text.replace("\0", "").strip()[:LONGEST_REASON].encode("utf-8", "replace").decode()
    return said or "The function failed."

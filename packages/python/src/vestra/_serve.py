"""Answers the calls of a deployment's functions, in all its conversations."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic
from typing import Any, Callable, Literal, Mapping, Sequence

from . import types
from ._carry_out import Function, Functions, carry_out, deliver, named
from ._commands import Api
from ._context import ToolError
from ._held_call import HeldCall
from ._signature import input_schema
from ._waits import end, first_of, unless
from .errors import VestraError, is_passing

log = logging.getLogger("vestra.functions")

WAIT_SECONDS = 25


@dataclass(frozen=True)
class ServeEvent:
    """The type of the event: ``started``, ``taken``, ``answered``, ``failed``, ``late`` or ``away``."""

    type: Literal["started", "taken", "answered", "failed", "late", "away"]
    call: types.ToolCall | None = None
    error: BaseException | None = None
    """Of ``failed``, what the function raised; of ``away``, why the service cannot be reached."""
    code: str | None = None
    """Of ``late``: with what the answer was found to be for nothing."""
    functions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    """Of ``started``: where what is served is not what the deployment declares."""


OnServeEvent = Callable[[ServeEvent], Any]


class Server:
    """Takes the calls of a deployment's functions, carries them out and answers them, until it is stopped."""

    def __init__(
        self,
        api: Api,
        deployment: str,
        functions: Functions,
        *,
        concurrency: int,
        lease_seconds: int,
        grace_seconds: float,
        on_event: OnServeEvent | None,
    ) -> None:
        self._api = api
        self._deployment = deployment
        self._functions = named(functions)
        self._concurrency = concurrency
        self._lease_seconds = lease_seconds
        self._grace_seconds = grace_seconds
        self._tell = on_event or _log
        self._running: dict[asyncio.Task[None], HeldCall] = {}
        self._failure: BaseException | None = None
        self._failed = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        warnings = await self._differences()
        self._tell(ServeEvent("started", functions=list(self._functions), warnings=warnings))
        try:
            await self._take_until(stop)
        finally:
            await self._end_running()
        if self._failure is not None:
            raise self._failure

    async def _take_until(self, stop: asyncio.Event) -> None:
        stopped = asyncio.ensure_future(first_of(stop, self._failed))
        attempt = 0
        try:
            while not stopped.done():
                if len(self._running) >= self._concurrency:
                    await asyncio.wait([stopped, *self._running], return_when=asyncio.FIRST_COMPLETED)
                    continue
                asked_at = monotonic()
                taking = asyncio.ensure_future(self._take())
                try:
                    await asyncio.wait([stopped, taking], return_when=asyncio.FIRST_COMPLETED)
                    if not taking.done():
                        return
                    calls = taking.result()
                except VestraError as error:
                    if not is_passing(error):
                        raise
                    self._tell(ServeEvent("away", error=error))
                    attempt += 1
                    await unless(stopped, self._api.transport.back_off(attempt))
                    continue
                finally:
                    await end(taking)
                attempt = 0
                for call in calls:
                    self._begin(call)
                # A service that is going down holds nobody: it must not be asked in a circle.
                if not calls and monotonic() - asked_at < 1:
                    await unless(stopped, self._api.transport.back_off(1))
        finally:
            await end(stopped)

    async def _take(self) -> list[types.ToolCall]:
        taken = await self._api.functions.take(
            self._deployment,
            functions=list(self._functions),
            limit=min(100, self._concurrency - len(self._running)),
            lease_s=self._lease_seconds,
            wait_s=WAIT_SECONDS,
        )
        return taken.data

    def _begin(self, call: types.ToolCall) -> None:
        self._tell(ServeEvent("taken", call=call))
        held = HeldCall(self._api, call, self._lease_seconds)
        task = asyncio.ensure_future(self._answer(call, held))
        self._running[task] = held
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task).end()
        # An answer that cannot be delivered would leave the agent waiting unseen.
        if not task.cancelled() and task.exception() is not None and self._failure is None:
            self._failure = task.exception()
            self._failed.set()

    async def _answer(self, call: types.ToolCall, held: HeldCall) -> None:
        made, error = await carry_out(self._functions[call.name], call, held.context)
        await held.told()
        if held.is_given_up:
            return
        code = await deliver(self._api, call.call_id, made)
        if code is not None:
            self._tell(ServeEvent("late", call=call, code=code))
        elif error is not None:
            self._tell(ServeEvent("failed", call=call, error=error))
        else:
            self._tell(ServeEvent("answered", call=call))

    async def _end_running(self) -> None:
        if self._running:
            await asyncio.wait(list(self._running), timeout=self._grace_seconds)
        left = list(self._running.items())
        await asyncio.gather(*(held.give_up() for _, held in left))
        for task, _ in left:
            await end(task)

    async def _differences(self) -> list[str]:
        try:
            declared = (await self._api.functions.list(self._deployment)).data
        except VestraError as error:
            if error.code != "deployment_not_live":
                raise
            return [f"No version of `{self._deployment}` is live yet: its functions are called once one is."]
        return differences(self._deployment, declared, self._functions)


def differences(
    deployment: str, declared: Sequence[types.DeclaredFunction], served: Mapping[str, Function]
) -> list[str]:
    """Where what the deployment declares and what is served here are not the same: a sentence for each."""
    by_name = {each.name: each for each in declared}
    told = [
        f"`{deployment}` declares no function `{name}`: the agent does not call it."
        for name in served
        if name not in by_name
    ]
    told += [
        f"`{deployment}` declares `{name}`, and nothing here answers it." for name in by_name if name not in served
    ]
    for name, each in by_name.items():
        if name in served:
            told += _differences_of_input(name, each.input_schema, input_schema(served[name]))
    return told


def _differences_of_input(name: str, declared: Mapping[str, Any], taken: Mapping[str, Any]) -> list[str]:
    """By the names of arguments and which of them must be given: what decides whether calls get through."""
    names, given = list(declared.get("properties") or {}), declared.get("required") or []
    told: list[str] = []
    for field in taken.get("required", []):
        if field not in given:
            why = "the deployment lets the agent leave out" if field in names else "the deployment does not declare"
            told.append(f"`{name}` needs `{field}`, which {why}.")
    if taken["additionalProperties"] is False:
        unknown = [field for field in names if field not in taken["properties"]]
        told += [f"`{name}` does not accept `{field}`, which the deployment declares." for field in unknown]
    return told


_WHY_LATE = {
    "interaction_expired": "its time was over, and the agent was told so",
    "already_answered": "somebody else had answered it, or it was cancelled",
    "interaction_not_found": "its conversation is gone",
}


def _log(event: ServeEvent) -> None:
    """The default for ``on_event``: logs through ``logging``, so that failures are visible."""
    about = "" if event.call is None else f"{event.call.name} ({event.call.call_id})"
    if event.type == "started":
        log.info("Answering %s.", ", ".join(event.functions))
        for warning in event.warnings:
            log.warning("%s", warning)
    elif event.type == "failed":
        log.error("%s failed.", about, exc_info=None if isinstance(event.error, ToolError) else event.error)
    elif event.type == "late":
        log.warning("%s was answered too late: %s.", about, _WHY_LATE.get(event.code or "", event.code))
    elif event.type == "away":
        log.warning("The server is unreachable. Retrying: %s", event.error)
    else:
        log.debug("%s was %s.", about, event.type)

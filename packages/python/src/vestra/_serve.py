"""Answers the agent's calls of functions of yours."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
from dataclasses import dataclass
from time import monotonic
from typing import Any, Awaitable, Callable, Coroutine, Iterable, Literal, Mapping, Sequence, TypeVar, Union

from . import types
from ._commands import Api
from ._context import FunctionContext, ToolError
from ._feeds import conversation_feed
from ._signature import arguments_for, called_by, input_schema
from .errors import ConflictError, InvalidRequestError, NotFoundError, VestraError, is_passing

T = TypeVar("T")
Function = Callable[..., Any]
Functions = Union[Mapping[str, Function], Iterable[Function]]

log = logging.getLogger("vestra.functions")

WAIT_SECONDS = 25
LEAST_BETWEEN = 0.5
LONGEST_PROGRESS = 200
LONGEST_REASON = 32_000
MOST_ATTEMPTS = 10

# Somebody else answered it, its time ran out, or the work it belonged to was stopped: nothing is left to do.
SETTLED = ("already_answered", "interaction_expired", "interaction_not_found")


@dataclass(frozen=True)
class ServeEvent:
    """What happened: ``started``, ``taken``, ``answered``, ``failed``, ``late`` or ``away``."""

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
        stopped = asyncio.ensure_future(_first_of(stop, self._failed))
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
                    await _unless(stopped, self._api.transport.back_off(attempt))
                    continue
                finally:
                    await _end(taking)
                attempt = 0
                for call in calls:
                    self._begin(call)
                # A service that is going down holds nobody: it must not be asked in a circle.
                if not calls and monotonic() - asked_at < 1:
                    await _unless(stopped, self._api.transport.back_off(1))
        finally:
            await _end(stopped)

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
            await _end(task)

    async def _differences(self) -> list[str]:
        try:
            declared = (await self._api.functions.list(self._deployment)).data
        except VestraError as error:
            if error.code != "deployment_not_live":
                raise
            return [f"No version of `{self._deployment}` is live yet: its functions are called once one is."]
        return differences(self._deployment, declared, self._functions)


class HeldCall:
    """Keeps a call that was taken: renews it in time, and hears from that when it is over."""

    def __init__(self, api: Api, call: types.ToolCall, lease_seconds: int) -> None:
        self._api = api
        self._call = call
        self._lease_seconds = lease_seconds
        self._loop = asyncio.get_running_loop()
        self._said: str | None = None
        self._sending: asyncio.Task[None] | None = None
        self._over = threading.Event()
        self._is_ended = False
        self.is_given_up = False
        self._keeping = asyncio.ensure_future(self._keep())
        self.context = FunctionContext(
            call_id=call.call_id,
            conversation_id=call.conversation_id,
            task_id=call.task_id,
            user_id=call.user_id,
            attempt=call.attempt,
            progress=self._progress,
            _over=self._over,
        )

    def _progress(self, text: str) -> None:
        """Of any thread."""
        shown = text.replace("\0", "").strip()[:LONGEST_PROGRESS].encode("utf-8", "replace").decode()
        if shown:
            self._loop.call_soon_threadsafe(self._say, shown)

    def _say(self, text: str) -> None:
        if self._is_ended:
            return
        self._said = text
        self._send_soon()

    def _send_soon(self) -> asyncio.Task[None]:
        # One at a time, so that what was said last is also told last.
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send())
            self._sending.add_done_callback(self._sent)
        return self._sending

    def _sent(self, _: asyncio.Task[None]) -> None:
        self._sending = None

    async def _send(self) -> None:
        while True:
            said, self._said = self._said, None
            try:
                await self._api.functions.renew(
                    self._call.call_id, claim_id=self._call.claim_id, lease_s=self._lease_seconds, progress=said
                )
            except (ConflictError, NotFoundError):
                self._over.set()
                self.end()
            except VestraError:
                # What passes is tried again with the next renewal; nobody else may take the call until its lease is over.
                pass
            if self._said is None or self._is_ended:
                return
            await asyncio.sleep(LEAST_BETWEEN)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            await asyncio.shield(self._send_soon())

    async def told(self) -> None:
        """Until what was said has been told: the answer must not overtake it."""
        await asyncio.sleep(0)
        if self._sending is not None:
            await asyncio.wait([self._sending])

    async def give_up(self) -> None:
        """Hands it to whoever takes it next."""
        self.is_given_up = True
        self._over.set()
        self.end()
        await self.told()
        try:
            await self._api.functions.release(self._call.call_id, claim_id=self._call.claim_id)
        except VestraError:
            pass

    def end(self) -> None:
        """It is answered, or no longer this process's: nothing is renewed any more."""
        self._is_ended = True
        self._keeping.cancel()


async def carry_out(
    function: Function, call: types.ToolCall | types.ConversationPendingToolCall, context: FunctionContext
) -> tuple[dict[str, Any], BaseException | None]:
    """What the agent is told of one call; the error is for whoever runs the function."""
    try:
        given = arguments_for(function, call.arguments, context)
        result = await run(function, given)
        # What cannot be written as JSON is the function's failure, and not the delivery's.
        return {"output": json.loads(json.dumps(result, allow_nan=False))}, None
    except ToolError as error:
        return {"error": reason_from(str(error))}, error
    except Exception as error:
        return {"error": "The function failed."}, error


async def run(function: Function, given: Mapping[str, Any]) -> Any:
    """A coroutine function on the loop, any other in a thread of its own."""
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
                made = {"error": reason_from(f"What the function gave back was refused: {error.message}")}
                continue
            if not is_passing(error) or attempt == MOST_ATTEMPTS:
                raise
        await api.transport.back_off(attempt)


def reason_from(text: str) -> str:
    said = text.replace("\0", "").strip()[:LONGEST_REASON].encode("utf-8", "replace").decode()
    return said or "The function failed."


def differences(deployment: str, declared: Sequence[types.DeclaredFunction], served: Mapping[str, Function]) -> list[str]:
    """Where what the deployment declares and what is served here are not the same: a sentence for each."""
    by_name = {each.name: each for each in declared}
    told = [f"`{deployment}` declares no function `{name}`: the agent does not call it." for name in served if name not in by_name]
    told += [f"`{deployment}` declares `{name}`, and nothing here answers it." for name in by_name if name not in served]
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
        told += [f"`{name}` does not take `{field}`, which the deployment declares." for field in unknown]
    return told


async def answer_tool_calls(
    api: Api, conversation_id: str, functions: Functions, turn_id: str | None, stop: asyncio.Event
) -> None:
    """Answers the calls that are open now and each that comes, until the turn has settled or ``stop`` is set."""
    known = named(functions)
    begun: set[str] = set()
    running: set[asyncio.Task[None]] = set()
    failed = asyncio.Event()
    failures: list[BaseException] = []

    def begin(call: types.ConversationPendingToolCall) -> None:
        function = known.get(call.name)
        if function is None or call.call_id in begun:
            return
        begun.add(call.call_id)
        task = asyncio.ensure_future(answer_one(function, call))
        running.add(task)
        task.add_done_callback(ended)

    def ended(task: asyncio.Task[None]) -> None:
        running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # An answer that cannot be delivered would leave the agent waiting unseen: it ends the following.
            failures.append(error)
            failed.set()

    async def answer_one(function: Function, call: types.ConversationPendingToolCall) -> None:
        context = FunctionContext(call.call_id, conversation_id, call.task_id, conversation.user_id, attempt=1)
        made, error = await carry_out(function, call, context)
        if error is not None and not isinstance(error, ToolError):
            # Whoever sent the message wrote the function: the agent may read what it raised.
            made = {"error": reason_from(str(error) or type(error).__name__)}
        await deliver(api, call.call_id, made)

    conversation = await api.conversations.get(conversation_id)
    # Told of a turn the caller may have missed its end: it is looked for from the first event on.
    after = conversation.last_event_seq if turn_id is None else 0
    feed = conversation_feed(api.transport, types.StreamEvent, conversation_id, after=after)
    stopped = asyncio.ensure_future(_first_of(stop, failed))
    try:
        for call in conversation.pending_tool_calls:
            begin(call)
        while not stopped.done():
            coming = asyncio.ensure_future(feed.next())
            try:
                await asyncio.wait([stopped, coming], return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    break
                event = coming.result()
            finally:
                await _end(coming)
            if isinstance(event, types.ToolCallCreatedEvent) and event.seq > conversation.last_event_seq:
                begin(event.data.call)
            if event is None or (event.type == "turn.settled" and event.turn_id == turn_id):
                break
        if running:
            await asyncio.wait(list(running))
    finally:
        await _end(stopped)
        for task in list(running):
            await _end(task)
        await feed.close()
    if failures:
        raise failures[0]


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(each.wait()) for each in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


async def _unless(stopped: asyncio.Future[None], waiting: Coroutine[Any, Any, None]) -> None:
    """Waits, unless it is stopped."""
    task = asyncio.ensure_future(waiting)
    await asyncio.wait([stopped, task], return_when=asyncio.FIRST_COMPLETED)
    await _end(task)


async def _end(task: Awaitable[Any]) -> None:
    """Cancels what still runs; what it ended with has been looked at, or is of no matter."""
    future = asyncio.ensure_future(task)
    if not future.done():
        future.cancel()
        await asyncio.wait([future])
    if not future.cancelled():
        future.exception()


_WHY_LATE = {
    "interaction_expired": "its time was over, and the agent was told so",
    "already_answered": "somebody else had answered it, or it was cancelled",
    "interaction_not_found": "its conversation is gone",
}


def _log(event: ServeEvent) -> None:
    """For whoever gives no ``on_event``: through ``logging``, where a failure is not to go unseen."""
    about = "" if event.call is None else f"{event.call.name} ({event.call.call_id})"
    if event.type == "started":
        log.info("Answering %s.", ", ".join(event.functions))
        for warning in event.warnings:
            log.warning("%s", warning)
    elif event.type == "failed":
        log.error("%s failed.", about, exc_info=None if isinstance(event.error, ToolError) else event.error)
    elif event.type == "late":
        log.warning("%s was answered for nothing: %s.", about, _WHY_LATE.get(event.code or "", event.code))
    elif event.type == "away":
        log.warning("The service cannot be reached, it is tried again: %s", event.error)
    else:
        log.debug("%s was %s.", about, event.type)

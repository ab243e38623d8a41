"""Streams of events that outlive their connections: each event once, and in order."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from time import monotonic
from typing import Any, Awaitable, Callable, Generic, Literal, Protocol, TypeVar

import httpx

from ._resource import read_as
from ._server_sent_events import EventParser
from ._transport import Call, Transport, is_event_stream
from .errors import UnexpectedAnswerError, VestraError, is_passing

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Verdict = Literal["take", "skip", "last"]

# How often in a row a stream may fail to open: about a minute, in which a server has long been started again.
MOST_FAILURES = 10


class Feed(Protocol[T_co]):
    deadline: float | None
    """A time of the monotonic clock, after which a feed raises ``TimeoutError``."""

    async def next(self) -> T_co | None:
        """None at the end."""

    async def close(self) -> None:
        ...


def turn_feed(transport: Transport, kind: Any, first: httpx.Response, call: Call) -> Feed[Any]:
    """The events of the turn that a call with ``stream=True`` began, up to ``turn.settled``.

    Once an event has told which turn it is, the conversation is followed. Before that the very
    same call is made again, which under the same Idempotency-Key begins no second turn.
    """
    seen: dict[str, Any] = {}

    async def open_again() -> httpx.Response:
        if seen:
            return await transport.open(_events_call(seen["conversation_id"], seen["seq"], None))
        if call.idempotency_key is None:
            raise UnexpectedAnswerError("The stream ended before its first event.", code="unexpected_answer")
        return await transport.open(call)

    def admit(event: dict[str, Any]) -> Verdict:
        if seen and (event["seq"] <= seen["seq"] or event["turn_id"] != seen["turn_id"]):
            return "skip"
        seen.update(event)
        return "last" if event["type"] == "turn.settled" else "take"

    return ReopenedFeed(transport, kind, open_again, admit, first)


def conversation_feed(
    transport: Transport,
    kind: Any,
    conversation_id: str,
    *,
    after: int = 0,
    task_id: str | None = None,
    turn_id: str | None = None,
) -> ReopenedFeed[Any]:
    """The events of a conversation for as long as they are asked for; of one turn, up to its end."""
    seen = after

    async def open_again() -> httpx.Response:
        return await transport.open(_events_call(conversation_id, seen, task_id))

    def admit(event: dict[str, Any]) -> Verdict:
        nonlocal seen
        if event["seq"] <= seen:
            return "skip"
        seen = event["seq"]
        if turn_id is None:
            return "take"
        if event["turn_id"] != turn_id:
            return "skip"
        return "last" if event["type"] == "turn.settled" else "take"

    return ReopenedFeed(transport, kind, open_again, admit, None)


def test_run_feed(transport: Transport, kind: Any, run_id: str) -> ReopenedFeed[Any]:
    """First where a test run stands, then each change, until it has ended."""
    call = Call(
        "testRuns.events", "GET", "/v1/test-runs/{run_id}/events", {"run_id": run_id}, max_retries=0, streams=True
    )

    async def open_again() -> httpx.Response:
        return await transport.open(call)

    def admit(event: dict[str, Any]) -> Verdict:
        return "last" if event["type"] == "test_run.completed" else "take"

    return ReopenedFeed(transport, kind, open_again, admit, None)


def _events_call(conversation_id: str, after: int, task_id: str | None) -> Call:
    return Call(
        "conversations.events",
        "GET",
        "/v1/conversations/{conversation_id}/events",
        {"conversation_id": conversation_id},
        {"task_id": task_id},
        headers={"accept": "text/event-stream", "last-event-id": str(after)},
        max_retries=0,
        streams=True,
    )


class ReopenedFeed(Generic[T]):
    """The events of one connection after the other, until nobody asks for more."""

    def __init__(
        self,
        transport: Transport,
        kind: Any,
        open_again: Callable[[], Awaitable[httpx.Response]],
        admit: Callable[[dict[str, Any]], Verdict],
        first: httpx.Response | None,
    ) -> None:
        self._transport = transport
        self._kind = kind
        self._open_again = open_again
        self._admit = admit
        self._connection = None if first is None else Connection(transport, first)
        self._failures = 0
        self._is_at_once = False
        self._is_over = False
        self.deadline: float | None = None

    async def next(self) -> T | None:
        while not self._is_over:
            _assert_before(self.deadline)
            event = await self._from_connection()
            if event is None:
                continue
            verdict = self._admit(event)
            if verdict == "last":
                await self.close()
            if verdict != "skip":
                taken: T = read_as(self._kind, event)
                return taken
        return None

    async def close(self) -> None:
        self._is_over = True
        await self._hang_up()

    async def start(self) -> None:
        """Opens it now, so that a conversation that is not there is told of before the first event is asked for."""
        if self._connection is None:
            self._connection = Connection(self._transport, await self._open_again())

    async def _from_connection(self) -> dict[str, Any] | None:
        """The next event, or None after a connection has ended and it was waited for another."""
        is_closed = False
        try:
            if self._connection is None:
                self._connection = Connection(self._transport, await self._open_again())
                self._failures = 0
            event: dict[str, Any] | None = await self._connection.next(self.deadline)
            is_closed = event is not None and event.get("type") == "stream.closed"
            if event is not None and not is_closed:
                return event
        except VestraError as error:
            await self._hang_up()
            if self._is_over:
                return None
            if not is_passing(error) or self._failures == MOST_FAILURES:
                self._is_over = True
                raise
        await self._hang_up()
        self._failures += 1
        # A server that restarts says so, and another one answers at once. Not twice in a row: both may be restarting.
        self._is_at_once = is_closed and not self._is_at_once
        if not self._is_at_once:
            await self._transport.back_off(self._failures)
        return None

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class Connection:
    """The data of each event of one answer, until it ends."""

    def __init__(self, transport: Transport, response: httpx.Response) -> None:
        self._transport = transport
        self._response = response
        self._chunks = transport.io.chunks(response)
        self._parser = EventParser()
        self._arrived: deque[str] = deque()

    async def next(self, deadline: float | None) -> Any:
        """None at the end."""
        if not is_event_stream(self._response):
            raise self._unexpected("The answer is not a stream of events.")
        while not self._arrived:
            try:
                chunk = await self._chunks.next()
            except httpx.HTTPError as error:
                raise self._transport.lost(error) from error
            if chunk is None:
                return None
            try:
                self._arrived.extend(self._parser.feed(chunk))
            except ValueError as error:
                raise self._unexpected(str(error)) from error
            # A comment keeps the connection alive and is not an event.
            if not self._arrived:
                _assert_before(deadline)
        data = self._arrived.popleft()
        # The end mark of OpenAI's streams, which is not JSON.
        if data == "[DONE]":
            return data
        try:
            return json.loads(data)
        except ValueError as error:
            raise self._unexpected("An event of the stream is not JSON.") from error

    def _unexpected(self, message: str) -> VestraError:
        return UnexpectedAnswerError(message, code="unexpected_answer", status=self._response.status_code)

    async def close(self) -> None:
        await self._transport.io.close(self._response)


class PlainFeed(Generic[T]):
    """The events of a stream that cannot be taken up again."""

    def __init__(self, transport: Transport, kind: Any, response: httpx.Response) -> None:
        self._kind = kind
        self._connection = Connection(transport, response)
        self._is_over = False
        self.deadline: float | None = None

    async def next(self) -> T | None:
        if self._is_over:
            return None
        event = await self._connection.next(self.deadline)
        if event is None or event == "[DONE]":
            await self.close()
            return None
        taken: T = read_as(self._kind, event)
        return taken

    async def close(self) -> None:
        self._is_over = True
        await self._connection.close()


def begun_feed(transport: Transport, kind: Any, call: Call, first: httpx.Response) -> Feed[Any]:
    """The feed of a stream that a call has begun."""
    if call.name in ("conversations.create", "conversations.send"):
        return turn_feed(transport, kind, first, replace(call, max_retries=0))
    return PlainFeed(transport, kind, first)


def _assert_before(deadline: float | None) -> None:
    if deadline is not None and monotonic() >= deadline:
        raise TimeoutError

"""The base of the methods of every family of routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, TypeVar

import httpx

from . import types
from ._feeds import PlainFeed, ReopenedFeed, begun_feed, conversation_feed, test_run_feed
from ._io import finish
from ._omit import OMIT
from ._pages import AsyncPages, Page
from ._resource import read_as
from ._streams import AsyncStream, Stream
from ._transport import Call, Transport, body_from

T = TypeVar("T")


class Group:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, kind: type[T], *about: Any, **given: Any) -> T:
        answer: T = read_as(kind, finish(self._transport.call(_call_of(*about, **given))))
        return answer

    def _page(self, kind: type[T], *about: Any, **given: Any) -> Page[T]:
        return Page(self._transport, kind, _call_of(*about, **given))

    def _stream(self, kind: type[T], *about: Any, **given: Any) -> Stream[T]:
        return Stream(finish(_feed_of(self._transport, kind, _call_of(*about, **given))))

    def _streamable(self, kind: Any, *about: Any, **given: Any) -> Any:
        answer = finish(_answer_or_feed(self._transport, kind, _call_of(*about, **given)))
        return Stream(answer) if isinstance(answer, (PlainFeed, ReopenedFeed)) else answer


class AsyncGroup:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(self, kind: type[T], *about: Any, **given: Any) -> T:
        answer: T = read_as(kind, await self._transport.call(_call_of(*about, **given)))
        return answer

    def _page(self, kind: type[T], *about: Any, **given: Any) -> AsyncPages[T]:
        return AsyncPages(self._transport, kind, _call_of(*about, **given))

    async def _stream(self, kind: type[T], *about: Any, **given: Any) -> AsyncStream[T]:
        return AsyncStream(await _feed_of(self._transport, kind, _call_of(*about, **given)))

    async def _streamable(self, kind: Any, *about: Any, **given: Any) -> Any:
        answer = await _answer_or_feed(self._transport, kind, _call_of(*about, **given))
        return AsyncStream(answer) if isinstance(answer, (PlainFeed, ReopenedFeed)) else answer


def _call_of(
    name: str,
    method: str,
    route: str,
    *,
    path: Mapping[str, Any] = {},
    query: Mapping[str, Any] = {},
    body: Mapping[str, Any] = {},
    nullable: Mapping[str, Any] = {},
    whole: Any = OMIT,
    takes_body: bool = False,
    idempotent: bool = False,
    idempotency_key: str | None = None,
    wait: float | None = None,
    service_user: str | None = None,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Call:
    """Each field to its place."""
    asks_for_stream = body.get("stream") is True or query.get("stream") in (True, "true")
    headers = {**({} if service_user is None else {"service-user": service_user}), **(extra_headers or {})}
    return Call(
        name=name,
        method=method,
        path=route,
        params=path,
        query=query,
        body=body_from(body, nullable, takes_body) if whole is OMIT else whole,
        idempotent=idempotent,
        idempotency_key=idempotency_key,
        wait=wait,
        timeout=timeout,
        headers=headers,
        streams=asks_for_stream,
    )


async def _answer_or_feed(transport: Transport, kind: Any, call: Call) -> Any:
    if call.name == "conversations.events" and call.query.get("format") is None:
        return await _followed(transport, call)
    call = transport.keyed(call)
    answer = await transport.call_or_open(call)
    if isinstance(answer, httpx.Response):
        event = types.StreamEvent if call.name.startswith("conversations.") else kind
        return begun_feed(transport, event, call, answer)
    # A text response is not an object.
    return read_as(kind, answer) if isinstance(answer, dict) and kind is not object else answer


async def _followed(transport: Transport, call: Call) -> ReopenedFeed[Any]:
    """The header wins over ``after``, as it does in a browser that reconnects."""
    header = {name.lower(): value for name, value in call.headers.items()}.get("last-event-id")
    after = int(header if header is not None else call.query.get("after") or 0)
    feed = conversation_feed(
        transport, types.StreamEvent, call.params["conversation_id"], after=after, task_id=call.query.get("task_id")
    )
    await feed.start()
    return feed


async def _feed_of(transport: Transport, kind: Any, call: Call) -> Any:
    if call.name == "testRuns.events":
        feed = test_run_feed(transport, kind, call.params["run_id"])
        await feed.start()
        return feed
    return PlainFeed(transport, kind, await transport.open(replace(call, streams=True)))

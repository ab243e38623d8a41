"""Lists: one page at a time, or every item of all pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, AsyncIterator, Generator, Generic, Iterator, Sequence, TypeVar

from ._io import finish
from ._resource import read_as
from ._transport import Call, Transport

T = TypeVar("T")


@dataclass(frozen=True)
class _Fetched:
    data: list[Any]
    next_cursor: str | None


async def _fetch(transport: Transport, kind: Any, call: Call) -> _Fetched:
    body = await transport.call(call)
    return _Fetched([read_as(kind, each) for each in body["data"]], body.get("next_cursor"))


def _next_call(call: Call, cursor: str) -> Call:
    return replace(call, query={**call.query, "cursor": cursor})


class Page(Generic[T]):
    """A page of a list. ``data`` contains its entries; iterating continues through all further pages."""

    data: Sequence[T]
    next_cursor: str | None
    """Null on the last page."""

    def __init__(self, transport: Transport, kind: Any, call: Call) -> None:
        self._transport = transport
        self._kind = kind
        self._call = call
        fetched = finish(_fetch(transport, kind, call))
        self.data, self.next_cursor = fetched.data, fetched.next_cursor

    def next_page(self) -> Page[T] | None:
        if self.next_cursor is None:
            return None
        return Page(self._transport, self._kind, _next_call(self._call, self.next_cursor))

    def __iter__(self) -> Iterator[T]:
        page: Page[T] | None = self
        while page is not None:
            yield from page.data
            page = page.next_page()

    def __repr__(self) -> str:
        return f"Page(data={self.data!r}, next_cursor={self.next_cursor!r})"


class AsyncPage(Generic[T]):
    """A page of a list. ``data`` contains its entries; iterating continues through all further pages."""

    data: Sequence[T]
    next_cursor: str | None
    """Null on the last page."""

    def __init__(self, transport: Transport, kind: Any, call: Call, fetched: _Fetched) -> None:
        self._transport = transport
        self._kind = kind
        self._call = call
        self.data, self.next_cursor = fetched.data, fetched.next_cursor

    async def next_page(self) -> AsyncPage[T] | None:
        if self.next_cursor is None:
            return None
        return await AsyncPages[T](self._transport, self._kind, _next_call(self._call, self.next_cursor))

    async def __aiter__(self) -> AsyncIterator[T]:
        page: AsyncPage[T] | None = self
        while page is not None:
            for item in page.data:
                yield item
            page = await page.next_page()

    def __repr__(self) -> str:
        return f"AsyncPage(data={self.data!r}, next_cursor={self.next_cursor!r})"


class AsyncPages(Generic[T]):
    """``async for item in pages`` gives every item; ``await pages`` the first page."""

    def __init__(self, transport: Transport, kind: Any, call: Call) -> None:
        self._transport = transport
        self._kind = kind
        self._call = call

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._first().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for item in await self._first():
            yield item

    async def _first(self) -> AsyncPage[T]:
        fetched = await _fetch(self._transport, self._kind, self._call)
        return AsyncPage(self._transport, self._kind, self._call, fetched)

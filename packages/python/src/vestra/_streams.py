"""Events to be iterated over."""

from __future__ import annotations

from types import TracebackType
from typing import AsyncIterator, Generic, Iterator, TypeVar

from ._feeds import Feed
from ._io import finish

T = TypeVar("T")


class Stream(Generic[T]):
    """Events as they come. Use it in a ``with`` block, or iterate to the end: leaving it early hangs up.

    A connection that is lost, or silent for 50 seconds, is opened again after the last event that
    came: every event comes once, in order.
    """

    def __init__(self, feed: Feed[T]) -> None:
        self._feed = feed

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        event = finish(self._feed.next())
        if event is None:
            raise StopIteration
        return event

    def close(self) -> None:
        finish(self._feed.close())

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncStream(Generic[T]):
    """Events as they come. Use it in an ``async with`` block, or iterate to the end: leaving it early hangs up.

    A connection that is lost, or silent for 50 seconds, is opened again after the last event that
    came: every event comes once, in order.
    """

    def __init__(self, feed: Feed[T]) -> None:
        self._feed = feed

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        event = await self._feed.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        await self._feed.close()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

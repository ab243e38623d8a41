"""The two ways to the network, behind one face.

Everything that both clients do, from repeating a call to applying a folder, is written once, as
coroutines over an ``Io``. Those of ``SyncIo`` never wait for anything but the call they make, so a
coroutine over it runs to its end in one step: ``finish`` takes that step.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, AsyncIterator, Callable, Coroutine, Iterator, Protocol, TypeVar

import httpx

T = TypeVar("T")


class Io(Protocol):
    async def send(self, request: httpx.Request) -> httpx.Response:
        """Answered as soon as the head of the answer is there."""

    async def read(self, response: httpx.Response) -> bytes:
        ...

    def chunks(self, response: httpx.Response) -> Chunks:
        ...

    async def close(self, response: httpx.Response) -> None:
        ...

    async def sleep(self, seconds: float) -> None:
        ...

    async def apart(self, work: Callable[[], T]) -> T:
        """Work that blocks, such as reading a disk: not on the loop where there is one."""

    async def within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        """Ends the work with ``TimeoutError``, where it can be ended."""

    def later(self, seconds: float, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        """Does the work beside the caller's, unless the returned function is called before. Its errors are dropped."""


class Chunks(Protocol):
    """The body of an answer as it comes."""

    async def next(self) -> bytes | None:
        """None at the end."""


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine over ``SyncIo``."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("A coroutine of the synchronous client waited for something.")


class SyncIo:
    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    async def send(self, request: httpx.Request) -> httpx.Response:
        return self.client.send(request, stream=True, follow_redirects=False)

    async def read(self, response: httpx.Response) -> bytes:
        return response.read()

    def chunks(self, response: httpx.Response) -> Chunks:
        return _SyncChunks(response.iter_bytes())

    async def close(self, response: httpx.Response) -> None:
        response.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def apart(self, work: Callable[[], T]) -> T:
        return work()

    async def within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        return await work

    def later(self, seconds: float, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        timer = threading.Timer(seconds, lambda: finish(_quietly(work)))
        timer.daemon = True
        timer.start()
        return timer.cancel


class AsyncIo:
    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def send(self, request: httpx.Request) -> httpx.Response:
        return await self.client.send(request, stream=True, follow_redirects=False)

    async def read(self, response: httpx.Response) -> bytes:
        return await response.aread()

    def chunks(self, response: httpx.Response) -> Chunks:
        return _AsyncChunks(response.aiter_bytes())

    async def close(self, response: httpx.Response) -> None:
        await response.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def apart(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)

    async def within(self, seconds: float, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await asyncio.wait_for(work, seconds)
        except asyncio.TimeoutError as error:
            raise TimeoutError from error

    def later(self, seconds: float, work: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
        async def wait_first() -> None:
            await asyncio.sleep(seconds)
            await _quietly(work)

        return asyncio.ensure_future(wait_first()).cancel


async def _quietly(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    try:
        await work()
    except Exception:
        # The caller's own call reports what is wrong.
        pass


class _SyncChunks:
    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source

    async def next(self) -> bytes | None:
        return next(self._source, None)


class _AsyncChunks:
    def __init__(self, source: AsyncIterator[bytes]) -> None:
        self._source = source

    async def next(self) -> bytes | None:
        try:
            return await self._source.__anext__()
        except StopAsyncIteration:
            return None

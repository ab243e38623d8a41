"""Waiting on a loop, unless it is stopped."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Coroutine


async def first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(each.wait()) for each in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


async def unless(stopped: asyncio.Future[None], waiting: Coroutine[Any, Any, None]) -> None:
    """Waits, unless it is stopped."""
    task = asyncio.ensure_future(waiting)
    await asyncio.wait([stopped, task], return_when=asyncio.FIRST_COMPLETED)
    await end(task)


async def end(task: Awaitable[Any]) -> None:
    """Cancels what still runs; what it ended with has been looked at, or is of no matter."""
    future = asyncio.ensure_future(task)
    if not future.done():
        future.cancel()
        await asyncio.wait([future])
    if not future.cancelled():
        future.exception()

"""A call that was taken, for as long as it is this process's."""

from __future__ import annotations

import asyncio
import threading

from . import types
from ._commands import Api
from ._context import FunctionContext
from .errors import ConflictError, NotFoundError, VestraError

LEAST_BETWEEN = 0.5
LONGEST_PROGRESS = 200


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
                # A transient error is retried with the next renewal; nobody else may take the call before its lease expires.
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
        """Releases it to another process."""
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

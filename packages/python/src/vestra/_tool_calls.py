"""Functions that a message brought along, answered where it was sent."""

from __future__ import annotations

import asyncio

from . import types
from ._carry_out import Function, Functions, carry_out, deliver, named, reason_from
from ._commands import Api
from ._context import FunctionContext, ToolError
from ._feeds import conversation_feed
from ._waits import end, first_of


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
            # The sender of the message wrote the function, so the agent may read its errors.
            made = {"error": reason_from(str(error) or type(error).__name__)}
        await deliver(api, call.call_id, made)

    conversation = await api.conversations.get(conversation_id)
    # Told of a turn the caller may have missed its end: it is looked for from the first event on.
    after = conversation.last_event_seq if turn_id is None else 0
    feed = conversation_feed(api.transport, types.StreamEvent, conversation_id, after=after)
    stopped = asyncio.ensure_future(first_of(stop, failed))
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
                await end(coming)
            if isinstance(event, types.ToolCallCreatedEvent) and event.seq > conversation.last_event_seq:
                begin(event.data.call)
            if event is None or (event.type == "turn.settled" and event.turn_id == turn_id):
                break
        if running:
            await asyncio.wait(list(running))
    finally:
        await end(stopped)
        for task in list(running):
            await end(task)
        await feed.close()
    if failures:
        raise failures[0]

"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, overload

from .. import params, types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page
from .._streams import AsyncStream, Stream

class Conversations(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Conversation]:
        """List conversations, newest first: one user’s, or all of the org’s."""
        return self._page(
            types.Conversation,
            "conversations.list",
            "GET",
            "/v1/conversations",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    def create(
        self,
        *,
        stream: Literal[True],
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Stream[types.StreamEvent]: ...

    @overload
    def create(
        self,
        *,
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: Literal[False] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation: ...

    def create(
        self,
        *,
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Start a conversation, with or without its first message.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            output_schema: JSON Schema of the structured answer, at most 32 KB.
            hand_off: `always`: straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            idempotency_key: Made by the client where none is given.
        """
        return self._streamable(
            types.Conversation,
            "conversations.create",
            "POST",
            "/v1/conversations",
            body={
                "user_id": user_id,
                "deployment": deployment,
                "metadata": metadata,
                "message": message,
                "context": context,
                "attachments": attachments,
                "output_schema": output_schema,
                "success_criteria": success_criteria,
                "tools": tools,
                "hand_off": hand_off,
                "plan": plan,
                "stream": stream,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation:
        """Show a conversation with its open work, interactions and tool calls."""
        return self._call(
            types.Conversation,
            "conversations.get",
            "GET",
            "/v1/conversations/{conversation_id}",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    def send(
        self,
        conversation_id: str,
        *,
        stream: Literal[True],
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Stream[types.StreamEvent]: ...

    @overload
    def send(
        self,
        conversation_id: str,
        *,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: Literal[False] | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Turn: ...

    def send(
        self,
        conversation_id: str,
        *,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: bool | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.

        Args:
            context: Data for this message alone; the agent reads it as data, never as instructions.
            output_schema: JSON Schema of the structured answer, at most 32 KB.
            hand_off: `always`: straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            wait: Holds the call for the final answer: 1 to 120 seconds.
            idempotency_key: Made by the client where none is given.
        """
        return self._streamable(
            types.Turn,
            "conversations.send",
            "POST",
            "/v1/conversations/{conversation_id}/messages",
            path={"conversation_id": conversation_id},
            body={
                "message": message,
                "context": context,
                "attachments": attachments,
                "output_schema": output_schema,
                "success_criteria": success_criteria,
                "tools": tools,
                "hand_off": hand_off,
                "plan": plan,
                "stream": stream,
                "tool_results": tool_results,
            },
            idempotent=True,
            wait=wait,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Message]:
        """List the messages of a conversation, newest first: the user’s, the agent’s and summaries of
        work.
        """
        return self._page(
            types.Message,
            "conversations.messages",
            "GET",
            "/v1/conversations/{conversation_id}/messages",
            path={"conversation_id": conversation_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    def events(
        self,
        conversation_id: str,
        *,
        format: Literal["json"],
        task_id: str | None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConversationEvents: ...

    @overload
    def events(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        format: None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Stream[types.StreamEvent]: ...

    def events(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        format: Literal["json"] | None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Follow a conversation as server-sent events, or read its events as JSON pages."""
        return self._streamable(
            types.ConversationEvents,
            "conversations.events",
            "GET",
            "/v1/conversations/{conversation_id}/events",
            path={"conversation_id": conversation_id},
            query={"task_id": task_id, "format": format, "after": after, "limit": limit},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def trace(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TurnTrace:
        """Show each step and each model call of a reply; work that it handed over has a trace of its
        own.
        """
        return self._call(
            types.TurnTrace,
            "conversations.trace",
            "GET",
            "/v1/conversations/{conversation_id}/turns/{turn_id}/trace",
            path={"conversation_id": conversation_id, "turn_id": turn_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def stop(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation:
        """Stop the reply and every task the conversation started."""
        return self._call(
            types.Conversation,
            "conversations.stop",
            "POST",
            "/v1/conversations/{conversation_id}/stop",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncConversations(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Conversation]:
        """List conversations, newest first: one user’s, or all of the org’s."""
        return self._page(
            types.Conversation,
            "conversations.list",
            "GET",
            "/v1/conversations",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    async def create(
        self,
        *,
        stream: Literal[True],
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncStream[types.StreamEvent]: ...

    @overload
    async def create(
        self,
        *,
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: Literal[False] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation: ...

    async def create(
        self,
        *,
        user_id: str | None = None,
        deployment: str | None = None,
        metadata: Mapping[str, str] | None = None,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Start a conversation, with or without its first message.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            output_schema: JSON Schema of the structured answer, at most 32 KB.
            hand_off: `always`: straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            idempotency_key: Made by the client where none is given.
        """
        return await self._streamable(
            types.Conversation,
            "conversations.create",
            "POST",
            "/v1/conversations",
            body={
                "user_id": user_id,
                "deployment": deployment,
                "metadata": metadata,
                "message": message,
                "context": context,
                "attachments": attachments,
                "output_schema": output_schema,
                "success_criteria": success_criteria,
                "tools": tools,
                "hand_off": hand_off,
                "plan": plan,
                "stream": stream,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation:
        """Show a conversation with its open work, interactions and tool calls."""
        return await self._call(
            types.Conversation,
            "conversations.get",
            "GET",
            "/v1/conversations/{conversation_id}",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    async def send(
        self,
        conversation_id: str,
        *,
        stream: Literal[True],
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncStream[types.StreamEvent]: ...

    @overload
    async def send(
        self,
        conversation_id: str,
        *,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: Literal[False] | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Turn: ...

    async def send(
        self,
        conversation_id: str,
        *,
        message: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        tools: Sequence[params.ConversationToolParam] | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        plan: bool | None = None,
        stream: bool | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.

        Args:
            context: Data for this message alone; the agent reads it as data, never as instructions.
            output_schema: JSON Schema of the structured answer, at most 32 KB.
            hand_off: `always`: straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            wait: Holds the call for the final answer: 1 to 120 seconds.
            idempotency_key: Made by the client where none is given.
        """
        return await self._streamable(
            types.Turn,
            "conversations.send",
            "POST",
            "/v1/conversations/{conversation_id}/messages",
            path={"conversation_id": conversation_id},
            body={
                "message": message,
                "context": context,
                "attachments": attachments,
                "output_schema": output_schema,
                "success_criteria": success_criteria,
                "tools": tools,
                "hand_off": hand_off,
                "plan": plan,
                "stream": stream,
                "tool_results": tool_results,
            },
            idempotent=True,
            wait=wait,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def messages(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Message]:
        """List the messages of a conversation, newest first: the user’s, the agent’s and summaries of
        work.
        """
        return self._page(
            types.Message,
            "conversations.messages",
            "GET",
            "/v1/conversations/{conversation_id}/messages",
            path={"conversation_id": conversation_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    async def events(
        self,
        conversation_id: str,
        *,
        format: Literal["json"],
        task_id: str | None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConversationEvents: ...

    @overload
    async def events(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        format: None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncStream[types.StreamEvent]: ...

    async def events(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        format: Literal["json"] | None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Follow a conversation as server-sent events, or read its events as JSON pages."""
        return await self._streamable(
            types.ConversationEvents,
            "conversations.events",
            "GET",
            "/v1/conversations/{conversation_id}/events",
            path={"conversation_id": conversation_id},
            query={"task_id": task_id, "format": format, "after": after, "limit": limit},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def trace(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TurnTrace:
        """Show each step and each model call of a reply; work that it handed over has a trace of its
        own.
        """
        return await self._call(
            types.TurnTrace,
            "conversations.trace",
            "GET",
            "/v1/conversations/{conversation_id}/turns/{turn_id}/trace",
            path={"conversation_id": conversation_id, "turn_id": turn_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def stop(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Conversation:
        """Stop the reply and every task the conversation started."""
        return await self._call(
            types.Conversation,
            "conversations.stop",
            "POST",
            "/v1/conversations/{conversation_id}/stop",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


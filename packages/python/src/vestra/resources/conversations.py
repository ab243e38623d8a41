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
        """List conversations, newest first: one user’s, or all of the org’s.

        Needs scope `runtime`. Conversations that test runs play are not listed.

        Args:
            user_id: Only this user’s; absent: everybody’s, the org’s own agent included.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        The user is made on first use. With a `message` the turn begins at once: the answer carries
        its `turn_id`, or with `stream: true` its events until it settles. Test keys run the draft
        of the deployment, live keys its live version.

        Args:
            user_id: Whose conversation it is; absent: the org’s own agent, unless the org requires
                a user.
            deployment: Which agent answers: a dep_ id, a slug or a name, `@version` to pin one;
                absent: the user’s default, then the org’s.
            metadata: Your own labels, given back as sent; the agent never reads them. At most 32,
                each of 512 characters.
            message: What the user says, at most 32,000 characters.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            attachments: Files uploaded before with `POST /v1/files`, at most 10.
            output_schema: A JSON Schema that the structured answer fits, at most 32 KB.
            success_criteria: What work must reach; a judge decides on it at the end and the task’s
                `outcome` tells.
            tools: Functions of yours that the agent may call for this message, besides those of the
                deployment; at most 32.
            hand_off: `auto`: the agent decides whether it answers or hands over to work; `always`:
                straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            idempotency_key: Made by the client where none is given.

        Fails with `message_required`, `output_schema_invalid`, `output_schema_too_large`,
        `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `user_required`, `invalid_deployment`,
        `deployment_required`.
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
        """Show a conversation with its open work, interactions and tool calls.

        Also for a session token with `chat`. To follow it without missing anything, stream its
        events after `last_event_seq`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
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
        when_busy: Literal["queue", "interrupt"] | None = None,
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
        when_busy: Literal["queue", "interrupt"] | None = None,
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
        when_busy: Literal["queue", "interrupt"] | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.

        A message sent while a reply is being made waits its turn, or with `when_busy: interrupt`
        takes its place; open work goes on meanwhile. `tool_results` answer open calls of your
        functions. 200: the turn has settled; 202: it goes on, follow the events.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            message: What the user says, at most 32,000 characters.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            attachments: Files uploaded before with `POST /v1/files`, at most 10.
            output_schema: A JSON Schema that the structured answer fits, at most 32 KB.
            success_criteria: What work must reach; a judge decides on it at the end and the task’s
                `outcome` tells.
            tools: Functions of yours that the agent may call for this message, besides those of the
                deployment; at most 32.
            hand_off: `auto`: the agent decides whether it answers or hands over to work; `always`:
                straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            when_busy: While a reply is being made: `queue` waits behind it; `interrupt` stops it
                and the messages that wait, and is answered at once. Open work goes on.
            tool_results: Results of open calls of your functions, at most 32; each carries `output`
                or `error`.
            wait: Holds the call for the final answer: 1 to 120 seconds.
            idempotency_key: Made by the client where none is given.

        Fails with `message_required`, `output_schema_invalid`, `output_schema_too_large`,
        `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `conversation_not_found`, `answer_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`.
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
                "when_busy": when_busy,
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

        Pages go back in time. Deltas of a reply are on the event stream alone.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `conversation_not_found`.
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
        """Follow a conversation as server-sent events, or read its events as JSON pages.

        Reconnect with `Last-Event-ID`, or `after`: every `seq` comes once and in order. The stream
        stays open, with a comment line every 15 seconds; `format=json` answers pages in its place.
        Old events are pruned from the start, after 30 days unless the operator says otherwise.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            task_id: Only events of this piece of work.
            format: `json` answers a page of events at once in place of a stream.
            after: The `seq` after which to begin; absent: from the first event that is kept.
            limit: How many entries a page holds, 1 to 100.

        Fails with `conversation_not_found`, `invalid_task_id`, `task_not_found`,
        `invalid_last_event_id`.
        """
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

    def turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Turn:
        """Show a turn: how far one message has come, its reply, or why it failed.

        The same turn that sending the message returned and that `turn.settled` carries, as it is
        now.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            turn_id: The id of a turn of this conversation, `turn_…`.

        Fails with `conversation_not_found`, `turn_not_found`.
        """
        return self._call(
            types.Turn,
            "conversations.turn",
            "GET",
            "/v1/conversations/{conversation_id}/turns/{turn_id}",
            path={"conversation_id": conversation_id, "turn_id": turn_id},
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

        Model calls with tokens and cost, tools with one line of input and output, and tool servers
        that were away. Work that the turn began is traced by `GET /v1/tasks/{task_id}/trace`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            turn_id: The id of a turn of this conversation, `turn_…`.

        Fails with `conversation_not_found`, `turn_not_found`.
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
        """Stop the reply and every task the conversation started.

        What has been said and spent stays. Tasks end as `failed` with the error `stopped`; open
        interactions are cancelled.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
        return self._call(
            types.Conversation,
            "conversations.stop",
            "POST",
            "/v1/conversations/{conversation_id}/stop",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def draft_scenario(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ScenarioDraft:
        """Draft a scenario of a talk, with what its tools answered; nothing is saved.

        The first message becomes the goal, and the results of the deployment’s own tools are kept;
        credentials are taken out. Where the version has a model of a provider that words the
        criteria, and the call is billed. Keep it with `POST …/scenarios`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            task_id: A task of the conversation: only it and the message that began it are taken;
                absent: the whole talk.
            idempotency_key: Made by the client where none is given.

        Fails with `conversation_not_found`, `task_not_found`, `deployment_not_found`,
        `invalid_request`.
        """
        return self._call(
            types.ScenarioDraft,
            "conversations.draftScenario",
            "POST",
            "/v1/conversations/{conversation_id}/scenario-draft",
            path={"conversation_id": conversation_id},
            body={"task_id": task_id},
            idempotent=True,
            idempotency_key=idempotency_key,
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
        """List conversations, newest first: one user’s, or all of the org’s.

        Needs scope `runtime`. Conversations that test runs play are not listed.

        Args:
            user_id: Only this user’s; absent: everybody’s, the org’s own agent included.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        The user is made on first use. With a `message` the turn begins at once: the answer carries
        its `turn_id`, or with `stream: true` its events until it settles. Test keys run the draft
        of the deployment, live keys its live version.

        Args:
            user_id: Whose conversation it is; absent: the org’s own agent, unless the org requires
                a user.
            deployment: Which agent answers: a dep_ id, a slug or a name, `@version` to pin one;
                absent: the user’s default, then the org’s.
            metadata: Your own labels, given back as sent; the agent never reads them. At most 32,
                each of 512 characters.
            message: What the user says, at most 32,000 characters.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            attachments: Files uploaded before with `POST /v1/files`, at most 10.
            output_schema: A JSON Schema that the structured answer fits, at most 32 KB.
            success_criteria: What work must reach; a judge decides on it at the end and the task’s
                `outcome` tells.
            tools: Functions of yours that the agent may call for this message, besides those of the
                deployment; at most 32.
            hand_off: `auto`: the agent decides whether it answers or hands over to work; `always`:
                straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            idempotency_key: Made by the client where none is given.

        Fails with `message_required`, `output_schema_invalid`, `output_schema_too_large`,
        `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `user_required`, `invalid_deployment`,
        `deployment_required`.
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
        """Show a conversation with its open work, interactions and tool calls.

        Also for a session token with `chat`. To follow it without missing anything, stream its
        events after `last_event_seq`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
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
        when_busy: Literal["queue", "interrupt"] | None = None,
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
        when_busy: Literal["queue", "interrupt"] | None = None,
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
        when_busy: Literal["queue", "interrupt"] | None = None,
        tool_results: Sequence[params.ConversationToolResultParam] | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.

        A message sent while a reply is being made waits its turn, or with `when_busy: interrupt`
        takes its place; open work goes on meanwhile. `tool_results` answer open calls of your
        functions. 200: the turn has settled; 202: it goes on, follow the events.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            message: What the user says, at most 32,000 characters.
            context: Data for this message alone; the agent reads it as data, never as instructions.
            attachments: Files uploaded before with `POST /v1/files`, at most 10.
            output_schema: A JSON Schema that the structured answer fits, at most 32 KB.
            success_criteria: What work must reach; a judge decides on it at the end and the task’s
                `outcome` tells.
            tools: Functions of yours that the agent may call for this message, besides those of the
                deployment; at most 32.
            hand_off: `auto`: the agent decides whether it answers or hands over to work; `always`:
                straight to work.
            plan: Work shows its plan and waits for a yes before it starts.
            stream: Answer with the events of the turn until it settles.
            when_busy: While a reply is being made: `queue` waits behind it; `interrupt` stops it
                and the messages that wait, and is answered at once. Open work goes on.
            tool_results: Results of open calls of your functions, at most 32; each carries `output`
                or `error`.
            wait: Holds the call for the final answer: 1 to 120 seconds.
            idempotency_key: Made by the client where none is given.

        Fails with `message_required`, `output_schema_invalid`, `output_schema_too_large`,
        `invalid_tool_input`, `tool_name_reserved`, `duplicate_name`, `user_disabled`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `conversation_not_found`, `answer_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`.
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
                "when_busy": when_busy,
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

        Pages go back in time. Deltas of a reply are on the event stream alone.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `conversation_not_found`.
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
        """Follow a conversation as server-sent events, or read its events as JSON pages.

        Reconnect with `Last-Event-ID`, or `after`: every `seq` comes once and in order. The stream
        stays open, with a comment line every 15 seconds; `format=json` answers pages in its place.
        Old events are pruned from the start, after 30 days unless the operator says otherwise.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            task_id: Only events of this piece of work.
            format: `json` answers a page of events at once in place of a stream.
            after: The `seq` after which to begin; absent: from the first event that is kept.
            limit: How many entries a page holds, 1 to 100.

        Fails with `conversation_not_found`, `invalid_task_id`, `task_not_found`,
        `invalid_last_event_id`.
        """
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

    async def turn(
        self,
        conversation_id: str,
        turn_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Turn:
        """Show a turn: how far one message has come, its reply, or why it failed.

        The same turn that sending the message returned and that `turn.settled` carries, as it is
        now.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            turn_id: The id of a turn of this conversation, `turn_…`.

        Fails with `conversation_not_found`, `turn_not_found`.
        """
        return await self._call(
            types.Turn,
            "conversations.turn",
            "GET",
            "/v1/conversations/{conversation_id}/turns/{turn_id}",
            path={"conversation_id": conversation_id, "turn_id": turn_id},
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

        Model calls with tokens and cost, tools with one line of input and output, and tool servers
        that were away. Work that the turn began is traced by `GET /v1/tasks/{task_id}/trace`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            turn_id: The id of a turn of this conversation, `turn_…`.

        Fails with `conversation_not_found`, `turn_not_found`.
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
        """Stop the reply and every task the conversation started.

        What has been said and spent stays. Tasks end as `failed` with the error `stopped`; open
        interactions are cancelled.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
        return await self._call(
            types.Conversation,
            "conversations.stop",
            "POST",
            "/v1/conversations/{conversation_id}/stop",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def draft_scenario(
        self,
        conversation_id: str,
        *,
        task_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ScenarioDraft:
        """Draft a scenario of a talk, with what its tools answered; nothing is saved.

        The first message becomes the goal, and the results of the deployment’s own tools are kept;
        credentials are taken out. Where the version has a model of a provider that words the
        criteria, and the call is billed. Keep it with `POST …/scenarios`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.
            task_id: A task of the conversation: only it and the message that began it are taken;
                absent: the whole talk.
            idempotency_key: Made by the client where none is given.

        Fails with `conversation_not_found`, `task_not_found`, `deployment_not_found`,
        `invalid_request`.
        """
        return await self._call(
            types.ScenarioDraft,
            "conversations.draftScenario",
            "POST",
            "/v1/conversations/{conversation_id}/scenario-draft",
            path={"conversation_id": conversation_id},
            body={"task_id": task_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit
from .._pages import AsyncPages, Page

class Interactions(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        task_id: str | None = None,
        type: Literal["approval", "question", "connect", "handoff", "tool_call"] | None = None,
        kind: Literal["ask_question", "connector_auth", "tool_permission", "credit_approval", "exit_plan", "hands_approval", "plan_limit", "custom"] | None = None,
        approver: Literal["user", "org"] | None = None,
        status: Literal["pending", "resolved", "cancelled", "expired"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Interaction]:
        """List what the agent waits on, calls to the caller’s own tools included.

        Needs scope `runtime`. Listen to `interaction.created` rather than poll.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            conversation_id: Only those of this conversation.
            task_id: Only those of this piece of work.
            type: Only those that take this answer; `tool_call` for calls of your functions alone.
            kind: Only those of this kind.
            approver: Approvals that wait for the user, or for the org.
            status: Only those in this state; the open ones unless said.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_conversation_id`, `invalid_task_id`.
        """
        return self._page(
            types.Interaction,
            "interactions.list",
            "GET",
            "/v1/interactions",
            query={
                "user_id": user_id,
                "conversation_id": conversation_id,
                "task_id": task_id,
                "type": type,
                "kind": kind,
                "approver": approver,
                "status": status,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        interaction_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Show an interaction; a hand-off carries a picture of the page.

        Open to a session token of the same conversation. `questions`, `browser` and `details` say
        what to show; `type` says what to answer.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.
        """
        return self._call(
            types.Interaction,
            "interactions.get",
            "GET",
            "/v1/interactions/{interaction_id}",
            path={"interaction_id": interaction_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def answer(
        self,
        interaction_id: str,
        *,
        approve: bool | None = None,
        answers: Sequence[str] | None = None,
        decision: Literal["done", "could_not", "not_now"] | None = None,
        output: object | Omit = OMIT,
        error: str | None = None,
        present_user: bool | None = None,
        nonce: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Answer an interaction with the body its type takes.

        Approval: `approve`. Question: `answers`, one for each. Hand-off: `decision`, or `answers`
        where it asks for a value. Your function: `output` or `error`. An app is connected with
        `POST /v1/connections` in place of an answer. Of two answers at once one counts; the other
        hears `already_answered`.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.
            approve: Of an approval: true for yes, false for no. False also declines a question.
            answers: One answer per question, in order.
            decision: Of a hand-off: how it went.
            output: What the caller’s tool returned.
            error: Why the caller’s tool failed.
            present_user: The yes comes from a person who is present.
            nonce: Of an approval in person: the `nonce` that the interaction shows.

        Fails with `answer_mismatch`, `answers_mismatch`, `answers_not_expected`,
        `answers_required`, `connect_app_instead`, `decision_not_expected`,
        `install_ability_instead`, `nonce_mismatch`, `present_user_required`, `already_answered`,
        `interaction_expired`.
        """
        return self._call(
            types.Interaction,
            "interactions.answer",
            "POST",
            "/v1/interactions/{interaction_id}/answer",
            path={"interaction_id": interaction_id},
            body={
                "approve": approve,
                "answers": answers,
                "decision": decision,
                "error": error,
                "present_user": present_user,
                "nonce": nonce,
            },
            nullable={"output": output},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cancel(
        self,
        interaction_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Withdraw an interaction; the task carries on without that action.

        For a question that has become pointless. The agent hears that nobody answered and goes on;
        an approval that is withdrawn counts as a no.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.

        Fails with `already_answered`, `interaction_expired`.
        """
        return self._call(
            types.Interaction,
            "interactions.cancel",
            "POST",
            "/v1/interactions/{interaction_id}/cancel",
            path={"interaction_id": interaction_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncInteractions(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        task_id: str | None = None,
        type: Literal["approval", "question", "connect", "handoff", "tool_call"] | None = None,
        kind: Literal["ask_question", "connector_auth", "tool_permission", "credit_approval", "exit_plan", "hands_approval", "plan_limit", "custom"] | None = None,
        approver: Literal["user", "org"] | None = None,
        status: Literal["pending", "resolved", "cancelled", "expired"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Interaction]:
        """List what the agent waits on, calls to the caller’s own tools included.

        Needs scope `runtime`. Listen to `interaction.created` rather than poll.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            conversation_id: Only those of this conversation.
            task_id: Only those of this piece of work.
            type: Only those that take this answer; `tool_call` for calls of your functions alone.
            kind: Only those of this kind.
            approver: Approvals that wait for the user, or for the org.
            status: Only those in this state; the open ones unless said.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_conversation_id`, `invalid_task_id`.
        """
        return self._page(
            types.Interaction,
            "interactions.list",
            "GET",
            "/v1/interactions",
            query={
                "user_id": user_id,
                "conversation_id": conversation_id,
                "task_id": task_id,
                "type": type,
                "kind": kind,
                "approver": approver,
                "status": status,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        interaction_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Show an interaction; a hand-off carries a picture of the page.

        Open to a session token of the same conversation. `questions`, `browser` and `details` say
        what to show; `type` says what to answer.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.
        """
        return await self._call(
            types.Interaction,
            "interactions.get",
            "GET",
            "/v1/interactions/{interaction_id}",
            path={"interaction_id": interaction_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def answer(
        self,
        interaction_id: str,
        *,
        approve: bool | None = None,
        answers: Sequence[str] | None = None,
        decision: Literal["done", "could_not", "not_now"] | None = None,
        output: object | Omit = OMIT,
        error: str | None = None,
        present_user: bool | None = None,
        nonce: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Answer an interaction with the body its type takes.

        Approval: `approve`. Question: `answers`, one for each. Hand-off: `decision`, or `answers`
        where it asks for a value. Your function: `output` or `error`. An app is connected with
        `POST /v1/connections` in place of an answer. Of two answers at once one counts; the other
        hears `already_answered`.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.
            approve: Of an approval: true for yes, false for no. False also declines a question.
            answers: One answer per question, in order.
            decision: Of a hand-off: how it went.
            output: What the caller’s tool returned.
            error: Why the caller’s tool failed.
            present_user: The yes comes from a person who is present.
            nonce: Of an approval in person: the `nonce` that the interaction shows.

        Fails with `answer_mismatch`, `answers_mismatch`, `answers_not_expected`,
        `answers_required`, `connect_app_instead`, `decision_not_expected`,
        `install_ability_instead`, `nonce_mismatch`, `present_user_required`, `already_answered`,
        `interaction_expired`.
        """
        return await self._call(
            types.Interaction,
            "interactions.answer",
            "POST",
            "/v1/interactions/{interaction_id}/answer",
            path={"interaction_id": interaction_id},
            body={
                "approve": approve,
                "answers": answers,
                "decision": decision,
                "error": error,
                "present_user": present_user,
                "nonce": nonce,
            },
            nullable={"output": output},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cancel(
        self,
        interaction_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interaction:
        """Withdraw an interaction; the task carries on without that action.

        For a question that has become pointless. The agent hears that nobody answered and goes on;
        an approval that is withdrawn counts as a no.

        Args:
            interaction_id: The id of an interaction, `int_…`, or of a call of your function,
                `call_…`.

        Fails with `already_answered`, `interaction_expired`.
        """
        return await self._call(
            types.Interaction,
            "interactions.cancel",
            "POST",
            "/v1/interactions/{interaction_id}/cancel",
            path={"interaction_id": interaction_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


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

        Args:
            approver: Approvals that wait for the user, or for the org.
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
        """Show an interaction; a hand-off carries a picture of the page."""
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

        Args:
            answers: One answer per question, in order.
            output: What the caller’s tool returned.
            error: Why the caller’s tool failed.
            present_user: The yes comes from a person who is present.
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
        """Withdraw an interaction; the task carries on without that action."""
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

        Args:
            approver: Approvals that wait for the user, or for the org.
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
        """Show an interaction; a hand-off carries a picture of the page."""
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

        Args:
            answers: One answer per question, in order.
            output: What the caller’s tool returned.
            error: Why the caller’s tool failed.
            present_user: The yes comes from a person who is present.
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
        """Withdraw an interaction; the task carries on without that action."""
        return await self._call(
            types.Interaction,
            "interactions.cancel",
            "POST",
            "/v1/interactions/{interaction_id}/cancel",
            path={"interaction_id": interaction_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Mapping

from .._group import AsyncGroup, Group

class AgUi(Group):
    def run(
        self,
        deployment_id: str,
        *,
        body: object,
        service_user: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part
        of one.

        Always answers an event stream, one AG-UI event to a line of data. A run that stops for an
        approval, a question or a tool ends with an interrupt; send the answer as `resume` in the
        next run of the thread.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            body: The body as it is sent.
            service_user: The user the agent works for.

        Fails with `deployment_not_found`, `deployment_not_live`, `deployment_archived`,
        `invalid_deployment`, `user_required`, `user_disabled`, `conversation_not_found`,
        `conversation_user_mismatch`, `interaction_not_found`, `already_answered`,
        `interaction_expired`, `present_user_required`, `answer_mismatch`, `answers_mismatch`,
        `answers_required`, `connect_app_instead`, `not_ready`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `file_not_found`, `file_too_large`.
        """
        return self._streamable(
            object,
            "agUi.run",
            "POST",
            "/v1/agui/{deployment_id}",
            path={"deployment_id": deployment_id},
            whole=body,
            service_user=service_user,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncAgUi(AsyncGroup):
    async def run(
        self,
        deployment_id: str,
        *,
        body: object,
        service_user: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Run a deployment as clients of AG-UI do: a thread is a conversation, a run a turn or a part
        of one.

        Always answers an event stream, one AG-UI event to a line of data. A run that stops for an
        approval, a question or a tool ends with an interrupt; send the answer as `resume` in the
        next run of the thread.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            body: The body as it is sent.
            service_user: The user the agent works for.

        Fails with `deployment_not_found`, `deployment_not_live`, `deployment_archived`,
        `invalid_deployment`, `user_required`, `user_disabled`, `conversation_not_found`,
        `conversation_user_mismatch`, `interaction_not_found`, `already_answered`,
        `interaction_expired`, `present_user_required`, `answer_mismatch`, `answers_mismatch`,
        `answers_required`, `connect_app_instead`, `not_ready`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `file_not_found`, `file_too_large`.
        """
        return await self._streamable(
            object,
            "agUi.run",
            "POST",
            "/v1/agui/{deployment_id}",
            path={"deployment_id": deployment_id},
            whole=body,
            service_user=service_user,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Literal, Mapping, cast

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Events(Group):
    def list(
        self,
        *,
        type: Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.WebhookEvent]:
        """List the org’s events of the webhook types, newest first.

        Needs scope `runtime`. Every event of a webhook type is here, whether or not an endpoint
        asked for it, in the shape that endpoints get; kept for 30 days unless the operator says
        otherwise.

        Args:
            type: Only events of this type.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            cast(Any, types.WebhookEvent),
            "events.list",
            "GET",
            "/v1/events",
            query={"type": type, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEvent:
        """Show one event.

        The same body that a webhook endpoint was sent, to check or handle it again.

        Args:
            event_id: The id of an event, `evt_` and 24 characters.
        """
        return self._call(
            cast(Any, types.WebhookEvent),
            "events.get",
            "GET",
            "/v1/events/{event_id}",
            path={"event_id": event_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncEvents(AsyncGroup):
    def list(
        self,
        *,
        type: Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.WebhookEvent]:
        """List the org’s events of the webhook types, newest first.

        Needs scope `runtime`. Every event of a webhook type is here, whether or not an endpoint
        asked for it, in the shape that endpoints get; kept for 30 days unless the operator says
        otherwise.

        Args:
            type: Only events of this type.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            cast(Any, types.WebhookEvent),
            "events.list",
            "GET",
            "/v1/events",
            query={"type": type, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEvent:
        """Show one event.

        The same body that a webhook endpoint was sent, to check or handle it again.

        Args:
            event_id: The id of an event, `evt_` and 24 characters.
        """
        return await self._call(
            cast(Any, types.WebhookEvent),
            "events.get",
            "GET",
            "/v1/events/{event_id}",
            path={"event_id": event_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


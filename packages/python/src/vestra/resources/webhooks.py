"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit
from .._pages import AsyncPages, Page

class Webhooks(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.WebhookEndpoint]:
        """List webhook endpoints, newest first.

        Needs scope `setup`. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.WebhookEndpoint,
            "webhooks.list",
            "GET",
            "/v1/webhooks",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"],
        description: str | None = None,
        active: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpointWithSecret:
        """Register an https address for events; its signing secret is shown once.

        It hears what happens in the key’s mode from now on. Deliveries follow Standard Webhooks:
        answer 2xx within 15 seconds, else they are tried again for three days.

        Args:
            url: A public https address; private, local and internal ones are refused.
            events: 1 to 40 event types, or `*` for all, later ones included.
            description: Your own note on what it is for.
            active: False: it is kept and hears nothing yet.
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.WebhookEndpointWithSecret,
            "webhooks.create",
            "POST",
            "/v1/webhooks",
            body={"url": url, "events": events, "description": description, "active": active},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpoint:
        """Show a webhook endpoint.

        The signing secret is not shown again; roll it where it is lost.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
        """
        return self._call(
            types.WebhookEndpoint,
            "webhooks.get",
            "GET",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        events: Sequence[Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"] | None = None,
        description: str | None | Omit = OMIT,
        active: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpoint:
        """Change the address, events, description or state of an endpoint.

        Fields left out stay. What a deployment file declares is changed there (409
        `managed_by_file`).

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            url: The new address; the secret stays.
            events: The types from now on; replaces the list.
            description: Your own note; null clears it.
            active: False pauses it; true starts it again, also after it was switched off for
                failing.

        Fails with `managed_by_file`.
        """
        return self._call(
            types.WebhookEndpoint,
            "webhooks.update",
            "PATCH",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            body={"url": url, "events": events, "active": active},
            nullable={"description": description},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a webhook endpoint.

        Deliveries that are still due are dropped.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.

        Fails with `managed_by_file`.
        """
        return self._call(
            types.Deleted,
            "webhooks.delete",
            "DELETE",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def roll_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpointWithSecret:
        """Give an endpoint a new signing secret; the old one is accepted for 24 hours.

        For 24 hours deliveries carry a signature by each secret, so that you can switch without a
        gap.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.WebhookEndpointWithSecret,
            "webhooks.rollSecret",
            "POST",
            "/v1/webhooks/{endpoint_id}/roll-secret",
            path={"endpoint_id": endpoint_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def test(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookDelivery:
        """Send a sample event to an endpoint now.

        Posts `webhook.test` and answers with the attempt: its status code, time and error.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
        """
        return self._call(
            types.WebhookDelivery,
            "webhooks.test",
            "POST",
            "/v1/webhooks/{endpoint_id}/test",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.WebhookDelivery]:
        """List every attempt to reach an endpoint with its status code and timing.

        Newest first; kept for 30 days unless the operator says otherwise.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.WebhookDelivery,
            "webhooks.deliveries",
            "GET",
            "/v1/webhooks/{endpoint_id}/deliveries",
            path={"endpoint_id": endpoint_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def retry(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookDelivery:
        """Send one delivery again.

        Posts the same event with the same `webhook-id`, so that a receiver that saw it can tell.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            delivery_id: The id of a delivery to a webhook endpoint, `whd_` and 24 characters.

        Fails with `event_not_found`.
        """
        return self._call(
            types.WebhookDelivery,
            "webhooks.retry",
            "POST",
            "/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry",
            path={"endpoint_id": endpoint_id, "delivery_id": delivery_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncWebhooks(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.WebhookEndpoint]:
        """List webhook endpoints, newest first.

        Needs scope `setup`. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.WebhookEndpoint,
            "webhooks.list",
            "GET",
            "/v1/webhooks",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"],
        description: str | None = None,
        active: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpointWithSecret:
        """Register an https address for events; its signing secret is shown once.

        It hears what happens in the key’s mode from now on. Deliveries follow Standard Webhooks:
        answer 2xx within 15 seconds, else they are tried again for three days.

        Args:
            url: A public https address; private, local and internal ones are refused.
            events: 1 to 40 event types, or `*` for all, later ones included.
            description: Your own note on what it is for.
            active: False: it is kept and hears nothing yet.
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.WebhookEndpointWithSecret,
            "webhooks.create",
            "POST",
            "/v1/webhooks",
            body={"url": url, "events": events, "description": description, "active": active},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpoint:
        """Show a webhook endpoint.

        The signing secret is not shown again; roll it where it is lost.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
        """
        return await self._call(
            types.WebhookEndpoint,
            "webhooks.get",
            "GET",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        events: Sequence[Literal["conversation.created", "reply.completed", "message.feedback", "turn.failed", "task.started", "task.completed", "task.failed", "task.stopped", "interaction.created", "interaction.resolved", "interaction.expired", "file.created", "routine.ran", "routine.failed", "batch.completed", "test_run.completed", "replay.completed", "deployment.promoted", "deployment.rolled_back", "tool_server.away", "connection.failed", "user.created", "user.deleted", "key.created", "key.rolled", "key.revoked", "mcp_grant.created", "mcp_grant.revoked", "usage.threshold_reached", "usage.cap_reached", "webhook.disabled", "webhook.test", "*"]] | Literal["*"] | None = None,
        description: str | None | Omit = OMIT,
        active: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpoint:
        """Change the address, events, description or state of an endpoint.

        Fields left out stay. What a deployment file declares is changed there (409
        `managed_by_file`).

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            url: The new address; the secret stays.
            events: The types from now on; replaces the list.
            description: Your own note; null clears it.
            active: False pauses it; true starts it again, also after it was switched off for
                failing.

        Fails with `managed_by_file`.
        """
        return await self._call(
            types.WebhookEndpoint,
            "webhooks.update",
            "PATCH",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            body={"url": url, "events": events, "active": active},
            nullable={"description": description},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a webhook endpoint.

        Deliveries that are still due are dropped.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.

        Fails with `managed_by_file`.
        """
        return await self._call(
            types.Deleted,
            "webhooks.delete",
            "DELETE",
            "/v1/webhooks/{endpoint_id}",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def roll_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookEndpointWithSecret:
        """Give an endpoint a new signing secret; the old one is accepted for 24 hours.

        For 24 hours deliveries carry a signature by each secret, so that you can switch without a
        gap.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.WebhookEndpointWithSecret,
            "webhooks.rollSecret",
            "POST",
            "/v1/webhooks/{endpoint_id}/roll-secret",
            path={"endpoint_id": endpoint_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def test(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookDelivery:
        """Send a sample event to an endpoint now.

        Posts `webhook.test` and answers with the attempt: its status code, time and error.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
        """
        return await self._call(
            types.WebhookDelivery,
            "webhooks.test",
            "POST",
            "/v1/webhooks/{endpoint_id}/test",
            path={"endpoint_id": endpoint_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.WebhookDelivery]:
        """List every attempt to reach an endpoint with its status code and timing.

        Newest first; kept for 30 days unless the operator says otherwise.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.WebhookDelivery,
            "webhooks.deliveries",
            "GET",
            "/v1/webhooks/{endpoint_id}/deliveries",
            path={"endpoint_id": endpoint_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def retry(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WebhookDelivery:
        """Send one delivery again.

        Posts the same event with the same `webhook-id`, so that a receiver that saw it can tell.

        Args:
            endpoint_id: The id of a webhook endpoint, `whk_` and 24 characters.
            delivery_id: The id of a delivery to a webhook endpoint, `whd_` and 24 characters.

        Fails with `event_not_found`.
        """
        return await self._call(
            types.WebhookDelivery,
            "webhooks.retry",
            "POST",
            "/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry",
            path={"endpoint_id": endpoint_id, "delivery_id": delivery_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


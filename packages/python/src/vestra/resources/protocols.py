"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Mapping

from .. import types
from .._group import AsyncGroup, Group

class Protocols(Group):
    def mcp(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Speak MCP over streamable HTTP: the CLI’s commands as tools.

        Takes a key, or the access token of a client that a member has let in. `tools/list` shows
        what the scopes allow. Keys and secrets are never handled through it. Faults of the protocol
        come as JSON-RPC errors.

        Args:
            body: The body as it is sent.

        Fails with `origin_not_allowed`.
        """
        return self._streamable(
            object,
            "protocols.mcp",
            "POST",
            "/v1/mcp",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def a2a(
        self,
        deployment_id: str,
        *,
        body: object,
        service_user: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.

        `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and
        `SubscribeToTask` of A2A 1.0. `contextId` is the conversation. No push notifications: use
        webhooks.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            body: The body as it is sent.
            service_user: The user the agent works for.

        Fails with `deployment_not_found`, `deployment_not_live`, `deployment_archived`,
        `user_disabled`, `user_required`.
        """
        return self._streamable(
            object,
            "protocols.a2a",
            "POST",
            "/v1/a2a/{deployment_id}",
            path={"deployment_id": deployment_id},
            whole=body,
            service_user=service_user,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def agent_card(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AgentCard:
        """Show the agent card of a deployment.

        Open to everybody. Shows the live version.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_not_live`.
        """
        return self._call(
            types.AgentCard,
            "protocols.agentCard",
            "GET",
            "/v1/a2a/{deployment_id}/.well-known/agent-card.json",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncProtocols(AsyncGroup):
    async def mcp(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Speak MCP over streamable HTTP: the CLI’s commands as tools.

        Takes a key, or the access token of a client that a member has let in. `tools/list` shows
        what the scopes allow. Keys and secrets are never handled through it. Faults of the protocol
        come as JSON-RPC errors.

        Args:
            body: The body as it is sent.

        Fails with `origin_not_allowed`.
        """
        return await self._streamable(
            object,
            "protocols.mcp",
            "POST",
            "/v1/mcp",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def a2a(
        self,
        deployment_id: str,
        *,
        body: object,
        service_user: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Speak A2A with a deployment: an exchange is a conversation, an A2A task its work.

        `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and
        `SubscribeToTask` of A2A 1.0. `contextId` is the conversation. No push notifications: use
        webhooks.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            body: The body as it is sent.
            service_user: The user the agent works for.

        Fails with `deployment_not_found`, `deployment_not_live`, `deployment_archived`,
        `user_disabled`, `user_required`.
        """
        return await self._streamable(
            object,
            "protocols.a2a",
            "POST",
            "/v1/a2a/{deployment_id}",
            path={"deployment_id": deployment_id},
            whole=body,
            service_user=service_user,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def agent_card(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AgentCard:
        """Show the agent card of a deployment.

        Open to everybody. Shows the live version.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_not_live`.
        """
        return await self._call(
            types.AgentCard,
            "protocols.agentCard",
            "GET",
            "/v1/a2a/{deployment_id}/.well-known/agent-card.json",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import params, types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class McpServers(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.McpServer]:
        """List the registered MCP servers.

        Needs scope `setup`; newest first. Both modes see the same servers.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.McpServer,
            "mcpServers.list",
            "GET",
            "/v1/mcp-servers",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        name: str,
        slug: str,
        url: str,
        auth: params.McpServerAuthNoneParam | params.McpServerAuthHeadersParam | None = None,
        tools: params.McpServerToolsParam | None = None,
        sampling: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Register an MCP server; its tool lists are a floor under every deployment that uses it.

        A deployment file registers its servers by itself; this is for those shared by several.
        Store the secrets that its headers name, in each mode.

        Args:
            name: What people call it, 1 to 80 characters.
            slug: What the agent knows it by: lowercase letters, digits and hyphens, a letter first,
                at most 40.
            url: A public https address; a credential inside it is refused.
            auth: How it is called; absent: without credentials.
            tools: The floor for every deployment that uses it; absent: none.
            sampling: True: while one of its tools runs it may ask the agent’s model, which is
                charged to the user.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`, `tool_name_reserved`, `secret_in_url`, `raw_secret_in_header`.
        """
        return self._call(
            types.McpServer,
            "mcpServers.create",
            "POST",
            "/v1/mcp-servers",
            body={
                "name": name,
                "slug": slug,
                "url": url,
                "auth": auth,
                "tools": tools,
                "sampling": sampling,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Read one MCP server.

        Which secrets it needs is in `secrets` and `user_secrets`.

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
        """
        return self._call(
            types.McpServer,
            "mcpServers.get",
            "GET",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        server_id: str,
        *,
        name: str | None = None,
        url: str | None = None,
        auth: params.McpServerAuthNoneParam | params.McpServerAuthHeadersParam | None = None,
        tools: params.McpServerToolsParam | None = None,
        sampling: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Change an MCP server for every deployment in both modes; a tool list left out stays.

        Users pick it up at their next task. A version calls only the URL that it fixed: with a new
        `url`, each live version that uses the server is followed by a version with that URL, live
        at once. While a version that is live, or can be rolled back to, uses it, this needs a live
        key, or an owner or admin (409 `mcp_server_live`).

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
            name: What people call it from now on.
            url: The new address.
            auth: How it is called from now on; replaces all headers.
            tools: The new floor; a list left out stays.
            sampling: Whether it may ask the agent’s model from now on.

        Fails with `secret_in_url`, `raw_secret_in_header`, `mcp_server_live`.
        """
        return self._call(
            types.McpServer,
            "mcpServers.update",
            "PATCH",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            body={"name": name, "url": url, "auth": auth, "tools": tools, "sampling": sampling},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove an MCP server.

        Each live version that lists it is followed by a version without it. Older versions list it
        under `missing` and cannot be promoted or rolled back to (409 `version_incomplete`). While a
        version that is live, or can be rolled back to, uses it, this needs a live key, or an owner
        or admin (409 `mcp_server_live`).

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.

        Fails with `mcp_server_live`.
        """
        return self._call(
            types.Deleted,
            "mcpServers.delete",
            "DELETE",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def check(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServerCheck:
        """Call an MCP server and list the tools it offers.

        Calls it with the company’s secrets of the key’s mode. A server that is away answers 200
        with `ok: false` and says why.

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
        """
        return self._call(
            types.McpServerCheck,
            "mcpServers.check",
            "POST",
            "/v1/mcp-servers/{server_id}/check",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncMcpServers(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.McpServer]:
        """List the registered MCP servers.

        Needs scope `setup`; newest first. Both modes see the same servers.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.McpServer,
            "mcpServers.list",
            "GET",
            "/v1/mcp-servers",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        name: str,
        slug: str,
        url: str,
        auth: params.McpServerAuthNoneParam | params.McpServerAuthHeadersParam | None = None,
        tools: params.McpServerToolsParam | None = None,
        sampling: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Register an MCP server; its tool lists are a floor under every deployment that uses it.

        A deployment file registers its servers by itself; this is for those shared by several.
        Store the secrets that its headers name, in each mode.

        Args:
            name: What people call it, 1 to 80 characters.
            slug: What the agent knows it by: lowercase letters, digits and hyphens, a letter first,
                at most 40.
            url: A public https address; a credential inside it is refused.
            auth: How it is called; absent: without credentials.
            tools: The floor for every deployment that uses it; absent: none.
            sampling: True: while one of its tools runs it may ask the agent’s model, which is
                charged to the user.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`, `tool_name_reserved`, `secret_in_url`, `raw_secret_in_header`.
        """
        return await self._call(
            types.McpServer,
            "mcpServers.create",
            "POST",
            "/v1/mcp-servers",
            body={
                "name": name,
                "slug": slug,
                "url": url,
                "auth": auth,
                "tools": tools,
                "sampling": sampling,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Read one MCP server.

        Which secrets it needs is in `secrets` and `user_secrets`.

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
        """
        return await self._call(
            types.McpServer,
            "mcpServers.get",
            "GET",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        server_id: str,
        *,
        name: str | None = None,
        url: str | None = None,
        auth: params.McpServerAuthNoneParam | params.McpServerAuthHeadersParam | None = None,
        tools: params.McpServerToolsParam | None = None,
        sampling: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServer:
        """Change an MCP server for every deployment in both modes; a tool list left out stays.

        Users pick it up at their next task. A version calls only the URL that it fixed: with a new
        `url`, each live version that uses the server is followed by a version with that URL, live
        at once. While a version that is live, or can be rolled back to, uses it, this needs a live
        key, or an owner or admin (409 `mcp_server_live`).

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
            name: What people call it from now on.
            url: The new address.
            auth: How it is called from now on; replaces all headers.
            tools: The new floor; a list left out stays.
            sampling: Whether it may ask the agent’s model from now on.

        Fails with `secret_in_url`, `raw_secret_in_header`, `mcp_server_live`.
        """
        return await self._call(
            types.McpServer,
            "mcpServers.update",
            "PATCH",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            body={"name": name, "url": url, "auth": auth, "tools": tools, "sampling": sampling},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove an MCP server.

        Each live version that lists it is followed by a version without it. Older versions list it
        under `missing` and cannot be promoted or rolled back to (409 `version_incomplete`). While a
        version that is live, or can be rolled back to, uses it, this needs a live key, or an owner
        or admin (409 `mcp_server_live`).

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.

        Fails with `mcp_server_live`.
        """
        return await self._call(
            types.Deleted,
            "mcpServers.delete",
            "DELETE",
            "/v1/mcp-servers/{server_id}",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def check(
        self,
        server_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpServerCheck:
        """Call an MCP server and list the tools it offers.

        Calls it with the company’s secrets of the key’s mode. A server that is away answers 200
        with `ok: false` and says why.

        Args:
            server_id: The id of an MCP server, `mcp_` and 24 characters.
        """
        return await self._call(
            types.McpServerCheck,
            "mcpServers.check",
            "POST",
            "/v1/mcp-servers/{server_id}/check",
            path={"server_id": server_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


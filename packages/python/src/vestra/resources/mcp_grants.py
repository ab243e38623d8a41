"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class McpGrants(Group):
    def list(
        self,
        *,
        member_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.McpGrant]:
        """List the MCP clients that were let in.

        With scope `admin` those of the whole org in this mode; a member without it sees their own.

        Args:
            member_id: Only those that this member let in.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.McpGrant,
            "mcpGrants.list",
            "GET",
            "/v1/mcp-grants",
            query={"member_id": member_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def revoke(
        self,
        grant_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Shut an MCP client out at once.

        With scope `admin` any of the org in this mode; a member without it ends their own. Its
        calls that wait are cut.

        Args:
            grant_id: The id of an MCP client that was let in, `grant_` and 24 characters.

        Fails with `mcp_grant_not_found`.
        """
        return self._call(
            types.Deleted,
            "mcpGrants.revoke",
            "DELETE",
            "/v1/mcp-grants/{grant_id}",
            path={"grant_id": grant_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def show(
        self,
        *,
        query: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpAuthorizationWithClient:
        """Show what an MCP client asks for.

        Needs the console’s cookie and `X-CSRF-Token`. Fails where client or redirect address are
        not known; any other fault is `refusal`.

        Args:
            query: What stands behind the `?` of the address that the client opened.

        Fails with `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`.
        """
        return self._call(
            types.McpAuthorizationWithClient,
            "mcpGrants.show",
            "POST",
            "/v1/console/mcp-authorization/show",
            body={"query": query},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def decide(
        self,
        *,
        query: str,
        approve: bool,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpAuthorization:
        """Let an MCP client in, or not.

        Needs the console’s cookie and `X-CSRF-Token`. `Service-Org` and `Service-Mode` say where it
        is let in. The browser goes on to `return_url`.

        Args:
            query: What stands behind the `?` of the address that the client opened.
            approve: True lets the client in, false tells it no.

        Fails with `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`,
        `too_many_mcp_grants`.
        """
        return self._call(
            types.McpAuthorization,
            "mcpGrants.decide",
            "POST",
            "/v1/console/mcp-authorization",
            body={"query": query, "approve": approve},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncMcpGrants(AsyncGroup):
    def list(
        self,
        *,
        member_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.McpGrant]:
        """List the MCP clients that were let in.

        With scope `admin` those of the whole org in this mode; a member without it sees their own.

        Args:
            member_id: Only those that this member let in.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.McpGrant,
            "mcpGrants.list",
            "GET",
            "/v1/mcp-grants",
            query={"member_id": member_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def revoke(
        self,
        grant_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Shut an MCP client out at once.

        With scope `admin` any of the org in this mode; a member without it ends their own. Its
        calls that wait are cut.

        Args:
            grant_id: The id of an MCP client that was let in, `grant_` and 24 characters.

        Fails with `mcp_grant_not_found`.
        """
        return await self._call(
            types.Deleted,
            "mcpGrants.revoke",
            "DELETE",
            "/v1/mcp-grants/{grant_id}",
            path={"grant_id": grant_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def show(
        self,
        *,
        query: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpAuthorizationWithClient:
        """Show what an MCP client asks for.

        Needs the console’s cookie and `X-CSRF-Token`. Fails where client or redirect address are
        not known; any other fault is `refusal`.

        Args:
            query: What stands behind the `?` of the address that the client opened.

        Fails with `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`.
        """
        return await self._call(
            types.McpAuthorizationWithClient,
            "mcpGrants.show",
            "POST",
            "/v1/console/mcp-authorization/show",
            body={"query": query},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def decide(
        self,
        *,
        query: str,
        approve: bool,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.McpAuthorization:
        """Let an MCP client in, or not.

        Needs the console’s cookie and `X-CSRF-Token`. `Service-Org` and `Service-Mode` say where it
        is let in. The browser goes on to `return_url`.

        Args:
            query: What stands behind the `?` of the address that the client opened.
            approve: True lets the client in, false tells it no.

        Fails with `invalid_client`, `invalid_client_metadata`, `invalid_redirect_uri`,
        `too_many_mcp_grants`.
        """
        return await self._call(
            types.McpAuthorization,
            "mcpGrants.decide",
            "POST",
            "/v1/console/mcp-authorization",
            body={"query": query, "approve": approve},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Connections(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        app: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Connection]:
        """List connected apps, newest first.

        Needs scope `runtime`. Tokens are never shown.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            app: Only connections to this app.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Connection,
            "connections.list",
            "GET",
            "/v1/connections",
            query={"user_id": user_id, "app": app, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        app: str,
        user_id: str | None = None,
        return_url: str | None = None,
        api_key: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Connection:
        """Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which
        connects at once.

        Send the user’s browser to `connect_url`. An interaction that waits for the app settles
        itself once they have signed in. A session begins one for its user while its conversation
        waits for that app.

        Args:
            app: The id of the app, as `GET /v1/apps` lists it.
            user_id: Who signs in; absent: for the org’s own agent, unless the org requires a user.
            return_url: Where the browser goes afterwards; one of the org’s `allowed_return_urls`.
            api_key: A key of the user’s, for an app that takes one: it is tried, sealed, and
                connects at once.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `user_disabled`, `app_not_found`, `app_not_connectable`,
        `api_key_refused`, `oauth_not_available`, `return_url_not_allowed`, `mcp_server_error`.
        """
        return self._call(
            types.Connection,
            "connections.create",
            "POST",
            "/v1/connections",
            body={"user_id": user_id, "app": app, "return_url": return_url, "api_key": api_key},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def callback(
        self,
        *,
        state: str | None = None,
        code: str | None = None,
        error: str | None = None,
        iss: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str:
        """Where an app sends the user’s browser back to after the sign-in.

        Called by browsers, not by you: part of OAuth 2.1 with PKCE. Each `state` counts once.

        Args:
            state: Ties the sign-in to the connection.
            code: What the app gives for a token.
            error: Why the app or the user refused.
            iss: Which authorization server answers.
        """
        return self._call(
            str,
            "connections.callback",
            "GET",
            "/v1/connections/callback",
            query={"state": state, "code": code, "error": error, "iss": iss},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        connection_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Disconnect an app and forget its sign-in.

        The agent can no longer use the app for this user; the app’s own list of grants may still
        show it.

        Args:
            connection_id: The id of a connection to an app, `con_` and 24 characters.
        """
        return self._call(
            types.Deleted,
            "connections.delete",
            "DELETE",
            "/v1/connections/{connection_id}",
            path={"connection_id": connection_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncConnections(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        app: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Connection]:
        """List connected apps, newest first.

        Needs scope `runtime`. Tokens are never shown.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            app: Only connections to this app.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Connection,
            "connections.list",
            "GET",
            "/v1/connections",
            query={"user_id": user_id, "app": app, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        app: str,
        user_id: str | None = None,
        return_url: str | None = None,
        api_key: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Connection:
        """Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which
        connects at once.

        Send the user’s browser to `connect_url`. An interaction that waits for the app settles
        itself once they have signed in. A session begins one for its user while its conversation
        waits for that app.

        Args:
            app: The id of the app, as `GET /v1/apps` lists it.
            user_id: Who signs in; absent: for the org’s own agent, unless the org requires a user.
            return_url: Where the browser goes afterwards; one of the org’s `allowed_return_urls`.
            api_key: A key of the user’s, for an app that takes one: it is tried, sealed, and
                connects at once.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `user_disabled`, `app_not_found`, `app_not_connectable`,
        `api_key_refused`, `oauth_not_available`, `return_url_not_allowed`, `mcp_server_error`.
        """
        return await self._call(
            types.Connection,
            "connections.create",
            "POST",
            "/v1/connections",
            body={"user_id": user_id, "app": app, "return_url": return_url, "api_key": api_key},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def callback(
        self,
        *,
        state: str | None = None,
        code: str | None = None,
        error: str | None = None,
        iss: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str:
        """Where an app sends the user’s browser back to after the sign-in.

        Called by browsers, not by you: part of OAuth 2.1 with PKCE. Each `state` counts once.

        Args:
            state: Ties the sign-in to the connection.
            code: What the app gives for a token.
            error: Why the app or the user refused.
            iss: Which authorization server answers.
        """
        return await self._call(
            str,
            "connections.callback",
            "GET",
            "/v1/connections/callback",
            query={"state": state, "code": code, "error": error, "iss": iss},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        connection_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Disconnect an app and forget its sign-in.

        The agent can no longer use the app for this user; the app’s own list of grants may still
        show it.

        Args:
            connection_id: The id of a connection to an app, `con_` and 24 characters.
        """
        return await self._call(
            types.Deleted,
            "connections.delete",
            "DELETE",
            "/v1/connections/{connection_id}",
            path={"connection_id": connection_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


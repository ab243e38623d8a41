"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Apps(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.App]:
        """List the apps that users may connect, and what each needs for that.

        Needs scope `runtime`. Users connect them with `POST /v1/connections`; `apps` of a
        deployment says which may be used.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.App,
            "apps.list",
            "GET",
            "/v1/apps",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get_client(
        self,
        app: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppClient:
        """Show the OAuth client that the org gave for an app, without its secret.

        Needs scope `admin`. Kept per mode: a test key sees the test one.

        Args:
            app: The id of the app.

        Fails with `invalid_request`, `app_not_found`, `app_client_not_found`.
        """
        return self._call(
            types.AppClient,
            "apps.getClient",
            "GET",
            "/v1/apps/{app}/client",
            path={"app": app},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def put_client(
        self,
        app: str,
        *,
        client_id: str,
        client_secret: str | None = None,
        auth_method: Literal["client_secret_basic", "client_secret_post", "none"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppClient:
        """Give the OAuth client that the org registered with an app; its users sign in with it from
        then on.

        Needs scope `admin`. Register it with the app first, with the `redirect_uri` that the app’s
        entry shows. Kept per mode; a second call replaces the first.

        Args:
            app: The id of the app.
            client_id: What the app calls the client.
            client_secret: Its secret, where it has one; it is sealed and never shown again.
            auth_method: How the secret is sent; left out: as the app says that it wants it.

        Fails with `app_not_found`, `app_not_connectable`, `oauth_not_available`,
        `mcp_server_error`.
        """
        return self._call(
            types.AppClient,
            "apps.putClient",
            "PUT",
            "/v1/apps/{app}/client",
            path={"app": app},
            body={
                "client_id": client_id,
                "client_secret": client_secret,
                "auth_method": auth_method,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete_client(
        self,
        app: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget the OAuth client that the org gave for an app; sign-ins made with it last as long as
        their token.

        Needs scope `admin`. From then on the operator’s client counts, or what this server makes
        itself known by.

        Args:
            app: The id of the app.

        Fails with `app_not_found`, `app_client_not_found`.
        """
        return self._call(
            types.Deleted,
            "apps.deleteClient",
            "DELETE",
            "/v1/apps/{app}/client",
            path={"app": app},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncApps(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.App]:
        """List the apps that users may connect, and what each needs for that.

        Needs scope `runtime`. Users connect them with `POST /v1/connections`; `apps` of a
        deployment says which may be used.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.App,
            "apps.list",
            "GET",
            "/v1/apps",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get_client(
        self,
        app: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppClient:
        """Show the OAuth client that the org gave for an app, without its secret.

        Needs scope `admin`. Kept per mode: a test key sees the test one.

        Args:
            app: The id of the app.

        Fails with `invalid_request`, `app_not_found`, `app_client_not_found`.
        """
        return await self._call(
            types.AppClient,
            "apps.getClient",
            "GET",
            "/v1/apps/{app}/client",
            path={"app": app},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def put_client(
        self,
        app: str,
        *,
        client_id: str,
        client_secret: str | None = None,
        auth_method: Literal["client_secret_basic", "client_secret_post", "none"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppClient:
        """Give the OAuth client that the org registered with an app; its users sign in with it from
        then on.

        Needs scope `admin`. Register it with the app first, with the `redirect_uri` that the app’s
        entry shows. Kept per mode; a second call replaces the first.

        Args:
            app: The id of the app.
            client_id: What the app calls the client.
            client_secret: Its secret, where it has one; it is sealed and never shown again.
            auth_method: How the secret is sent; left out: as the app says that it wants it.

        Fails with `app_not_found`, `app_not_connectable`, `oauth_not_available`,
        `mcp_server_error`.
        """
        return await self._call(
            types.AppClient,
            "apps.putClient",
            "PUT",
            "/v1/apps/{app}/client",
            path={"app": app},
            body={
                "client_id": client_id,
                "client_secret": client_secret,
                "auth_method": auth_method,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete_client(
        self,
        app: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget the OAuth client that the org gave for an app; sign-ins made with it last as long as
        their token.

        Needs scope `admin`. From then on the operator’s client counts, or what this server makes
        itself known by.

        Args:
            app: The id of the app.

        Fails with `app_not_found`, `app_client_not_found`.
        """
        return await self._call(
            types.Deleted,
            "apps.deleteClient",
            "DELETE",
            "/v1/apps/{app}/client",
            path={"app": app},
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group

class ConsoleSignIn(Group):
    def begin(
        self,
        org_id: str,
        *,
        return_to: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str:
        """Send the browser to the org’s own sign-in.

        For a browser to go to, without a credential: each org has its own such address, which `GET
        /v1/identity-provider` shows. Within ten minutes the same browser comes back.

        Args:
            org_id: The org to sign in to.
            return_to: The page of the console to go on with.

        Fails with `rate_limited`.
        """
        return self._call(
            str,
            "consoleSignIn.begin",
            "GET",
            "/v1/console/sign-in/{org_id}",
            path={"org_id": org_id},
            query={"return_to": return_to},
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
        """Where the provider sends the browser back to; sets the console’s cookie.

        The redirect address to allow at the provider. State, nonce, PKCE and the signature of the
        ID token are checked; a session that it opens leads to this org alone.

        Args:
            state: What the browser was sent away with.
            code: What the provider gives for its token.
            error: Why the provider signed nobody in.
            iss: Which provider it was.

        Fails with `rate_limited`.
        """
        return self._call(
            str,
            "consoleSignIn.callback",
            "GET",
            "/v1/console/sign-in/callback",
            query={"state": state, "code": code, "error": error, "iss": iss},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def link(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SignInLink:
        """Begin to link one’s account at the org’s own sign-in with oneself as a member.

        Needs the console’s cookie and `X-CSRF-Token`. For a member who logged in by password: until
        they have linked the account, a provider that says their email does not become them.

        Fails with `identity_provider_not_found`, `identity_provider_error`, `password_not_used`,
        `rate_limited`.
        """
        return self._call(
            types.SignInLink,
            "consoleSignIn.link",
            "POST",
            "/v1/console/sign-in/link",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def unlink(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Take the link away; one signs in by password again.

        Needs the console’s cookie and `X-CSRF-Token`. The sign-ins that the provider opened for
        this member end.

        Fails with `identity_not_linked`, `password_not_used`.
        """
        return self._call(
            types.Deleted,
            "consoleSignIn.unlink",
            "DELETE",
            "/v1/console/sign-in/link",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncConsoleSignIn(AsyncGroup):
    async def begin(
        self,
        org_id: str,
        *,
        return_to: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str:
        """Send the browser to the org’s own sign-in.

        For a browser to go to, without a credential: each org has its own such address, which `GET
        /v1/identity-provider` shows. Within ten minutes the same browser comes back.

        Args:
            org_id: The org to sign in to.
            return_to: The page of the console to go on with.

        Fails with `rate_limited`.
        """
        return await self._call(
            str,
            "consoleSignIn.begin",
            "GET",
            "/v1/console/sign-in/{org_id}",
            path={"org_id": org_id},
            query={"return_to": return_to},
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
        """Where the provider sends the browser back to; sets the console’s cookie.

        The redirect address to allow at the provider. State, nonce, PKCE and the signature of the
        ID token are checked; a session that it opens leads to this org alone.

        Args:
            state: What the browser was sent away with.
            code: What the provider gives for its token.
            error: Why the provider signed nobody in.
            iss: Which provider it was.

        Fails with `rate_limited`.
        """
        return await self._call(
            str,
            "consoleSignIn.callback",
            "GET",
            "/v1/console/sign-in/callback",
            query={"state": state, "code": code, "error": error, "iss": iss},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def link(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SignInLink:
        """Begin to link one’s account at the org’s own sign-in with oneself as a member.

        Needs the console’s cookie and `X-CSRF-Token`. For a member who logged in by password: until
        they have linked the account, a provider that says their email does not become them.

        Fails with `identity_provider_not_found`, `identity_provider_error`, `password_not_used`,
        `rate_limited`.
        """
        return await self._call(
            types.SignInLink,
            "consoleSignIn.link",
            "POST",
            "/v1/console/sign-in/link",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def unlink(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Take the link away; one signs in by password again.

        Needs the console’s cookie and `X-CSRF-Token`. The sign-ins that the provider opened for
        this member end.

        Fails with `identity_not_linked`, `password_not_used`.
        """
        return await self._call(
            types.Deleted,
            "consoleSignIn.unlink",
            "DELETE",
            "/v1/console/sign-in/link",
            timeout=timeout,
            extra_headers=extra_headers,
        )


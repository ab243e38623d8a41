"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group

class Oauth(Group):
    def token(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthToken:
        """Get an access token for /v1/mcp, by a code or by a refresh token.

        The code needs its PKCE verifier. Each refresh token is used once: the answer holds the next
        one. Errors are worded as RFC 6749 has them.

        Args:
            body: The body as it is sent.

        Fails with `invalid_grant`, `invalid_target`, `unsupported_grant_type`, `rate_limited`.
        """
        return self._call(
            types.OauthToken,
            "oauth.token",
            "POST",
            "/v1/oauth/token",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def register(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthRegister:
        """Register an MCP client.

        For clients that have no metadata document. Every client is public: it gets no secret. One
        that is not used is forgotten.

        Args:
            body: The body as it is sent.

        Fails with `invalid_redirect_uri`, `rate_limited`.
        """
        return self._call(
            types.OauthRegister,
            "oauth.register",
            "POST",
            "/v1/oauth/register",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def revoke(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthRevoke:
        """Give access back: an access or a refresh token ends with all others of its grant.

        Answers the same for a token that is not known, as RFC 7009 has it.

        Args:
            body: The body as it is sent.

        Fails with `rate_limited`.
        """
        return self._call(
            types.OauthRevoke,
            "oauth.revoke",
            "POST",
            "/v1/oauth/revoke",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncOauth(AsyncGroup):
    async def token(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthToken:
        """Get an access token for /v1/mcp, by a code or by a refresh token.

        The code needs its PKCE verifier. Each refresh token is used once: the answer holds the next
        one. Errors are worded as RFC 6749 has them.

        Args:
            body: The body as it is sent.

        Fails with `invalid_grant`, `invalid_target`, `unsupported_grant_type`, `rate_limited`.
        """
        return await self._call(
            types.OauthToken,
            "oauth.token",
            "POST",
            "/v1/oauth/token",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def register(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthRegister:
        """Register an MCP client.

        For clients that have no metadata document. Every client is public: it gets no secret. One
        that is not used is forgotten.

        Args:
            body: The body as it is sent.

        Fails with `invalid_redirect_uri`, `rate_limited`.
        """
        return await self._call(
            types.OauthRegister,
            "oauth.register",
            "POST",
            "/v1/oauth/register",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def revoke(
        self,
        *,
        body: object,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OauthRevoke:
        """Give access back: an access or a refresh token ends with all others of its grant.

        Answers the same for a token that is not known, as RFC 7009 has it.

        Args:
            body: The body as it is sent.

        Fails with `rate_limited`.
        """
        return await self._call(
            types.OauthRevoke,
            "oauth.revoke",
            "POST",
            "/v1/oauth/revoke",
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )


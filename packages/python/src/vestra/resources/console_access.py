"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group

class ConsoleAccess(Group):
    def login(
        self,
        *,
        email: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Log in to the console; sets an HttpOnly cookie and answers the CSRF token.

        At most 10 tries a minute for an address and an email.

        Args:
            email: The email address of a member.
            password: The member’s password.

        Fails with `login_failed`, `rate_limited`.
        """
        return self._call(
            types.ConsoleSession,
            "consoleAccess.login",
            "POST",
            "/v1/console/login",
            body={"email": email, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def reset_password(
        self,
        *,
        token: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasswordReset:
        """Choose a new password with the link that an owner, an admin or the operator made; every
        browser is logged out.

        Open to whoever holds the link, once.

        Args:
            token: What stands behind `#token=` in the link.
            password: The password to come, of at least 12 characters.

        Fails with `reset_not_found`, `rate_limited`.
        """
        return self._call(
            types.PasswordReset,
            "consoleAccess.resetPassword",
            "POST",
            "/v1/console/password-reset",
            body={"token": token, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def logout(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Log out of the console.

        Needs the console’s cookie and `X-CSRF-Token`; ends this session alone.
        """
        return self._call(
            types.Deleted,
            "consoleAccess.logout",
            "POST",
            "/v1/console/logout",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def session(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Show the member, org and mode of this console session.

        Needs the console’s cookie. Answers a CSRF token for the calls that follow.
        """
        return self._call(
            types.ConsoleSession,
            "consoleAccess.session",
            "GET",
            "/v1/console/session",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncConsoleAccess(AsyncGroup):
    async def login(
        self,
        *,
        email: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Log in to the console; sets an HttpOnly cookie and answers the CSRF token.

        At most 10 tries a minute for an address and an email.

        Args:
            email: The email address of a member.
            password: The member’s password.

        Fails with `login_failed`, `rate_limited`.
        """
        return await self._call(
            types.ConsoleSession,
            "consoleAccess.login",
            "POST",
            "/v1/console/login",
            body={"email": email, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def reset_password(
        self,
        *,
        token: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasswordReset:
        """Choose a new password with the link that an owner, an admin or the operator made; every
        browser is logged out.

        Open to whoever holds the link, once.

        Args:
            token: What stands behind `#token=` in the link.
            password: The password to come, of at least 12 characters.

        Fails with `reset_not_found`, `rate_limited`.
        """
        return await self._call(
            types.PasswordReset,
            "consoleAccess.resetPassword",
            "POST",
            "/v1/console/password-reset",
            body={"token": token, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def logout(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Log out of the console.

        Needs the console’s cookie and `X-CSRF-Token`; ends this session alone.
        """
        return await self._call(
            types.Deleted,
            "consoleAccess.logout",
            "POST",
            "/v1/console/logout",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def session(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Show the member, org and mode of this console session.

        Needs the console’s cookie. Answers a CSRF token for the calls that follow.
        """
        return await self._call(
            types.ConsoleSession,
            "consoleAccess.session",
            "GET",
            "/v1/console/session",
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class ConsoleAccount(Group):
    def show(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Show the person who is logged in, and how they sign in.

        Needs the console’s cookie, whatever the role.
        """
        return self._call(
            types.ConsoleAccount,
            "consoleAccount.show",
            "GET",
            "/v1/console/account",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        *,
        name: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Change one’s own name in this org.

        Needs the console’s cookie and `X-CSRF-Token`. Other orgs of the same person keep the name
        they have.

        Args:
            name: What other members read.
        """
        return self._call(
            types.ConsoleAccount,
            "consoleAccount.update",
            "PATCH",
            "/v1/console/account",
            body={"name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def change_password(
        self,
        *,
        password: str,
        new_password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Choose a new password; every other browser is logged out.

        Needs the console’s cookie and `X-CSRF-Token`. It is the password of the login, so it counts
        for all orgs of the person.

        Args:
            password: The password of now.
            new_password: The password to come, of at least 12 characters.

        Fails with `password_wrong`, `password_not_used`, `rate_limited`.
        """
        return self._call(
            types.ConsoleAccount,
            "consoleAccount.changePassword",
            "POST",
            "/v1/console/account/password",
            body={"password": password, "new_password": new_password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def sign_ins(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.ConsoleSignInWithId]:
        """List the browsers in which one is logged in, newest first.

        Needs the console’s cookie. `is_current` marks the browser that asks.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.ConsoleSignInWithId,
            "consoleAccount.signIns",
            "GET",
            "/v1/console/sessions",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def end_sign_in(
        self,
        console_session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Log one of one’s browsers out.

        Needs the console’s cookie and `X-CSRF-Token`. Ending the current one logs this browser out.

        Args:
            console_session_id: The `id` of a sign-in, from the list.
        """
        return self._call(
            types.Deleted,
            "consoleAccount.endSignIn",
            "DELETE",
            "/v1/console/sessions/{console_session_id}",
            path={"console_session_id": console_session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def end_other_sign_ins(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSignIn:
        """Log every browser out but this one.

        Needs the console’s cookie and `X-CSRF-Token`. For a lost or shared computer.
        """
        return self._call(
            types.ConsoleSignIn,
            "consoleAccount.endOtherSignIns",
            "DELETE",
            "/v1/console/sessions",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncConsoleAccount(AsyncGroup):
    async def show(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Show the person who is logged in, and how they sign in.

        Needs the console’s cookie, whatever the role.
        """
        return await self._call(
            types.ConsoleAccount,
            "consoleAccount.show",
            "GET",
            "/v1/console/account",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        *,
        name: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Change one’s own name in this org.

        Needs the console’s cookie and `X-CSRF-Token`. Other orgs of the same person keep the name
        they have.

        Args:
            name: What other members read.
        """
        return await self._call(
            types.ConsoleAccount,
            "consoleAccount.update",
            "PATCH",
            "/v1/console/account",
            body={"name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def change_password(
        self,
        *,
        password: str,
        new_password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleAccount:
        """Choose a new password; every other browser is logged out.

        Needs the console’s cookie and `X-CSRF-Token`. It is the password of the login, so it counts
        for all orgs of the person.

        Args:
            password: The password of now.
            new_password: The password to come, of at least 12 characters.

        Fails with `password_wrong`, `password_not_used`, `rate_limited`.
        """
        return await self._call(
            types.ConsoleAccount,
            "consoleAccount.changePassword",
            "POST",
            "/v1/console/account/password",
            body={"password": password, "new_password": new_password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def sign_ins(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.ConsoleSignInWithId]:
        """List the browsers in which one is logged in, newest first.

        Needs the console’s cookie. `is_current` marks the browser that asks.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.ConsoleSignInWithId,
            "consoleAccount.signIns",
            "GET",
            "/v1/console/sessions",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def end_sign_in(
        self,
        console_session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Log one of one’s browsers out.

        Needs the console’s cookie and `X-CSRF-Token`. Ending the current one logs this browser out.

        Args:
            console_session_id: The `id` of a sign-in, from the list.
        """
        return await self._call(
            types.Deleted,
            "consoleAccount.endSignIn",
            "DELETE",
            "/v1/console/sessions/{console_session_id}",
            path={"console_session_id": console_session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def end_other_sign_ins(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSignIn:
        """Log every browser out but this one.

        Needs the console’s cookie and `X-CSRF-Token`. For a lost or shared computer.
        """
        return await self._call(
            types.ConsoleSignIn,
            "consoleAccount.endOtherSignIns",
            "DELETE",
            "/v1/console/sessions",
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Passkeys(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Passkey]:
        """List one’s passkeys, newest first.

        Needs the console’s cookie. Passkeys belong to the login and open every org that its
        password opens.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Passkey,
            "passkeys.list",
            "GET",
            "/v1/console/passkeys",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def begin_registration(
        self,
        *,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasskeyOptions:
        """Begin to register a passkey; the password is asked for.

        Needs the console’s cookie and `X-CSRF-Token`. Sets a cookie that binds what follows to this
        browser, for ten minutes and one use.

        Args:
            password: The password of the login.

        Fails with `password_wrong`, `password_not_used`, `passkeys_unavailable`,
        `too_many_passkeys`, `rate_limited`.
        """
        return self._call(
            types.PasskeyOptions,
            "passkeys.beginRegistration",
            "POST",
            "/v1/console/passkeys/registration",
            body={"password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def register(
        self,
        *,
        name: str,
        credential: Mapping[str, object],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Passkey:
        """Register the passkey that the browser made, within ten minutes and in the same browser.

        Needs the console’s cookie and `X-CSRF-Token`. The device must have seen its person, by
        finger, face or PIN.

        Args:
            name: What to call it.
            credential: What `navigator.credentials` gave, by its `toJSON()`.

        Fails with `passkey_refused`, `passkeys_unavailable`, `password_not_used`,
        `too_many_passkeys`.
        """
        return self._call(
            types.Passkey,
            "passkeys.register",
            "POST",
            "/v1/console/passkeys",
            body={"name": name, "credential": credential},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        passkey_id: str,
        *,
        name: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Passkey:
        """Rename a passkey.

        Needs the console’s cookie and `X-CSRF-Token`. The name is for the person alone.

        Args:
            passkey_id: A passkey of one’s own.
            name: What to call it.
        """
        return self._call(
            types.Passkey,
            "passkeys.update",
            "PATCH",
            "/v1/console/passkeys/{passkey_id}",
            path={"passkey_id": passkey_id},
            body={"name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def remove(
        self,
        passkey_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove a passkey; it signs nobody in any more.

        Needs the console’s cookie and `X-CSRF-Token`. Browsers that are logged in stay so.

        Args:
            passkey_id: A passkey of one’s own.
        """
        return self._call(
            types.Deleted,
            "passkeys.remove",
            "DELETE",
            "/v1/console/passkeys/{passkey_id}",
            path={"passkey_id": passkey_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def begin_sign_in(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasskeyOptions:
        """Begin to sign in with a passkey, whosever it is.

        Needs no credential and names nobody: the device offers the keys it has. Sets a cookie that
        binds the sign-in to this browser.

        Fails with `passkeys_unavailable`, `rate_limited`.
        """
        return self._call(
            types.PasskeyOptions,
            "passkeys.beginSignIn",
            "POST",
            "/v1/console/passkeys/sign-in-options",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def sign_in(
        self,
        *,
        credential: Mapping[str, object],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Sign in with a passkey; sets the console’s cookie and answers the CSRF token.

        Needs the cookie of `POST /v1/console/passkeys/sign-in-options`. Challenge, origin,
        signature and the device’s count are checked.

        Args:
            credential: What `navigator.credentials` gave, by its `toJSON()`.

        Fails with `login_failed`, `passkeys_unavailable`, `rate_limited`.
        """
        return self._call(
            types.ConsoleSession,
            "passkeys.signIn",
            "POST",
            "/v1/console/passkeys/sign-in",
            body={"credential": credential},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncPasskeys(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Passkey]:
        """List one’s passkeys, newest first.

        Needs the console’s cookie. Passkeys belong to the login and open every org that its
        password opens.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Passkey,
            "passkeys.list",
            "GET",
            "/v1/console/passkeys",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def begin_registration(
        self,
        *,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasskeyOptions:
        """Begin to register a passkey; the password is asked for.

        Needs the console’s cookie and `X-CSRF-Token`. Sets a cookie that binds what follows to this
        browser, for ten minutes and one use.

        Args:
            password: The password of the login.

        Fails with `password_wrong`, `password_not_used`, `passkeys_unavailable`,
        `too_many_passkeys`, `rate_limited`.
        """
        return await self._call(
            types.PasskeyOptions,
            "passkeys.beginRegistration",
            "POST",
            "/v1/console/passkeys/registration",
            body={"password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def register(
        self,
        *,
        name: str,
        credential: Mapping[str, object],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Passkey:
        """Register the passkey that the browser made, within ten minutes and in the same browser.

        Needs the console’s cookie and `X-CSRF-Token`. The device must have seen its person, by
        finger, face or PIN.

        Args:
            name: What to call it.
            credential: What `navigator.credentials` gave, by its `toJSON()`.

        Fails with `passkey_refused`, `passkeys_unavailable`, `password_not_used`,
        `too_many_passkeys`.
        """
        return await self._call(
            types.Passkey,
            "passkeys.register",
            "POST",
            "/v1/console/passkeys",
            body={"name": name, "credential": credential},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        passkey_id: str,
        *,
        name: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Passkey:
        """Rename a passkey.

        Needs the console’s cookie and `X-CSRF-Token`. The name is for the person alone.

        Args:
            passkey_id: A passkey of one’s own.
            name: What to call it.
        """
        return await self._call(
            types.Passkey,
            "passkeys.update",
            "PATCH",
            "/v1/console/passkeys/{passkey_id}",
            path={"passkey_id": passkey_id},
            body={"name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def remove(
        self,
        passkey_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove a passkey; it signs nobody in any more.

        Needs the console’s cookie and `X-CSRF-Token`. Browsers that are logged in stay so.

        Args:
            passkey_id: A passkey of one’s own.
        """
        return await self._call(
            types.Deleted,
            "passkeys.remove",
            "DELETE",
            "/v1/console/passkeys/{passkey_id}",
            path={"passkey_id": passkey_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def begin_sign_in(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasskeyOptions:
        """Begin to sign in with a passkey, whosever it is.

        Needs no credential and names nobody: the device offers the keys it has. Sets a cookie that
        binds the sign-in to this browser.

        Fails with `passkeys_unavailable`, `rate_limited`.
        """
        return await self._call(
            types.PasskeyOptions,
            "passkeys.beginSignIn",
            "POST",
            "/v1/console/passkeys/sign-in-options",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def sign_in(
        self,
        *,
        credential: Mapping[str, object],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ConsoleSession:
        """Sign in with a passkey; sets the console’s cookie and answers the CSRF token.

        Needs the cookie of `POST /v1/console/passkeys/sign-in-options`. Challenge, origin,
        signature and the device’s count are checked.

        Args:
            credential: What `navigator.credentials` gave, by its `toJSON()`.

        Fails with `login_failed`, `passkeys_unavailable`, `rate_limited`.
        """
        return await self._call(
            types.ConsoleSession,
            "passkeys.signIn",
            "POST",
            "/v1/console/passkeys/sign-in",
            body={"credential": credential},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit
from .._pages import AsyncPages, Page

class Users(Group):
    def list(
        self,
        *,
        status: Literal["active", "disabled"] | None = None,
        email: str | None = None,
        created_after: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.User]:
        """List users, newest first.

        Needs scope `runtime`. Only users of the key’s mode; those that test runs pretend are left
        out.

        Args:
            status: Only users in this state.
            email: Only the user with this email address.
            created_after: Only users made at this moment or later.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.User,
            "users.list",
            "GET",
            "/v1/users",
            query={
                "status": status,
                "email": email,
                "created_after": created_after,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        user_id: str,
        name: str | None | Omit = OMIT,
        email: str | None | Omit = OMIT,
        locale: str | None | Omit = OMIT,
        timezone: str | None | Omit = OMIT,
        metadata: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Create a user; repeating an existing id changes nothing.

        Rarely needed: any call that names a `user_id` makes the user. Use it to give a name, a
        language and a time zone first.

        Args:
            user_id: Your own id of the user: 1 to 128 letters, digits or any of `. _ : @ -`.
            name: What the user is called, at most 200 characters.
            email: The user’s email address.
            locale: The user’s language as a tag such as `en` or `pt-BR`.
            timezone: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
            metadata: Your own facts about the user; replaces what was kept.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_language`, `invalid_user_timezone`, `user_disabled`.
        """
        return self._call(
            types.User,
            "users.create",
            "POST",
            "/v1/users",
            body={"user_id": user_id, "metadata": metadata},
            nullable={"name": name, "email": email, "locale": locale, "timezone": timezone},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Show a user with today’s and this month’s spend against the caps.

        Spend is of the UTC day and month, and counted as it happens.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
        """
        return self._call(
            types.User,
            "users.get",
            "GET",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        user_id: str,
        *,
        name: str | None | Omit = OMIT,
        email: str | None | Omit = OMIT,
        locale: str | None | Omit = OMIT,
        timezone: str | None | Omit = OMIT,
        metadata: Mapping[str, object] | None = None,
        spend_cap_usd: float | None | Omit = OMIT,
        monthly_cap_usd: float | None | Omit = OMIT,
        default_deployment: str | None | Omit = OMIT,
        status: Literal["active", "disabled"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Change a user’s profile, caps, default deployment or status; null clears a field.

        Fields left out stay. A new cap counts from the next message on.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            name: What the user is called, at most 200 characters.
            email: The user’s email address.
            locale: The user’s language as a tag such as `en` or `pt-BR`.
            timezone: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
            metadata: Your own facts about the user; replaces what was kept.
            spend_cap_usd: US dollars a day that the user may spend, at most the org’s; null: the
                org’s cap for users.
            monthly_cap_usd: US dollars a calendar month that the user may spend, at most the org’s;
                null: the org’s cap for users.
            default_deployment: The deployment that answers the user where none is named: a dep_ id,
                a slug or a name; null clears it.
            status: `disabled` refuses every call for the user, sessions included; `active` lets
                them in again.

        Fails with `invalid_language`, `invalid_user_timezone`, `invalid_deployment`,
        `cap_above_maximum`.
        """
        return self._call(
            types.User,
            "users.update",
            "PATCH",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            body={"metadata": metadata, "status": status},
            nullable={
                "name": name,
                "email": email,
                "locale": locale,
                "timezone": timezone,
                "spend_cap_usd": spend_cap_usd,
                "monthly_cap_usd": monthly_cap_usd,
                "default_deployment": default_deployment,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeletedUser:
        """Erase a user with computer, files and memory; `user.deleted` says when it is done.

        Answers 202 and goes on in the background. What the user spent stays in usage totals, under
        the user `unknown`.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
        """
        return self._call(
            types.DeletedUser,
            "users.delete",
            "DELETE",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def warm(
        self,
        user_id: str,
        *,
        keep_ms: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WarmedUser:
        """Wake a user’s computer before it is needed.

        A call within a minute of another rides on it. At most 10 computers of an org wake at once
        (429 `warm_limit`).

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            keep_ms: Keeps the computer awake that long.

        Fails with `user_disabled`, `warm_limit`, `computer_unavailable`.
        """
        return self._call(
            types.WarmedUser,
            "users.warm",
            "POST",
            "/v1/users/{user_id}/warm",
            path={"user_id": user_id},
            body={"keep_ms": keep_ms},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def screenshot(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Take a picture of the user’s screen as a JPEG.

        Wakes the computer where it sleeps. Refused with `browser_in_use` while the screen is
        private.

        Args:
            user_id: Your own id of the user: a user exists from its first use.

        Fails with `user_not_found`, `user_disabled`, `browser_in_use`, `computer_unavailable`.
        """
        return self._call(
            bytes,
            "users.screenshot",
            "GET",
            "/v1/users/{user_id}/screenshot",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncUsers(AsyncGroup):
    def list(
        self,
        *,
        status: Literal["active", "disabled"] | None = None,
        email: str | None = None,
        created_after: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.User]:
        """List users, newest first.

        Needs scope `runtime`. Only users of the key’s mode; those that test runs pretend are left
        out.

        Args:
            status: Only users in this state.
            email: Only the user with this email address.
            created_after: Only users made at this moment or later.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.User,
            "users.list",
            "GET",
            "/v1/users",
            query={
                "status": status,
                "email": email,
                "created_after": created_after,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        user_id: str,
        name: str | None | Omit = OMIT,
        email: str | None | Omit = OMIT,
        locale: str | None | Omit = OMIT,
        timezone: str | None | Omit = OMIT,
        metadata: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Create a user; repeating an existing id changes nothing.

        Rarely needed: any call that names a `user_id` makes the user. Use it to give a name, a
        language and a time zone first.

        Args:
            user_id: Your own id of the user: 1 to 128 letters, digits or any of `. _ : @ -`.
            name: What the user is called, at most 200 characters.
            email: The user’s email address.
            locale: The user’s language as a tag such as `en` or `pt-BR`.
            timezone: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
            metadata: Your own facts about the user; replaces what was kept.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_language`, `invalid_user_timezone`, `user_disabled`.
        """
        return await self._call(
            types.User,
            "users.create",
            "POST",
            "/v1/users",
            body={"user_id": user_id, "metadata": metadata},
            nullable={"name": name, "email": email, "locale": locale, "timezone": timezone},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Show a user with today’s and this month’s spend against the caps.

        Spend is of the UTC day and month, and counted as it happens.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
        """
        return await self._call(
            types.User,
            "users.get",
            "GET",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        user_id: str,
        *,
        name: str | None | Omit = OMIT,
        email: str | None | Omit = OMIT,
        locale: str | None | Omit = OMIT,
        timezone: str | None | Omit = OMIT,
        metadata: Mapping[str, object] | None = None,
        spend_cap_usd: float | None | Omit = OMIT,
        monthly_cap_usd: float | None | Omit = OMIT,
        default_deployment: str | None | Omit = OMIT,
        status: Literal["active", "disabled"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.User:
        """Change a user’s profile, caps, default deployment or status; null clears a field.

        Fields left out stay. A new cap counts from the next message on.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            name: What the user is called, at most 200 characters.
            email: The user’s email address.
            locale: The user’s language as a tag such as `en` or `pt-BR`.
            timezone: The user’s IANA time zone such as `Europe/Berlin`, which routines run in.
            metadata: Your own facts about the user; replaces what was kept.
            spend_cap_usd: US dollars a day that the user may spend, at most the org’s; null: the
                org’s cap for users.
            monthly_cap_usd: US dollars a calendar month that the user may spend, at most the org’s;
                null: the org’s cap for users.
            default_deployment: The deployment that answers the user where none is named: a dep_ id,
                a slug or a name; null clears it.
            status: `disabled` refuses every call for the user, sessions included; `active` lets
                them in again.

        Fails with `invalid_language`, `invalid_user_timezone`, `invalid_deployment`,
        `cap_above_maximum`.
        """
        return await self._call(
            types.User,
            "users.update",
            "PATCH",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            body={"metadata": metadata, "status": status},
            nullable={
                "name": name,
                "email": email,
                "locale": locale,
                "timezone": timezone,
                "spend_cap_usd": spend_cap_usd,
                "monthly_cap_usd": monthly_cap_usd,
                "default_deployment": default_deployment,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeletedUser:
        """Erase a user with computer, files and memory; `user.deleted` says when it is done.

        Answers 202 and goes on in the background. What the user spent stays in usage totals, under
        the user `unknown`.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
        """
        return await self._call(
            types.DeletedUser,
            "users.delete",
            "DELETE",
            "/v1/users/{user_id}",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def warm(
        self,
        user_id: str,
        *,
        keep_ms: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.WarmedUser:
        """Wake a user’s computer before it is needed.

        A call within a minute of another rides on it. At most 10 computers of an org wake at once
        (429 `warm_limit`).

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            keep_ms: Keeps the computer awake that long.

        Fails with `user_disabled`, `warm_limit`, `computer_unavailable`.
        """
        return await self._call(
            types.WarmedUser,
            "users.warm",
            "POST",
            "/v1/users/{user_id}/warm",
            path={"user_id": user_id},
            body={"keep_ms": keep_ms},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def screenshot(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Take a picture of the user’s screen as a JPEG.

        Wakes the computer where it sleeps. Refused with `browser_in_use` while the screen is
        private.

        Args:
            user_id: Your own id of the user: a user exists from its first use.

        Fails with `user_not_found`, `user_disabled`, `browser_in_use`, `computer_unavailable`.
        """
        return await self._call(
            bytes,
            "users.screenshot",
            "GET",
            "/v1/users/{user_id}/screenshot",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


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
        """List users, newest first."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Show a user with today’s and this month’s spend against the caps."""
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
        """Change a user’s profile, caps, default deployment or status; null clears a field."""
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
        """Erase a user with computer, files and memory; `user.deleted` says when it is done."""
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

        Args:
            keep_ms: Keeps the computer awake that long.
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
        """Take a picture of the user’s screen as a JPEG."""
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
        """List users, newest first."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Show a user with today’s and this month’s spend against the caps."""
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
        """Change a user’s profile, caps, default deployment or status; null clears a field."""
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
        """Erase a user with computer, files and memory; `user.deleted` says when it is done."""
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

        Args:
            keep_ms: Keeps the computer awake that long.
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
        """Take a picture of the user’s screen as a JPEG."""
        return await self._call(
            bytes,
            "users.screenshot",
            "GET",
            "/v1/users/{user_id}/screenshot",
            path={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


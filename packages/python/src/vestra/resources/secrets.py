"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Secrets(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Secret]:
        """List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a
        `user_id`.

        Values are never shown. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
            user_id: The names of this user’s; absent: the company’s.
        """
        return self._page(
            types.Secret,
            "secrets.list",
            "GET",
            "/v1/secrets",
            query={"limit": limit, "cursor": cursor, "user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def put(
        self,
        name: str,
        *,
        value: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Secret:
        """Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.

        Replaces a value of the same name; calls from now on use the new one. Kept encrypted, and
        apart for each mode.

        Args:
            name: A capital letter, then capitals, digits and underscores, at most 64.
            value: The value, 1 to 8,192 characters; it is never shown again.
            user_id: Whose secret it is; absent: the company’s.

        Fails with `user_disabled`.
        """
        return self._call(
            types.Secret,
            "secrets.put",
            "PUT",
            "/v1/secrets/{name}",
            path={"name": name},
            body={"value": value, "user_id": user_id},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        name: str,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.

        Servers and files that name it fail from then on with `secret_missing`.

        Args:
            name: A capital letter, then capitals, digits and underscores, at most 64.
            user_id: Whose secret; absent: the company’s.

        Fails with `secret_not_found`.
        """
        return self._call(
            types.Deleted,
            "secrets.delete",
            "DELETE",
            "/v1/secrets/{name}",
            path={"name": name},
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncSecrets(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Secret]:
        """List the names of the company’s secrets, or of one user’s; scope `runtime` alone needs a
        `user_id`.

        Values are never shown. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
            user_id: The names of this user’s; absent: the company’s.
        """
        return self._page(
            types.Secret,
            "secrets.list",
            "GET",
            "/v1/secrets",
            query={"limit": limit, "cursor": cursor, "user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def put(
        self,
        name: str,
        *,
        value: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Secret:
        """Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.

        Replaces a value of the same name; calls from now on use the new one. Kept encrypted, and
        apart for each mode.

        Args:
            name: A capital letter, then capitals, digits and underscores, at most 64.
            value: The value, 1 to 8,192 characters; it is never shown again.
            user_id: Whose secret it is; absent: the company’s.

        Fails with `user_disabled`.
        """
        return await self._call(
            types.Secret,
            "secrets.put",
            "PUT",
            "/v1/secrets/{name}",
            path={"name": name},
            body={"value": value, "user_id": user_id},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        name: str,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`.

        Servers and files that name it fail from then on with `secret_missing`.

        Args:
            name: A capital letter, then capitals, digits and underscores, at most 64.
            user_id: Whose secret; absent: the company’s.

        Fails with `secret_not_found`.
        """
        return await self._call(
            types.Deleted,
            "secrets.delete",
            "DELETE",
            "/v1/secrets/{name}",
            path={"name": name},
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


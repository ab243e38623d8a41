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
        """Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`."""
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
        """Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`."""
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
        """Store a secret of the company, or of one user; scope `runtime` alone needs a `user_id`."""
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
        """Delete a secret of the company, or of one user; scope `runtime` alone needs a `user_id`."""
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


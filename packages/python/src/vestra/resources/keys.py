"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Keys(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Key]:
        """List the API keys; only the last four characters of each are shown.

        Needs scope `admin`. Revoked ones are left out.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Key,
            "keys.list",
            "GET",
            "/v1/keys",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["setup", "runtime", "admin", "all"]],
        mode: Literal["test", "live"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.KeyWithKey:
        """Create a test or live key; the full key is shown once.

        Needs scope `admin`. Only a hash is kept: a lost key is rolled, not found.

        Args:
            name: What you call it, 1 to 120 characters.
            scopes: What it opens; at most what the calling key opens itself.
            mode: `live` needs a live key, or a member of the console.
            idempotency_key: Made by the client where none is given.

        Fails with `scope_missing`, `live_key_required`.
        """
        return self._call(
            types.KeyWithKey,
            "keys.create",
            "POST",
            "/v1/keys",
            body={"name": name, "scopes": scopes, "mode": mode},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def roll(
        self,
        key_id: str,
        *,
        grace_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.KeyWithKeyAndPreviousExpiresAt:
        """Give a key a new secret; the old one works on for `grace_seconds`.

        The id, name and scopes stay. Afterwards the old secret answers 401 `key_expired`.

        Args:
            key_id: The id of an API key, `key_` and 24 characters.
            grace_seconds: How long the old secret works on, at most 604,800 (a week).
            idempotency_key: Made by the client where none is given.

        Fails with `scope_missing`, `live_key_required`.
        """
        return self._call(
            types.KeyWithKeyAndPreviousExpiresAt,
            "keys.roll",
            "POST",
            "/v1/keys/{key_id}/roll",
            path={"key_id": key_id},
            body={"grace_seconds": grace_seconds},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def revoke(
        self,
        key_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Revoke a key at once.

        Streams that it opened are closed too. A key may revoke itself.

        Args:
            key_id: The id of an API key, `key_` and 24 characters.
        """
        return self._call(
            types.Deleted,
            "keys.revoke",
            "DELETE",
            "/v1/keys/{key_id}",
            path={"key_id": key_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncKeys(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Key]:
        """List the API keys; only the last four characters of each are shown.

        Needs scope `admin`. Revoked ones are left out.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Key,
            "keys.list",
            "GET",
            "/v1/keys",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[Literal["setup", "runtime", "admin", "all"]],
        mode: Literal["test", "live"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.KeyWithKey:
        """Create a test or live key; the full key is shown once.

        Needs scope `admin`. Only a hash is kept: a lost key is rolled, not found.

        Args:
            name: What you call it, 1 to 120 characters.
            scopes: What it opens; at most what the calling key opens itself.
            mode: `live` needs a live key, or a member of the console.
            idempotency_key: Made by the client where none is given.

        Fails with `scope_missing`, `live_key_required`.
        """
        return await self._call(
            types.KeyWithKey,
            "keys.create",
            "POST",
            "/v1/keys",
            body={"name": name, "scopes": scopes, "mode": mode},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def roll(
        self,
        key_id: str,
        *,
        grace_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.KeyWithKeyAndPreviousExpiresAt:
        """Give a key a new secret; the old one works on for `grace_seconds`.

        The id, name and scopes stay. Afterwards the old secret answers 401 `key_expired`.

        Args:
            key_id: The id of an API key, `key_` and 24 characters.
            grace_seconds: How long the old secret works on, at most 604,800 (a week).
            idempotency_key: Made by the client where none is given.

        Fails with `scope_missing`, `live_key_required`.
        """
        return await self._call(
            types.KeyWithKeyAndPreviousExpiresAt,
            "keys.roll",
            "POST",
            "/v1/keys/{key_id}/roll",
            path={"key_id": key_id},
            body={"grace_seconds": grace_seconds},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def revoke(
        self,
        key_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Revoke a key at once.

        Streams that it opened are closed too. A key may revoke itself.

        Args:
            key_id: The id of an API key, `key_` and 24 characters.
        """
        return await self._call(
            types.Deleted,
            "keys.revoke",
            "DELETE",
            "/v1/keys/{key_id}",
            path={"key_id": key_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Memory(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Memory]:
        """Show what the agent remembers about a user, newest first, and the user’s profile.

        A session token with `memory` lists its own user’s. Where the org keeps memory itself, its
        endpoint is asked.

        Args:
            user_id: Whose memory; absent: that of the org’s own agent.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._page(
            types.Memory,
            "memory.list",
            "GET",
            "/v1/memory",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        text: str,
        user_id: str | None = None,
        kind: Literal["identity", "relationship", "commitment", "preference", "project_state", "other"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Memory:
        """Tell the agent a fact about a user.

        The agent knows it from the next message on. Refused where the deployment or org keeps no
        memory.

        Args:
            text: The fact in a sentence, 1 to 1,000 characters.
            user_id: Whose memory; absent: that of the org’s own agent.
            kind: What kind of fact it is.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_memory`, `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._call(
            types.Memory,
            "memory.create",
            "POST",
            "/v1/memory",
            body={"user_id": user_id, "text": text, "kind": kind},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def search(
        self,
        *,
        q: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemorySearch:
        """Search a user’s memory by meaning and words.

        Finds what means the same in other words too.

        Args:
            q: What to look for, 1 to 500 characters.
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `query_required`, `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._call(
            types.MemorySearch,
            "memory.search",
            "GET",
            "/v1/memory/search",
            query={"user_id": user_id, "q": q},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget one fact.

        A session token with `memory` may delete its own user’s. The agent may learn the fact anew
        from what it is told.

        Args:
            memory_id: The id of a remembered fact, `mem_` and 24 characters.
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._call(
            types.Deleted,
            "memory.delete",
            "DELETE",
            "/v1/memory/{memory_id}",
            path={"memory_id": memory_id},
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget everything about a user.

        The profile goes too. A session token with `memory` may do it for its own user.

        Args:
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._call(
            types.Deleted,
            "memory.deleteAll",
            "DELETE",
            "/v1/memory",
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncMemory(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Memory]:
        """Show what the agent remembers about a user, newest first, and the user’s profile.

        A session token with `memory` lists its own user’s. Where the org keeps memory itself, its
        endpoint is asked.

        Args:
            user_id: Whose memory; absent: that of the org’s own agent.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return self._page(
            types.Memory,
            "memory.list",
            "GET",
            "/v1/memory",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        text: str,
        user_id: str | None = None,
        kind: Literal["identity", "relationship", "commitment", "preference", "project_state", "other"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Memory:
        """Tell the agent a fact about a user.

        The agent knows it from the next message on. Refused where the deployment or org keeps no
        memory.

        Args:
            text: The fact in a sentence, 1 to 1,000 characters.
            user_id: Whose memory; absent: that of the org’s own agent.
            kind: What kind of fact it is.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_memory`, `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return await self._call(
            types.Memory,
            "memory.create",
            "POST",
            "/v1/memory",
            body={"user_id": user_id, "text": text, "kind": kind},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def search(
        self,
        *,
        q: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemorySearch:
        """Search a user’s memory by meaning and words.

        Finds what means the same in other words too.

        Args:
            q: What to look for, 1 to 500 characters.
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `query_required`, `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return await self._call(
            types.MemorySearch,
            "memory.search",
            "GET",
            "/v1/memory/search",
            query={"user_id": user_id, "q": q},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget one fact.

        A session token with `memory` may delete its own user’s. The agent may learn the fact anew
        from what it is told.

        Args:
            memory_id: The id of a remembered fact, `mem_` and 24 characters.
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return await self._call(
            types.Deleted,
            "memory.delete",
            "DELETE",
            "/v1/memory/{memory_id}",
            path={"memory_id": memory_id},
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete_all(
        self,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Forget everything about a user.

        The profile goes too. A session token with `memory` may do it for its own user.

        Args:
            user_id: Whose memory; absent: that of the org’s own agent.

        Fails with `user_required`, `user_disabled`, `memory_endpoint_required`,
        `memory_endpoint_error`.
        """
        return await self._call(
            types.Deleted,
            "memory.deleteAll",
            "DELETE",
            "/v1/memory",
            query={"user_id": user_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


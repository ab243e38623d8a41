"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Replays(Group):
    def create(
        self,
        deployment_id: str,
        *,
        version: int | None = None,
        conversation_ids: Sequence[str] | None = None,
        last: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Have a version answer real talks again, and compare the answers.

        The person’s messages come in their order, and tools answer what they answered then: nothing
        is run, nobody’s memory, files or browser is touched. A call that was not made then answers
        an error. Answers at once; it costs what its model calls cost.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: The version that answers; absent: the newest.
            conversation_ids: Talks of this deployment in the mode of the key, at most 20; absent:
                the last ones.
            last: So many of the last talks that another version answered, 1 to 20; absent: 10. Not
                with `conversation_ids`.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `deployment_archived`, `version_not_found`,
        `conversation_not_found`, `invalid_request`, `wallet_empty`, `org_cap_reached`,
        `model_unavailable`.
        """
        return self._call(
            types.Replay,
            "replays.create",
            "POST",
            "/v1/deployments/{deployment_id}/replays",
            path={"deployment_id": deployment_id},
            body={"version": version, "conversation_ids": conversation_ids, "last": last},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Replay]:
        """List the replays of a deployment, newest first.

        Those of the mode of the key. What was said is left out here: read one for it.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.Replay,
            "replays.list",
            "GET",
            "/v1/deployments/{deployment_id}/replays",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        replay_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Read a replay: both answers to each message, side by side.

        Of the mode of the key. One that a restart cut off goes on by itself; `replay.completed`
        tells of its end.

        Args:
            replay_id: The id of a replay of talks, `rpl_` and 24 characters.
        """
        return self._call(
            types.Replay,
            "replays.get",
            "GET",
            "/v1/replays/{replay_id}",
            path={"replay_id": replay_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cancel(
        self,
        replay_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Cancel a replay; what was replayed until then stays and is paid for.

        One that has ended is answered as it is.

        Args:
            replay_id: The id of a replay of talks, `rpl_` and 24 characters.
        """
        return self._call(
            types.Replay,
            "replays.cancel",
            "POST",
            "/v1/replays/{replay_id}/cancel",
            path={"replay_id": replay_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncReplays(AsyncGroup):
    async def create(
        self,
        deployment_id: str,
        *,
        version: int | None = None,
        conversation_ids: Sequence[str] | None = None,
        last: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Have a version answer real talks again, and compare the answers.

        The person’s messages come in their order, and tools answer what they answered then: nothing
        is run, nobody’s memory, files or browser is touched. A call that was not made then answers
        an error. Answers at once; it costs what its model calls cost.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: The version that answers; absent: the newest.
            conversation_ids: Talks of this deployment in the mode of the key, at most 20; absent:
                the last ones.
            last: So many of the last talks that another version answered, 1 to 20; absent: 10. Not
                with `conversation_ids`.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `deployment_archived`, `version_not_found`,
        `conversation_not_found`, `invalid_request`, `wallet_empty`, `org_cap_reached`,
        `model_unavailable`.
        """
        return await self._call(
            types.Replay,
            "replays.create",
            "POST",
            "/v1/deployments/{deployment_id}/replays",
            path={"deployment_id": deployment_id},
            body={"version": version, "conversation_ids": conversation_ids, "last": last},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Replay]:
        """List the replays of a deployment, newest first.

        Those of the mode of the key. What was said is left out here: read one for it.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.Replay,
            "replays.list",
            "GET",
            "/v1/deployments/{deployment_id}/replays",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        replay_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Read a replay: both answers to each message, side by side.

        Of the mode of the key. One that a restart cut off goes on by itself; `replay.completed`
        tells of its end.

        Args:
            replay_id: The id of a replay of talks, `rpl_` and 24 characters.
        """
        return await self._call(
            types.Replay,
            "replays.get",
            "GET",
            "/v1/replays/{replay_id}",
            path={"replay_id": replay_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cancel(
        self,
        replay_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Replay:
        """Cancel a replay; what was replayed until then stays and is paid for.

        One that has ended is answered as it is.

        Args:
            replay_id: The id of a replay of talks, `rpl_` and 24 characters.
        """
        return await self._call(
            types.Replay,
            "replays.cancel",
            "POST",
            "/v1/replays/{replay_id}/cancel",
            path={"replay_id": replay_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


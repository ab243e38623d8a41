"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import params, types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit
from .._pages import AsyncPages, Page

class Routines(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Routine]:
        """List the routines of one user, or of the org’s own agent."""
        return self._page(
            types.Routine,
            "routines.list",
            "GET",
            "/v1/routines",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        ask: str,
        name: str | None = None,
        every: str | None = None,
        schedule: params.RoutineScheduleParam | None = None,
        on: Literal["call"] | None = None,
        timezone: str | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        filters: Mapping[str, object] | None = None,
        enabled: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Ask something on a schedule, or whenever your own system calls.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            filters: With `on: call`: fields and values that a payload must carry.
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.Routine,
            "routines.create",
            "POST",
            "/v1/routines",
            body={
                "ask": ask,
                "name": name,
                "every": every,
                "schedule": schedule,
                "on": on,
                "timezone": timezone,
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "filters": filters,
                "enabled": enabled,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Show a routine with its last and next run."""
        return self._call(
            types.Routine,
            "routines.get",
            "GET",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        routine_id: str,
        *,
        ask: str | None = None,
        name: str | None = None,
        every: str | None = None,
        schedule: params.RoutineScheduleParam | None = None,
        on: Literal["call"] | None = None,
        timezone: str | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        filters: Mapping[str, object] | None | Omit = OMIT,
        enabled: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Change a routine; `enabled: false` pauses it.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return self._call(
            types.Routine,
            "routines.update",
            "PATCH",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            body={
                "ask": ask,
                "name": name,
                "every": every,
                "schedule": schedule,
                "on": on,
                "timezone": timezone,
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "enabled": enabled,
            },
            nullable={"filters": filters},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a routine; its conversation stays."""
        return self._call(
            types.Deleted,
            "routines.delete",
            "DELETE",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def run(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RoutineRun:
        """Run a routine once, now."""
        return self._call(
            types.RoutineRun,
            "routines.run",
            "POST",
            "/v1/routines/{routine_id}/run",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def trigger(
        self,
        routine_id: str,
        *,
        body: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RoutineRun:
        """Run a routine that waits for a call, with a payload of at most 4 KB.

        Args:
            body: The body as it is sent.
        """
        return self._call(
            types.RoutineRun,
            "routines.trigger",
            "POST",
            "/v1/routines/{routine_id}/trigger",
            path={"routine_id": routine_id},
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncRoutines(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Routine]:
        """List the routines of one user, or of the org’s own agent."""
        return self._page(
            types.Routine,
            "routines.list",
            "GET",
            "/v1/routines",
            query={"user_id": user_id, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        ask: str,
        name: str | None = None,
        every: str | None = None,
        schedule: params.RoutineScheduleParam | None = None,
        on: Literal["call"] | None = None,
        timezone: str | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        filters: Mapping[str, object] | None = None,
        enabled: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Ask something on a schedule, or whenever your own system calls.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            filters: With `on: call`: fields and values that a payload must carry.
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.Routine,
            "routines.create",
            "POST",
            "/v1/routines",
            body={
                "ask": ask,
                "name": name,
                "every": every,
                "schedule": schedule,
                "on": on,
                "timezone": timezone,
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "filters": filters,
                "enabled": enabled,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Show a routine with its last and next run."""
        return await self._call(
            types.Routine,
            "routines.get",
            "GET",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        routine_id: str,
        *,
        ask: str | None = None,
        name: str | None = None,
        every: str | None = None,
        schedule: params.RoutineScheduleParam | None = None,
        on: Literal["call"] | None = None,
        timezone: str | None = None,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        filters: Mapping[str, object] | None | Omit = OMIT,
        enabled: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Routine:
        """Change a routine; `enabled: false` pauses it.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return await self._call(
            types.Routine,
            "routines.update",
            "PATCH",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            body={
                "ask": ask,
                "name": name,
                "every": every,
                "schedule": schedule,
                "on": on,
                "timezone": timezone,
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "enabled": enabled,
            },
            nullable={"filters": filters},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a routine; its conversation stays."""
        return await self._call(
            types.Deleted,
            "routines.delete",
            "DELETE",
            "/v1/routines/{routine_id}",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def run(
        self,
        routine_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RoutineRun:
        """Run a routine once, now."""
        return await self._call(
            types.RoutineRun,
            "routines.run",
            "POST",
            "/v1/routines/{routine_id}/run",
            path={"routine_id": routine_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def trigger(
        self,
        routine_id: str,
        *,
        body: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RoutineRun:
        """Run a routine that waits for a call, with a payload of at most 4 KB.

        Args:
            body: The body as it is sent.
        """
        return await self._call(
            types.RoutineRun,
            "routines.trigger",
            "POST",
            "/v1/routines/{routine_id}/trigger",
            path={"routine_id": routine_id},
            whole=body,
            timeout=timeout,
            extra_headers=extra_headers,
        )


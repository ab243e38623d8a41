"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, Mapping, cast

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Tasks(Group):
    def list(
        self,
        *,
        status: Literal["queued", "working", "waiting", "done", "failed"] | None = None,
        user_id: str | None = None,
        deployment_id: str | None = None,
        conversation_id: str | None = None,
        created_after: str | datetime | str | date | None = None,
        created_before: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Task]:
        """List pieces of work, newest first.

        Needs scope `runtime`. Filters narrow the list together. The text of a result is cut to 280
        characters here; read the task for all of it.

        Args:
            status: Only tasks that are in this state.
            user_id: Only this user’s; absent: everybody’s.
            deployment_id: Only of this deployment: its id, slug or name.
            conversation_id: Only what this conversation asked for.
            created_after: Only those made at this moment or later.
            created_before: Only those made before this moment.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_deployment_id`, `invalid_conversation_id`.
        """
        return self._page(
            types.Task,
            "tasks.list",
            "GET",
            "/v1/tasks",
            query={
                "status": status,
                "user_id": user_id,
                "deployment_id": deployment_id,
                "conversation_id": conversation_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Task:
        """Show a task with the full text of its result.

        Poll it, or better follow the conversation’s events: `task.completed`, `task.failed` and
        `task.stopped` tell the end.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return self._call(
            types.Task,
            "tasks.get",
            "GET",
            "/v1/tasks/{task_id}",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a task and its outputs; a running one is stopped first.

        What it has spent stays in the usage report. Its files that were outputs go with it, and
        nothing brings them back.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return self._call(
            types.Deleted,
            "tasks.delete",
            "DELETE",
            "/v1/tasks/{task_id}",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def trace(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TaskTrace:
        """Show each step and each model call of a task.

        Inputs and outputs are shown as one line each, never raw. Steps are kept for as long as the
        operator’s setting says, 90 days unless changed; the totals stay.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return self._call(
            types.TaskTrace,
            "tasks.trace",
            "GET",
            "/v1/tasks/{task_id}/trace",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def data(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Answer the structured result of a task alone; null until there is one.

        Answers the bare value, so that it can be fed to a program. Refused with `no_output_schema`
        where the message asked for none.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`, `no_output_schema`.
        """
        return self._call(
            cast(Any, object),
            "tasks.data",
            "GET",
            "/v1/tasks/{task_id}/data",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncTasks(AsyncGroup):
    def list(
        self,
        *,
        status: Literal["queued", "working", "waiting", "done", "failed"] | None = None,
        user_id: str | None = None,
        deployment_id: str | None = None,
        conversation_id: str | None = None,
        created_after: str | datetime | str | date | None = None,
        created_before: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Task]:
        """List pieces of work, newest first.

        Needs scope `runtime`. Filters narrow the list together. The text of a result is cut to 280
        characters here; read the task for all of it.

        Args:
            status: Only tasks that are in this state.
            user_id: Only this user’s; absent: everybody’s.
            deployment_id: Only of this deployment: its id, slug or name.
            conversation_id: Only what this conversation asked for.
            created_after: Only those made at this moment or later.
            created_before: Only those made before this moment.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_deployment_id`, `invalid_conversation_id`.
        """
        return self._page(
            types.Task,
            "tasks.list",
            "GET",
            "/v1/tasks",
            query={
                "status": status,
                "user_id": user_id,
                "deployment_id": deployment_id,
                "conversation_id": conversation_id,
                "created_after": created_after,
                "created_before": created_before,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Task:
        """Show a task with the full text of its result.

        Poll it, or better follow the conversation’s events: `task.completed`, `task.failed` and
        `task.stopped` tell the end.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return await self._call(
            types.Task,
            "tasks.get",
            "GET",
            "/v1/tasks/{task_id}",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a task and its outputs; a running one is stopped first.

        What it has spent stays in the usage report. Its files that were outputs go with it, and
        nothing brings them back.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return await self._call(
            types.Deleted,
            "tasks.delete",
            "DELETE",
            "/v1/tasks/{task_id}",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def trace(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TaskTrace:
        """Show each step and each model call of a task.

        Inputs and outputs are shown as one line each, never raw. Steps are kept for as long as the
        operator’s setting says, 90 days unless changed; the totals stay.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`.
        """
        return await self._call(
            types.TaskTrace,
            "tasks.trace",
            "GET",
            "/v1/tasks/{task_id}/trace",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def data(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Answer the structured result of a task alone; null until there is one.

        Answers the bare value, so that it can be fed to a program. Refused with `no_output_schema`
        where the message asked for none.

        Args:
            task_id: The id of a piece of work, `task_` and 24 characters.

        Fails with `task_not_found`, `no_output_schema`.
        """
        return await self._call(
            cast(Any, object),
            "tasks.data",
            "GET",
            "/v1/tasks/{task_id}/data",
            path={"task_id": task_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


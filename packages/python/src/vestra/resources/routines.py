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
        """List the routines of one user, or of the org’s own agent.

        Needs scope `runtime`. Newest first.

        Args:
            user_id: Whose routines; absent: those of the org’s own agent.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `user_required`.
        """
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

        Give exactly one of `every`, `schedule` and `on: call`. It runs at most once every 15
        minutes; runs that were missed while the server was down run once.

        Args:
            ask: What the agent is asked at every run, 1 to 8,000 characters.
            name: What it is called; absent: the start of `ask`.
            every: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or
                `month on the 1st at 09:00`.
            schedule: A cron schedule in place of plain words.
            on: `call`: it runs whenever your system posts to its `trigger_url`.
            timezone: The IANA time zone of the schedule; absent: the user’s, then UTC.
            user_id: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
            conversation_id: An existing conversation of the same user to run in; absent: one of its
                own.
            deployment: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            filters: With `on: call`: fields and values that a payload must carry.
            enabled: False: it is kept and does not run yet.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`,
        `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`,
        `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`,
        `deployment_archived`.
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
        """Show a routine with its last and next run.

        `last_error` says why a run that was due did not happen.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
        """
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

        Fields left out stay. One that a deployment file declares is changed there (409
        `managed_by_file`).

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
            ask: What the agent is asked from now on.
            name: What it is called; absent: the start of `ask`.
            every: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or
                `month on the 1st at 09:00`.
            schedule: A cron schedule in place of plain words.
            on: `call`: it runs whenever your system posts to its `trigger_url`.
            timezone: The IANA time zone of the schedule; absent: the user’s, then UTC.
            user_id: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
            conversation_id: An existing conversation of the same user to run in; absent: one of its
                own.
            deployment: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            filters: With `on: call`: fields and values that a payload must carry; null: any payload
                runs it.
            enabled: False pauses it and keeps its schedule; true resumes it.

        Fails with `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`,
        `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`,
        `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`,
        `deployment_archived`, `not_a_schedule_routine`, `managed_by_file`.
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
        """Delete a routine; its conversation stays.

        A run that has begun goes on.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.

        Fails with `managed_by_file`.
        """
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
        """Run a routine once, now.

        Also for one that is paused. The answer names the turn to follow.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.

        Fails with `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`.
        """
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

        The payload reaches the agent as data, never as instructions. A payload that does not match
        the filters answers `filtered` and runs nothing.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
            body: The body as it is sent.

        Fails with `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `payload_too_large`,
        `not_a_trigger_routine`.
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
        """List the routines of one user, or of the org’s own agent.

        Needs scope `runtime`. Newest first.

        Args:
            user_id: Whose routines; absent: those of the org’s own agent.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `user_required`.
        """
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

        Give exactly one of `every`, `schedule` and `on: call`. It runs at most once every 15
        minutes; runs that were missed while the server was down run once.

        Args:
            ask: What the agent is asked at every run, 1 to 8,000 characters.
            name: What it is called; absent: the start of `ask`.
            every: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or
                `month on the 1st at 09:00`.
            schedule: A cron schedule in place of plain words.
            on: `call`: it runs whenever your system posts to its `trigger_url`.
            timezone: The IANA time zone of the schedule; absent: the user’s, then UTC.
            user_id: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
            conversation_id: An existing conversation of the same user to run in; absent: one of its
                own.
            deployment: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            filters: With `on: call`: fields and values that a payload must carry.
            enabled: False: it is kept and does not run yet.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`,
        `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`,
        `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`,
        `deployment_archived`.
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
        """Show a routine with its last and next run.

        `last_error` says why a run that was due did not happen.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
        """
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

        Fields left out stay. One that a deployment file declares is changed there (409
        `managed_by_file`).

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
            ask: What the agent is asked from now on.
            name: What it is called; absent: the start of `ask`.
            every: Plain words such as `weekday at 08:00`, `mon, wed, fri at 18:30`, `30 minutes` or
                `month on the 1st at 09:00`.
            schedule: A cron schedule in place of plain words.
            on: `call`: it runs whenever your system posts to its `trigger_url`.
            timezone: The IANA time zone of the schedule; absent: the user’s, then UTC.
            user_id: Whom it runs for; absent: the org’s own agent, unless the org requires a user.
            conversation_id: An existing conversation of the same user to run in; absent: one of its
                own.
            deployment: Which agent runs it: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            filters: With `on: call`: fields and values that a payload must carry; null: any payload
                runs it.
            enabled: False pauses it and keeps its schedule; true resumes it.

        Fails with `invalid_schedule`, `schedule_unreadable`, `schedule_too_frequent`,
        `invalid_user_timezone`, `invalid_trigger`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `invalid_deployment`,
        `deployment_required`, `user_required`, `user_disabled`, `deployment_not_live`,
        `deployment_archived`, `not_a_schedule_routine`, `managed_by_file`.
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
        """Delete a routine; its conversation stays.

        A run that has begun goes on.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.

        Fails with `managed_by_file`.
        """
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
        """Run a routine once, now.

        Also for one that is paused. The answer names the turn to follow.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.

        Fails with `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`.
        """
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

        The payload reaches the agent as data, never as instructions. A payload that does not match
        the filters answers `filtered` and runs nothing.

        Args:
            routine_id: The id of a routine, `rtn_` and 24 characters.
            body: The body as it is sent.

        Fails with `user_disabled`, `deployment_not_live`, `deployment_archived`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`, `payload_too_large`,
        `not_a_trigger_routine`.
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


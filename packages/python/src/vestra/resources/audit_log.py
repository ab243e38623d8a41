"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from datetime import date, datetime
from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class AuditLog(Group):
    def list(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        from_: str | datetime | str | date | None = None,
        to: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.AuditEntry]:
        """List key use, settings changes and approval answers, newest first.

        Needs scope `admin`. Key use is one entry for each key and minute with a count. Kept for 365
        days unless the operator says otherwise.

        Args:
            action: Only entries of this action.
            actor_id: Only what this key, member or session did.
            from_: From this day or moment on, UTC.
            to: Up to this day or moment, UTC, itself included.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_window`.
        """
        return self._page(
            types.AuditEntry,
            "auditLog.list",
            "GET",
            "/v1/audit-log",
            query={
                "action": action,
                "actor_id": actor_id,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncAuditLog(AsyncGroup):
    def list(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        from_: str | datetime | str | date | None = None,
        to: str | datetime | str | date | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.AuditEntry]:
        """List key use, settings changes and approval answers, newest first.

        Needs scope `admin`. Key use is one entry for each key and minute with a count. Kept for 365
        days unless the operator says otherwise.

        Args:
            action: Only entries of this action.
            actor_id: Only what this key, member or session did.
            from_: From this day or moment on, UTC.
            to: Up to this day or moment, UTC, itself included.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_window`.
        """
        return self._page(
            types.AuditEntry,
            "auditLog.list",
            "GET",
            "/v1/audit-log",
            query={
                "action": action,
                "actor_id": actor_id,
                "from": from_,
                "to": to,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from datetime import date
from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Usage(Group):
    def report(
        self,
        *,
        group_by: Literal["day", "user", "deployment", "conversation", "task", "model", "kind"] | None = None,
        from_: str | date | None = None,
        to: str | date | None = None,
        user_id: str | None = None,
        deployment_id: str | None = None,
        conversation_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.UsageRow]:
        """Report exact billed spend and task counts, grouped by one dimension.

        Needs scope `admin`. Only money of the key’s mode. Erased users are counted under `unknown`.

        Args:
            group_by: What a row is about.
            from_: First day of the window, UTC; absent: 30 days ago.
            to: Last day of the window, UTC, itself included; absent: today. At most 366 days.
            user_id: Only what was spent for this user; absent: for everybody.
            deployment_id: Only this deployment: its id, slug or name.
            conversation_id: Only this conversation.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_window`, `invalid_conversation_id`.
        """
        return self._page(
            types.UsageRow,
            "usage.report",
            "GET",
            "/v1/usage",
            query={
                "group_by": group_by,
                "from": from_,
                "to": to,
                "user_id": user_id,
                "deployment_id": deployment_id,
                "conversation_id": conversation_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def line_items(
        self,
        *,
        task_id: str | None = None,
        conversation_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.LineItem]:
        """List the charges behind one task or conversation, newest first.

        Needs scope `admin`. The items add up exactly to what the wallet was charged.

        Args:
            task_id: Charges of this piece of work; give it or `conversation_id`.
            conversation_id: Charges of this conversation, its work included; give it or `task_id`.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_request`, `invalid_task_id`, `invalid_conversation_id`,
        `task_not_found`, `conversation_not_found`.
        """
        return self._page(
            types.LineItem,
            "usage.lineItems",
            "GET",
            "/v1/usage/line-items",
            query={
                "task_id": task_id,
                "conversation_id": conversation_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncUsage(AsyncGroup):
    def report(
        self,
        *,
        group_by: Literal["day", "user", "deployment", "conversation", "task", "model", "kind"] | None = None,
        from_: str | date | None = None,
        to: str | date | None = None,
        user_id: str | None = None,
        deployment_id: str | None = None,
        conversation_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.UsageRow]:
        """Report exact billed spend and task counts, grouped by one dimension.

        Needs scope `admin`. Only money of the key’s mode. Erased users are counted under `unknown`.

        Args:
            group_by: What a row is about.
            from_: First day of the window, UTC; absent: 30 days ago.
            to: Last day of the window, UTC, itself included; absent: today. At most 366 days.
            user_id: Only what was spent for this user; absent: for everybody.
            deployment_id: Only this deployment: its id, slug or name.
            conversation_id: Only this conversation.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_window`, `invalid_conversation_id`.
        """
        return self._page(
            types.UsageRow,
            "usage.report",
            "GET",
            "/v1/usage",
            query={
                "group_by": group_by,
                "from": from_,
                "to": to,
                "user_id": user_id,
                "deployment_id": deployment_id,
                "conversation_id": conversation_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def line_items(
        self,
        *,
        task_id: str | None = None,
        conversation_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.LineItem]:
        """List the charges behind one task or conversation, newest first.

        Needs scope `admin`. The items add up exactly to what the wallet was charged.

        Args:
            task_id: Charges of this piece of work; give it or `conversation_id`.
            conversation_id: Charges of this conversation, its work included; give it or `task_id`.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_request`, `invalid_task_id`, `invalid_conversation_id`,
        `task_not_found`, `conversation_not_found`.
        """
        return self._page(
            types.LineItem,
            "usage.lineItems",
            "GET",
            "/v1/usage/line-items",
            query={
                "task_id": task_id,
                "conversation_id": conversation_id,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping, Sequence

from .. import params, types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Batches(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Batch]:
        """List batches, newest first.

        Needs scope `runtime`. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Batch,
            "batches.list",
            "GET",
            "/v1/batches",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        items: Sequence[params.BatchItemParam],
        deployment: str | None = None,
        concurrency: int | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Run one conversation per item, each straight to work, for up to 5,000 items.

        Answers at once; items begin in the background, and `batch.completed` tells the end. An item
        that waits for a person gives its place to the next. Takes bodies of up to 32 MiB.

        Args:
            items: 1 to 5,000 messages, each a conversation of its own.
            deployment: A dep_ id, a slug or a name without `@version`; absent: the org’s default.
            concurrency: How many items run at once, 1 to 100.
            metadata: Your own labels, given back as sent; the agent never reads them. At most 32,
                each of 512 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `model_unavailable`.
        """
        return self._call(
            types.Batch,
            "batches.create",
            "POST",
            "/v1/batches",
            body={
                "deployment": deployment,
                "items": items,
                "concurrency": concurrency,
                "metadata": metadata,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        batch_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Show a batch with its counts and spend.

        `counts` and `spend_usd` are of this moment.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.
        """
        return self._call(
            types.Batch,
            "batches.get",
            "GET",
            "/v1/batches/{batch_id}",
            path={"batch_id": batch_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def items(
        self,
        batch_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.BatchItem]:
        """List the items of a batch in the order they were sent.

        Results are read here: pages are stable while the batch runs.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.BatchItem,
            "batches.items",
            "GET",
            "/v1/batches/{batch_id}/items",
            path={"batch_id": batch_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cancel(
        self,
        batch_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Start no further item of a batch; running ones finish.

        Items that have not begun become `cancelled`; what is running ends by itself. Refused with
        `batch_finished` once all have ended.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.

        Fails with `batch_finished`.
        """
        return self._call(
            types.Batch,
            "batches.cancel",
            "POST",
            "/v1/batches/{batch_id}/cancel",
            path={"batch_id": batch_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncBatches(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Batch]:
        """List batches, newest first.

        Needs scope `runtime`. Only those of the key’s mode.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Batch,
            "batches.list",
            "GET",
            "/v1/batches",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        items: Sequence[params.BatchItemParam],
        deployment: str | None = None,
        concurrency: int | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Run one conversation per item, each straight to work, for up to 5,000 items.

        Answers at once; items begin in the background, and `batch.completed` tells the end. An item
        that waits for a person gives its place to the next. Takes bodies of up to 32 MiB.

        Args:
            items: 1 to 5,000 messages, each a conversation of its own.
            deployment: A dep_ id, a slug or a name without `@version`; absent: the org’s default.
            concurrency: How many items run at once, 1 to 100.
            metadata: Your own labels, given back as sent; the agent never reads them. At most 32,
                each of 512 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `model_unavailable`.
        """
        return await self._call(
            types.Batch,
            "batches.create",
            "POST",
            "/v1/batches",
            body={
                "deployment": deployment,
                "items": items,
                "concurrency": concurrency,
                "metadata": metadata,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        batch_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Show a batch with its counts and spend.

        `counts` and `spend_usd` are of this moment.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.
        """
        return await self._call(
            types.Batch,
            "batches.get",
            "GET",
            "/v1/batches/{batch_id}",
            path={"batch_id": batch_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def items(
        self,
        batch_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.BatchItem]:
        """List the items of a batch in the order they were sent.

        Results are read here: pages are stable while the batch runs.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.BatchItem,
            "batches.items",
            "GET",
            "/v1/batches/{batch_id}/items",
            path={"batch_id": batch_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cancel(
        self,
        batch_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Batch:
        """Start no further item of a batch; running ones finish.

        Items that have not begun become `cancelled`; what is running ends by itself. Refused with
        `batch_finished` once all have ended.

        Args:
            batch_id: The id of a batch, `bat_` and 24 characters.

        Fails with `batch_finished`.
        """
        return await self._call(
            types.Batch,
            "batches.cancel",
            "POST",
            "/v1/batches/{batch_id}/cancel",
            path={"batch_id": batch_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


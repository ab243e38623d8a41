"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page
from .._streams import AsyncStream, Stream

class TestRuns(Group):
    def create(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Play every scenario of a deployment against its latest version.

        Answers at once: follow it by its events, or `test_run.completed`. A run costs what its
        model calls cost. It plays at most 12 exchanges a scenario and changes nothing outside.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `deployment_archived`, `invalid_request`, `wallet_empty`,
        `org_cap_reached`, `model_unavailable`.
        """
        return self._call(
            types.TestRun,
            "testRuns.create",
            "POST",
            "/v1/deployments/{deployment_id}/test-runs",
            path={"deployment_id": deployment_id},
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
    ) -> Page[types.TestRun]:
        """List the test runs of a deployment, newest first.

        Transcripts are left out here: read one run for them.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.TestRun,
            "testRuns.list",
            "GET",
            "/v1/deployments/{deployment_id}/test-runs",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Read a test run with the verdict on each scenario.

        A run that a restart cut off goes on by itself.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.
        """
        return self._call(
            types.TestRun,
            "testRuns.get",
            "GET",
            "/v1/test-runs/{run_id}",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def events(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Stream[types.TestRunEvent]:
        """Follow a test run: first where it stands, then each change, until it has ended.

        An event stream whose first event is where the run stands now, so that reconnecting needs no
        bookmark.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.
        """
        return self._stream(
            types.TestRunEvent,
            "testRuns.events",
            "GET",
            "/v1/test-runs/{run_id}/events",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cancel(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Cancel a test run; one that has ended stays as it is.

        Scenarios that are being played end as `cancelled`, and nothing is promoted. A run begun
        with a live key is cancelled with one.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.

        Fails with `live_key_required`.
        """
        return self._call(
            types.TestRun,
            "testRuns.cancel",
            "POST",
            "/v1/test-runs/{run_id}/cancel",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncTestRuns(AsyncGroup):
    async def create(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Play every scenario of a deployment against its latest version.

        Answers at once: follow it by its events, or `test_run.completed`. A run costs what its
        model calls cost. It plays at most 12 exchanges a scenario and changes nothing outside.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `deployment_archived`, `invalid_request`, `wallet_empty`,
        `org_cap_reached`, `model_unavailable`.
        """
        return await self._call(
            types.TestRun,
            "testRuns.create",
            "POST",
            "/v1/deployments/{deployment_id}/test-runs",
            path={"deployment_id": deployment_id},
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
    ) -> AsyncPages[types.TestRun]:
        """List the test runs of a deployment, newest first.

        Transcripts are left out here: read one run for them.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.TestRun,
            "testRuns.list",
            "GET",
            "/v1/deployments/{deployment_id}/test-runs",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Read a test run with the verdict on each scenario.

        A run that a restart cut off goes on by itself.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.
        """
        return await self._call(
            types.TestRun,
            "testRuns.get",
            "GET",
            "/v1/test-runs/{run_id}",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def events(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncStream[types.TestRunEvent]:
        """Follow a test run: first where it stands, then each change, until it has ended.

        An event stream whose first event is where the run stands now, so that reconnecting needs no
        bookmark.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.
        """
        return await self._stream(
            types.TestRunEvent,
            "testRuns.events",
            "GET",
            "/v1/test-runs/{run_id}/events",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cancel(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TestRun:
        """Cancel a test run; one that has ended stays as it is.

        Scenarios that are being played end as `cancelled`, and nothing is promoted. A run begun
        with a live key is cancelled with one.

        Args:
            run_id: The id of a test run, `trun_` and 24 characters.

        Fails with `live_key_required`.
        """
        return await self._call(
            types.TestRun,
            "testRuns.cancel",
            "POST",
            "/v1/test-runs/{run_id}/cancel",
            path={"run_id": run_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


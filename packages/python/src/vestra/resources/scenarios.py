"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Scenarios(Group):
    def list(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Scenario]:
        """List the scenarios of a deployment."""
        return self._page(
            types.Scenario,
            "scenarios.list",
            "GET",
            "/v1/deployments/{deployment_id}/scenarios",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        deployment_id: str,
        *,
        name: str,
        persona: str,
        goal: str,
        success_criteria: Sequence[str],
        must_never: Sequence[str] | None = None,
        tool_results: Mapping[str, object] | None = None,
        approves: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Add a scenario: a pretend user, a goal and what success means.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.Scenario,
            "scenarios.create",
            "POST",
            "/v1/deployments/{deployment_id}/scenarios",
            path={"deployment_id": deployment_id},
            body={
                "name": name,
                "persona": persona,
                "goal": goal,
                "success_criteria": success_criteria,
                "must_never": must_never,
                "tool_results": tool_results,
                "approves": approves,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def generate(
        self,
        deployment_id: str,
        *,
        count: int | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.GeneratedScenarios:
        """Draft scenarios for a version; nothing is saved.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.GeneratedScenarios,
            "scenarios.generate",
            "POST",
            "/v1/deployments/{deployment_id}/scenarios/generate",
            path={"deployment_id": deployment_id},
            body={"count": count, "version": version},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Read one scenario."""
        return self._call(
            types.Scenario,
            "scenarios.get",
            "GET",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        name: str | None = None,
        persona: str | None = None,
        goal: str | None = None,
        success_criteria: Sequence[str] | None = None,
        must_never: Sequence[str] | None = None,
        tool_results: Mapping[str, object] | None = None,
        approves: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Change a scenario; fields left out stay."""
        return self._call(
            types.Scenario,
            "scenarios.update",
            "PATCH",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            body={
                "name": name,
                "persona": persona,
                "goal": goal,
                "success_criteria": success_criteria,
                "must_never": must_never,
                "tool_results": tool_results,
                "approves": approves,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a scenario."""
        return self._call(
            types.Deleted,
            "scenarios.delete",
            "DELETE",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncScenarios(AsyncGroup):
    def list(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Scenario]:
        """List the scenarios of a deployment."""
        return self._page(
            types.Scenario,
            "scenarios.list",
            "GET",
            "/v1/deployments/{deployment_id}/scenarios",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        deployment_id: str,
        *,
        name: str,
        persona: str,
        goal: str,
        success_criteria: Sequence[str],
        must_never: Sequence[str] | None = None,
        tool_results: Mapping[str, object] | None = None,
        approves: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Add a scenario: a pretend user, a goal and what success means.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.Scenario,
            "scenarios.create",
            "POST",
            "/v1/deployments/{deployment_id}/scenarios",
            path={"deployment_id": deployment_id},
            body={
                "name": name,
                "persona": persona,
                "goal": goal,
                "success_criteria": success_criteria,
                "must_never": must_never,
                "tool_results": tool_results,
                "approves": approves,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def generate(
        self,
        deployment_id: str,
        *,
        count: int | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.GeneratedScenarios:
        """Draft scenarios for a version; nothing is saved.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.GeneratedScenarios,
            "scenarios.generate",
            "POST",
            "/v1/deployments/{deployment_id}/scenarios/generate",
            path={"deployment_id": deployment_id},
            body={"count": count, "version": version},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Read one scenario."""
        return await self._call(
            types.Scenario,
            "scenarios.get",
            "GET",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        name: str | None = None,
        persona: str | None = None,
        goal: str | None = None,
        success_criteria: Sequence[str] | None = None,
        must_never: Sequence[str] | None = None,
        tool_results: Mapping[str, object] | None = None,
        approves: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Change a scenario; fields left out stay."""
        return await self._call(
            types.Scenario,
            "scenarios.update",
            "PATCH",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            body={
                "name": name,
                "persona": persona,
                "goal": goal,
                "success_criteria": success_criteria,
                "must_never": must_never,
                "tool_results": tool_results,
                "approves": approves,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        deployment_id: str,
        scenario_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a scenario."""
        return await self._call(
            types.Deleted,
            "scenarios.delete",
            "DELETE",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


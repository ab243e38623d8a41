"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping, Sequence

from .. import params, types
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
        """List the scenarios of a deployment.

        Needs scope `setup`; newest first. Those that the file declares are among them.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
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
        recorded_calls: Sequence[params.DeploymentTestRecordedCallParam] | None = None,
        approves: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Add a scenario: a pretend user, a goal and what success means.

        It is played at the next test run. A tool with no entry in `tool_results` answers an error:
        a test never changes anything outside.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: What the test is called; unique within the deployment’s file.
            persona: Who the pretend user is and how they talk.
            goal: What the pretend user wants, in their own words.
            success_criteria: What must be true at the end, 1 to 12 lines; every one must be met.
            must_never: What must never happen, at most 12 lines; any one fails the test.
            tool_results: What tools answer in this test, by the name of a declared tool or `<server
                slug>.<tool>`; one with no entry answers an error.
            recorded_calls: What tools answer to certain arguments, at most 50 calls; the same call
                again gets the next answer, and after the last that one. Any other call answers
                `tool_results`.
            approves: True: the pretend user says yes to tools of the deployment’s MCP servers; any
                other yes is always declined.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`.
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
                "recorded_calls": recorded_calls,
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

        A model reads the version’s instructions and tools and invents them; the call is billed.
        Keep the good ones with `POST …/scenarios`.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            count: How many to draft, 1 to 10.
            version: The version to draft them for; absent: the newest.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `version_not_found`, `wallet_empty`, `org_cap_reached`,
        `model_error`, `model_unavailable`, `timeout`.
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
        """Read one scenario.

        What a test run plays, with what its tools answer.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.

        Fails with `deployment_not_found`.
        """
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
        recorded_calls: Sequence[params.DeploymentTestRecordedCallParam] | None = None,
        approves: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Change a scenario; fields left out stay.

        Runs that have begun keep what they began with. One that the file declares is changed there
        (409 `managed_by_file`).

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.
            name: What the test is called; unique within the deployment’s file.
            persona: Who the pretend user is and how they talk.
            goal: What the pretend user wants, in their own words.
            success_criteria: What must be true at the end, 1 to 12 lines; every one must be met.
            must_never: What must never happen, at most 12 lines; any one fails the test.
            tool_results: What tools answer in this test, by the name of a declared tool or `<server
                slug>.<tool>`; one with no entry answers an error.
            recorded_calls: What tools answer to certain arguments, at most 50 calls; the same call
                again gets the next answer, and after the last that one. Any other call answers
                `tool_results`.
            approves: True: the pretend user says yes to tools of the deployment’s MCP servers.

        Fails with `deployment_not_found`, `managed_by_file`.
        """
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
                "recorded_calls": recorded_calls,
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
        """Delete a scenario.

        Results of earlier runs stay. One that the file declares is removed there (409
        `managed_by_file`).

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.

        Fails with `deployment_not_found`, `managed_by_file`.
        """
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
        """List the scenarios of a deployment.

        Needs scope `setup`; newest first. Those that the file declares are among them.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
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
        recorded_calls: Sequence[params.DeploymentTestRecordedCallParam] | None = None,
        approves: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Add a scenario: a pretend user, a goal and what success means.

        It is played at the next test run. A tool with no entry in `tool_results` answers an error:
        a test never changes anything outside.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: What the test is called; unique within the deployment’s file.
            persona: Who the pretend user is and how they talk.
            goal: What the pretend user wants, in their own words.
            success_criteria: What must be true at the end, 1 to 12 lines; every one must be met.
            must_never: What must never happen, at most 12 lines; any one fails the test.
            tool_results: What tools answer in this test, by the name of a declared tool or `<server
                slug>.<tool>`; one with no entry answers an error.
            recorded_calls: What tools answer to certain arguments, at most 50 calls; the same call
                again gets the next answer, and after the last that one. Any other call answers
                `tool_results`.
            approves: True: the pretend user says yes to tools of the deployment’s MCP servers; any
                other yes is always declined.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`.
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
                "recorded_calls": recorded_calls,
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

        A model reads the version’s instructions and tools and invents them; the call is billed.
        Keep the good ones with `POST …/scenarios`.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            count: How many to draft, 1 to 10.
            version: The version to draft them for; absent: the newest.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `version_not_found`, `wallet_empty`, `org_cap_reached`,
        `model_error`, `model_unavailable`, `timeout`.
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
        """Read one scenario.

        What a test run plays, with what its tools answer.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.

        Fails with `deployment_not_found`.
        """
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
        recorded_calls: Sequence[params.DeploymentTestRecordedCallParam] | None = None,
        approves: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Scenario:
        """Change a scenario; fields left out stay.

        Runs that have begun keep what they began with. One that the file declares is changed there
        (409 `managed_by_file`).

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.
            name: What the test is called; unique within the deployment’s file.
            persona: Who the pretend user is and how they talk.
            goal: What the pretend user wants, in their own words.
            success_criteria: What must be true at the end, 1 to 12 lines; every one must be met.
            must_never: What must never happen, at most 12 lines; any one fails the test.
            tool_results: What tools answer in this test, by the name of a declared tool or `<server
                slug>.<tool>`; one with no entry answers an error.
            recorded_calls: What tools answer to certain arguments, at most 50 calls; the same call
                again gets the next answer, and after the last that one. Any other call answers
                `tool_results`.
            approves: True: the pretend user says yes to tools of the deployment’s MCP servers.

        Fails with `deployment_not_found`, `managed_by_file`.
        """
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
                "recorded_calls": recorded_calls,
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
        """Delete a scenario.

        Results of earlier runs stay. One that the file declares is removed there (409
        `managed_by_file`).

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            scenario_id: The id of a scenario, `scn_` and 24 characters.

        Fails with `deployment_not_found`, `managed_by_file`.
        """
        return await self._call(
            types.Deleted,
            "scenarios.delete",
            "DELETE",
            "/v1/deployments/{deployment_id}/scenarios/{scenario_id}",
            path={"deployment_id": deployment_id, "scenario_id": scenario_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


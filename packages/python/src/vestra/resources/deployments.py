"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, overload

from .. import params, types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Deployments(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Deployment]:
        """List the deployments.

        Needs scope `setup`; newest first, archived ones included. Both modes see the same
        deployments.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Deployment,
            "deployments.list",
            "GET",
            "/v1/deployments",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        name: str,
        slug: str | None = None,
        description: str | None = None,
        manifest: params.DeploymentManifestParam | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Create a deployment with a first draft version.

        For settings sent as JSON; to apply a whole file with its folders use `PUT`, the CLI or an
        SDK. Its first version is the draft that test keys run; nothing is live yet.

        Args:
            name: What people call it, 1 to 120 characters.
            slug: Its name in addresses; absent: made from `name`.
            description: What it is for, at most 2,000 characters; the agent card shows it.
            manifest: Settings of its first version; a key left out takes its default.
            note: A note on the version, at most 500 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`,
        `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`,
        `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `slug_taken`.
        """
        return self._call(
            types.Deployment,
            "deployments.create",
            "POST",
            "/v1/deployments",
            body={
                "name": name,
                "slug": slug,
                "description": description,
                "manifest": manifest,
                "note": note,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    def get(
        self,
        deployment_id: str,
        *,
        format: Literal["yaml"],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str: ...

    @overload
    def get(
        self,
        deployment_id: str,
        *,
        format: Literal["json"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment: ...

    def get(
        self,
        deployment_id: str,
        *,
        format: Literal["json", "yaml"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Read one deployment, or its newest version as a deployment file in YAML.

        With `format=yaml` the answer is `application/yaml`, a file that changes nothing when it is
        applied again.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            format: `yaml` answers the newest version as a deployment file.

        Fails with `deployment_not_found`.
        """
        return self._streamable(
            types.Deployment,
            "deployments.get",
            "GET",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"format": format},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def put(
        self,
        deployment_id: str,
        *,
        name: str,
        promote: Literal["after_tests", "now", "no"] | None = None,
        expected_version: int | None = None,
        instructions: str | None = None,
        language: str | None = None,
        model: str | None = None,
        apps: Sequence[str] | Literal["all"] | None = None,
        approvals: Sequence[Literal["payment", "booking", "cancellation", "send_email", "publish", "delete"]] | None = None,
        limits: params.DeploymentManifestLimitsParam | None = None,
        tools: Sequence[params.DeploymentToolByMcpParam | params.DeploymentManifestToolParam] | None = None,
        skills: str | Sequence[str | params.DeploymentManifestSkillByIdParam | params.DeploymentManifestSkillByNameParam] | None = None,
        knowledge: str | Sequence[str | params.DeploymentKnowledgeParam] | None = None,
        memory: Literal["vestra", "customer", "none"] | None = None,
        computer: params.DeploymentManifestEnvironmentParam | None = None,
        browser: params.DeploymentManifestBrowserParam | None = None,
        routines: Sequence[params.DeploymentRoutineParam] | None = None,
        tests: Sequence[params.DeploymentTestParam] | None = None,
        webhooks: Sequence[params.DeploymentWebhookParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppliedDeployment:
        """Apply a deployment file; the first call for a name creates the deployment.

        Send the file as JSON; its `name` must equal the path. Registers MCP servers, replaces the
        file’s tests, routines and webhooks, and saves a version where something changed. Local
        folders cannot be read over HTTP: the CLI and the SDKs upload them first. All faults of the
        file come together in `errors`.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: The deployment’s name in addresses: lowercase letters, digits and dashes, at most
                63.
            promote: `after_tests`: it runs once the file’s tests pass; `now`: at once; `no`: it is
                only saved.
            expected_version: The `newest_version` that the file was written from, 0 for a
                deployment that is not there yet. Where another is the newest by then, nothing is
                applied (409 `deployment_changed`).
            instructions: What the agent is, does and must not do, in your own words; at most 8,000
                characters.
            language: A language tag such as `en`, `hi` or `pt-BR` that it answers in, or `auto` to
                follow each user.
            model: A model id of `GET /v1/models`, or `default` for the one that the server is set
                to.
            apps: Which apps users may connect: `all`, or the ids of `GET /v1/apps`.
            approvals: Which kinds of action are marked and worded as such when a yes is asked for.
            limits: Where work and replies are stopped, in money, steps and minutes.
            tools: MCP servers, each with `mcp`, and functions of your own code, each with
                `function`; at most 50.
            skills: A folder of skills, or a list of folders, of skills by `id`, and of built-in
                ones by `name`.
            knowledge: A folder or file to read from, or a list of paths and of notebooks by
                `notebook`.
            memory: Who keeps what is learnt of users: the service as `vestra`, your own endpoint as
                `customer`, nobody as `none`; absent: as the org has it.
            computer: How the agent’s computer is prepared before its first task.
            browser: Which sites the user’s browser may open; absent: a fetch opens nothing, and no
                page is closed to the agent.
            routines: What the agent does by itself on a schedule or on a call; they belong to this
                file.
            tests: Scenarios that are played before a version goes live; they belong to this file.
            webhooks: Addresses that hear this deployment’s events; they belong to this file.

        Fails with `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`,
        `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`,
        `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `auth_twice`,
        `invalid_schedule`, `invalid_trigger`, `invalid_user_timezone`, `name_mismatch`,
        `path_not_resolved`, `schedule_too_frequent`, `schedule_unreadable`, `secret_in_url`,
        `deployment_not_found`, `deployment_archived`, `deployment_changed`, `mcp_server_live`,
        `mcp_server_shared`.
        """
        return self._call(
            types.AppliedDeployment,
            "deployments.put",
            "PUT",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"promote": promote, "expected_version": expected_version},
            body={
                "name": name,
                "instructions": instructions,
                "language": language,
                "model": model,
                "apps": apps,
                "approvals": approvals,
                "limits": limits,
                "tools": tools,
                "skills": skills,
                "knowledge": knowledge,
                "memory": memory,
                "computer": computer,
                "browser": browser,
                "routines": routines,
                "tests": tests,
                "webhooks": webhooks,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        deployment_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Change the name or description, which the agent card shows too; needs a live key once a
        version is live.

        Settings are not changed here but by a new version.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: What people call it from now on; the slug stays.
            description: What it is for; an empty text clears it.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return self._call(
            types.Deployment,
            "deployments.update",
            "PATCH",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            body={"name": name, "description": description},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list_versions(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.DeploymentVersion]:
        """List the versions of a deployment, newest first.

        Each says what it changed, who saved it and how its tests went.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.DeploymentVersion,
            "deployments.listVersions",
            "GET",
            "/v1/deployments/{deployment_id}/versions",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get_version(
        self,
        deployment_id: str,
        version: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeploymentVersion:
        """Read one version of a deployment.

        A version never changes; its `manifest` can be sent to create another deployment.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: A version of the deployment: a whole number from 1.

        Fails with `deployment_not_found`.
        """
        return self._call(
            types.DeploymentVersion,
            "deployments.getVersion",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}",
            path={"deployment_id": deployment_id, "version": version},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def content_changes(
        self,
        deployment_id: str,
        version: str,
        *,
        from_: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ContentChanges:
        """Compare the documents and the files of skills of two versions.

        What `manifest` does not show: the texts that each version fixes. At most 500 changes, with
        about 1 MB of text; what is beyond is counted, or listed without its text.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: A version of the deployment: a whole number from 1.
            from_: The version to compare with; absent: the one before, and for version 1 nothing.

        Fails with `deployment_not_found`, `version_not_found`.
        """
        return self._call(
            types.ContentChanges,
            "deployments.contentChanges",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}/content-changes",
            path={"deployment_id": deployment_id, "version": version},
            query={"from": from_},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def promote(
        self,
        deployment_id: str,
        *,
        version: int | None = None,
        when: Literal["now", "after_tests"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PromotedDeployment:
        """Let a version become the one that the key’s mode runs, at once or when its tests pass.

        With a live key live users get it from their next message on; with a test key the draft
        moves to it. Secrets, notebooks and skills that it needs are checked first. `after_tests`
        answers at once and promotes when the run has passed.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: Which version, older ones included; absent: the newest.
            when: `now`: at once; `after_tests`: when its scenarios have passed.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `version_not_found`, `deployment_archived`,
        `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`.
        """
        return self._call(
            types.PromotedDeployment,
            "deployments.promote",
            "POST",
            "/v1/deployments/{deployment_id}/promote",
            path={"deployment_id": deployment_id},
            body={"version": version, "when": when},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def rollback(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RolledBackDeployment:
        """Make the version that was live before live again at once; needs a live key.

        Promotions form a stack: calling it again goes one further back.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `live_key_required`, `deployment_not_found`, `deployment_archived`,
        `nothing_to_roll_back`, `version_incomplete`, `invalid_manifest`, `secret_missing`,
        `memory_endpoint_required`.
        """
        return self._call(
            types.RolledBackDeployment,
            "deployments.rollback",
            "POST",
            "/v1/deployments/{deployment_id}/rollback",
            path={"deployment_id": deployment_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def archive(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Put a deployment away: no new conversation or version reaches it.

        Conversations that are going on are refused further messages. Needs a live key once a
        version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return self._call(
            types.Deployment,
            "deployments.archive",
            "POST",
            "/v1/deployments/{deployment_id}/archive",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def unarchive(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Bring an archived deployment back.

        Its pointers are as they were. Needs a live key once a version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return self._call(
            types.Deployment,
            "deployments.unarchive",
            "POST",
            "/v1/deployments/{deployment_id}/unarchive",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a deployment of which no version is live.

        Versions, scenarios and test runs go with it; conversations, usage and the audit log stay.
        Refused with `deployment_live` while a version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_live`.
        """
        return self._call(
            types.Deleted,
            "deployments.delete",
            "DELETE",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def interview(
        self,
        *,
        deployment: str | None = None,
        describe: str | None = None,
        conversation: str | None = None,
        answer: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interview:
        """Describe a job and answer a few questions; the answer carries the deployment file so far.

        201 begins, 200 goes on; five to eight questions at most. Nothing is saved: apply the file
        once it is `ready`.

        Args:
            deployment: The name that the new deployment will have; to begin.
            describe: The job, in your own words; to begin.
            conversation: The `conversation_id` of the answer before; to go on.
            answer: The answer to the last question; to go on.
            idempotency_key: Made by the client where none is given.

        Fails with `describe_or_answer`, `invalid_conversation_id`, `wallet_empty`,
        `org_cap_reached`, `conversation_not_found`, `deployment_archived`, `slug_taken`,
        `model_error`, `model_unavailable`, `timeout`.
        """
        return self._call(
            types.Interview,
            "deployments.interview",
            "POST",
            "/v1/deployments/interview",
            body={
                "deployment": deployment,
                "describe": describe,
                "conversation": conversation,
                "answer": answer,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncDeployments(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Deployment]:
        """List the deployments.

        Needs scope `setup`; newest first, archived ones included. Both modes see the same
        deployments.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Deployment,
            "deployments.list",
            "GET",
            "/v1/deployments",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        name: str,
        slug: str | None = None,
        description: str | None = None,
        manifest: params.DeploymentManifestParam | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Create a deployment with a first draft version.

        For settings sent as JSON; to apply a whole file with its folders use `PUT`, the CLI or an
        SDK. Its first version is the draft that test keys run; nothing is live yet.

        Args:
            name: What people call it, 1 to 120 characters.
            slug: Its name in addresses; absent: made from `name`.
            description: What it is for, at most 2,000 characters; the agent card shows it.
            manifest: Settings of its first version; a key left out takes its default.
            note: A note on the version, at most 500 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`,
        `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`,
        `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `slug_taken`.
        """
        return await self._call(
            types.Deployment,
            "deployments.create",
            "POST",
            "/v1/deployments",
            body={
                "name": name,
                "slug": slug,
                "description": description,
                "manifest": manifest,
                "note": note,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    @overload
    async def get(
        self,
        deployment_id: str,
        *,
        format: Literal["yaml"],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> str: ...

    @overload
    async def get(
        self,
        deployment_id: str,
        *,
        format: Literal["json"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment: ...

    async def get(
        self,
        deployment_id: str,
        *,
        format: Literal["json", "yaml"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Read one deployment, or its newest version as a deployment file in YAML.

        With `format=yaml` the answer is `application/yaml`, a file that changes nothing when it is
        applied again.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            format: `yaml` answers the newest version as a deployment file.

        Fails with `deployment_not_found`.
        """
        return await self._streamable(
            types.Deployment,
            "deployments.get",
            "GET",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"format": format},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def put(
        self,
        deployment_id: str,
        *,
        name: str,
        promote: Literal["after_tests", "now", "no"] | None = None,
        expected_version: int | None = None,
        instructions: str | None = None,
        language: str | None = None,
        model: str | None = None,
        apps: Sequence[str] | Literal["all"] | None = None,
        approvals: Sequence[Literal["payment", "booking", "cancellation", "send_email", "publish", "delete"]] | None = None,
        limits: params.DeploymentManifestLimitsParam | None = None,
        tools: Sequence[params.DeploymentToolByMcpParam | params.DeploymentManifestToolParam] | None = None,
        skills: str | Sequence[str | params.DeploymentManifestSkillByIdParam | params.DeploymentManifestSkillByNameParam] | None = None,
        knowledge: str | Sequence[str | params.DeploymentKnowledgeParam] | None = None,
        memory: Literal["vestra", "customer", "none"] | None = None,
        computer: params.DeploymentManifestEnvironmentParam | None = None,
        browser: params.DeploymentManifestBrowserParam | None = None,
        routines: Sequence[params.DeploymentRoutineParam] | None = None,
        tests: Sequence[params.DeploymentTestParam] | None = None,
        webhooks: Sequence[params.DeploymentWebhookParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.AppliedDeployment:
        """Apply a deployment file; the first call for a name creates the deployment.

        Send the file as JSON; its `name` must equal the path. Registers MCP servers, replaces the
        file’s tests, routines and webhooks, and saves a version where something changed. Local
        folders cannot be read over HTTP: the CLI and the SDKs upload them first. All faults of the
        file come together in `errors`.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: The deployment’s name in addresses: lowercase letters, digits and dashes, at most
                63.
            promote: `after_tests`: it runs once the file’s tests pass; `now`: at once; `no`: it is
                only saved.
            expected_version: The `newest_version` that the file was written from, 0 for a
                deployment that is not there yet. Where another is the newest by then, nothing is
                applied (409 `deployment_changed`).
            instructions: What the agent is, does and must not do, in your own words; at most 8,000
                characters.
            language: A language tag such as `en`, `hi` or `pt-BR` that it answers in, or `auto` to
                follow each user.
            model: A model id of `GET /v1/models`, or `default` for the one that the server is set
                to.
            apps: Which apps users may connect: `all`, or the ids of `GET /v1/apps`.
            approvals: Which kinds of action are marked and worded as such when a yes is asked for.
            limits: Where work and replies are stopped, in money, steps and minutes.
            tools: MCP servers, each with `mcp`, and functions of your own code, each with
                `function`; at most 50.
            skills: A folder of skills, or a list of folders, of skills by `id`, and of built-in
                ones by `name`.
            knowledge: A folder or file to read from, or a list of paths and of notebooks by
                `notebook`.
            memory: Who keeps what is learnt of users: the service as `vestra`, your own endpoint as
                `customer`, nobody as `none`; absent: as the org has it.
            computer: How the agent’s computer is prepared before its first task.
            browser: Which sites the user’s browser may open; absent: a fetch opens nothing, and no
                page is closed to the agent.
            routines: What the agent does by itself on a schedule or on a call; they belong to this
                file.
            tests: Scenarios that are played before a version goes live; they belong to this file.
            webhooks: Addresses that hear this deployment’s events; they belong to this file.

        Fails with `invalid_manifest`, `invalid_language`, `invalid_repo`, `invalid_tool_input`,
        `duplicate_name`, `memory_endpoint_required`, `mcp_server_not_listed`,
        `raw_secret_in_header`, `secret_missing`, `tool_name_reserved`, `auth_twice`,
        `invalid_schedule`, `invalid_trigger`, `invalid_user_timezone`, `name_mismatch`,
        `path_not_resolved`, `schedule_too_frequent`, `schedule_unreadable`, `secret_in_url`,
        `deployment_not_found`, `deployment_archived`, `deployment_changed`, `mcp_server_live`,
        `mcp_server_shared`.
        """
        return await self._call(
            types.AppliedDeployment,
            "deployments.put",
            "PUT",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"promote": promote, "expected_version": expected_version},
            body={
                "name": name,
                "instructions": instructions,
                "language": language,
                "model": model,
                "apps": apps,
                "approvals": approvals,
                "limits": limits,
                "tools": tools,
                "skills": skills,
                "knowledge": knowledge,
                "memory": memory,
                "computer": computer,
                "browser": browser,
                "routines": routines,
                "tests": tests,
                "webhooks": webhooks,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        deployment_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Change the name or description, which the agent card shows too; needs a live key once a
        version is live.

        Settings are not changed here but by a new version.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            name: What people call it from now on; the slug stays.
            description: What it is for; an empty text clears it.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return await self._call(
            types.Deployment,
            "deployments.update",
            "PATCH",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            body={"name": name, "description": description},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list_versions(
        self,
        deployment_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.DeploymentVersion]:
        """List the versions of a deployment, newest first.

        Each says what it changed, who saved it and how its tests went.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.DeploymentVersion,
            "deployments.listVersions",
            "GET",
            "/v1/deployments/{deployment_id}/versions",
            path={"deployment_id": deployment_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get_version(
        self,
        deployment_id: str,
        version: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeploymentVersion:
        """Read one version of a deployment.

        A version never changes; its `manifest` can be sent to create another deployment.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: A version of the deployment: a whole number from 1.

        Fails with `deployment_not_found`.
        """
        return await self._call(
            types.DeploymentVersion,
            "deployments.getVersion",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}",
            path={"deployment_id": deployment_id, "version": version},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def content_changes(
        self,
        deployment_id: str,
        version: str,
        *,
        from_: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ContentChanges:
        """Compare the documents and the files of skills of two versions.

        What `manifest` does not show: the texts that each version fixes. At most 500 changes, with
        about 1 MB of text; what is beyond is counted, or listed without its text.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: A version of the deployment: a whole number from 1.
            from_: The version to compare with; absent: the one before, and for version 1 nothing.

        Fails with `deployment_not_found`, `version_not_found`.
        """
        return await self._call(
            types.ContentChanges,
            "deployments.contentChanges",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}/content-changes",
            path={"deployment_id": deployment_id, "version": version},
            query={"from": from_},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def promote(
        self,
        deployment_id: str,
        *,
        version: int | None = None,
        when: Literal["now", "after_tests"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PromotedDeployment:
        """Let a version become the one that the key’s mode runs, at once or when its tests pass.

        With a live key live users get it from their next message on; with a test key the draft
        moves to it. Secrets, notebooks and skills that it needs are checked first. `after_tests`
        answers at once and promotes when the run has passed.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            version: Which version, older ones included; absent: the newest.
            when: `now`: at once; `after_tests`: when its scenarios have passed.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `version_not_found`, `deployment_archived`,
        `version_incomplete`, `invalid_manifest`, `secret_missing`, `memory_endpoint_required`.
        """
        return await self._call(
            types.PromotedDeployment,
            "deployments.promote",
            "POST",
            "/v1/deployments/{deployment_id}/promote",
            path={"deployment_id": deployment_id},
            body={"version": version, "when": when},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def rollback(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RolledBackDeployment:
        """Make the version that was live before live again at once; needs a live key.

        Promotions form a stack: calling it again goes one further back.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `live_key_required`, `deployment_not_found`, `deployment_archived`,
        `nothing_to_roll_back`, `version_incomplete`, `invalid_manifest`, `secret_missing`,
        `memory_endpoint_required`.
        """
        return await self._call(
            types.RolledBackDeployment,
            "deployments.rollback",
            "POST",
            "/v1/deployments/{deployment_id}/rollback",
            path={"deployment_id": deployment_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def archive(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Put a deployment away: no new conversation or version reaches it.

        Conversations that are going on are refused further messages. Needs a live key once a
        version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return await self._call(
            types.Deployment,
            "deployments.archive",
            "POST",
            "/v1/deployments/{deployment_id}/archive",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def unarchive(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deployment:
        """Bring an archived deployment back.

        Its pointers are as they were. Needs a live key once a version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `live_key_required`.
        """
        return await self._call(
            types.Deployment,
            "deployments.unarchive",
            "POST",
            "/v1/deployments/{deployment_id}/unarchive",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a deployment of which no version is live.

        Versions, scenarios and test runs go with it; conversations, usage and the audit log stay.
        Refused with `deployment_live` while a version is live.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_live`.
        """
        return await self._call(
            types.Deleted,
            "deployments.delete",
            "DELETE",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def interview(
        self,
        *,
        deployment: str | None = None,
        describe: str | None = None,
        conversation: str | None = None,
        answer: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Interview:
        """Describe a job and answer a few questions; the answer carries the deployment file so far.

        201 begins, 200 goes on; five to eight questions at most. Nothing is saved: apply the file
        once it is `ready`.

        Args:
            deployment: The name that the new deployment will have; to begin.
            describe: The job, in your own words; to begin.
            conversation: The `conversation_id` of the answer before; to go on.
            answer: The answer to the last question; to go on.
            idempotency_key: Made by the client where none is given.

        Fails with `describe_or_answer`, `invalid_conversation_id`, `wallet_empty`,
        `org_cap_reached`, `conversation_not_found`, `deployment_archived`, `slug_taken`,
        `model_error`, `model_unavailable`, `timeout`.
        """
        return await self._call(
            types.Interview,
            "deployments.interview",
            "POST",
            "/v1/deployments/interview",
            body={
                "deployment": deployment,
                "describe": describe,
                "conversation": conversation,
                "answer": answer,
            },
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )


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
        """List the deployments."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Read one deployment, or its newest version as a deployment file in YAML."""
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
        """Apply a deployment file; the first call for a name creates the deployment."""
        return self._call(
            types.AppliedDeployment,
            "deployments.put",
            "PUT",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"promote": promote},
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
        """List the versions of a deployment, newest first."""
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
        """Read one version of a deployment."""
        return self._call(
            types.DeploymentVersion,
            "deployments.getVersion",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}",
            path={"deployment_id": deployment_id, "version": version},
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

        Args:
            idempotency_key: Made by the client where none is given.
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Put a deployment away: no new conversation or version reaches it."""
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
        """Bring an archived deployment back."""
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
        """Delete a deployment of which no version is live."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """List the deployments."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Read one deployment, or its newest version as a deployment file in YAML."""
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
        """Apply a deployment file; the first call for a name creates the deployment."""
        return await self._call(
            types.AppliedDeployment,
            "deployments.put",
            "PUT",
            "/v1/deployments/{deployment_id}",
            path={"deployment_id": deployment_id},
            query={"promote": promote},
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
        """List the versions of a deployment, newest first."""
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
        """Read one version of a deployment."""
        return await self._call(
            types.DeploymentVersion,
            "deployments.getVersion",
            "GET",
            "/v1/deployments/{deployment_id}/versions/{version}",
            path={"deployment_id": deployment_id, "version": version},
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

        Args:
            idempotency_key: Made by the client where none is given.
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

        Args:
            idempotency_key: Made by the client where none is given.
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
        """Put a deployment away: no new conversation or version reaches it."""
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
        """Bring an archived deployment back."""
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
        """Delete a deployment of which no version is live."""
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

        Args:
            idempotency_key: Made by the client where none is given.
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


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import params, types
from .._files import FileInput
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Skills(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        source: Literal["company", "built_in"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Skill]:
        """List the org’s skills, or the built-in ones."""
        return self._page(
            types.Skill,
            "skills.list",
            "GET",
            "/v1/skills",
            query={"limit": limit, "cursor": cursor, "source": source},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        slug: str | None = None,
        file: FileInput | None = None,
        zip: FileInput | None = None,
        files: Sequence[params.SkillFileParam] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Skill:
        """Upload a skill: its files as JSON, a zip, or one multipart part `file` that is a zip.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.Skill,
            "skills.create",
            "POST",
            "/v1/skills",
            query={"slug": slug},
            body={"file": file, "zip": zip, "files": files},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        skill_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SkillWithFiles:
        """Read one skill with its files: the org’s by its id, a built-in one by its name."""
        return self._call(
            types.SkillWithFiles,
            "skills.get",
            "GET",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def replace(
        self,
        skill_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        file: FileInput | None = None,
        zip: FileInput | None = None,
        files: Sequence[params.SkillFileParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Skill:
        """Replace a skill’s files; files that differ make a new version.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
        """
        return self._call(
            types.Skill,
            "skills.replace",
            "PUT",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            query={"promote": promote},
            body={"file": file, "zip": zip, "files": files},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        skill_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a skill; it goes from every user."""
        return self._call(
            types.Deleted,
            "skills.delete",
            "DELETE",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def versions(
        self,
        skill_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.SkillVersion]:
        """List the versions of a skill, newest first."""
        return self._page(
            types.SkillVersion,
            "skills.versions",
            "GET",
            "/v1/skills/{skill_id}/versions",
            path={"skill_id": skill_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncSkills(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        source: Literal["company", "built_in"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Skill]:
        """List the org’s skills, or the built-in ones."""
        return self._page(
            types.Skill,
            "skills.list",
            "GET",
            "/v1/skills",
            query={"limit": limit, "cursor": cursor, "source": source},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        slug: str | None = None,
        file: FileInput | None = None,
        zip: FileInput | None = None,
        files: Sequence[params.SkillFileParam] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Skill:
        """Upload a skill: its files as JSON, a zip, or one multipart part `file` that is a zip.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.Skill,
            "skills.create",
            "POST",
            "/v1/skills",
            query={"slug": slug},
            body={"file": file, "zip": zip, "files": files},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        skill_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SkillWithFiles:
        """Read one skill with its files: the org’s by its id, a built-in one by its name."""
        return await self._call(
            types.SkillWithFiles,
            "skills.get",
            "GET",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def replace(
        self,
        skill_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        file: FileInput | None = None,
        zip: FileInput | None = None,
        files: Sequence[params.SkillFileParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Skill:
        """Replace a skill’s files; files that differ make a new version.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
        """
        return await self._call(
            types.Skill,
            "skills.replace",
            "PUT",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            query={"promote": promote},
            body={"file": file, "zip": zip, "files": files},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        skill_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a skill; it goes from every user."""
        return await self._call(
            types.Deleted,
            "skills.delete",
            "DELETE",
            "/v1/skills/{skill_id}",
            path={"skill_id": skill_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def versions(
        self,
        skill_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.SkillVersion]:
        """List the versions of a skill, newest first."""
        return self._page(
            types.SkillVersion,
            "skills.versions",
            "GET",
            "/v1/skills/{skill_id}/versions",
            path={"skill_id": skill_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )


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
        """List the org’s skills, or the built-in ones.

        Needs scope `setup`; newest first, without files.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
            source: `company`: the org’s own; `built_in`: those that come with the service.
        """
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

        The frontmatter of `SKILL.md` gives `name` and `description`. Name its id in `skills` of a
        deployment; text files only.

        Args:
            slug: Its name in deployments; absent: the name in `SKILL.md`. With one of its own it
                may share that name with another skill.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            files: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`,
        `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`.
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
        """Read one skill with its files: the org’s by its id, a built-in one by its name.

        Built-in ones can be read to copy from.

        Args:
            skill_id: The id of a skill of the org, or the name of a built-in one.
        """
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

        Send all files, not only those that changed. With a test key live users see it after the
        next promotion.

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            files: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.

        Fails with `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`,
        `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`.
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
        """Delete a skill; it goes from every user.

        Versions that use it do not run again. One that is live needs a live key (409 `skill_live`).

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.

        Fails with `skill_live`.
        """
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
        """List the versions of a skill, newest first.

        Each names the one before it, so that history can be followed.

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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
        """List the org’s skills, or the built-in ones.

        Needs scope `setup`; newest first, without files.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
            source: `company`: the org’s own; `built_in`: those that come with the service.
        """
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

        The frontmatter of `SKILL.md` gives `name` and `description`. Name its id in `skills` of a
        deployment; text files only.

        Args:
            slug: Its name in deployments; absent: the name in `SKILL.md`. With one of its own it
                may share that name with another skill.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            files: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`,
        `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`.
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
        """Read one skill with its files: the org’s by its id, a built-in one by its name.

        Built-in ones can be read to copy from.

        Args:
            skill_id: The id of a skill of the org, or the name of a built-in one.
        """
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

        Send all files, not only those that changed. With a test key live users see it after the
        next promotion.

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            zip: The folder as a zip.
            files: 1 to 200 text files of at most 5 MB together, a `SKILL.md` at the top among them.

        Fails with `slug_taken`, `binary_file`, `bundle_too_large`, `duplicate_path`,
        `file_required`, `file_too_large`, `invalid_frontmatter`, `invalid_skill`, `invalid_zip`.
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
        """Delete a skill; it goes from every user.

        Versions that use it do not run again. One that is live needs a live key (409 `skill_live`).

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.

        Fails with `skill_live`.
        """
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
        """List the versions of a skill, newest first.

        Each names the one before it, so that history can be followed.

        Args:
            skill_id: The id of a skill of the org, `skl_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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


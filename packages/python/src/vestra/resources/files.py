"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import types
from .._files import FileInput
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Files(Group):
    def list(
        self,
        *,
        user_id: str | None = None,
        task_id: str | None = None,
        conversation_id: str | None = None,
        source: Literal["upload", "output"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.File]:
        """List files: the outputs of a task or conversation, else uploads.

        Needs scope `runtime`; newest first. What a tool answered with is in no list: the trace
        shows it.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            task_id: Only outputs of this piece of work.
            conversation_id: Only outputs of this conversation.
            source: Uploads or outputs; absent: outputs where a task or conversation is named, else
                uploads.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_task_id`, `invalid_conversation_id`.
        """
        return self._page(
            types.File,
            "files.list",
            "GET",
            "/v1/files",
            query={
                "user_id": user_id,
                "task_id": task_id,
                "conversation_id": conversation_id,
                "source": source,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        file: FileInput,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.File:
        """Upload a file of at most 10 MB.

        multipart/form-data with one part `file`. Name its id in `attachments` of a message of the
        same user. A session token with `chat` uploads for its own user.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            user_id: Whose file it will be; absent: the org’s own agent, unless the org requires a
                user.
            idempotency_key: Made by the client where none is given.

        Fails with `file_required`, `multipart_required`, `invalid_filename`, `file_too_large`,
        `user_required`, `user_disabled`.
        """
        return self._call(
            types.File,
            "files.create",
            "POST",
            "/v1/files",
            query={"user_id": user_id},
            body={"file": file},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        file_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FileWithDownloadUrl:
        """Show a file with a download link that works for 15 minutes.

        Read it again for a fresh link once the old one is over. A session token sees files of its
        own conversation and user.

        Args:
            file_id: The id of a file, `file_` and 24 characters.
        """
        return self._call(
            types.FileWithDownloadUrl,
            "files.get",
            "GET",
            "/v1/files/{file_id}",
            path={"file_id": file_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        file_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a file.

        The bytes go too. Messages that named it keep its id.

        Args:
            file_id: The id of a file, `file_` and 24 characters.
        """
        return self._call(
            types.Deleted,
            "files.delete",
            "DELETE",
            "/v1/files/{file_id}",
            path={"file_id": file_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncFiles(AsyncGroup):
    def list(
        self,
        *,
        user_id: str | None = None,
        task_id: str | None = None,
        conversation_id: str | None = None,
        source: Literal["upload", "output"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.File]:
        """List files: the outputs of a task or conversation, else uploads.

        Needs scope `runtime`; newest first. What a tool answered with is in no list: the trace
        shows it.

        Args:
            user_id: Only this user’s; absent: everybody’s.
            task_id: Only outputs of this piece of work.
            conversation_id: Only outputs of this conversation.
            source: Uploads or outputs; absent: outputs where a task or conversation is named, else
                uploads.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `invalid_task_id`, `invalid_conversation_id`.
        """
        return self._page(
            types.File,
            "files.list",
            "GET",
            "/v1/files",
            query={
                "user_id": user_id,
                "task_id": task_id,
                "conversation_id": conversation_id,
                "source": source,
                "limit": limit,
                "cursor": cursor,
            },
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        file: FileInput,
        user_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.File:
        """Upload a file of at most 10 MB.

        multipart/form-data with one part `file`. Name its id in `attachments` of a message of the
        same user. A session token with `chat` uploads for its own user.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            user_id: Whose file it will be; absent: the org’s own agent, unless the org requires a
                user.
            idempotency_key: Made by the client where none is given.

        Fails with `file_required`, `multipart_required`, `invalid_filename`, `file_too_large`,
        `user_required`, `user_disabled`.
        """
        return await self._call(
            types.File,
            "files.create",
            "POST",
            "/v1/files",
            query={"user_id": user_id},
            body={"file": file},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        file_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FileWithDownloadUrl:
        """Show a file with a download link that works for 15 minutes.

        Read it again for a fresh link once the old one is over. A session token sees files of its
        own conversation and user.

        Args:
            file_id: The id of a file, `file_` and 24 characters.
        """
        return await self._call(
            types.FileWithDownloadUrl,
            "files.get",
            "GET",
            "/v1/files/{file_id}",
            path={"file_id": file_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        file_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a file.

        The bytes go too. Messages that named it keep its id.

        Args:
            file_id: The id of a file, `file_` and 24 characters.
        """
        return await self._call(
            types.Deleted,
            "files.delete",
            "DELETE",
            "/v1/files/{file_id}",
            path={"file_id": file_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


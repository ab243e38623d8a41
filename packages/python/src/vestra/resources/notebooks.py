"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import params, types
from .._files import FileInput
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Notebooks(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Notebook]:
        """List the notebooks."""
        return self._page(
            types.Notebook,
            "notebooks.list",
            "GET",
            "/v1/notebooks",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create(
        self,
        *,
        name: str,
        slug: str,
        description: str | None = None,
        access: params.NotebookAccessAllParam | params.NotebookAccessUsersParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Create a notebook for documents the agent reads before it answers.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.Notebook,
            "notebooks.create",
            "POST",
            "/v1/notebooks",
            body={"name": name, "slug": slug, "description": description, "access": access},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        notebook_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Read one notebook."""
        return self._call(
            types.Notebook,
            "notebooks.get",
            "GET",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        notebook_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        access: params.NotebookAccessAllParam | params.NotebookAccessUsersParam | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Change a notebook’s name, description or readers; fields left out stay."""
        return self._call(
            types.Notebook,
            "notebooks.update",
            "PATCH",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            body={"name": name, "description": description, "access": access},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        notebook_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a notebook and its documents."""
        return self._call(
            types.Deleted,
            "notebooks.delete",
            "DELETE",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list_documents(
        self,
        notebook_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Document]:
        """List the documents of a notebook."""
        return self._page(
            types.Document,
            "notebooks.listDocuments",
            "GET",
            "/v1/notebooks/{notebook_id}/documents",
            path={"notebook_id": notebook_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create_document(
        self,
        notebook_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        file: FileInput | None = None,
        title: str | None = None,
        text: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Document:
        """Add a document: title and text as JSON, or a multipart part `file` (text, CSV, JSON, YAML,
        XML, source code, Markdown, HTML, PDF, DOCX, XLSX, PPTX) with or without `title`.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.Document,
            "notebooks.createDocument",
            "POST",
            "/v1/notebooks/{notebook_id}/documents",
            path={"notebook_id": notebook_id},
            query={"promote": promote},
            body={"file": file, "title": title, "text": text},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get_document(
        self,
        notebook_id: str,
        document_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DocumentWithText:
        """Read one document with its text."""
        return self._call(
            types.DocumentWithText,
            "notebooks.getDocument",
            "GET",
            "/v1/notebooks/{notebook_id}/documents/{document_id}",
            path={"notebook_id": notebook_id, "document_id": document_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete_document(
        self,
        notebook_id: str,
        document_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a document; versions that were saved with it keep it."""
        return self._call(
            types.Deleted,
            "notebooks.deleteDocument",
            "DELETE",
            "/v1/notebooks/{notebook_id}/documents/{document_id}",
            path={"notebook_id": notebook_id, "document_id": document_id},
            query={"promote": promote},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncNotebooks(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Notebook]:
        """List the notebooks."""
        return self._page(
            types.Notebook,
            "notebooks.list",
            "GET",
            "/v1/notebooks",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create(
        self,
        *,
        name: str,
        slug: str,
        description: str | None = None,
        access: params.NotebookAccessAllParam | params.NotebookAccessUsersParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Create a notebook for documents the agent reads before it answers.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.Notebook,
            "notebooks.create",
            "POST",
            "/v1/notebooks",
            body={"name": name, "slug": slug, "description": description, "access": access},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        notebook_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Read one notebook."""
        return await self._call(
            types.Notebook,
            "notebooks.get",
            "GET",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        notebook_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        access: params.NotebookAccessAllParam | params.NotebookAccessUsersParam | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Notebook:
        """Change a notebook’s name, description or readers; fields left out stay."""
        return await self._call(
            types.Notebook,
            "notebooks.update",
            "PATCH",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            body={"name": name, "description": description, "access": access},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        notebook_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a notebook and its documents."""
        return await self._call(
            types.Deleted,
            "notebooks.delete",
            "DELETE",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list_documents(
        self,
        notebook_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Document]:
        """List the documents of a notebook."""
        return self._page(
            types.Document,
            "notebooks.listDocuments",
            "GET",
            "/v1/notebooks/{notebook_id}/documents",
            path={"notebook_id": notebook_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create_document(
        self,
        notebook_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        file: FileInput | None = None,
        title: str | None = None,
        text: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Document:
        """Add a document: title and text as JSON, or a multipart part `file` (text, CSV, JSON, YAML,
        XML, source code, Markdown, HTML, PDF, DOCX, XLSX, PPTX) with or without `title`.

        Args:
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.Document,
            "notebooks.createDocument",
            "POST",
            "/v1/notebooks/{notebook_id}/documents",
            path={"notebook_id": notebook_id},
            query={"promote": promote},
            body={"file": file, "title": title, "text": text},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get_document(
        self,
        notebook_id: str,
        document_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DocumentWithText:
        """Read one document with its text."""
        return await self._call(
            types.DocumentWithText,
            "notebooks.getDocument",
            "GET",
            "/v1/notebooks/{notebook_id}/documents/{document_id}",
            path={"notebook_id": notebook_id, "document_id": document_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete_document(
        self,
        notebook_id: str,
        document_id: str,
        *,
        promote: Literal["now", "no"] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Delete a document; versions that were saved with it keep it."""
        return await self._call(
            types.Deleted,
            "notebooks.deleteDocument",
            "DELETE",
            "/v1/notebooks/{notebook_id}/documents/{document_id}",
            path={"notebook_id": notebook_id, "document_id": document_id},
            query={"promote": promote},
            timeout=timeout,
            extra_headers=extra_headers,
        )


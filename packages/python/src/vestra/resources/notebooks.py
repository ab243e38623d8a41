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
        """List the notebooks.

        Needs scope `setup`; newest first. Both modes see the same notebooks.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        Name its id in `knowledge` of a file or `notebooks` of a manifest; until a version does, no
        agent reads it.

        Args:
            name: What people and the agent call it, 1 to 80 characters.
            slug: Its name in lists and files: lowercase letters, digits and hyphens, a letter
                first, at most 40.
            description: When to look in it, at most 300 characters: the agent decides by this.
            access: For which users the agent reads it; absent: all.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`.
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
        """Read one notebook.

        `document_count` and `bytes` say how full it is.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
        """
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
        """Change a notebook’s name, description or readers; fields left out stay.

        Takes effect at once, also for live versions; so one that is live needs a live key (409
        `notebook_live`).

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            name: What people and the agent call it from now on.
            description: When to look in it: the agent decides by this.
            access: For which users the agent reads it from now on.

        Fails with `notebook_live`.
        """
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
        """Delete a notebook and its documents.

        Versions that use it do not run again. One that is live needs a live key (409
        `notebook_live`).

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.

        Fails with `notebook_live`.
        """
        return self._call(
            types.Deleted,
            "notebooks.delete",
            "DELETE",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def search(
        self,
        notebook_id: str,
        *,
        q: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.NotebookSearch:
        """Search a notebook as the agent would.

        Answers the passages of its newest documents that fit best, by words and by meaning. A
        notebook for named users shows nothing to others.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            q: What to look for, in plain words.
            user_id: As whose agent to search; left out: the org’s own.
        """
        return self._call(
            types.NotebookSearch,
            "notebooks.search",
            "GET",
            "/v1/notebooks/{notebook_id}/search",
            path={"notebook_id": notebook_id},
            query={"q": q, "user_id": user_id},
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
        """List the documents of a notebook.

        Newest first, without their text.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        It is found by its words at once, and by meaning once it is `indexed`. With a test key live
        users see it after the next promotion.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            title: What it is called, 1 to 200 characters.
            text: Its text or Markdown, at most 512 KB.
            idempotency_key: Made by the client where none is given.

        Fails with `document_too_large`, `notebook_full`, `file_required`, `invalid_filename`.
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
        """Read one document with its text.

        The text is what the agent reads, not the file that was sent.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            document_id: The id of a document, `doc_` and 24 characters.
        """
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
        """Delete a document; versions that were saved with it keep it.

        With a live key it is gone for live users at once, as a new version of what uses it.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            document_id: The id of a document, `doc_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.

        Fails with `notebook_live`.
        """
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
        """List the notebooks.

        Needs scope `setup`; newest first. Both modes see the same notebooks.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        Name its id in `knowledge` of a file or `notebooks` of a manifest; until a version does, no
        agent reads it.

        Args:
            name: What people and the agent call it, 1 to 80 characters.
            slug: Its name in lists and files: lowercase letters, digits and hyphens, a letter
                first, at most 40.
            description: When to look in it, at most 300 characters: the agent decides by this.
            access: For which users the agent reads it; absent: all.
            idempotency_key: Made by the client where none is given.

        Fails with `slug_taken`.
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
        """Read one notebook.

        `document_count` and `bytes` say how full it is.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
        """
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
        """Change a notebook’s name, description or readers; fields left out stay.

        Takes effect at once, also for live versions; so one that is live needs a live key (409
        `notebook_live`).

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            name: What people and the agent call it from now on.
            description: When to look in it: the agent decides by this.
            access: For which users the agent reads it from now on.

        Fails with `notebook_live`.
        """
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
        """Delete a notebook and its documents.

        Versions that use it do not run again. One that is live needs a live key (409
        `notebook_live`).

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.

        Fails with `notebook_live`.
        """
        return await self._call(
            types.Deleted,
            "notebooks.delete",
            "DELETE",
            "/v1/notebooks/{notebook_id}",
            path={"notebook_id": notebook_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def search(
        self,
        notebook_id: str,
        *,
        q: str,
        user_id: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.NotebookSearch:
        """Search a notebook as the agent would.

        Answers the passages of its newest documents that fit best, by words and by meaning. A
        notebook for named users shows nothing to others.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            q: What to look for, in plain words.
            user_id: As whose agent to search; left out: the org’s own.
        """
        return await self._call(
            types.NotebookSearch,
            "notebooks.search",
            "GET",
            "/v1/notebooks/{notebook_id}/search",
            path={"notebook_id": notebook_id},
            query={"q": q, "user_id": user_id},
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
        """List the documents of a notebook.

        Newest first, without their text.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
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

        It is found by its words at once, and by meaning once it is `indexed`. With a test key live
        users see it after the next promotion.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.
            file: The file: bytes, a path, an open file, or `(name, bytes)`.
            title: What it is called, 1 to 200 characters.
            text: Its text or Markdown, at most 512 KB.
            idempotency_key: Made by the client where none is given.

        Fails with `document_too_large`, `notebook_full`, `file_required`, `invalid_filename`.
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
        """Read one document with its text.

        The text is what the agent reads, not the file that was sent.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            document_id: The id of a document, `doc_` and 24 characters.
        """
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
        """Delete a document; versions that were saved with it keep it.

        With a live key it is gone for live users at once, as a new version of what uses it.

        Args:
            notebook_id: The id of a notebook, `nb_` and 24 characters.
            document_id: The id of a document, `doc_` and 24 characters.
            promote: `now`: with a live key the change reaches live users at once; `no`: only test
                traffic sees it until the next promotion.

        Fails with `notebook_live`.
        """
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


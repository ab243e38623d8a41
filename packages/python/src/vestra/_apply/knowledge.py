"""Notebooks of a folder's files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Any

from .. import types
from .._commands import Api
from ..errors import ApplyError, NotFoundError, Problem
from .local_folder import LocalFolder, Refused, composed, text_of
from .plan import Change, Resolved, Step, entries_of, own_slug
from .problems import problem_of, uploading
from .service_file import ServiceFile


@dataclass(frozen=True)
class LocalDocument:
    """``text`` is None until the service has converted ``content``: a PDF, Office or HTML file."""

    path: str
    title: str
    text: str | None = None
    content: bytes = b""
    content_type: str = "text/plain"

    @property
    def sha256(self) -> str:
        return hashlib.sha256((self.text or "").encode()).hexdigest()


@dataclass(frozen=True)
class LocalNotebook:
    path: str
    slug: str
    name: str
    description: str
    documents: list[LocalDocument]


@dataclass(frozen=True)
class Skipped:
    """A file that no document can be made of."""

    path: str
    reason: str


@dataclass(frozen=True)
class KnowledgeEntry:
    at: str
    value: Any = None
    notebook: LocalNotebook | None = None


def read_knowledge(
    service: ServiceFile, folder: LocalFolder, problems: list[Problem]
) -> tuple[list[KnowledgeEntry], list[Skipped]]:
    entries: list[KnowledgeEntry] = []
    skipped: list[Skipped] = []
    for at, value in entries_of(service.content.get("knowledge"), "knowledge"):
        if not isinstance(value, str):
            entries.append(KnowledgeEntry(at, value))
            continue
        try:
            notebook = _read_notebook(service, folder, value, at, problems, skipped)
        except Refused as refused:
            problems.append(service.problem_at(at, str(refused)))
            continue
        entries.append(KnowledgeEntry(at, notebook=notebook))
    seen: set[str] = set()
    for entry in entries:
        if entry.notebook is None:
            continue
        if entry.notebook.slug in seen:
            problems.append(service.problem_at(entry.at, f"`{entry.notebook.path}` is named twice."))
        seen.add(entry.notebook.slug)
    return entries, skipped


def _read_notebook(
    service: ServiceFile, folder: LocalFolder, written: str, at: str, problems: list[Problem], skipped: list[Skipped]
) -> LocalNotebook:
    found = folder.find(written)
    if found.kind == "file":
        listed = [(found.shown.split("/")[-1], found.shown, found.path)]
    else:
        listed = [(each.path, f"{found.shown}/{each.path}", each.real) for each in folder.files_of(found)]
    documents: list[LocalDocument] = []
    for path, shown, real in listed:
        try:
            read = _document_of(path, shown, folder.read(real, shown))
        except Refused as refused:
            problems.append(problem_of(shown, str(refused)))
            continue
        if isinstance(read, LocalDocument):
            documents.append(read)
        elif found.kind == "file":
            problems.append(service.problem_at(at, f"`{shown}` {read.reason}"))
        else:
            skipped.append(read)
    titles: set[str] = set()
    for document in documents:
        if document.title in titles:
            message = f"Another file has a document of the title `{document.title}` too."
            problems.append(problem_of(document.path, message))
            break
        titles.add(document.title)
    return _notebook_of(service.name, found.shown, documents)


async def convert_documents(api: Api, entries: list[KnowledgeEntry], problems: list[Problem]) -> None:
    """Converts all files before the first document is written, and reports all that cannot be read.

    So a failed apply leaves no notebook half changed.
    """
    for notebook in (entry.notebook for entry in entries if entry.notebook is not None):
        for at, document in enumerate(notebook.documents):
            if document.text is None:
                notebook.documents[at] = await _converted(api, document, problems)
        problems += _size_problems(notebook)


async def _converted(api: Api, document: LocalDocument, problems: list[Problem]) -> LocalDocument:
    file = (document.title, document.content, document.content_type)
    try:
        made = await uploading(document.path, lambda: api.notebooks.convert_document(file=file))
    except ApplyError as error:
        problems += error.problems
        return document
    return replace(document, text=made.text, content=b"", content_type=made.content_type)


_MOST_DOCUMENT_BYTES = 512 * 1024
_MOST_NOTEBOOK_BYTES = 5 * 1024 * 1024
_MOST_DOCUMENTS = 1000


def _size_problems(notebook: LocalNotebook) -> list[Problem]:
    """A notebook of the folder ends with exactly these documents, so its limits are known before the first upload."""
    sizes = [(each.path, len((each.text or "").encode())) for each in notebook.documents]
    problems = [
        problem_of(path, f"The text has {size} bytes. A document has at most {_MOST_DOCUMENT_BYTES}.")
        for path, size in sizes
        if size > _MOST_DOCUMENT_BYTES
    ]
    if len(sizes) > _MOST_DOCUMENTS:
        message = f"The folder has {len(sizes)} documents. A notebook has at most {_MOST_DOCUMENTS}."
        problems.append(problem_of(notebook.path, message))
    total = sum(size for _, size in sizes)
    if total > _MOST_NOTEBOOK_BYTES:
        message = f"The documents have {total} bytes of text. A notebook has at most {_MOST_NOTEBOOK_BYTES}."
        problems.append(problem_of(notebook.path, message))
    return problems


class KnowledgePlan:
    """The documents of the folder, held against those of their notebooks."""

    def __init__(self, api: Api, entries: list[KnowledgeEntry]) -> None:
        self._api = api
        self._entries = entries
        self._ids: dict[str, str] = {}
        self.steps: list[Step] = []
        self.resolved = Resolved(self._resolve, [entry.at for entry in entries])

    async def make(self) -> KnowledgePlan:
        local = [entry.notebook for entry in self._entries if entry.notebook is not None]
        kept: dict[str, str] = {}
        if local:
            async for each in self._api.notebooks.list(limit=100):
                kept[each.slug] = each.id
        for notebook in local:
            notebook_id = kept.get(notebook.slug)
            if notebook_id is None:
                self.steps.append(self._creation(notebook))
            else:
                self._ids[notebook.slug] = notebook_id
            there = {} if notebook_id is None else await self._documents_of(notebook_id)
            # Deletions come first, because the space may be needed.
            titles = {document.title for document in notebook.documents}
            for title, documents in there.items():
                if title not in titles:
                    self.steps += [self._removal(notebook, each) for each in documents]
            for document in (each for each in notebook.documents if each.text is not None):
                self.steps += self._steps_of(notebook, document, there.get(document.title, []))
        return self

    async def indexed(self) -> tuple[int, int]:
        """How many of the documents are searched by meaning already, and how many there are."""
        indexed = total = 0
        for notebook_id in self._ids.values():
            async for document in self._api.notebooks.list_documents(notebook_id, limit=100):
                total += 1
                indexed += document.indexed
        return indexed, total

    def _resolve(self) -> list[Any]:
        return [
            entry.value if entry.notebook is None else {"notebook": self._ids.get(entry.notebook.slug)}
            for entry in self._entries
        ]

    async def _documents_of(self, notebook_id: str) -> dict[str, list[types.Document]]:
        found: dict[str, list[types.Document]] = {}
        async for each in self._api.notebooks.list_documents(notebook_id, limit=100):
            found.setdefault(each.title, []).append(each)
        return found

    def _steps_of(self, notebook: LocalNotebook, document: LocalDocument, there: list[types.Document]) -> list[Step]:
        same = next((each for each in there if each.sha256 == document.sha256), None)
        if same is None:
            return [self._upload(notebook, document, there)]
        return [self._removal(notebook, other) for other in there if other.id != same.id]

    def _creation(self, notebook: LocalNotebook) -> Step:
        change = Change("notebook", "created", notebook.path, notebook.slug)

        async def run() -> None:
            made = await uploading(
                notebook.path,
                lambda: self._api.notebooks.create(
                    slug=notebook.slug, name=notebook.name, description=notebook.description
                ),
            )
            self._ids[notebook.slug] = made.id

        return Step(change, run)

    def _removal(self, notebook: LocalNotebook, document: types.Document) -> Step:
        change = Change("document", "deleted", None, document.title, notebook.slug)

        async def run() -> None:
            await self._remove(self._ids[notebook.slug], document.id)

        return Step(change, run)

    def _upload(self, notebook: LocalNotebook, document: LocalDocument, there: list[types.Document]) -> Step:
        change = Change(
            "document", "replaced" if there else "created", document.path, document.title, notebook.slug
        )

        async def run() -> None:
            notebook_id = self._ids[notebook.slug]
            # A replacement removes every document of the title in one step: agents never miss it or read both.
            await self._create(notebook_id, document, replace=True if there else None)

        return Step(change, run)

    async def _create(
        self, notebook_id: str, document: LocalDocument, replace: bool | None
    ) -> types.Document:
        # Live users read it when the file has been applied and promoted, not before.
        create = self._api.notebooks.create_document
        text = document.text or ""
        if document.content_type == "text/plain":
            return await uploading(
                document.path,
                lambda: create(notebook_id, title=document.title, text=text, replace=replace, promote="no"),
            )
        file = (document.title, text.encode(), document.content_type)
        return await uploading(
            document.path, lambda: create(notebook_id, file=file, replace=replace, promote="no")
        )

    async def _remove(self, notebook_id: str, document_id: str) -> None:
        """One that is gone already is as gone as it is to be."""
        try:
            await self._api.notebooks.delete_document(notebook_id, document_id, promote="no")
        except NotFoundError as error:
            if error.code != "document_not_found":
                raise


# Files whose words the service takes out; every other file is read as text.
_CONTENT_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
}


def _document_of(path: str, shown: str, content: bytes) -> LocalDocument | Skipped:
    ending = re.search(r"\.([^./]+)$", path)
    kind = _CONTENT_TYPES.get(ending[1].lower()) if ending else None
    if kind is not None:
        # The file's name becomes the title, and a name has no slashes.
        return LocalDocument(shown, _title_of(path.replace("/", " - ")), content=content, content_type=kind)
    text = text_of(content)
    if text is None:
        return Skipped(shown, "is neither text in UTF-8 nor a PDF, DOCX, XLSX, PPTX or HTML file.")
    text = text.removeprefix("\ufeff")
    if text.strip() == "":
        return Skipped(shown, "is empty.")
    return LocalDocument(shown, _title_of(path), text=text)


def _notebook_of(deployment: str, path: str, documents: list[LocalDocument]) -> LocalNotebook:
    return LocalNotebook(
        path=path,
        slug=own_slug(deployment, path, "notebook"),
        name=f"{deployment}: {path}"[:80],
        description=_description_of(path, documents),
        documents=documents,
    )


_LONGEST_DESCRIPTION = 300


def _description_of(path: str, documents: list[LocalDocument]) -> str:
    """The agent decides by it whether to look into the notebook: the topics of its documents, as many as there is room for."""
    topics = list(dict.fromkeys(_topic_of(document) for document in documents))
    if not topics:
        return f"From {path[:80]}."

    def told(count: int) -> str:
        left = len(topics) - count
        return f"From {path[:80]}: {'; '.join(topics[:count])}{f'; and {left} more' if left > 0 else ''}."

    count = len(topics)
    while count > 1 and len(told(count)) > _LONGEST_DESCRIPTION:
        count -= 1
    return told(count)[:_LONGEST_DESCRIPTION]


def _topic_of(document: LocalDocument) -> str:
    """The first heading of a text, or the name of the file in words."""
    heading = re.search(r"^#{1,3}[ \t]+(.+?)[ \t#]*$", document.text or "", re.MULTILINE)
    name = re.sub(r"\.[^.]+$", "", document.path.split("/")[-1])
    return (heading[1] if heading else re.sub(r"[-_]+", " ", name)).strip()[:80]


def _title_of(path: str) -> str:
    return composed(path)[:200]

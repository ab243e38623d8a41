"""Local files for the agent's computer: ``computer.files[].from``."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from .._commands import Api
from ..errors import NotFoundError, Problem
from .local_folder import LocalFolder, Refused
from .plan import Change, Step
from .problems import uploading
from .service_file import ServiceFile


@dataclass(frozen=True)
class LocalFile:
    index: int
    """Its place in ``computer.files``."""
    path: Any
    """Its path on the computer."""
    shown: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_computer_files(service: ServiceFile, folder: LocalFolder, problems: list[Problem]) -> list[LocalFile]:
    files: list[LocalFile] = []
    for index, entry in enumerate(_entries_in(service.content.get("computer"))):
        written = entry.get("from")
        if not isinstance(written, str):
            continue
        try:
            found = folder.find(written)
            if found.kind == "folder":
                raise Refused(f"`{found.shown}` is a folder: name a file.")
            if not _is_plain_file_name(found.shown.split("/")[-1]):
                raise Refused(_BAD_NAME)
            files.append(LocalFile(index, entry.get("path"), found.shown, folder.read(found.path, found.shown)))
        except Refused as refused:
            problems.append(service.problem_at(f"computer.files.{index}.from", str(refused)))
    return files


class ComputerFiles:
    """The uploads of the files that the newest version does not have yet."""

    def __init__(self, api: Api, deployment: str, files: list[LocalFile]) -> None:
        self._api = api
        self._deployment = deployment
        self._files = files
        self._ids: dict[int, str] = {}
        self.steps: list[Step] = []
        self.targets: set[Any] = set()
        """The paths on the computer of the files that are not uploaded yet."""

    async def make(self) -> ComputerFiles:
        known = await self._files_of_newest() if self._files else {}
        # Two entries for one local file are one upload, so that a repeated entry has the same id.
        uploads: dict[str, list[int]] = {}
        for file in self._files:
            there = known.get((file.path, file.sha256)) if isinstance(file.path, str) else None
            if there is not None:
                self._ids[file.index] = there
                continue
            if isinstance(file.path, str):
                self.targets.add(file.path)
            if file.shown in uploads:
                uploads[file.shown].append(file.index)
                continue
            uploads[file.shown] = [file.index]
            self.steps.append(self._step_of(file, uploads[file.shown]))
        return self

    def resolve(self, computer: Any) -> Any:
        """``computer`` with the ids of the uploaded files instead of their local paths."""
        if not self._ids:
            return computer
        files: list[dict[str, Any]] = []
        for index, entry in enumerate(_entries_in(computer)):
            file_id = self._ids.get(index)
            if file_id is not None:
                entry = {**{key: value for key, value in entry.items() if key != "from"}, "file_id": file_id}
            files.append(entry)
        return {**computer, "files": files}

    def stored(self, computer: Any) -> Any:
        """Without the files that are not uploaded yet."""
        resolved = self.resolve(computer)
        return {**resolved, "files": [entry for entry in _entries_in(resolved) if "from" not in entry]}

    def _step_of(self, file: LocalFile, places: list[int]) -> Step:
        async def run() -> None:
            name = file.shown.split("/")[-1]
            made = await uploading(file.shown, lambda: self._api.files.create(file=(name, file.content)))
            self._ids.update({place: made.id for place in places})

        return Step(Change("file", "created", file.shown, file.shown), run)

    async def _files_of_newest(self) -> dict[tuple[str, str | None], str]:
        """By path and content. A deployment that does not exist yet has none."""
        try:
            newest = (await self._api.deployments.get(self._deployment)).newest_version
            version = await self._api.deployments.get_version(self._deployment, str(newest))
        except NotFoundError:
            return {}
        environment = version.manifest.environment
        return {(each.path, each.sha256): each.file_id for each in (environment.files if environment else [])}


_BAD_NAME = "The name of the file has a backslash, a control character or a mark that turns the text."


def _is_plain_file_name(name: str) -> bool:
    return re.search(r"[\\\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", name) is None


def _entries_in(computer: Any) -> list[dict[str, Any]]:
    """Anything that is not a list of objects is sent unchanged, so that the service reports the fault."""
    files = computer.get("files") if isinstance(computer, dict) else None
    return files if isinstance(files, list) and all(isinstance(entry, dict) for entry in files) else []

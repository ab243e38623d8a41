"""The whole of an apply."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Literal, Mapping, Union

from .. import types
from .._commands import Api
from .._resource import read_as
from .._transport import Call
from ..errors import ApplyError, Problem, VestraError
from .computer_files import ComputerFiles, LocalFile, read_computer_files
from .knowledge import KnowledgeEntry, KnowledgePlan, Skipped, convert_documents, read_knowledge
from .local_folder import LocalFolder, Refused, text_of
from .plan import Change, Resolved
from .problems import problem_of
from .service_file import ServiceFile, read_service_file
from .skills import SkillEntry, plan_skills, read_skills

Promote = Literal["after_tests", "now", "no"]
Progress = Callable[["ApplyProgress"], Any]
FolderPath = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class ServerAway:
    """A tool server that cannot be called now, and why."""

    slug: str
    code: str
    message: str


@dataclass(frozen=True)
class ApplyProgress:
    """One step of an apply: ``read``, ``planned``, ``uploading``, ``uploaded``, ``indexing``, ``applying`` or
    ``applied``."""

    type: Literal["read", "planned", "uploading", "uploaded", "indexing", "applying", "applied"]
    name: str | None = None
    change: Change | None = None
    changes: list[Change] = field(default_factory=list)
    indexed: int | None = None
    total: int | None = None


@dataclass(frozen=True)
class Applied:
    answer: types.AppliedDeployment | None
    """The response of the service; None after a dry run."""
    uploaded: list[Change]
    """The uploads and deletions. After a dry run: those that would happen."""
    skipped: list[Skipped]
    """Files of a knowledge folder that no document can be made of."""
    away: list[ServerAway]
    """Tool servers of the version that cannot be called now: the agent runs without their tools until they can."""
    plan: types.Plan | None = None
    """The changes that the file asks for; None if the file was applied without uploads."""


@dataclass(frozen=True)
class _Local:
    service: ServiceFile
    computer: Any
    skills: list[SkillEntry]
    knowledge: list[KnowledgeEntry]
    skipped: list[Skipped]
    files: list[LocalFile]
    problems: list[Problem]


async def apply_folder(
    api: Api,
    folder: FolderPath,
    *,
    file: str,
    promote: Promote | None,
    dry_run: bool,
    on_progress: Progress | None,
) -> Applied:
    tell = on_progress or (lambda _: None)
    local = await api.transport.io.apart(lambda: _read_local(Path(os.path.abspath(folder)), file))
    service = local.service
    tell(ApplyProgress("read", name=service.name))

    await convert_documents(api, local.knowledge, local.problems)
    skill_steps, skills = await plan_skills(api, local.skills)
    knowledge = await KnowledgePlan(api, local.knowledge).make()
    files = await ComputerFiles(api, service.name, local.files).make()
    steps = [*skill_steps, *knowledge.steps, *files.steps]
    changes = [step.change for step in steps]
    tell(ApplyProgress("planned", changes=changes))
    content = service.content if local.computer is None else {**service.content, "computer": local.computer}
    lists = {"skills": skills, "knowledge": knowledge.resolved}
    plan = None
    if steps or local.problems or dry_run:
        plan = await _plan_file(api, local, content, lists, files, changes, promote)
    if dry_run:
        return Applied(None, changes, local.skipped, [], plan)

    for step in steps:
        tell(ApplyProgress("uploading", change=step.change))
        await step.run()
        tell(ApplyProgress("uploaded", change=step.change))
    if any(change.kind == "document" for change in changes):
        indexed, total = await knowledge.indexed()
        tell(ApplyProgress("indexing", indexed=indexed, total=total))
    tell(ApplyProgress("applying", name=service.name))
    sent = _resolved(_with_computer(content, files.resolve), lists)
    answer = await _put(api, service, sent, promote, lambda param: _written_param(param, lists))
    tell(ApplyProgress("applied", name=service.name))
    return Applied(answer, changes, local.skipped, await _servers_away(api, answer), plan)


def _read_local(folder: Path, file: str) -> _Local:
    """Everything on the disk, read before anything is sent, with every problem of it."""
    service = read_service_file(folder, file)
    problems: list[Problem] = []
    files = LocalFolder(service.folder)
    computer = _resolve_computer(service, files, problems)
    skills = read_skills(service, files, problems)
    knowledge, skipped = read_knowledge(service, files, problems)
    computer_files = read_computer_files(service, files, problems)
    return _Local(service, computer, skills, knowledge, skipped, computer_files, problems)


def _resolve_computer(service: ServiceFile, folder: LocalFolder, problems: list[Problem]) -> Any:
    """``computer`` with the text of the file that ``setup`` names.

    One word that is a file below the folder names it; anything else is the script itself, unless
    it can only be meant as a path.
    """
    computer = service.content.get("computer")
    setup = computer.get("setup") if isinstance(computer, dict) else None
    if not isinstance(setup, str) or not re.fullmatch(r"\S+", setup.strip()):
        return computer
    written = setup.strip()
    is_path = bool(re.match(r"\.{1,2}[/\\]|\.[a-z]", written, re.IGNORECASE)) or (
        written.endswith((".sh", ".bash")) and not written.startswith("/")
    )
    try:
        found = folder.find(written)
        if found.kind == "folder":
            raise Refused(f"`{written}` is a folder: name a file.")
    except Refused as refused:
        if is_path:
            problems.append(service.problem_at("computer.setup", str(refused)))
        return computer
    try:
        text = text_of(folder.read(found.path, found.shown))
        if text is None:
            raise Refused("The script is not text in UTF-8.")
    except Refused as refused:
        problems.append(problem_of(found.shown, str(refused)))
        return computer
    return {**(computer or {}), "setup": text.removeprefix("\ufeff")}


async def _plan_file(
    api: Api,
    local: _Local,
    content: Mapping[str, Any],
    lists: Mapping[str, Resolved],
    files: ComputerFiles,
    changes: list[Change],
    promote: Promote | None,
) -> types.Plan:
    """Asks the service for its plan. Faults of the file and of local files are raised together."""
    stored = {key: _only_stored(each) for key, each in lists.items()}
    keys = ",".join(dict.fromkeys(_KEYS[change.kind] for change in changes)) or None

    async def ask(sent: Mapping[str, Any]) -> Any:
        call = Call(
            "deployments.put",
            "PUT",
            "/v1/deployments/{deployment_id}",
            {"deployment_id": local.service.name},
            {"promote": promote, "dry_run": True, "uploads": keys},
            _resolved(sent, stored),
        )
        try:
            answer = await api.transport.call(call)
        except VestraError as error:
            found = local.problems or _problems_of(error, local.service, lambda param: _written_param(param, stored))
            if not found:
                raise
            raise ApplyError(found) from error
        _refuse(local, read_as(types.Plan, answer), stored)
        return answer

    # Files for the computer have no id before they are uploaded. Their other fields are checked in a separate request.
    answer = await ask(_with_computer(content, files.resolve))
    if answer["faults"]:
        answer = await ask(_with_computer(content, files.stored))
    changed = [row for row in answer["changed"] if not _is_upload(row, files.targets)]
    plan: types.Plan = read_as(types.Plan, {**answer, "changed": changed})
    return plan


_KEYS = {"skill": "skills", "notebook": "knowledge", "document": "knowledge", "file": "computer"}


def _refuse(local: _Local, plan: types.Plan, stored: Mapping[str, Resolved]) -> None:
    """Raises the faults of the file with those of local files. A local path is none: it is uploaded later."""
    named = {problem["param"] for problem in local.problems}
    problems = list(local.problems)
    for fault in plan.faults:
        if fault.param in named or fault.code == "path_not_resolved":
            continue
        problem = local.service.problem_at(_written_param(fault.param, stored), fault.message)
        problem["code"] = fault.code
        problems.append(problem)
    if problems:
        raise ApplyError(problems)


def _is_upload(row: Mapping[str, Any], targets: set[Any]) -> bool:
    """Whether the change only has files that are listed among the uploads."""
    if row["path"] != "computer.files" or not targets:
        return False

    def rest(files: Any) -> list[Any]:
        return [file for file in files or [] if not (isinstance(file, dict) and file.get("path") in targets)]

    return rest(row["before"]) == rest(row["after"])


def _with_computer(content: Mapping[str, Any], resolve: Callable[[Any], Any]) -> Mapping[str, Any]:
    return content if content.get("computer") is None else {**content, "computer": resolve(content["computer"])}


def _only_stored(resolved: Resolved) -> Resolved:
    """The entries that the service knows already. New ones are uploaded later and cannot be wrong."""
    known = [
        (entry, source)
        for entry, source in zip(resolved.entries(), resolved.sources)
        if not (isinstance(entry, dict) and None in entry.values())
    ]
    return Resolved(lambda: [entry for entry, _ in known], [source for _, source in known])


async def _put(
    api: Api,
    service: ServiceFile,
    content: Mapping[str, Any],
    promote: Promote | None,
    written: Callable[[str], str],
) -> types.AppliedDeployment:
    call = Call(
        "deployments.put",
        "PUT",
        "/v1/deployments/{deployment_id}",
        {"deployment_id": service.name},
        {"promote": promote},
        content,
    )
    try:
        answer: types.AppliedDeployment = read_as(types.AppliedDeployment, await api.transport.call(call))
        return answer
    except VestraError as error:
        problems = _problems_of(error, service, written)
        if not problems:
            raise
        raise ApplyError(problems) from error


def _problems_of(error: VestraError, service: ServiceFile, written: Callable[[str], str]) -> list[Problem]:
    """The service's refusal of a file as problems with their lines; none where it is not about the file."""
    faults = error.errors or (
        [] if error.param is None else [{"code": error.code, "param": error.param, "message": error.message}]
    )
    problems: list[Problem] = []
    for fault in faults:
        problem = service.problem_at(written(fault["param"]), fault["message"])
        problem["code"] = fault["code"]
        problems.append(problem)
    return problems


def _resolved(content: Mapping[str, Any], lists: Mapping[str, Resolved]) -> dict[str, Any]:
    """Replaces paths in the file by ids. Values that are not lists are sent unchanged, so that the service reports the fault."""
    entries = {key: each.entries() for key, each in lists.items() if isinstance(content.get(key), (str, list))}
    return {**content, **entries}


def _written_param(param: str, lists: Mapping[str, Resolved]) -> str:
    """``skills.2.id`` of what was sent is ``skills`` of the file where that names a folder of skills."""
    key, *rest = param.split(".")
    if key not in lists or not rest or not rest[0].isdigit():
        return param
    sources = lists[key].sources
    return ".".join([sources[int(rest[0])], *rest[1:]]) if int(rest[0]) < len(sources) else param


async def _servers_away(api: Api, answer: types.AppliedDeployment) -> list[ServerAway]:
    """Calls each server of the version once, as a task would. A version may name none, and most do."""
    away: list[ServerAway] = []
    for server in answer.version.manifest.mcp_servers:
        try:
            error = (await api.mcp_servers.check(server.id)).error
            told = None if error is None else (error.code, error.message)
        except VestraError as failure:
            # The version stands, whatever becomes of the look at its servers.
            told = (failure.code, failure.message)
        # Of each user's own secret nobody can say here whether it is stored; one of the company's is refused by the apply.
        if told is not None and told[0] != "secret_missing":
            away.append(ServerAway(server.slug, *told))
    return away

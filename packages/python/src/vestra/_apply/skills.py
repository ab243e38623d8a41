"""Skills of a folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from .._commands import Api
from ..errors import ApplyError, Problem
from .local_folder import Found, Listed, LocalFolder, Refused, composed, is_system_file, text_of
from .plan import Change, Resolved, Step, entries_of, own_slug
from .problems import problem_of, uploading
from .service_file import ServiceFile, read_yaml
from .skill_faults import faults_of_skill, head_of


@dataclass(frozen=True)
class LocalSkill:
    path: str
    slug: str
    name: str
    files: list[dict[str, str]]
    sha256: str


@dataclass(frozen=True)
class SkillEntry:
    """An entry of the file as it is, or the skills that the folder it names holds."""

    at: str
    value: Any = None
    skills: list[LocalSkill] | None = None


def read_skills(service: ServiceFile, folder: LocalFolder, problems: list[Problem]) -> list[SkillEntry]:
    entries: list[SkillEntry] = []
    for at, value in entries_of(service.content.get("skills"), "skills"):
        if not isinstance(value, str):
            entries.append(SkillEntry(at, value))
            continue
        try:
            found = folder.find(value)
            skills = _read_folder(service, found, folder, problems, at)
        except Refused as refused:
            problems.append(service.problem_at(at, str(refused)))
            continue
        entries.append(SkillEntry(at, skills=skills))
    seen: dict[str, str] = {}
    for entry in entries:
        for skill in entry.skills or []:
            if skill.name in seen:
                message = f"`{skill.path}` and `{seen[skill.name]}` are both named `{skill.name}`."
                problems.append(service.problem_at(entry.at, message))
            seen.setdefault(skill.name, skill.path)
    return entries


async def plan_skills(api: Api, entries: list[SkillEntry]) -> tuple[list[Step], Resolved]:
    """Holds the skills of the folder against those of the org: what is the same there is not uploaded again."""
    local = [skill for entry in entries for skill in entry.skills or []]
    ids: dict[str, str] = {}
    steps: list[Step] = []
    kept: dict[str, tuple[str, str | None]] = {}
    if local:
        async for each in api.skills.list(limit=100):
            if each.id is not None:
                kept[each.slug] = (each.id, each.sha256)
    for skill in local:
        there = kept.get(skill.slug)
        if there is not None:
            ids[skill.slug] = there[0]
        if there is None or there[1] != skill.sha256:
            steps.append(_step_of(api, skill, None if there is None else there[0], ids))

    def resolve() -> list[Any]:
        made: list[Any] = []
        for entry in entries:
            made += [entry.value] if entry.skills is None else [{"id": ids.get(skill.slug)} for skill in entry.skills]
        return made

    sources = [entry.at for entry in entries for _ in range(1 if entry.skills is None else len(entry.skills))]
    return steps, Resolved(resolve, sources)


def _step_of(api: Api, skill: LocalSkill, skill_id: str | None, ids: dict[str, str]) -> Step:
    change = Change("skill", "created" if skill_id is None else "replaced", skill.path, skill.name)
    files: Any = skill.files

    async def run() -> None:
        kept = await uploading(
            skill.path,
            lambda: api.skills.create(slug=skill.slug, files=files) if skill_id is None
            # Live users have it when the file has been applied and promoted, not before.
            else api.skills.replace(skill_id, files=files, promote="no"),
        )
        ids[skill.slug] = str(kept.id)

    return Step(change, run)


def _read_folder(
    service: ServiceFile, found: Found, folder: LocalFolder, problems: list[Problem], at: str
) -> list[LocalSkill]:
    """The folder of one skill, which has ``SKILL.md`` at its top, or a folder of such folders."""

    def problem(message: str) -> None:
        problems.append(service.problem_at(at, message))

    if found.kind == "file":
        problem(f"`{found.shown}` is a file: name the folder of the skill.")
        return []
    listed = folder.files_of(found)
    if any(each.path == "SKILL.md" for each in listed):
        return _read_skill(service, found.shown, listed, folder, problems)
    names = list(dict.fromkeys(each.path.split("/")[0] for each in listed if "/" in each.path))
    if not names:
        problem(f"`{found.shown}` has no SKILL.md, and holds no folder that has one.")
    skills: list[LocalSkill] = []
    for name in names:
        shown = f"{found.shown}/{name}"
        own = [Listed(each.path[len(name) + 1 :], each.real) for each in listed if each.path.startswith(f"{name}/")]
        if any(each.path == "SKILL.md" for each in own):
            skills += _read_skill(service, shown, own, folder, problems)
        else:
            problem(f"`{shown}` has no SKILL.md: every folder in `{found.shown}` is to be a skill.")
    return skills


def _read_skill(
    service: ServiceFile, shown: str, listed: list[Listed], folder: LocalFolder, problems: list[Problem]
) -> list[LocalSkill]:
    before = len(problems)
    files: list[dict[str, str]] = []
    for each in listed:
        if is_system_file(each.path):
            continue
        file = f"{shown}/{each.path}"
        try:
            content = text_of(folder.read(each.real, file))
        except Refused as refused:
            problems.append(problem_of(file, str(refused)))
            continue
        if content is None:
            problems.append(problem_of(file, "A skill can contain text files only, and this file is not UTF-8."))
        else:
            files.append({"path": composed(each.path), "content": content})
    main = next((file["content"] for file in files if file["path"] == "SKILL.md"), "")
    problems += faults_of_skill(shown, files)
    name = _name_of(main)
    if name is None or len(problems) > before:
        return []
    return [LocalSkill(shown, own_slug(service.name, shown, "skill"), name, files, skill_digest(files))]


def _name_of(main: str) -> str | None:
    """The faults above report everything else about it."""
    head = head_of(main)
    if head is None:
        return None
    try:
        content = read_yaml(head, "SKILL.md", merges=False)
    except (ApplyError, RecursionError):
        return None
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else None


def skill_digest(files: list[dict[str, str]]) -> str:
    """Over the files sorted by path, each as path, NUL, byte length, NUL, bytes: the service computes the same."""
    digest = hashlib.sha256()
    for path, content in sorted((composed(file["path"]).encode(), file["content"].encode()) for file in files):
        digest.update(b"\0".join([path, str(len(content)).encode(), content]))
    return digest.hexdigest()

"""The service's rules for a skill, checked before anything is sent.

A plan reports a broken skill with its file and line. The service decides when the skill is uploaded.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import ApplyError, Problem
from .problems import problem_of
from .service_file import read_yaml

_FILES = 200
_FILE_BYTES = 1_048_576
_BUNDLE_BYTES = 5 * 1_048_576
_PATH = 200
_HEAD = 8192

_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*\Z")
_NO_HEAD = "The file must start with YAML frontmatter between two lines of `---` that has a `name`."
_BAD_NAME = "`name` is 1 to 64 lowercase letters, digits and single hyphens, with no hyphen at its ends."


def faults_of_skill(shown: str, files: list[dict[str, str]]) -> list[Problem]:
    main = next((file["content"] for file in files if file["path"] == "SKILL.md"), None)
    return [*_faults_of_files(shown, files), *([] if main is None else _faults_of_main(f"{shown}/SKILL.md", main))]


def _faults_of_files(shown: str, files: list[dict[str, str]]) -> list[Problem]:
    faults: list[Problem] = []
    if len(files) > _FILES:
        faults.append(problem_of(shown, f"A skill can have at most {_FILES} files."))
    taken: set[str] = set()
    total = 0
    for file in files:
        path, size = file["path"], len(file["content"].encode())
        total += size
        if size > _FILE_BYTES:
            faults.append(problem_of(f"{shown}/{path}", f"A file of a skill may have {_FILE_BYTES} bytes."))
        if len(path) > _PATH:
            faults.append(problem_of(f"{shown}/{path}", f"A path in a skill may have {_PATH} characters."))
        if path.lower() in taken:
            message = "Another file has this path, if upper and lower case count as the same."
            faults.append(problem_of(f"{shown}/{path}", message))
        taken.add(path.lower())
    if total > _BUNDLE_BYTES:
        faults.append(problem_of(shown, f"The files may have {_BUNDLE_BYTES} bytes together."))
    return faults


def _faults_of_main(file: str, main: str) -> list[Problem]:
    head = head_of(main)
    if head is None:
        return [problem_of(file, _NO_HEAD, 1, 1)]
    if len(head) > _HEAD:
        return [problem_of(file, f"The frontmatter is longer than {_HEAD} characters.", 1, 1)]
    try:
        content = read_yaml(head, file)
    except ApplyError as error:
        # The frontmatter begins in the second line.
        return [
            {**each, "line": (each["line"] or 0) + 1, "message": f"The frontmatter is not plain YAML: {each['message']}"}
            for each in error.problems
        ]
    if not isinstance(content, dict):
        return [problem_of(file, "The frontmatter must be lines of `name: value`.", 1, 1)]
    faults: list[Problem] = []
    for field in ("name", "description", "license", "compatibility"):
        message = _fault_of(field, content)
        if message is not None:
            faults.append(problem_of(file, message, _line_of(head, field), 1))
    return faults


def _fault_of(field: str, content: dict[str, Any]) -> str | None:
    if field not in content:
        return f"`{field}` is missing." if field in ("name", "description") else None
    value = content[field]
    if not isinstance(value, str):
        return f"`{field}` must be text: put it in quotes."
    if field == "name":
        return None if _NAME.match(value) else _BAD_NAME
    most = {"description": 1024, "compatibility": 500}.get(field)
    if most is None or 1 <= len(value.strip()) <= most:
        return None
    return f"`{field}` is 1 to {most} characters."


def _line_of(head: str, field: str) -> int:
    """The first line of the file where the field is missing."""
    for number, line in enumerate(head.split("\n")):
        if re.match(rf"[\"']?{field}[\"']?\s*:", line):
            return number + 2
    return 1


def head_of(main: str) -> str | None:
    """Only a bare ``---`` opens the frontmatter."""
    first, *rest = re.split(r"\r?\n", main.removeprefix("\ufeff"))
    if first.rstrip() != "---":
        return None
    end = next((at for at, line in enumerate(rest) if line.rstrip() == "---"), None)
    return None if end is None else "\n".join(rest[:end])

"""The service's rules for a skill, checked before anything is sent.

A plan reports a broken skill with its file and line. The service decides when the skill is uploaded.
"""

from __future__ import annotations

import math
import re
from typing import Any

from .._skill_rules import FIELDS, LIMITS, MESSAGES, PATHS, Field
from ..errors import ApplyError, Problem
from .problems import problem_of
from .service_file import has_alias, read_yaml


def faults_of_skill(shown: str, files: list[dict[str, str]]) -> list[Problem]:
    main = next((file["content"] for file in files if file["path"] == "SKILL.md"), None)
    return [*_faults_of_files(shown, files), *([] if main is None else _faults_of_main(f"{shown}/SKILL.md", main))]


def _faults_of_files(shown: str, files: list[dict[str, str]]) -> list[Problem]:
    faults: list[Problem] = []
    if len(files) > LIMITS["files"]:
        faults.append(problem_of(shown, MESSAGES["tooManyFiles"]))
    paths = [file["path"] for file in files]
    folded = [path.lower() for path in paths]
    total = 0
    for at, file in enumerate(files):
        size = len(file["content"].encode())
        total += size
        whys = [_fault_of_path(paths[at])]
        whys.append(MESSAGES["samePath"] if folded.index(folded[at]) < at else None)
        parts = folded[at].split("/")
        is_in_file = any("/".join(parts[:end]) in folded for end in range(1, len(parts)))
        whys.append(MESSAGES["folderIsFile"] if is_in_file else None)
        if size > LIMITS["fileBytes"]:
            faults.append(problem_of(f"{shown}/{paths[at]}", f"This file {MESSAGES['largeFile']}."))
        faults += [problem_of(f"{shown}/{paths[at]}", f"This path {why}.") for why in whys if why is not None]
    if total > LIMITS["bundleBytes"]:
        faults.append(problem_of(shown, MESSAGES["largeBundle"]))
    return faults


def _fault_of_path(path: str) -> str | None:
    for pattern, why in PATHS:
        if re.search(pattern, path):
            return why
    return MESSAGES["longPath"] if len(path) > LIMITS["pathCharacters"] else None


def _faults_of_main(file: str, main: str) -> list[Problem]:
    def fault(message: str, line: int = 1, column: int = 1) -> Problem:
        return problem_of(file, message[:1].upper() + message[1:], line, column)

    head = head_of(main)
    if head is None:
        return [fault(MESSAGES["noFrontmatter"])]
    # The service counts in UTF-16 units.
    if len(head.encode("utf-16-le")) // 2 > LIMITS["frontmatterLength"]:
        return [fault(MESSAGES["longFrontmatter"])]
    try:
        content = read_yaml(head, file, merges=False)
        if has_alias(head):
            return [fault(f"{MESSAGES['notYaml']} {MESSAGES['alias']}")]
    except ApplyError as error:
        # The frontmatter begins in the second line.
        return [
            fault(f"{MESSAGES['notYaml']} {each['message']}", (each["line"] or 0) + 1, each["column"] or 1)
            for each in error.problems
        ]
    except RecursionError:
        return [fault(f"{MESSAGES['notYaml']} {MESSAGES['tooDeep']}")]
    if not isinstance(content, dict):
        return [fault(MESSAGES["noFields"])]
    found = [(field.name, _fault_of(field, content)) for field in FIELDS]
    return [fault(message, _line_of(head, name)) for name, message in found if message is not None]


def _fault_of(field: Field, content: dict[str, Any]) -> str | None:
    if field.name not in content:
        return f"`{field.name}` is missing." if field.is_required else None
    value = content[field.name]
    if field.kind == "values":
        is_good = isinstance(value, dict) and all(_is_single(each) for each in value.values())
        return None if is_good else field.message
    if field.kind == "words":
        words = value if isinstance(value, list) else [value]
        return None if all(isinstance(each, str) for each in words) else field.message
    if not isinstance(value, str):
        return f"`{field.name}` must be text: put it in quotes."
    counted = value.strip() if field.is_trimmed else value
    if field.most is not None and not 1 <= len(counted) <= field.most:
        return field.message
    if field.pattern is not None and re.fullmatch(field.pattern, counted) is None:
        return field.message
    return None


def _is_single(value: Any) -> bool:
    return isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value))


def _line_of(head: str, field: str) -> int:
    """The first line of the file where the field is missing."""
    for number, line in enumerate(head.split("\n")):
        if re.match(rf"[\"']?{field}[\"']?\s*:", line):
            return number + 2
    return 1


def head_of(main: str) -> str | None:
    """Only a bare ``---`` opens the frontmatter."""
    first, *rest = re.split(r"\r?\n", main.removeprefix("\ufeff"))[:10_000]
    if first.rstrip() != "---":
        return None
    end = next((at for at, line in enumerate(rest) if line.rstrip() == "---"), None)
    return None if end is None else "\n".join(rest[:end])

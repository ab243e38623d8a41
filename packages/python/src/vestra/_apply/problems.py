"""Faults of a folder that prevent its apply."""

from __future__ import annotations

from typing import Awaitable, Callable, TypeVar

from ..errors import ApplyError, InvalidRequestError, Problem

T = TypeVar("T")


def problem_of(file: str, message: str, line: int | None = None, column: int | None = None) -> Problem:
    return {"file": file, "line": line, "column": column, "message": message, "code": None, "param": None}


async def uploading(path: str, upload: Callable[[], Awaitable[T]]) -> T:
    """Uploads something of a local path; a refusal of what it holds is a problem of that path."""
    try:
        return await upload()
    except InvalidRequestError as error:
        problem = problem_of(path, error.message)
        problem["code"], problem["param"] = error.code, error.param
        raise ApplyError([problem]) from error

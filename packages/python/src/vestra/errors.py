"""The errors of calls."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, TypedDict, cast

from ._error_codes import ErrorCode, ErrorType

__all__ = [
    "ApplyError",
    "AuthenticationError",
    "CapReachedError",
    "ConflictError",
    "ConnectionFailedError",
    "ErrorCode",
    "ErrorType",
    "Fault",
    "InternalError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "Problem",
    "RateLimitError",
    "TimedOutError",
    "UnexpectedAnswerError",
    "UpstreamError",
    "VestraError",
    "WebhookError",
]


class Fault(TypedDict):
    """One of several things that are wrong with what was sent."""

    code: str
    param: str
    message: str


class VestraError(Exception):
    """The service refused a call, or no answer came. Branch on ``code``; the sentence may change."""

    message: str
    status: int
    """0 where no answer came."""
    type: ErrorType
    code: ErrorCode
    param: str | None
    """The field that is meant, such as ``tools.3.auth``."""
    request_id: str | None
    """Quote this to the operator of the service."""
    errors: list[Fault]
    """Every fault of a refused deployment file."""
    names: list[str]
    """Of ``secret_missing``: the secrets to store first."""
    deployments: list[str]
    """Of ``mcp_server_shared``: the deployments that run the server."""
    partial: Any
    retry_after: float | None
    """Seconds, where the service says when to come back."""
    body: Any
    """The body of the answer as it came."""

    def __init__(self, message: str, *, code: str, status: int = 0, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = cast(ErrorCode, code)
        self.status = status
        self.type = details.get("type", "connection")
        self.param = details.get("param")
        self.request_id = details.get("request_id")
        self.errors = details.get("errors") or []
        self.names = details.get("names") or []
        self.deployments = details.get("deployments") or []
        self.partial = details.get("partial")
        self.retry_after = details.get("retry_after")
        self.body = details.get("body")

    def __str__(self) -> str:
        about = ", ".join(
            [
                self.code,
                *([f"status {self.status}"] if self.status else []),
                *([f"param {self.param}"] if self.param else []),
                *([f"request {self.request_id}"] if self.request_id else []),
            ]
        )
        return f"{self.message} ({about})"

    def __reduce__(self) -> Any:
        return _remade, (type(self), self.message, self.__dict__)


class InvalidRequestError(VestraError):
    """400, 405, 413, 415: the request is not one that the service takes."""


class AuthenticationError(VestraError):
    """401: who is calling is not known."""


class CapReachedError(VestraError):
    """402: the money does not allow it."""


class PermissionDeniedError(VestraError):
    """403: known, but not allowed."""


class NotFoundError(VestraError):
    """404: not there, or another org's."""


class ConflictError(VestraError):
    """409: not in this state."""


class RateLimitError(VestraError):
    """429: too much at once; ``retry_after`` says when to come back."""


class UpstreamError(VestraError):
    """502, 503, 504: a model, a tool server or the service itself cannot be reached."""


class InternalError(VestraError):
    """500, 501: the service failed."""


class ConnectionFailedError(VestraError):
    """No answer came."""


class TimedOutError(ConnectionFailedError):
    """No answer came in time."""


class UnexpectedAnswerError(VestraError):
    """Something answered that is not the service."""


class WebhookError(Exception):
    """A delivery that is not to be believed: answer it with 400 and do nothing else.

    ``code`` is ``headers_missing``, ``timestamp_out_of_range``, ``signature_mismatch`` or
    ``invalid_body``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Excerpt(TypedDict, total=False):
    excerpt: str
    """The line of the file with a mark at the place, for a file that is not YAML."""


class Problem(_Excerpt):
    """One thing that keeps a folder from being applied, and where it is."""

    file: str
    line: int | None
    column: int | None
    message: str
    code: str | None
    param: str | None


class ApplyError(Exception):
    """Every problem that was found in a folder; ``__cause__`` is the service's own error, if it refused."""

    def __init__(self, problems: list[Problem]) -> None:
        in_order = _in_line_order(problems)
        super().__init__("\n".join(map(_line, in_order)))
        self.problems = in_order


def _line(problem: Problem) -> str:
    """A local file has no fields: the service's name for a part of the upload would mislead."""
    if problem["line"] is None:
        return f"{problem['file']}: {problem['message']}"
    field = f"{problem['param']}: " if problem["param"] else ""
    sentence = f"{problem['file']}:{problem['line']}:{problem['column']} {field}{problem['message']}"
    return f"{sentence}\n{problem['excerpt']}" if "excerpt" in problem else sentence


def _in_line_order(problems: list[Problem]) -> list[Problem]:
    """By file, in the order of the lines. Problems of whole files come last."""
    files = [problem["file"] for problem in problems]

    def place(problem: Problem) -> tuple[bool, int, str, int, int]:
        is_whole = problem["line"] is None
        at, name = (0, problem["file"]) if is_whole else (files.index(problem["file"]), "")
        return (is_whole, at, name, problem["line"] or 0, problem["column"] or 0)

    return sorted(problems, key=place)


ERRORS: dict[ErrorType, type[VestraError]] = {
    "invalid_request": InvalidRequestError,
    "authentication": AuthenticationError,
    "cap_reached": CapReachedError,
    "permission": PermissionDeniedError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "rate_limited": RateLimitError,
    "upstream": UpstreamError,
    "internal": InternalError,
    "connection": ConnectionFailedError,
}


def error_of(status: int, headers: Mapping[str, str], body: Any, text: str) -> VestraError:
    """The error that an answer other than a success stands for."""
    told = body.get("error") if isinstance(body, dict) else None
    told = told if isinstance(told, dict) else {}
    retry_after = _retry_after(headers, told)
    code, message = told.get("code"), told.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return _unexpected(status, headers, text, retry_after)
    kind = ERRORS.get(told.get("type", ""), _by_status(status))
    return kind(
        message,
        code=code,
        status=status,
        type=told.get("type"),
        param=_text(told.get("param")),
        request_id=_text(told.get("request_id")) or headers.get("request-id"),
        errors=told.get("errors"),
        names=told.get("names"),
        deployments=told.get("deployments"),
        partial=told.get("partial"),
        retry_after=retry_after,
        body=body,
    )


def is_passing(error: BaseException) -> bool:
    """Whether the same call may well succeed a little later."""
    if not isinstance(error, VestraError):
        return False
    # Of `idempotency_in_progress` the first attempt, whose answer was lost, is still at work under the same key.
    if error.code in ("connection_failed", "timed_out", "idempotency_in_progress"):
        return True
    return error.status in (429, 502, 503, 504)


def refused(message: str, code: str, param: str) -> InvalidRequestError:
    """An error of the command itself, in the format of the service."""
    return InvalidRequestError(message, code=code, status=400, type="invalid_request", param=param)


def _by_status(status: int) -> type[VestraError]:
    """The routes of another API's clients word the type as that API does."""
    by_status = {401: "authentication", 402: "cap_reached", 403: "permission", 404: "not_found", 409: "conflict"}
    kind = by_status.get(status) or ("rate_limited" if status == 429 else None)
    if kind is None:
        kind = "invalid_request" if status < 500 else "internal" if status < 502 else "upstream"
    return ERRORS[cast(ErrorType, kind)]


def _unexpected(status: int, headers: Mapping[str, str], text: str, retry_after: float | None) -> VestraError:
    """Something between here and the service answered, or the address is another program's."""
    target = headers.get("location")
    message = (
        f"The address redirects to {target}: use that as `base_url`."
        if target
        else f"The address answered status {status} with a body that is none of the service's."
    )
    return UnexpectedAnswerError(message, code="unexpected_answer", status=status, retry_after=retry_after, body=text)


def _retry_after(headers: Mapping[str, str], told: Mapping[str, Any]) -> float | None:
    milliseconds = told.get("retry_after_ms")
    if isinstance(milliseconds, (int, float)):
        return milliseconds / 1000
    header = headers.get("retry-after")
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _remade(kind: type[VestraError], message: str, details: dict[str, Any]) -> VestraError:
    made = kind.__new__(kind)
    made.args = (message,)
    made.__dict__.update(details)
    return made

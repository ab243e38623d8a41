"""One call of the service: its request, the attempts at it, and its answer or error."""

from __future__ import annotations

import json
import math
import platform
import random
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from typing import Any, Awaitable, Callable, Mapping, TypeVar, Union
from urllib.parse import quote, urlencode, urlsplit

import httpx

from ._files import read_upload
from ._io import Io
from ._omit import OMIT
from ._version import VERSION
from .errors import ConnectionFailedError, TimedOutError, UnexpectedAnswerError, VestraError, error_of, is_passing

T = TypeVar("T")

ApiKey = Union[str, Callable[[], Union[str, Awaitable[str]]], None]
"""Or a function that gives the one to use now; of ``AsyncVestra`` it may be a coroutine function."""

# A service that asks for more patience than this is told of at once.
LONGEST_DELAY = 60.0

# The service breaks its silence every 15 seconds: a connection that is silent for longer is dead.
LONGEST_SILENCE = 50.0


@dataclass(frozen=True)
class Options:
    base_url: str
    api_key: ApiKey = field(repr=False)
    timeout: float
    max_retries: int
    headers: Mapping[str, str] = field(repr=False)
    silence: float = LONGEST_SILENCE
    """How long a stream may be silent until its connection counts as lost."""


@dataclass(frozen=True)
class Call:
    """A request with each field in its place."""

    name: str
    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    idempotent: bool = False
    idempotency_key: str | None = None
    wait: float | None = None
    timeout: float | None = None
    max_retries: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    streams: bool = False
    """The answer is to stay open, and may be silent for a while."""


@dataclass(frozen=True)
class Raw:
    """Bytes that are the whole body."""

    content: bytes
    content_type: str


@dataclass(frozen=True)
class Form:
    fields: Mapping[str, str]
    files: Mapping[str, tuple[str, bytes, str]]


class Transport:
    """Sends calls by one of the two ways to the network."""

    def __init__(self, io: Io, options: Options, build: Callable[..., httpx.Request]) -> None:
        self.io = io
        self.options = options
        self._build = build

    def with_options(self, options: Options) -> Transport:
        return Transport(self.io, options, self._build)

    async def call(self, call: Call) -> Any:
        """JSON as what it says, text as text, anything else as its bytes."""
        return await self._repeatedly(call, self._whole)

    async def open(self, call: Call) -> httpx.Response:
        """A good answer whose body is still to be read."""
        return await self._repeatedly(call, self._attempt)

    async def call_or_open(self, call: Call) -> Any:
        """A stream of events as the answer that it comes in, anything else as ``call`` gives it."""
        return await self._repeatedly(call, self._whole_unless_stream)

    async def _repeatedly(self, call: Call, once: Callable[[Call], Awaitable[T]]) -> T:
        call = self.keyed(call)
        repeats = call.method == "GET" or call.idempotent
        most = (self.options.max_retries if call.max_retries is None else call.max_retries) if repeats else 0
        attempt = 0
        while True:
            attempt += 1
            try:
                return await once(call)
            except VestraError as error:
                delay = max(error.retry_after or 0.0, back_off(attempt))
                if attempt > most or not is_passing(error) or delay > LONGEST_DELAY:
                    raise
            await self.io.sleep(delay)

    def keyed(self, call: Call) -> Call:
        """With one Idempotency-Key for every attempt, if it takes one and may be repeated."""
        if not call.idempotent or call.idempotency_key is not None or self.options.max_retries == 0:
            return call
        return replace(call, idempotency_key=secrets.token_hex(16))

    async def back_off(self, attempt: int) -> None:
        await self.io.sleep(back_off(attempt))

    async def _attempt(self, call: Call) -> httpx.Response:
        request = await self._request(call)
        try:
            response = await self.io.send(request)
        except httpx.HTTPError as error:
            raise self.lost(error, call) from error
        if response.is_success:
            return response
        try:
            content = await self._received(response, call)
        finally:
            await self.io.close(response)
        text = content.decode("utf-8", "replace")
        raise error_of(response.status_code, response.headers, _json_or_none(text), text)

    async def _whole(self, call: Call) -> Any:
        return await self._decoded(await self._attempt(call), call)

    async def _whole_unless_stream(self, call: Call) -> Any:
        response = await self._attempt(call)
        return response if is_event_stream(response) else await self._decoded(response, call)

    async def _decoded(self, response: httpx.Response, call: Call) -> Any:
        try:
            content = await self._received(response, call)
        finally:
            await self.io.close(response)
        return decoded(response, content)

    async def _received(self, response: httpx.Response, call: Call) -> bytes:
        try:
            return await self.io.read(response)
        except httpx.HTTPError as error:
            raise self.lost(error, call) from error

    def lost(self, error: httpx.HTTPError, call: Call | None = None) -> VestraError:
        if isinstance(error, httpx.TimeoutException):
            within = "" if call is None else f" within {self._timeout(call):g} seconds"
            return TimedOutError(f"No answer came from {self.options.base_url}{within}.", code="timed_out")
        return ConnectionFailedError(
            f"{self.options.base_url} cannot be reached, or the connection was lost: {error or type(error).__name__}.",
            code="connection_failed",
        )

    def _timeout(self, call: Call) -> float:
        own = self.options.timeout if call.timeout is None else call.timeout
        return own + (call.wait or 0)

    async def _key(self) -> str | None:
        given = self.options.api_key
        key = given() if callable(given) else given
        return key if key is None or isinstance(key, str) else await key

    async def _request(self, call: Call) -> httpx.Request:
        within = self._timeout(call)
        headers = {
            "user-agent": f"vestra-python/{VERSION} python/{platform.python_version()}",
            **{name.lower(): value for name, value in self.options.headers.items()},
        }
        key = await self._key()
        if key is not None:
            headers["authorization"] = f"Bearer {read_key(key)}"
        if call.idempotency_key is not None:
            headers["idempotency-key"] = call.idempotency_key
        if call.wait is not None:
            headers["prefer"] = f"wait={math.ceil(call.wait)}"
        content_type, body = body_of(call.body)
        if content_type is not None:
            headers["content-type"] = content_type
        headers.update({name.lower(): value for name, value in call.headers.items()})
        return self._build(
            call.method,
            f"{self.options.base_url}{path_of(call)}{query_of(call.query)}",
            headers=headers,
            timeout=httpx.Timeout(within, read=self.options.silence if call.streams else within),
            **body,
        )


def back_off(attempt: int) -> float:
    """Doubles from half a second to 8; by chance up to half of it less, so that clients do not come back as one."""
    return float(min(8.0, 0.5 * 2 ** (attempt - 1)) * (1 - random.random() / 2))


def is_event_stream(response: httpx.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.lower().startswith("text/event-stream")


def decoded(response: httpx.Response, content: bytes) -> Any:
    kind = response.headers.get("content-type", "").lower()
    if kind.startswith("application/json"):
        try:
            return json.loads(content)
        except ValueError as error:
            raise UnexpectedAnswerError(
                "The answer says that it is JSON and is not.",
                code="unexpected_answer",
                status=response.status_code,
                body=content.decode("utf-8", "replace"),
            ) from error
    if kind.startswith(("text/", "application/yaml")):
        return content.decode("utf-8", "replace")
    return content


def read_base_url(given: str) -> str:
    url = urlsplit(given)
    if url.scheme not in ("http", "https") or not url.netloc or url.query or url.fragment:
        raise ValueError("`base_url` is the address of the service, such as https://vestra.example.com.")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def read_key(key: str) -> str:
    """A header would refuse such a key too, with the key in its message."""
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("`api_key` holds a space, a line break or another character that no key has.")
    return key


def path_of(call: Call) -> str:
    """A param of ``.``, ``..`` or nothing would make the address that of another route."""

    def written(match: re.Match[str]) -> str:
        name = match[1]
        text = "" if call.params.get(name) is None else str(call.params[name])
        if text == "":
            raise ValueError(f"`{name}` is needed.")
        if text in (".", ".."):
            raise ValueError(f"`{name}` cannot be `{text}`.")
        return quote(text, safe="")

    return re.sub(r"\{(\w+)\}", written, call.path)


def query_of(query: Mapping[str, Any]) -> str:
    given = [(name, _text(value)) for name, value in query.items() if value is not None and value is not OMIT]
    return f"?{urlencode(given)}" if given else ""


def body_of(body: Any) -> tuple[str | None, dict[str, Any]]:
    """Its type, where this client says it, and the body as a request takes it."""
    if body is None:
        return None, {}
    if isinstance(body, Raw):
        return body.content_type, {"content": body.content}
    if isinstance(body, Form):
        return None, {"data": dict(body.fields), "files": dict(body.files)}
    return "application/json", {"content": _json_bytes(body)}


def body_from(fields: Mapping[str, Any], nullable: Mapping[str, Any], is_needed: bool) -> Any:
    """The body that these fields make: a form where one is a file, a zip as it is, else JSON."""
    given = {name: value for name, value in fields.items() if value is not None}
    given.update({name: value for name, value in nullable.items() if value is not OMIT})
    if "file" in given:
        rest = {name: _text(value) for name, value in given.items() if name != "file"}
        return Form(fields=rest, files={"file": read_upload(given["file"])})
    if "zip" in given:
        return Raw(read_upload(given["zip"])[1], "application/zip")
    return given if given or is_needed else None


def _json_bytes(value: Any) -> bytes:
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_json_value)
    try:
        return written.encode()
    except UnicodeEncodeError:
        # Half a character, as text cut at the wrong place has it, can only be written as an escape.
        return json.dumps(value, allow_nan=False, default=_json_value).encode()


def _json_value(value: Any) -> Any:
    if isinstance(value, (date, datetime)):
        return _text(value)
    if isinstance(value, Mapping):
        return dict(value)
    to_dict = getattr(value, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"A {type(value).__name__} cannot be written as JSON.")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.astimezone(timezone.utc)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value)


def _json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None

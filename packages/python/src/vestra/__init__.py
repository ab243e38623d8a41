"""The client of Vestra, the open platform for hosting AI agents.

>>> from vestra import Vestra
>>> client = Vestra(api_key="vk_test_…", base_url="http://127.0.0.1:4600")
>>> conversation = client.conversations.create(user_id="ada", deployment="hello")
>>> turn = client.conversations.send(conversation.id, message="What can you do?", wait=60)
>>> print(turn.reply.text)
"""

from . import errors, functions, params, types, webhooks
from ._apply.apply import Applied, ApplyProgress
from ._async_client import AsyncVestra
from ._client import Vestra
from ._commands import Asked, yes_to
from ._context import FunctionContext, ToolError
from ._omit import OMIT, Omit
from ._pages import AsyncPage, AsyncPages, Page
from ._resource import Resource
from ._streams import AsyncStream, Stream
from ._version import VERSION as __version__
from .errors import (
    ApplyError,
    AuthenticationError,
    CapReachedError,
    ConflictError,
    ConnectionFailedError,
    InternalError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    TimedOutError,
    UnexpectedAnswerError,
    UpstreamError,
    VestraError,
    WebhookError,
)

__all__ = [
    "OMIT",
    "Applied",
    "ApplyError",
    "ApplyProgress",
    "Asked",
    "AsyncPage",
    "AsyncPages",
    "AsyncStream",
    "AsyncVestra",
    "AuthenticationError",
    "CapReachedError",
    "ConflictError",
    "ConnectionFailedError",
    "FunctionContext",
    "InternalError",
    "InvalidRequestError",
    "NotFoundError",
    "Omit",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "Resource",
    "Stream",
    "TimedOutError",
    "ToolError",
    "UnexpectedAnswerError",
    "UpstreamError",
    "Vestra",
    "VestraError",
    "WebhookError",
    "__version__",
    "errors",
    "functions",
    "params",
    "types",
    "webhooks",
    "yes_to",
]

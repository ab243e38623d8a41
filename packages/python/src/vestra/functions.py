"""Functions of your own that the agent calls."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable

from . import types
from ._carry_out import Function, Functions, carry_out, named
from ._context import FunctionContext, ToolError
from ._serve import OnServeEvent, ServeEvent
from ._signature import input_schema
from .errors import WebhookError
from .webhooks import Body, Headers, Secret, verify_signed

__all__ = [
    "Function",
    "FunctionContext",
    "FunctionEndpoint",
    "Functions",
    "OnServeEvent",
    "ServeEvent",
    "ToolError",
    "input_schema",
]


class FunctionEndpoint:
    """Answers requests at the https address of a deployment's functions.

    Pass the raw body and the headers of a request to ``handle`` (or ``await ahandle``), and respond
    with the status and the JSON text that it returns.
    """

    def __init__(
        self,
        functions: Functions,
        secret: Secret,
        *,
        on_error: Callable[[BaseException, types.ToolCall], Any] | None = None,
    ) -> None:
        """``on_error`` gets the exception of a function. The agent learns only that the function failed."""
        self._functions = named(functions)
        self._secret = secret
        self._on_error = on_error

    def handle(self, body: Body, headers: Headers) -> tuple[int, str]:
        return asyncio.run(self.ahandle(body, headers))

    async def ahandle(self, body: Body, headers: Headers) -> tuple[int, str]:
        try:
            call = types.ToolCall.from_dict(verify_signed(body, headers, self._secret))
        except WebhookError as error:
            return 400, json.dumps({"error": str(error)})
        function = self._functions.get(call.name)
        if function is None:
            return 404, json.dumps({"error": "No such function is here."})
        context = FunctionContext(call.call_id, call.conversation_id, call.task_id, call.user_id, call.attempt)
        answer, raised = await carry_out(function, call, context)
        if raised is not None and self._on_error is not None:
            self._on_error(raised, call)
        return 200, json.dumps(answer)

"""The context of a call of your function."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Callable


class ToolError(Exception):
    """The agent reads this error's message. Of any other error it only learns that the function failed."""


def _say_nothing(text: str) -> None:
    pass


@dataclass(frozen=True)
class FunctionContext:
    """Given to a function that has a parameter annotated with this class."""

    call_id: str
    """The same however often this call is taken: use it as the key under which the effect happens once."""
    conversation_id: str
    task_id: str | None
    user_id: str | None
    """Who the agent talks to; None: the org's own agent."""
    attempt: int
    """Above 1: somebody took this call before, may have carried it out, and was not heard of again."""
    progress: Callable[[str], Any] = field(default=_say_nothing, repr=False)
    """Says to the person how far it is, in at most 200 characters."""
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_over(self) -> bool:
        """Nobody waits for the answer any more: it came too late, was cancelled, or this server stops."""
        return self._over.is_set()

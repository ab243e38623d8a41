"""The uploads and deletions before a file is applied."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Literal


@dataclass(frozen=True)
class Change:
    kind: Literal["skill", "notebook", "document", "file"]
    action: Literal["created", "replaced", "deleted"]
    path: str | None
    """None where the file is gone."""
    name: str
    notebook: str | None = None


@dataclass(frozen=True)
class Step:
    change: Change
    run: Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Resolved:
    """A resolved list of the file: its entries, and for each its source in the file."""

    entries: Callable[[], list[Any]]
    sources: list[str]


def entries_of(written: Any, key: str) -> list[tuple[str, Any]]:
    """The entries of ``skills`` or ``knowledge`` with the names that the service has for them."""
    if isinstance(written, str):
        return [(key, written)]
    return [(f"{key}.{index}", value) for index, value in enumerate(written)] if isinstance(written, list) else []


def own_slug(deployment: str, path: str, otherwise: str) -> str:
    """The slug by which what a path of a deployment has become is found again, by any client.

    The digest keeps it apart from what another deployment has at that path, and from everything
    that somebody made by hand: neither is ever written over.
    """
    digest = hashlib.sha256(f"{deployment}\0{path}".encode()).hexdigest()[:8]
    words = re.sub(r"[^a-z0-9]+", "-", f"{deployment}-{path}".lower())
    start = re.sub(r"^[^a-z]+", "", words)[:31].rstrip("-")
    return f"{start or otherwise}-{digest}"

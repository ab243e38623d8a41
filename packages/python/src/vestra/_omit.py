"""The default of an omitted field, because ``None`` would be sent as null."""

from __future__ import annotations

from enum import Enum


class Omit(Enum):
    OMIT = "omit"

    def __repr__(self) -> str:
        return "OMIT"

    def __bool__(self) -> bool:
        return False


OMIT = Omit.OMIT

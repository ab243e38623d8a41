"""Reads a stream of server-sent events, by the rules of the HTML standard."""

from __future__ import annotations

import re

# One event holds at most a picture of a page.
LARGEST_EVENT = 32 * 1024 * 1024

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventParser:
    """Takes the bytes as they come, cut anywhere, and gives the data of each event that is whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True

    def feed(self, chunk: bytes) -> list[str]:
        events: list[str] = []
        for line in self._lines(chunk):
            if line == b"":
                if self._data:
                    events.append(b"\n".join(self._data).decode("utf-8", "replace"))
                self._data, self._size = [], 0
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                value = value[1:] if value.startswith(b" ") else value
                self._data.append(value)
                self._size += len(value)
                self._assert_size(self._size)
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        whole = self._rest + chunk
        # Whether a carriage return ends the line alone, the next byte says.
        held = b"\r" if whole.endswith(b"\r") else b""
        *lines, last = _LINE_END.split(whole[: len(whole) - len(held)])
        self._rest = last + held
        self._assert_size(len(self._rest))
        if self._is_first and lines:
            self._is_first = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return lines

    def _assert_size(self, size: int) -> None:
        if size > LARGEST_EVENT:
            raise ValueError("An event of the stream is larger than any that the service sends.")

"""Files to upload, in the ways people have them at hand."""

from __future__ import annotations

import mimetypes
import os
from typing import BinaryIO, Tuple, Union

FileContent = Union[bytes, BinaryIO, "os.PathLike[str]"]

FileInput = Union[FileContent, Tuple[str, FileContent], Tuple[str, FileContent, str]]
"""Bytes, a path, a file opened in binary mode; or with a name, ``(name, content)``, and its type."""

Upload = Tuple[str, bytes, str]


def read_upload(given: FileInput) -> Upload:
    """Read whole, since an attempt that fails is made again with the same bytes."""
    if not isinstance(given, tuple):
        given = (_name_of(given), given)
    name, content, *kind = given
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return name, _bytes_of(content), kind[0] if kind else guessed


def _name_of(content: FileContent) -> str:
    if isinstance(content, os.PathLike):
        return os.path.basename(os.fspath(content))
    name = getattr(content, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "file"


def _bytes_of(content: FileContent) -> bytes:
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, os.PathLike):
        with open(content, "rb") as file:
            return file.read()
    if isinstance(content, str):
        raise TypeError("Give a path as pathlib.Path(...), and text as bytes: a plain string may be either.")
    data = content.read()
    if not isinstance(data, bytes):
        raise TypeError("Open the file in binary mode: open(path, 'rb').")
    return data

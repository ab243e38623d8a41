"""The files below one folder, and none besides."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# The most that a notebook holds; a folder with more was hardly meant.
_MOST_FILES = 1000

# More than any file of a skill or any document may have.
_LARGEST_FILE = 10 * 1024 * 1024


class Refused(Exception):
    """Why a path is not taken."""


@dataclass(frozen=True)
class Found:
    kind: Literal["file", "folder"]
    path: Path
    """With every link followed."""
    shown: str
    """As it is reached from the folder of the deployment file, with forward slashes."""


@dataclass(frozen=True)
class Listed:
    path: str
    """Below the folder that was listed, with forward slashes."""
    real: Path


class LocalFolder:
    """Not by ``..``, not by an absolute path and not by a link does anything else come in.

    What begins with a dot (``.git``, ``.env``) and what was installed is never read, also where a
    link or the deployment file names it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = Path(os.path.realpath(folder))

    def find(self, written: str) -> Found:
        if os.path.isabs(written):
            raise Refused(f"`{written}` is not below the folder: write a relative path.")
        target = Path(os.path.normpath(self._folder / written))
        below = os.path.relpath(target, self._folder)
        if below == ".":
            raise Refused("Name a file or folder below this one, not this one itself.")
        if _is_outside(below):
            raise Refused(f"`{written}` is outside the folder. Only files below it are uploaded.")
        if _is_ignored(below):
            raise Refused(f"`{written}` is never read: it is a dot file, or was installed.")
        return self._look(target, Path(below).as_posix())

    def files_of(self, folder: Found) -> list[Listed]:
        files: list[Listed] = []
        self._collect(folder, "", (), files)
        return sorted(files, key=lambda each: each.path)

    def read(self, real: Path, shown: str) -> bytes:
        try:
            size = real.stat().st_size
            if size > _LARGEST_FILE:
                raise Refused(f"`{shown}` has {size} bytes: at most {_LARGEST_FILE} are taken.")
            return real.read_bytes()
        except OSError as error:
            raise Refused(_unreadable(shown, error)) from error

    def _look(self, target: Path, shown: str) -> Found:
        try:
            real = Path(os.path.realpath(target, strict=True))
            below = os.path.relpath(real, self._root)
            if _is_outside(below):
                raise Refused(f"`{shown}` is a link that leads out of the folder: it is not uploaded.")
            if _is_ignored(below):
                raise Refused(f"`{shown}` is a link to a file that is never read.")
            if real.is_file():
                return Found("file", real, shown)
            if real.is_dir():
                return Found("folder", real, shown)
            raise Refused(f"`{shown}` is neither a file nor a folder.")
        except FileNotFoundError as error:
            raise Refused(f"There is no `{shown}`. Correct the path, or add the file.") from error
        except OSError as error:
            raise Refused(_unreadable(shown, error)) from error

    def _collect(self, here: Found, prefix: str, above: tuple[Path, ...], into: list[Listed]) -> None:
        if here.path in above:
            raise Refused(f"`{here.shown}` is a link to one of its parent folders.")
        for name in os.listdir(here.path):
            if _is_ignored(name):
                continue
            shown = f"{here.shown}/{name}"
            found = self._look(here.path / name, shown)
            if found.kind == "file":
                into.append(Listed(f"{prefix}{name}", found.path))
            if len(into) > _MOST_FILES:
                raise Refused(f"`{shown}` is one file too many: at most {_MOST_FILES} are taken together.")
            if found.kind == "folder":
                self._collect(found, f"{prefix}{name}/", (*above, here.path), into)


def text_of(content: bytes) -> str | None:
    """None where the bytes are no text. A byte order mark stays."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def composed(name: str) -> str:
    """Some systems write ``é`` in a file name as one character and others as two: the name is one and the same."""
    return unicodedata.normalize("NFC", name)


def is_system_file(path: str) -> bool:
    """Files that macOS adds to folders and zips."""
    names = path.split("/")
    return "__MACOSX" in names or names[-1] == ".DS_Store"


def _is_outside(below: str) -> bool:
    return below == ".." or below.startswith(f"..{os.sep}") or os.path.isabs(below)


def _is_ignored(below: str) -> bool:
    return any(
        (name.startswith(".") and name != ".") or name == "node_modules" or is_system_file(name)
        for name in below.split(os.sep)
    )


def _unreadable(shown: str, error: OSError) -> str:
    return f"`{shown}` cannot be read: {error.strerror or error}."

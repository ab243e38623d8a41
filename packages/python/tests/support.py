"""Shared by the tests: the clients, and a connection that breaks on request."""

from __future__ import annotations

import os
import re
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Callable, Iterator, Optional
from urllib.parse import urlsplit

import httpx

from vestra import AsyncVestra, Vestra

URL = os.environ["VESTRA_URL"]
KEY = os.environ["VESTRA_KEY"]


@dataclass
class Passed:
    """A request that went through the proxy."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Proxy:
    """Hands on each request, and of each answer what ``most`` says: None for all of it, or so many bytes."""

    most: Callable[[Passed], Optional[int]]
    passed: list[Passed] = field(default_factory=list)
    url: str = ""

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._hand_on, args=(near,), daemon=True).start()

    def _hand_on(self, near: socket.socket) -> None:
        target = urlsplit(URL)
        with near, socket.create_connection((target.hostname or "", target.port or 80)) as far:
            head, body = _read_head(near)
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            request = Passed(method, path, headers)
            self.passed.append(request)
            far.sendall(head + b"\r\n\r\n" + body)
            left = int(headers.get("content-length", 0)) - len(body)
            while left > 0:
                chunk = near.recv(65536)
                left -= len(chunk)
                far.sendall(chunk)
            most = self.most(request)
            answer = b""
            while most is None or len(answer) < most:
                chunk = far.recv(65536)
                if not chunk:
                    break
                if most is not None:
                    chunk = chunk[: most - len(answer)]
                answer += chunk
                near.sendall(chunk)
            if most == 0:
                # The request was executed although its response is dropped.
                far.recv(65536)


def _read_head(near: socket.socket) -> tuple[bytes, bytes]:
    read = b""
    while b"\r\n\r\n" not in read:
        read += near.recv(65536)
    head, _, body = read.partition(b"\r\n\r\n")
    return re.sub(rb"(?im)^connection:[^\r]*", b"Connection: close", head), body


@contextmanager
def proxy(most: Callable[[Passed], Optional[int]]) -> Iterator[Proxy]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Proxy(most, url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=made.serve, args=(listener,), daemon=True).start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)


# Each request uses a separate connection, so that one can be broken without the others. Loading the certificates of
# all authorities, which is not needed here, would take longer than most tests.
_ALONE = httpx.Limits(max_keepalive_connections=0)


def client(url: str = URL) -> Vestra:
    return Vestra(api_key=KEY, base_url=url, http_client=httpx.Client(limits=_ALONE, verify=False))


def async_client(url: str = URL) -> AsyncVestra:
    return AsyncVestra(api_key=KEY, base_url=url, http_client=httpx.AsyncClient(limits=_ALONE, verify=False))

"""The options of a client."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Mapping

from ._transport import ApiKey, Options, read_base_url, read_key


def options_of(
    api_key: ApiKey, base_url: str | None, timeout: float, max_retries: int, headers: Mapping[str, str] | None
) -> Options:
    key = api_key if api_key is not None else os.environ.get("VESTRA_KEY") or None
    return Options(
        base_url=read_base_url(base_url or os.environ.get("VESTRA_URL") or "http://127.0.0.1:4600"),
        api_key=key if key is None or callable(key) else read_key(key),
        timeout=timeout,
        max_retries=max_retries,
        headers=dict(headers or {}),
    )


def changed(
    options: Options,
    api_key: ApiKey,
    timeout: float | None,
    max_retries: int | None,
    headers: Mapping[str, str] | None,
) -> Options:
    return replace(
        options,
        api_key=options.api_key if api_key is None else api_key,
        timeout=options.timeout if timeout is None else timeout,
        max_retries=options.max_retries if max_retries is None else max_retries,
        headers={**options.headers, **(headers or {})},
    )

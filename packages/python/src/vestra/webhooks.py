"""Deliveries of the service, proved to be its own, by the rules of Standard Webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, Mapping, Sequence, Union, cast

from . import types
from ._resource import read_as
from .errors import WebhookError

__all__ = ["WebhookError", "sign", "verify", "verify_signed"]

Body = Union[str, bytes, bytearray]
Secret = Union[str, Sequence[str]]
Headers = Mapping[str, Any]

# A roll leaves two, and nobody makes this reader try a thousand.
_MOST_SIGNATURES = 10


def verify(
    body: Body, headers: Headers, secret: Secret, *, tolerance_seconds: float = 300, now: float | None = None
) -> types.WebhookEvent:
    """Returns the event of a delivery after verifying that the service sent it and that it is recent.

    Raises ``WebhookError`` otherwise: respond with 400 and do nothing else.

    Args:
        body: The raw body. A serialised copy has another signature.
        headers: The request's headers in any letter case: a dict, or your framework's type.
        secret: The signing secret, ``whsec_…``, or both during rotation.
        tolerance_seconds: The maximum clock difference.
        now: Seconds since 1970. Default: the current time.
    """
    event = verify_signed(body, headers, secret, tolerance_seconds=tolerance_seconds, now=now)
    return cast(types.WebhookEvent, read_as(types.WebhookEvent, event))


def verify_signed(
    body: Body, headers: Headers, secret: Secret, *, tolerance_seconds: float = 300, now: float | None = None
) -> Any:
    """Whatever the service signs, as JSON, once it is certain that it did."""
    message_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _signatures(_header(headers, "webhook-signature"))
    clock = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]{1,15}", timestamp) or abs(clock - int(timestamp)) > tolerance_seconds:
        raise WebhookError("timestamp_out_of_range", "The timestamp is too far from the time of this clock.")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    made = [_digest(key, message_id, timestamp, raw) for key in _keys(secret)]
    # Each is held against each, so that the time it takes tells nothing.
    fitting = [hmac.compare_digest(own, given) for own in made for given in signatures]
    if True not in fitting:
        raise WebhookError("signature_mismatch", "No signature of the delivery fits the secret and the body.")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise WebhookError("invalid_body", "The body is signed, and is not JSON.") from error


def sign(message_id: str, body: Body, secret: Secret, *, at: float | None = None) -> dict[str, str]:
    """The headers that prove a delivery, as the service sends them: for tests of your own."""
    timestamp = str(int(time.time() if at is None else at))
    raw = body.encode() if isinstance(body, str) else bytes(body)
    made = (_digest(key, message_id, timestamp, raw) for key in _keys(secret))
    signature = " ".join(f"v1,{base64.b64encode(each).decode()}" for each in made)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": signature,
        "service-signature": signature,
    }


def _header(headers: Headers, name: str) -> str:
    found = next((value for each, value in _items(headers) if _text(each).lower() == name), None)
    if isinstance(found, (list, tuple)):
        found = found[0] if found else None
    if not found:
        raise WebhookError("headers_missing", f"The header `{name}` is missing.")
    return _text(found)


def _items(headers: Headers) -> Iterable[tuple[Any, Any]]:
    return headers.items()


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _signatures(header: str) -> list[bytes]:
    """Those of the one version there is; others are for readers yet to come."""
    given = [each[len("v1,") :] for each in header.split(" ") if each.startswith("v1,")]
    decoded = (_from_base64(each) for each in given[:_MOST_SIGNATURES])
    return [each for each in decoded if each is not None]


def _keys(secret: Secret) -> list[bytes]:
    secrets = [secret] if isinstance(secret, str) else list(secret)
    keys = [_from_base64(each[len("whsec_") :] if each.startswith("whsec_") else each) for each in secrets]
    if not keys or any(not key for key in keys):
        raise ValueError("A signing secret is `whsec_` and base64.")
    return cast("list[bytes]", keys)


def _digest(key: bytes, message_id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None

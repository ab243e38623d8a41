"""Deliveries, real and forged."""

from __future__ import annotations

import json
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from support import client

from vestra import WebhookError, types, webhooks


class Webhooks(unittest.TestCase):
    def test_of_the_service_are_proved(self) -> None:
        deliveries: list[tuple[bytes, dict[str, str]]] = []

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                deliveries.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers.items())))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        receiver = HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        with client() as vestra:
            endpoint = vestra.webhooks.create(url=f"http://127.0.0.1:{receiver.server_port}/", events="*")
            self.assertEqual(vestra.webhooks.test(endpoint.id).status, "succeeded")
            body, headers = next(each for each in deliveries if b"webhook.test" in each[0])
            event = webhooks.verify(body, headers, endpoint.secret)
            self.assertIsInstance(event, types.WebhookTestEvent)
            self.assertEqual(event.data.url, endpoint.url)
            self.assert_refused(
                "signature_mismatch", body.replace(b"webhook.test", b"task.failed"), headers, endpoint.secret
            )
            vestra.webhooks.delete(endpoint.id)
        receiver.shutdown()
        receiver.server_close()

    def test_of_the_standard_library_of_the_standard_fit(self) -> None:
        for vector in json.loads(Path(os.environ["VESTRA_VECTORS"]).read_text()):
            given = {"now": vector["at"]}
            self.assertEqual(
                webhooks.verify_signed(vector["body"], vector["headers"], vector["secret"], **given),
                json.loads(vector["body"]),
            )
            made = webhooks.sign(vector["headers"]["webhook-id"], vector["body"], vector["secret"], at=vector["at"])
            self.assertEqual(made["webhook-signature"], vector["headers"]["webhook-signature"])

    def test_that_are_forged_old_or_no_json_are_refused(self) -> None:
        secret, other = "whsec_" + "c2VjcmV0" * 4, "whsec_" + "b3RoZXIh" * 4
        body = '{"type":"webhook.test"}'
        headers = webhooks.sign("evt_1", body, secret, at=1000)
        good = {"Webhook-Signature": headers.pop("webhook-signature"), **headers}
        self.assertEqual(webhooks.verify_signed(body, good, [other, secret], now=1299), json.loads(body))
        self.assert_refused("timestamp_out_of_range", body, good, secret, now=1301)
        self.assert_refused("timestamp_out_of_range", body, good, secret, now=699)
        self.assert_refused("timestamp_out_of_range", body, {**good, "webhook-timestamp": "1e3"}, secret, now=1000)
        self.assert_refused("signature_mismatch", body, good, other, now=1000)
        self.assert_refused("signature_mismatch", body, {**good, "webhook-id": "evt_2"}, secret, now=1000)
        self.assert_refused(
            "signature_mismatch", body, {**good, "Webhook-Signature": "v2,AAAA v1,!!!! v1,"}, secret, now=1000
        )
        self.assert_refused("headers_missing", body, {}, secret)
        self.assert_refused("invalid_body", "no json", webhooks.sign("evt_1", "no json", secret), secret)
        # Of two signatures, as a roll leaves them, one is enough; of a thousand only the first are tried.
        rolled = webhooks.sign("evt_1", body, [other, secret], at=1000)
        webhooks.verify_signed(body, rolled, secret, now=1000)
        many = {**rolled, "webhook-signature": "v1,AAAA " * 10 + good["Webhook-Signature"]}
        self.assert_refused("signature_mismatch", body, many, secret, now=1000)
        for wrong in ("", "whsec_", "whsec_no base64", []):
            with self.assertRaises(ValueError):
                webhooks.verify_signed(body, good, wrong, now=1000)

    def assert_refused(self, code: str, *given: object, **more: object) -> None:
        with self.assertRaises(WebhookError) as refused:
            webhooks.verify_signed(*given, **more)  # type: ignore[arg-type]
        self.assertEqual(refused.exception.code, code)

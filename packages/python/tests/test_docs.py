"""The blocks of docs/python.md, run from the first to the last."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
import threading
import unittest
from pathlib import Path

from support import KEY, URL, client

from vestra import webhooks

DOCS = Path(os.environ["VESTRA_DOCS"])
EXAMPLES = Path(os.environ["VESTRA_EXAMPLES"])


class Docs(unittest.TestCase):
    def test_do_what_they_say(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        shutil.copytree(EXAMPLES / "support-desk", Path(folder) / "support-desk")
        self.enterContext(contextlib.chdir(folder))
        names: dict[str, object] = {"API_KEY": KEY, "BASE_URL": URL}
        blocks = re.findall(r"^```python\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 8)
        printed = io.StringIO()
        for block in blocks:
            code = compile(block, "docs/python.md", "exec")
            if "client.serve_functions(" in block:
                self.served(code, names)
                continue
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        for said in ("Hello, Ada.\n", "ada\n", "turn.settled\n", "support-desk [", "user_not_found "):
            self.assertIn(said, printed.getvalue())
        self.assertEqual(names["content"], b"a,b\n")
        body = '{"type":"task.failed","data":{"id":"task_1"}}'
        secret = "whsec_" + "c2VjcmV0" * 4
        receive = names["receive"]
        with contextlib.redirect_stdout(printed):
            self.assertEqual(receive(body, webhooks.sign("evt_1", body, secret), secret), 200)  # type: ignore[operator]
        self.assertEqual(receive(body, {}, secret), 400)  # type: ignore[operator]

    def served(self, code: object, names: dict[str, object]) -> None:
        threading.Thread(target=exec, args=(code, names), daemon=True).start()
        with client() as vestra:
            while "shop" not in [each.slug for each in vestra.deployments.list()]:
                pass
            asked = vestra.ask("Where is MT-1042?", user="ada", deployment="shop", wait_s=30)
            self.assertEqual(asked.text, 'Heard: {"number":"MT-1042","state":"shipped"}')

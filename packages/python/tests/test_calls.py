"""Calls, their answers and their errors."""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
import unittest
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, get_args
from unittest.mock import patch

import httpx
from support import KEY, URL, async_client, client, proxy

from vestra import (
    AsyncVestra,
    AuthenticationError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    Resource,
    TimedOutError,
    UnexpectedAnswerError,
    UpstreamError,
    Vestra,
    VestraError,
)
from vestra._error_codes import ErrorType
from vestra._resource import read_as
from vestra._transport import Call, path_of
from vestra.errors import ERRORS, error_of, is_passing
from vestra import types


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


class Routes(unittest.TestCase):
    def test_each_is_a_method_of_both_clients_with_its_path_first(self) -> None:
        routes = json.loads(Path(os.environ["VESTRA_ROUTES"]).read_text())
        self.assertGreater(len(routes), 150)
        for made in (Vestra(KEY, URL), AsyncVestra(KEY, URL)):
            for route in routes:
                family, operation = map(snake, route["name"].split("."))
                method = getattr(getattr(made, family), operation)
                parameters = list(inspect.signature(method).parameters.values())
                positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
                self.assertEqual(positional, route["params"], route["name"])
                named = {each.name.rstrip("_") for each in parameters if each.kind is each.KEYWORD_ONLY}
                self.assertLessEqual(set(route["fields"]), named, route["name"])
                self.assertIn(route["summary"].split()[0], inspect.getdoc(method) or "", route["name"])


class Answers(unittest.TestCase):
    def test_are_objects_at_every_depth(self) -> None:
        with client() as vestra:
            conversation = vestra.conversations.create(user_id="ada", deployment="desk", metadata={"a": "b"})
            self.assertIsInstance(conversation, types.Conversation)
            turn = vestra.conversations.send(conversation.id, message="Hello!", wait=60)
            self.assertEqual((turn.status, turn.reply and turn.reply.text), ("settled", "Hello, Ada."))
            self.assertIsInstance(turn.reply, types.TurnReply)
            version = vestra.deployments.get_version("desk", 1)
            self.assertEqual(version.manifest.tools[0].function, "find_stock")
            self.assertEqual(vestra.me.get().object, "me")
            self.assertEqual(pickle.loads(pickle.dumps(turn)), turn)

    def test_of_a_newer_service_are_read_too(self) -> None:
        raw = {"object": "turn", "id": "turn_1", "reply": {"text": "Hi", "tone": "warm"}, "mood": {"a": 1}}
        turn = types.Turn.from_dict(raw)
        self.assertEqual((turn.reply.text, turn.reply.tone, turn.mood), ("Hi", "warm", {"a": 1}))
        self.assertEqual(turn.to_dict(), raw)
        self.assertRaisesRegex(AttributeError, "This Turn has no `status`", lambda: turn.status)
        with self.assertRaises(AttributeError):
            turn.id = "turn_2"
        event = read_as(types.StreamEvent, {"object": "event", "type": "turn.sang", "seq": 3, "data": {}})
        self.assertEqual((type(event), event.type, event.seq), (Resource, "turn.sang", 3))
        known = read_as(types.StreamEvent, {"type": "reply.delta", "seq": 1, "data": {"text": "a", "message_id": "m"}})
        self.assertIsInstance(known, types.ReplyDeltaEvent)
        self.assertIsInstance(known.data, types.ReplyDeltaData)
        headers = read_as(types.McpServer, {"auth": {"type": "headers", "headers": {}}}).auth
        self.assertIsInstance(headers, types.McpServerAuthHeaders)


class Errors(unittest.TestCase):
    def test_carry_everything_that_the_service_said(self) -> None:
        with client() as vestra:
            with self.assertRaises(InvalidRequestError) as refused:
                vestra.conversations.get("conv_x")
            error = refused.exception
            self.assertEqual(
                (error.status, error.type, error.code, error.param),
                (400, "invalid_request", "invalid_conversation_id", "conversation_id"),
            )
            self.assertRegex(error.request_id or "", "^req_")
            self.assertIn("invalid_conversation_id", str(error))
            self.assertEqual(pickle.loads(pickle.dumps(error)).code, error.code)
            with self.assertRaises(InvalidRequestError) as faults:
                vestra.deployments.put("broken", name="broken", language="klingon?", model="none")
            self.assertEqual([each["param"] for each in faults.exception.errors], ["language", "model"])
            with self.assertRaises(NotFoundError):
                vestra.users.get("nobody-knows-them")
            with self.assertRaises(AuthenticationError):
                vestra.with_options(api_key="vk_test_unknown").me.get()

    def test_have_a_class_for_each_type(self) -> None:
        self.assertEqual(set(get_args(ErrorType)), set(ERRORS))
        body = {"error": {"type": "rate_limited", "code": "rate_limited", "message": "Slow.", "retry_after_ms": 1500}}
        error = error_of(429, {}, body, "")
        self.assertIsInstance(error, RateLimitError)
        self.assertEqual((error.retry_after, is_passing(error)), (1.5, True))
        worded = error_of(
            503, {"retry-after": "7"}, {"error": {"type": "server_error", "code": "x", "message": "y"}}, ""
        )
        self.assertEqual((type(worded), worded.retry_after), (UpstreamError, 7.0))
        page = error_of(302, {"location": "https://elsewhere.example.com"}, None, "<html>")
        self.assertIsInstance(page, UnexpectedAnswerError)
        self.assertIn("https://elsewhere.example.com", str(page))
        # A page with a passing status is a proxy's, and the service behind it may be back in a moment.
        self.assertTrue(is_passing(error_of(502, {}, None, "<html>")))
        self.assertFalse(is_passing(error_of(404, {}, None, "<html>")))
        at_work = {"type": "conflict", "code": "idempotency_in_progress", "message": "Still running."}
        self.assertTrue(is_passing(error_of(409, {}, {"error": at_work}, "")))

    def test_say_that_nothing_answers(self) -> None:
        with self.assertRaises(ConnectionFailedError) as lost:
            Vestra(KEY, "http://127.0.0.1:9", max_retries=0).me.get()
        self.assertEqual((lost.exception.code, lost.exception.status), ("connection_failed", 0))

    def test_never_hold_the_key(self) -> None:
        self.assertRaisesRegex(ValueError, "^`api_key` holds a space", lambda: Vestra("vk_test_a b", URL))
        self.assertNotIn(KEY, repr(client()._transport.options))

    def test_no_param_leads_to_another_route(self) -> None:
        with client() as vestra:
            for given in ("", ".", ".."):
                with self.assertRaises(ValueError):
                    vestra.users.get(given)
            with self.assertRaises(VestraError) as refused:
                vestra.users.get("../keys?x=1#y")
            self.assertIn(refused.exception.code, ("user_not_found", "invalid_user_id", "invalid_request"))
        call = Call("users.get", "GET", "/v1/users/{user_id}", {"user_id": "a/b c%2F?ü"})
        self.assertEqual(path_of(call), "/v1/users/a%2Fb%20c%252F%3F%C3%BC")


class Repeating(unittest.IsolatedAsyncioTestCase):
    def test_a_call_whose_answer_is_lost_has_happened_once(self) -> None:
        with proxy(lambda _: 0 if len(between.passed) == 1 else None) as between, client(between.url) as vestra:
            made = vestra.webhooks.create(url="https://hooks.example.com/once", events=["task.failed"])
            keys = [each.headers["idempotency-key"] for each in between.passed]
            self.assertEqual((len(keys), len(set(keys))), (2, 1))
        with client() as vestra:
            kept = [each.id for each in vestra.webhooks.list() if each.url.endswith("/once")]
            self.assertEqual(kept, [made.id])
            vestra.webhooks.delete(made.id)

    async def test_so_it_does_on_a_loop(self) -> None:
        # The answer breaks off in the middle of its body.
        with proxy(lambda _: 600 if len(between.passed) == 1 else None) as between:
            async with async_client(between.url) as vestra:
                made = await vestra.users.create(user_id="once-async", metadata={"word": "x" * 400})
        self.assertEqual((made.id, len(between.passed)), ("once-async", 2))

    def test_a_change_that_takes_no_key_is_left_to_the_caller(self) -> None:
        with proxy(lambda _: 0) as between, client(between.url) as vestra:
            with self.assertRaises(ConnectionFailedError):
                vestra.users.update("ada", metadata={"a": "b"})
            self.assertEqual(len(between.passed), 1)
            with self.assertRaises(ConnectionFailedError):
                vestra.with_options(max_retries=0).users.create(user_id="never")
            self.assertNotIn("idempotency-key", between.passed[1].headers)


class Patience(unittest.IsolatedAsyncioTestCase):
    """A proxy answers instead of the service and asks to wait, which the client respects."""

    def test_is_as_long_as_the_service_asks_for(self) -> None:
        slow = {"error": {"type": "rate_limited", "code": "rate_limited", "message": "Slow.", "retry_after_ms": 1500}}
        answers = [
            httpx.Response(429, json=slow),
            httpx.Response(503, headers={"retry-after": "3"}),
            httpx.Response(200, json={}),
        ]
        with self.asking(answers) as (vestra, waited):
            vestra.me.get()
        self.assertEqual([round(each, 1) for each in waited], [1.5, 3.0])
        answers = [httpx.Response(503, headers={"retry-after": "90"})]
        with self.asking(answers) as (vestra, waited), self.assertRaises(UnexpectedAnswerError):
            vestra.me.get()
        self.assertEqual(waited, [])

    def test_ends_after_the_last_attempt(self) -> None:
        answers = [httpx.ReadTimeout("slow"), httpx.ConnectError("gone"), httpx.ReadTimeout("slow")]
        with self.asking(answers) as (vestra, waited), self.assertRaises(TimedOutError) as lost:
            vestra.me.get(timeout=7)
        self.assertEqual((lost.exception.code, len(waited)), ("timed_out", 2))
        self.assertIn("within 7 seconds", lost.exception.message)
        self.assertTrue(0.25 <= waited[0] <= 0.5 <= waited[1] <= 1.0, waited)

    async def test_a_key_may_be_fetched_for_each_call(self) -> None:
        sent: list[str] = []

        def handler(request: httpx.Request) -> httpx.Response:
            sent.append(request.headers["authorization"])
            return httpx.Response(200, json={})

        async def fresh() -> str:
            return f"vk_test_{len(sent)}"

        transport = httpx.AsyncClient(transport=httpx.MockTransport(handler))
        async with AsyncVestra(fresh, URL, http_client=transport) as vestra:
            await vestra.me.get()
            await vestra.me.get()
        self.assertEqual(sent, ["Bearer vk_test_0", "Bearer vk_test_1"])

    @contextmanager
    def asking(self, answers: list[Any]) -> Iterator[tuple[Vestra, list[float]]]:
        def handler(_: httpx.Request) -> httpx.Response:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        waited: list[float] = []
        with patch("time.sleep", waited.append):
            yield Vestra(KEY, URL, http_client=httpx.Client(transport=httpx.MockTransport(handler))), waited
        self.assertEqual(answers, [])


class Lists(unittest.IsolatedAsyncioTestCase):
    async def test_go_on_through_all_pages(self) -> None:
        with client() as vestra:
            for number in range(7):
                vestra.users.create(user_id=f"listed-{number}")
            first = vestra.users.list(limit=3)
            self.assertEqual((len(first.data), first.next_cursor is None), (3, False))
            ids = [user.id for user in first]
        async with async_client() as vestra:
            page = await vestra.users.list(limit=3)
            again = [user.id async for user in vestra.users.list(limit=3)]
        self.assertEqual((len(page.data), again), (3, ids))
        self.assertEqual(len([each for each in ids if each.startswith("listed-")]), 7)
        self.assertEqual(len(set(ids)), len(ids))


class Files(unittest.IsolatedAsyncioTestCase):
    async def test_go_up_and_come_down(self) -> None:
        content = bytes(range(256)) * 300
        named = io.BytesIO(b"a,b\n")
        named.name = "/somewhere/table.csv"
        with client() as vestra:
            kept = vestra.files.create(file=("picture ü.bin", content), user_id="ada")
            self.assertEqual((kept.filename, kept.size_bytes), ("picture ü.bin", len(content)))
            self.assertEqual(vestra.download_file(kept.id), content)
            table = vestra.files.create(file=named, user_id="ada")
            self.assertEqual((table.filename, table.size_bytes), ("table.csv", 4))
            self.assertEqual(vestra.files.create(file=Path(__file__)).filename, "test_calls.py")
            with self.assertRaises(TypeError):
                vestra.files.create(file="words")  # type: ignore[arg-type]
            notebook = vestra.notebooks.create(name="Notes", slug="python-notes")
            page = vestra.notebooks.create_document(notebook.id, file=("care.html", b"<h1>Care</h1>", "text/html"))
            self.assertEqual(vestra.notebooks.get_document(notebook.id, page.id).text, "# Care")
            with self.assertRaises(InvalidRequestError) as refused:
                vestra.skills.create(zip=b"no zip")
            self.assertEqual(refused.exception.code, "invalid_zip")
            self.assertRegex(vestra.deployments.get("desk", format="yaml"), "(?m)^name: desk$")
        with proxy(lambda _: 0 if len(between.passed) == 1 else None) as between:
            async with async_client(between.url) as vestra:
                # Sent again with another boundary, it is the same upload.
                again = await vestra.files.create(file=("picture.bin", content), user_id="uploader")
                self.assertEqual(await vestra.download_file(again.id), content)
                self.assertEqual([each.id async for each in vestra.files.list(user_id="uploader")], [again.id])
        self.assertEqual([each.method for each in between.passed], ["POST", "POST", "GET", "GET"])

    def test_null_is_sent_where_the_field_takes_it(self) -> None:
        with client() as vestra:
            vestra.users.create(user_id="nulled", name="Nina")
            self.assertEqual(vestra.users.update("nulled", name=None).name, None)

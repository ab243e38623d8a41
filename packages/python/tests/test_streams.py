"""Streams that outlive their connections, and what is made of them."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any, AsyncIterator, Iterator
from unittest.mock import patch

import httpx
from support import Passed, async_client, client, proxy

from vestra import AsyncVestra, NotFoundError, UnexpectedAnswerError, Vestra, types, yes_to
from vestra._server_sent_events import EventParser

WORDS = "".join(f"word{number} " for number in range(12))


def text_of(events: list[types.StreamEvent]) -> str:
    return "".join(event.data.text for event in events if event.type == "reply.delta")


def cuts_streams(request: Passed) -> int | None:
    """Of each stream its head and a few events."""
    is_stream = request.path.endswith(("/messages", "/events"))
    return 2600 if is_stream else None


EVENT_STREAM = {"content-type": "text/event-stream"}


def frame(seq: int, kind: str = "reply.delta", turn: str = "turn_1", data: Any = None) -> str:
    """An event as the service writes it."""
    envelope = {"type": kind, "seq": seq, "turn_id": turn, "task_id": None, "conversation_id": "conv_1"}
    return f"id: {seq}\ndata: {json.dumps({**envelope, 'data': data or {'text': f'{seq} '}})}\n\n"


class Streams(unittest.IsolatedAsyncioTestCase):
    def assert_whole(self, conversation: str, events: list[Any], passed: list[Passed]) -> None:
        self.assertEqual(text_of(events), WORDS)
        self.assertEqual((events[0].type, events[-1].type), ("turn.started", "turn.settled"))
        posts = [each for each in passed if each.method == "POST"]
        followed = [int(each.headers["last-event-id"]) for each in passed if each.method == "GET"]
        self.assertEqual(len(posts), 1)
        self.assertGreater(len(followed), 1)
        # Only what had not come yet was asked for.
        self.assertEqual(followed, sorted(set(followed)))
        self.assertGreater(followed[0], 0)
        with client() as vestra:
            kept = vestra.conversations.events(conversation, format="json", limit=100).data
            ours = [event.seq for event in kept if event.turn_id == events[0].turn_id]
            self.assertEqual([event.seq for event in events], ours)
            self.assertEqual(len(vestra.conversations.messages(conversation).data), 2)

    def test_lost_again_and_again_give_each_event_once(self) -> None:
        with proxy(cuts_streams) as between, client() as vestra, client(between.url) as shaky:
            conversation = vestra.conversations.create(deployment="desk")
            events = list(shaky.conversations.send(conversation.id, message="Count.", stream=True))
            self.assert_whole(conversation.id, events, between.passed)

    async def test_so_they_do_on_a_loop(self) -> None:
        with proxy(cuts_streams) as between:
            async with async_client() as vestra, async_client(between.url) as shaky:
                conversation = await vestra.conversations.create(deployment="desk")
                stream = await shaky.conversations.send(conversation.id, message="Count.", stream=True)
                async with stream:
                    events = [event async for event in stream]
        self.assert_whole(conversation.id, events, between.passed)

    def test_lost_before_the_first_event_begin_no_second_turn(self) -> None:
        def head_only(request: Passed) -> int | None:
            return 300 if request.method == "POST" and len(between.passed) == 1 else None

        with proxy(head_only) as between, client() as vestra, client(between.url) as shaky:
            conversation = vestra.conversations.create(deployment="desk")
            events = list(shaky.conversations.send(conversation.id, message="Hello!", stream=True))
            self.assertEqual((text_of(events), len(between.passed)), ("Hello, Ada.", 2))
            self.assertEqual(len(vestra.conversations.messages(conversation.id).data), 2)

    def test_of_whatever_is_sent_again_take_each_event_once(self) -> None:
        # Nothing at all; a part; all of it once more, with another turn's; the end.
        parts = [[], [1, 2], [1, 2, -3, 4], [4, 5]]
        streams = ["".join(frame(abs(seq), turn="turn_2" if seq < 0 else "turn_1") for seq in part) for part in parts]
        streams[-1] += frame(6, "turn.settled")
        sent: list[tuple[str, str | None, str | None]] = []

        def handler(request: httpx.Request) -> httpx.Response:
            sent.append((request.method, request.headers.get("idempotency-key"), request.headers.get("last-event-id")))
            return httpx.Response(200, text=streams.pop(0), headers=EVENT_STREAM)

        with patch("time.sleep"):
            vestra = Vestra(http_client=httpx.Client(transport=httpx.MockTransport(handler)))
            events = list(vestra.conversations.send("conv_1", message="Hello!", stream=True))
            self.assertEqual([each.seq for each in events], [1, 2, 4, 5, 6])
            key = sent[0][1]
            self.assertIsNotNone(key)
            self.assertEqual(sent, [("POST", key, None), ("POST", key, None), ("GET", None, "2"), ("GET", None, "4")])
            streams += [frame(7) + frame(8), frame(7) + frame(8) + frame(9)]
            following = vestra.conversations.events("conv_1", after=6)
            self.assertEqual([next(following).seq for _ in range(3)], [7, 8, 9])
            streams += ["data: <html>\n\n"]
            with self.assertRaises(UnexpectedAnswerError):
                next(following)
            self.assertEqual(list(following), [])

    def test_that_a_restart_closes_resume_at_once(self) -> None:
        closed = {"reason": "server_restarting"}
        streams = [frame(1) + frame(1, "stream.closed", data=closed), frame(2), "", frame(3)]
        sent: list[str | None] = []

        def handler(request: httpx.Request) -> httpx.Response:
            sent.append(request.headers.get("last-event-id"))
            return httpx.Response(200, text=streams.pop(0), headers=EVENT_STREAM)

        with patch("time.sleep") as sleep:
            vestra = Vestra(http_client=httpx.Client(transport=httpx.MockTransport(handler)))
            following = vestra.conversations.events("conv_1", after=0)
            self.assertEqual([next(following).seq for _ in range(2)], [1, 2])
            sleep.assert_not_called()
            # A stream that ends without it was lost, which is waited after.
            self.assertEqual(next(following).seq, 3)
            self.assertEqual(sleep.call_count, 2)
        self.assertEqual(sent, ["0", "1", "2", "2"])

    def test_follow_a_conversation_and_a_turn(self) -> None:
        with client() as vestra:
            made = vestra.conversations.create(deployment="desk", message="Hello!")
            turn = list(vestra.follow_turn(made.id, made.turn_id or ""))
            self.assertEqual((turn[0].type, turn[-1].type), ("turn.started", "turn.settled"))
            seen: list[int] = []
            with vestra.conversations.events(made.id, after=1) as events:
                for event in events:
                    seen.append(event.seq)
                    if event.type == "turn.settled" and event.turn_id == made.turn_id:
                        vestra.conversations.send(made.id, message="And now?")
                    elif event.type == "turn.settled":
                        break
            self.assertEqual(seen, list(range(2, len(seen) + 2)))
            with self.assertRaises(NotFoundError):
                vestra.conversations.events("conv_000000000000000000000000")

    def test_play_the_tests_of_a_deployment(self) -> None:
        with client() as vestra:
            told: list[str] = []
            run = vestra.test("tested", on_tested=lambda result: told.append(result.name))
            self.assertEqual((told, run), (["Greets"], vestra.test_runs.get(run.id)))


class Commands(unittest.IsolatedAsyncioTestCase):
    def test_ask_waits_for_the_answer(self) -> None:
        with client() as vestra:
            seen: list[str] = []
            asked = vestra.ask("Hello!", user="ada", deployment="desk", on_event=lambda event: seen.append(event.type))
            self.assertEqual((asked.status, asked.text), ("settled", "Hello, Ada."))
            self.assertEqual((seen[0], seen[-1]), ("turn.started", "turn.settled"))
            again = vestra.ask("Hello!", user="ada", conversation=asked.conversation_id)
            self.assertEqual(again.conversation_id, asked.conversation_id)
            for wrong, code in (
                ({"user": "bob"}, "conversation_user_mismatch"),
                ({"deployment": "desk"}, "invalid_request"),
            ):
                with self.assertRaises(Exception) as refused:
                    vestra.ask("Hello!", conversation=asked.conversation_id, **wrong)
                self.assertEqual(refused.exception.code, code)

    async def test_ask_gives_what_the_agent_waits_on_and_answer_answers_it(self) -> None:
        async with async_client() as vestra:
            asked = await vestra.ask("Order paper.", user="ada", deployment="desk")
            self.assertEqual((asked.status, [each.type for each in asked.interactions]), ("waiting", ["approval"]))
            self.assertEqual(yes_to(asked.interactions[0]), {"approve": True, "present_user": True})
            hard = types.Interaction.from_dict({"needs": ["present_user", "nonce"], "nonce": "n1"})
            self.assertEqual(yes_to(hard), {"approve": True, "present_user": True, "nonce": "n1"})
            denied = await vestra.answer(user="ada", approve=False)
            self.assertEqual((denied.id, denied.outcome.decision), (asked.interactions[0].id, "denied"))
            with self.assertRaises(NotFoundError):
                await vestra.answer(user="ada", approve=True)

    async def test_ask_ends_its_waiting_in_time(self) -> None:
        """The turn begins, and then nothing comes any more."""
        turn = {
            "id": "turn_1",
            "conversation_id": "conv_1",
            "status": "replying",
            "task_id": None,
            "reply": None,
            "error": None,
        }
        begun = frame(1, "turn.started", data={"turn": turn}).encode()

        class Silent(httpx.AsyncByteStream, httpx.SyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield begun
                await asyncio.Event().wait()

            def __iter__(self) -> Iterator[bytes]:
                yield begun
                raise httpx.ReadTimeout("silent")

        transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Silent(), headers=EVENT_STREAM))
        async with AsyncVestra(http_client=httpx.AsyncClient(transport=transport)) as vestra:
            asked = await vestra.ask("Hello!", wait_s=0.5)
        with Vestra(http_client=httpx.Client(transport=transport)) as sync:
            again = sync.ask("Hello!", wait_s=0.2)
        for each in (asked, again):
            self.assertEqual((each.status, each.text, each.turn_id), ("replying", None, "turn_1"))


class Parser(unittest.TestCase):
    def test_reads_events_cut_anywhere_by_any_line_end(self) -> None:
        whole = '\ufeff: hello\r\nid: 1\ndata: {"a":\rdata:  "ü\u2028"}\n\n:\n\ndata\n\nevent: x\rdata: [1]\r\n\r\n'.encode()
        wanted = ['{"a":\n "ü\u2028"}', "", "[1]"]
        for size in range(1, len(whole) + 1):
            parser = EventParser()
            found = [each for at in range(0, len(whole), size) for each in parser.feed(whole[at : at + size])]
            self.assertEqual(found, wanted, size)

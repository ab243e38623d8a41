"""Streams that outlive their connections, and what is made of them."""

from __future__ import annotations

import unittest
from typing import Any

from support import Passed, async_client, client, proxy

from vestra import NotFoundError, types
from vestra._server_sent_events import EventParser

WORDS = "".join(f"word{number} " for number in range(12))


def text_of(events: list[types.StreamEvent]) -> str:
    return "".join(event.data.text for event in events if event.type == "reply.delta")


def cuts_streams(request: Passed) -> int | None:
    """Of each stream its head and a few events."""
    is_stream = request.path.endswith(("/messages", "/events"))
    return 2600 if is_stream else None


class Streams(unittest.IsolatedAsyncioTestCase):
    def assert_whole(self, conversation: str, events: list[Any], passed: list[Passed]) -> None:
        self.assertEqual(text_of(events), WORDS)
        self.assertEqual((events[0].type, events[-1].type), ("turn.started", "turn.settled"))
        posts = [each for each in passed if each.method == "POST"]
        followed = [int(each.headers["last-event-id"]) for each in passed if each.method == "GET"]
        self.assertEqual(len(posts), 1)
        self.assertGreater(len(followed), 1)
        self.assertEqual(followed, sorted(followed))
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
            for wrong, code in (({"user": "bob"}, "conversation_user_mismatch"), ({"deployment": "desk"}, "invalid_request")):
                with self.assertRaises(Exception) as refused:
                    vestra.ask("Hello!", conversation=asked.conversation_id, **wrong)
                self.assertEqual(refused.exception.code, code)

    async def test_ask_gives_what_the_agent_waits_on_and_answer_answers_it(self) -> None:
        async with async_client() as vestra:
            asked = await vestra.ask("Order paper.", user="ada", deployment="desk")
            self.assertEqual((asked.status, [each.type for each in asked.interactions]), ("waiting", ["approval"]))
            denied = await vestra.answer(user="ada", approve=False)
            self.assertEqual((denied.id, denied.outcome.decision), (asked.interactions[0].id, "denied"))
            with self.assertRaises(NotFoundError):
                await vestra.answer(user="ada", approve=True)

    async def test_ask_ends_its_waiting_and_not_the_turn(self) -> None:
        async with async_client() as vestra:
            asked = await vestra.ask("Count.", deployment="desk", wait_s=0.3)
            self.assertEqual((asked.status, asked.text), ("replying", None))
            events = [event async for event in vestra.follow_turn(asked.conversation_id, asked.turn_id)]
            self.assertEqual(text_of(events), WORDS)
        with client() as sync:
            self.assertEqual(sync.ask("Count.", deployment="desk", wait_s=0.1).status, "replying")


class Parser(unittest.TestCase):
    def test_reads_events_cut_anywhere_by_any_line_end(self) -> None:
        whole = "\ufeff: hello\r\nid: 1\ndata: {\"a\":\rdata:  \"ü\u2028\"}\n\n:\n\ndata\n\nevent: x\rdata: [1]\r\n\r\n".encode()
        wanted = ['{"a":\n "ü\u2028"}', "", "[1]"]
        for size in range(1, len(whole) + 1):
            parser = EventParser()
            found = [each for at in range(0, len(whole), size) for each in parser.feed(whole[at : at + size])]
            self.assertEqual(found, wanted, size)

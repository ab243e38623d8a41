"""Functions that are served to an agent."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from pathlib import Path
from typing import Any, Literal, Optional, Sequence, TypedDict

from support import KEY, URL, async_client, client

import vestra
from vestra import FunctionContext, ToolError, Vestra, webhooks
from vestra._serve import differences
from vestra._signature import arguments_for
from vestra.functions import FunctionEndpoint, ServeEvent, input_schema


class Served(unittest.IsolatedAsyncioTestCase):
    async def served(self, functions: Any, *messages: str, **options: Any) -> tuple[list[Any], list[ServeEvent]]:
        """Returns the agent's answers while these functions were served, and the events."""
        events: list[ServeEvent] = []
        stop = asyncio.Event()
        async with async_client() as vestra:
            serving = asyncio.ensure_future(
                vestra.serve_functions(
                    deployment="desk", functions=functions, on_event=events.append, stop=stop, **options
                )
            )
            asked = await asyncio.gather(*(vestra.ask(each, deployment="desk", wait_s=30) for each in messages))
            stop.set()
            await serving
        return [each.text for each in asked], events

    async def test_are_given_their_arguments_by_name_and_run_together(self) -> None:
        running = 0
        most = 0
        talks: list[str] = []

        async def find_stock(sku: str, context: FunctionContext) -> dict[str, Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            while most < 3:
                await asyncio.sleep(0.01)
            running -= 1
            context.progress(f"Counting {sku}")
            talks.append(context.conversation_id)
            return {"sku": sku, "attempt": context.attempt}

        said, events = await self.served([find_stock], "Stock?", "Stock?", "Stock?")
        self.assertEqual(said, ['Heard: {"sku":"A4","attempt":1}'] * 3)
        with client() as vestra:
            for talk in talks:
                told = vestra.conversations.events(talk, format="json", limit=100).data
                self.assertEqual(
                    [each.data.text for each in told if each.type == "tool_call.progress"], ["Counting A4"]
                )
        self.assertEqual(sorted(event.type for event in events), ["answered"] * 3 + ["started"] + ["taken"] * 3)
        self.assertEqual(events[0].warnings, ["`desk` declares `order_paper`, and nothing here answers it."])

    async def test_that_fail_tell_the_agent_no_more_than_they_mean_to(self) -> None:
        def find_stock(sku: str) -> Any:
            threads.append(threading.current_thread() is not threading.main_thread())
            if len(threads) == 1:
                raise RuntimeError("the password is hunter2")
            if len(threads) == 2:
                raise ToolError("The shelf is locked.")
            if len(threads) == 3:
                sys.exit(3)
            return {1, 2}

        threads: list[bool] = []
        said: list[Any] = []
        kinds: list[str] = []
        for _ in range(4):
            words, events = await self.served({"find_stock": find_stock}, "Stock?")
            said += words
            kinds += [type(event.error).__name__ for event in events if event.type == "failed"]
        plain = "The function failed."
        self.assertEqual([each.split(": ")[-1] for each in said], [plain, "The shelf is locked.", plain, plain])
        self.assertEqual(kinds, ["RuntimeError", "ToolError", "RuntimeError", "TypeError"])
        self.assertEqual(threads, [True] * 4)

    async def test_are_not_called_with_what_does_not_fit(self) -> None:
        def find_stock(sku: int) -> None:
            self.fail("It was called.")

        (said,), _ = await self.served([find_stock], "Stock?")
        self.assertIn("The arguments do not fit. sku: must be a whole number.", said)

    async def test_that_still_run_when_it_stops_are_given_back(self) -> None:
        begun = asyncio.Event()
        over: list[bool] = []

        async def hangs(sku: str, context: FunctionContext) -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                over.append(context.is_over)

        stop = asyncio.Event()
        async with async_client() as vestra:
            made = await vestra.conversations.create(deployment="desk", message="Stock?")
            serving = asyncio.ensure_future(
                vestra.serve_functions(
                    deployment="desk",
                    functions={"find_stock": hangs},
                    stop=stop,
                    grace_seconds=0.05,
                    on_event=lambda _: None,
                )
            )
            await begun.wait()
            stop.set()
            await serving
            self.assertEqual(over, [True])
            taken = (await vestra.functions.take("desk", functions=["find_stock"])).data
            self.assertEqual([(each.conversation_id, each.attempt) for each in taken], [(made.id, 2)])
            await vestra.interactions.answer(taken[0].call_id, output=None)

    def test_are_served_without_a_loop_of_ones_own(self) -> None:
        stop = threading.Event()
        serving = threading.Thread(
            target=Vestra(KEY, URL).serve_functions,
            kwargs={
                "deployment": "desk",
                "functions": {"find_stock": lambda sku: f"{sku}: 7"},
                "stop": stop,
                "on_event": lambda _: None,
            },
        )
        serving.start()
        with client() as vestra:
            asked = vestra.ask("Stock?", deployment="desk", wait_s=30)
        stop.set()
        serving.join(10)
        self.assertEqual(asked.text, "Heard: A4: 7")
        self.assertFalse(serving.is_alive())

    def test_that_still_run_when_the_process_is_ended_are_given_back(self) -> None:
        program = """
import time
from vestra import Vestra

def find_stock(sku: str) -> None:
    print("begun", flush=True)
    time.sleep(600)

Vestra().serve_functions(deployment="desk", functions=[find_stock], grace_seconds=0.05)
print("ended", flush=True)
"""
        source = str(Path(vestra.__file__).parent.parent)
        with client() as near:
            made = near.conversations.create(deployment="desk", message="Stock?")
            process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": source},
            )
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGTERM)
            # The thread of the function still sleeps, and keeps nobody.
            self.assertEqual((process.communicate(timeout=30)[0], process.returncode), ("ended\n", 0))
            (taken,) = near.functions.take("desk", functions=["find_stock"]).data
            self.assertEqual((taken.conversation_id, taken.attempt), (made.id, 2))
            near.interactions.answer(taken.call_id, error="Nobody knows.")

    def test_that_a_message_brings_along_are_answered_where_it_was_sent(self) -> None:
        def weather(city: str) -> dict[str, str]:
            if city == "Rome":
                raise ValueError("The station is down.")
            time.sleep(0.01)
            return {"sky": "clear"}

        tool: Any = {
            "name": "weather",
            "description": "The weather.",
            "read_only": True,
            "input_schema": input_schema(weather),
        }
        with client() as vestra:
            made = vestra.conversations.create(deployment="desk", message="Weather?", tools=[tool])
            Vestra(KEY, URL).answer_tool_calls(made.id, [weather], turn=made.turn_id)
            reply = vestra.conversations.messages(made.id).data[0]
        self.assertIn('{"sky":"clear"}', reply.text)
        self.assertIn("The station is down.", reply.text)

    def test_are_answered_at_an_address_too(self) -> None:
        secret = "whsec_" + "c2VjcmV0" * 4
        heard: list[str] = []
        endpoint = FunctionEndpoint(
            {"double": lambda number: number * 2, "fail": lambda: 1 / 0},
            secret,
            on_error=lambda error, call: heard.append(f"{call.name}: {type(error).__name__}"),
        )

        def answer(name: str, arguments: Any, key: str = secret) -> tuple[int, Any]:
            call = {"call_id": "call_1", "name": name, "arguments": arguments, "conversation_id": "conv_1"}
            body = json.dumps({**call, "task_id": None, "user_id": None, "attempt": 1})
            status, text = endpoint.handle(body, webhooks.sign("evt_1", body, key))
            return status, json.loads(text)

        self.assertEqual(answer("double", {"number": 4}), (200, {"output": 8}))
        self.assertEqual(answer("fail", {}), (200, {"error": "The function failed."}))
        self.assertEqual(answer("other", {})[0], 404)
        self.assertEqual(answer("double", {"number": 4}, "whsec_b3RoZXIhb3RoZXIh")[0], 400)
        self.assertEqual(heard, ["fail: ZeroDivisionError"])


class Colour(enum.Enum):
    RED = "red"


class Place(TypedDict):
    city: str


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


def everything(
    text: str,
    number: int,
    size: Literal["small", "large"],
    tags: list[str],
    place: Place,
    point: Point,
    share: float = 0.5,
    maybe: Optional[bool] = None,
    colours: Sequence[Colour] = (),
) -> None:
    """A function with every kind of argument."""


GOOD = {
    "text": "a",
    "number": 5.0,
    "size": "small",
    "tags": ["x"],
    "place": {"city": "Oslo"},
    "point": {"x": 1},
}


class Unanswered(unittest.IsolatedAsyncioTestCase):
    """``ask`` while nobody serves the functions that the agent calls."""

    HINT = "Nobody is answering find_stock: run `vestra functions serve <file>`."
    # More time for a machine on which the call was not made in time.
    SECONDS = (2, 5, 10, 20)

    async def test_calls_are_returned_when_the_time_is_over(self) -> None:
        async with async_client() as vestra:
            for seconds in self.SECONDS:
                asked = await vestra.ask("Stock?", deployment="desk", wait_s=seconds)
                if asked.status != "replying":
                    break
            self.assertEqual((asked.status, asked.hint), ("waiting", self.HINT))
            self.assertEqual([(each.type, each.taken_until) for each in asked.interactions], [("tool_call", None)])
            await vestra.answer(asked.interactions[0].id, output=7)

    async def test_the_hint_comes_while_the_call_is_pending(self) -> None:
        async with async_client() as vestra:
            hints: list[str] = []

            def answer(hint: str) -> None:
                hints.append(hint)
                with client() as other:
                    other.answer(other.interactions.list(status="pending").data[0].id, output=7)

            asked = await vestra.ask("Stock?", deployment="desk", wait_s=120, on_hint=answer)
            self.assertEqual((hints, asked.status, asked.hint), ([self.HINT], "settled", None))

    def test_the_hint_is_a_warning_by_default(self) -> None:
        with client() as vestra, warnings.catch_warnings():
            hints: list[str] = []

            def answer(message: Warning | str, *_: Any, **__: Any) -> None:
                hints.append(str(message))
                vestra.answer(vestra.interactions.list(status="pending").data[0].id, output=7)

            warnings.simplefilter("always")
            warnings.showwarning = answer
            asked = vestra.ask("Stock?", deployment="desk", wait_s=120)
            self.assertEqual((hints, asked.status), ([self.HINT], "settled"))

    def test_calls_that_a_process_has_taken_need_no_hint(self) -> None:
        with client() as vestra:
            for seconds in self.SECONDS:
                taken: list[Any] = []

                def take(event: Any) -> None:
                    if event.type == "tool_call.created":
                        taken.extend(vestra.functions.take("desk", functions=["find_stock"]).data)

                asked = vestra.ask("Stock?", deployment="desk", wait_s=seconds, on_event=take)
                if asked.status != "replying":
                    break
            self.assertEqual((asked.status, asked.hint), ("waiting", None))
            self.assertEqual([each.id for each in asked.interactions], [each.call_id for each in taken])
            vestra.answer(taken[0].call_id, output=7)


class Signatures(unittest.TestCase):
    context = FunctionContext("call_1", "conv_1", None, None, 1)

    def test_are_what_arguments_are_held_against(self) -> None:
        made = arguments_for(everything, GOOD, self.context)
        self.assertEqual(made, {**GOOD, "point": Point(1.0, 0.0)})
        self.assertIsInstance(made["number"], int)
        self.assertEqual(arguments_for(everything, {**GOOD, "colours": ["red"]}, self.context)["colours"], [Colour.RED])
        for change, told in (
            ({"text": 5}, "text: must be text."),
            ({"number": True}, "number: must be a whole number."),
            ({"number": 5.5}, "number: must be a whole number."),
            ({"size": "huge"}, "size: must be one of small, large."),
            ({"tags": ["x", 2]}, "tags.1: must be text."),
            ({"tags": "x"}, "tags: must be a list."),
            ({"place": {}}, "place.city: is needed."),
            ({"point": {"x": 1, "z": 1}}, "point.z: is not known."),
            ({"maybe": "yes"}, "maybe: must be true or false."),
            ({"colours": ["red", "blue"]}, "colours.1: must be one of red."),
            ({"more": 1}, "more: is not known."),
        ):
            with self.assertRaises(ToolError) as refused:
                arguments_for(everything, {**GOOD, **change}, self.context)
            self.assertEqual(str(refused.exception), f"The arguments do not fit. {told}")
        with self.assertRaisesRegex(ToolError, "text: is needed. number: is needed."):
            arguments_for(everything, {}, self.context)
        self.assertEqual(arguments_for(lambda **given: given, {"any": 1}, self.context), {"any": 1})
        with self.assertRaises(ToolError):
            arguments_for(everything, [1], self.context)

    def test_are_schemas_and_are_held_against_what_is_declared(self) -> None:
        schema = input_schema(everything)
        self.assertEqual(schema["required"], ["text", "number", "size", "tags", "place", "point"])
        self.assertEqual(schema["properties"]["maybe"], {"anyOf": [{"type": "boolean"}, {"type": "null"}]})
        self.assertEqual(schema["properties"]["point"]["required"], ["x"])
        self.assertEqual(schema["properties"]["colours"], {"type": "array", "items": {"enum": ["red"]}})

        def find(sku: str, depth: int = 1) -> None:
            ...

        class Declared:
            name = "find"
            input_schema = {"properties": {"sku": {}, "colour": {}}, "required": []}

        self.assertEqual(
            differences("desk", [Declared()], {"find": find}),  # type: ignore[list-item]
            [
                "`find` needs `sku`, which the deployment lets the agent leave out.",
                "`find` does not accept `colour`, which the deployment declares.",
            ],
        )

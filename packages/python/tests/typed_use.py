"""Never run: what a checker must understand of the client, and what it must refuse (`npm run check:python`)."""

from __future__ import annotations

from vestra import AsyncVestra, Stream, Vestra, types


def reads(client: Vestra) -> str:
    turn = client.conversations.send("conv_1", message="Hello", wait=60)
    client.conversations.send("conv_1", mesage="Hello")  # type: ignore[call-overload]
    turn.replies  # type: ignore[attr-defined]
    turn.status == "done"  # type: ignore[comparison-overlap]
    client.users.list(status="gone")  # type: ignore[arg-type]
    client.users.update("ada", name=None)
    client.deployments.get("hello", format="yaml").upper()
    for user in client.users.list():
        user.id.upper()
    return turn.reply.text if turn.reply else ""


def tells_events_apart(client: Vestra) -> list[str]:
    stream: Stream[types.StreamEvent] = client.conversations.create(message="Hello", stream=True)
    words: list[str] = []
    for event in stream:
        if event.type == "reply.delta":
            words.append(event.data.text)
        elif event.type == "turn.settled":
            words.append(event.data.turn.status)
    return words


async def on_a_loop(client: AsyncVestra) -> None:
    turn = await client.conversations.send("conv_1", message="Hello")
    turn.id.upper()
    async for event in await client.conversations.events("conv_1"):
        event.seq.bit_length()
    async for user in client.users.list():
        user.id.upper()
    page = await client.users.list()
    page.data[0].id.upper()

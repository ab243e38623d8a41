"""The client for code that runs on asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Literal, Mapping, Sequence, TypeVar

import httpx

from . import _commands as commands
from . import params, types
from ._apply.apply import Applied, FolderPath, Progress, Promote, apply_folder
from ._carry_out import Functions
from ._commands import Api, Asked, OnEvent, OnHint, OnTested, OnWait
from ._groups import AsyncGroups
from ._io import AsyncIo
from ._omit import OMIT, Omit
from ._options import changed, options_of
from ._serve import OnServeEvent, Server
from ._streams import AsyncStream
from ._tool_calls import answer_tool_calls
from ._transport import ApiKey, Transport

Self = TypeVar("Self", bound="AsyncVestra")


class AsyncVestra(AsyncGroups):
    """The service, with every route as ``await client.<family>.<operation>(...)``."""

    def __init__(
        self,
        api_key: ApiKey = None,
        base_url: str | None = None,
        *,
        timeout: float = 120.0,
        max_retries: int = 2,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """As ``Vestra``, for code that runs on asyncio."""
        self._http_client = http_client or httpx.AsyncClient()
        self._is_own_http_client = http_client is None
        self._use(
            Transport(
                AsyncIo(self._http_client),
                options_of(api_key, base_url, timeout, max_retries, headers),
                self._http_client.build_request,
            )
        )

    def with_options(
        self: Self,
        *,
        api_key: ApiKey = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """The same client with some other settings, over the same connections."""
        other = self.__class__.__new__(self.__class__)
        other._http_client, other._is_own_http_client = self._http_client, False
        other._use(
            self._transport.with_options(changed(self._transport.options, api_key, timeout, max_retries, headers))
        )
        return other

    async def ask(
        self,
        message: str,
        *,
        user: str | None = None,
        conversation: str | None = None,
        deployment: str | None = None,
        context: Mapping[str, object] | None = None,
        attachments: Sequence[params.ConversationAttachmentParam] | None = None,
        output_schema: Mapping[str, object] | None = None,
        success_criteria: str | None = None,
        hand_off: Literal["auto", "always"] | None = None,
        wait_s: float | None = 60,
        on_event: OnEvent | None = None,
        on_wait: OnWait | None = None,
        on_hint: OnHint | None = None,
        idempotency_key: str | None = None,
    ) -> Asked:
        """Send a message and wait for the answer, or until a person has to act.

        Your code answers calls of the functions that the deployment declares, so ``ask`` waits for those.
        Returning stops nothing: the turn continues, and the ids in the result lead back to it.

        Args:
            message: What is said to the agent.
            user: The user it is said by; absent: the org's own agent is meant.
            conversation: The one to go on with; absent: a new one.
            deployment: A ``dep_`` id, a slug or a name; absent: the user's, or the org's default.
            wait_s: How long to wait, about; None: for as long as the turn takes.
            on_event: Hears each event of the turn as it comes.
            on_wait: Called with each pending interaction that a person answers. Return True to keep
                following the turn; absent: ``ask`` returns.
            on_hint: Called with the next step if no process answers a call of your function for five seconds;
                absent: a warning.
        """
        return await commands.ask(
            Api(self._transport),
            message,
            user=user,
            conversation=conversation,
            deployment=deployment,
            context=context,
            attachments=attachments,
            output_schema=output_schema,
            success_criteria=success_criteria,
            hand_off=hand_off,
            wait_s=wait_s,
            on_event=on_event,
            on_wait=on_wait,
            on_hint=on_hint,
            idempotency_key=idempotency_key,
        )

    async def answer(
        self,
        interaction: str | None = None,
        *,
        user: str | None = None,
        approve: bool | None = None,
        answers: Sequence[str] | None = None,
        decision: Literal["done", "could_not", "not_now"] | None = None,
        output: object | Omit = OMIT,
        error: str | None = None,
        present_user: bool | None = None,
        nonce: str | None = None,
    ) -> types.Interaction:
        """Answer what the agent waits on: an approval, a question, a hand-off or a call of your own tool.

        Args:
            interaction: Absent: the only one that is open for the user, or for the org's own agent.
        """
        return await commands.answer(
            Api(self._transport),
            interaction,
            user=user,
            approve=approve,
            answers=answers,
            decision=decision,
            output=output,
            error=error,
            present_user=present_user,
            nonce=nonce,
        )

    def follow_turn(
        self, conversation_id: str, turn: str | types.Turn, *, after: int = 0
    ) -> AsyncStream[types.StreamEvent]:
        """The events of one turn, from its first to ``turn.settled``."""
        return AsyncStream(commands.turn_events(Api(self._transport), conversation_id, turn, after))

    async def test(
        self, deployment: str | None = None, *, on_tested: OnTested | None = None, idempotency_key: str | None = None
    ) -> types.TestRun:
        """Play the scenarios of a deployment and give the run with every verdict.

        Args:
            deployment: Absent: the only one there is.
            on_tested: Hears each verdict as it falls.
        """
        return await commands.test(
            Api(self._transport), deployment, on_tested=on_tested, idempotency_key=idempotency_key
        )

    async def download_file(self, file_id: str) -> bytes:
        """The bytes of a file."""
        return await commands.download(Api(self._transport), file_id, self._get)

    async def apply(
        self,
        folder: FolderPath,
        *,
        file: str = "service.yaml",
        promote: Promote | None = None,
        dry_run: bool = False,
        on_progress: Progress | None = None,
    ) -> Applied:
        """Upload what a deployment file names beside it, as far as it has changed, and apply the file.

        Raises ``ApplyError`` with every problem and its line. Needs PyYAML: ``vestra[apply]``.

        Args:
            folder: The folder that holds the deployment file.
            file: Its name, from the folder.
            promote: When the version goes live in the mode of the key; absent: after its tests.
            dry_run: Changes nothing, and answers in ``plan`` and ``uploaded`` what would change.
            on_progress: Hears each step.
        """
        return await apply_folder(
            Api(self._transport), folder, file=file, promote=promote, dry_run=dry_run, on_progress=on_progress
        )

    def _get(self, url: str) -> httpx.Request:
        return self._http_client.build_request("GET", url, timeout=self._transport.options.timeout)

    async def serve_functions(
        self,
        *,
        deployment: str,
        functions: Functions,
        concurrency: int = 10,
        lease_seconds: int = 30,
        grace_seconds: float = 25,
        on_event: OnServeEvent | None = None,
        stop: asyncio.Event | None = None,
    ) -> None:
        """Answer the calls of your functions in all conversations of a deployment in the key's mode.

        Runs until ``stop`` is set or the task is cancelled. Any number of processes may do it: each
        call is taken by one of them, and by another only after that one died. Coroutine functions
        run on the loop, every other call in a separate thread.

        Args:
            deployment: A ``dep_`` id, a slug or a name.
            functions: By name, or a list of functions by their own names. Calls of other functions
                are left to other processes.
            concurrency: How many run at once in this process.
            lease_seconds: How long after this process dies others may take its calls.
            grace_seconds: What still runs so long after the stop is given back.
            on_event: Hears what happens; absent: it goes to the logger ``vestra.functions``.
        """
        await Server(
            Api(self._transport),
            deployment,
            functions,
            concurrency=concurrency,
            lease_seconds=lease_seconds,
            grace_seconds=grace_seconds,
            on_event=on_event,
        ).run(stop or asyncio.Event())

    async def answer_tool_calls(
        self,
        conversation_id: str,
        functions: Functions,
        *,
        turn: str | types.Turn | None = None,
        stop: asyncio.Event | None = None,
    ) -> None:
        """Answer the agent's calls of functions that a message brought along: those open now and each that comes.

        Ends with ``turn``; without it, when ``stop`` is set. What a function raises reaches the agent.
        """
        turn_id = turn.id if isinstance(turn, types.Turn) else turn
        await answer_tool_calls(Api(self._transport), conversation_id, functions, turn_id, stop or asyncio.Event())

    async def aclose(self) -> None:
        if self._is_own_http_client:
            await self._http_client.aclose()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _use(self, transport: Transport) -> None:
        self._transport = transport
        self._add_groups(transport)

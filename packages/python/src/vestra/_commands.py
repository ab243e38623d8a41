"""Commands that make several calls, written once for both clients."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Awaitable, Callable, Literal, Mapping, Sequence, Union, cast

import httpx

from . import params, types
from ._feeds import Feed, conversation_feed, test_run_feed
from ._groups import AsyncGroups
from ._omit import Omit
from ._transport import LONGEST_SILENCE, Transport
from .errors import ConnectionFailedError, NotFoundError, UpstreamError, error_of, refused

OnEvent = Callable[[types.StreamEvent], Any]
OnWait = Callable[[types.Interaction], Union[bool, Awaitable[bool]]]
OnHint = Callable[[str], Any]
OnTested = Callable[[types.TestRunResult], Any]


class Api(AsyncGroups):
    """Every route as a coroutine, over whichever way to the network."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._add_groups(transport)


@dataclass(frozen=True)
class Asked:
    """The turn as far as it came, with its pending interactions in full."""

    conversation_id: str
    turn_id: str
    status: Literal["replying", "working", "waiting", "settled", "failed", "stopped"]
    reply: types.TurnReply | None
    acknowledgement: str | None
    task_id: str | None
    error: types.TurnError | None
    interactions: list[types.Interaction]
    turn: types.Turn
    hint: str | None = None
    """The next step if nobody answers a call of the company's function."""

    @property
    def text(self) -> str | None:
        """The words of the final answer, once there is one."""
        return None if self.reply is None else self.reply.text


@dataclass
class _Seen:
    turn: types.Turn | None = None
    acknowledgement: str | None = None
    task_id: str | None = None
    asked: set[str] = field(default_factory=set)
    """The ids of the interactions that the turn has created."""


async def ask(
    api: Api,
    message: str,
    *,
    user: str | None,
    conversation: str | None,
    deployment: str | None,
    context: Mapping[str, object] | None,
    attachments: Sequence[params.ConversationAttachmentParam] | None,
    output_schema: Mapping[str, object] | None,
    success_criteria: str | None,
    hand_off: Literal["auto", "always"] | None,
    wait_s: float | None,
    on_event: OnEvent | None,
    on_wait: OnWait | None,
    on_hint: OnHint | None,
    idempotency_key: str | None,
) -> Asked:
    """Returning stops nothing: the turn continues, and the ids in the result lead back to it."""
    if conversation is not None:
        await _assert_fits(api, user, conversation, deployment)
    deadline = None if wait_s is None else monotonic() + wait_s
    if wait_s is not None:
        # A read that blocks is not ended from outside: it gives up by itself in time.
        silence = min(LONGEST_SILENCE, max(0.1, wait_s))
        api = Api(api.transport.with_options(replace(api.transport.options, silence=silence)))
    sent: dict[str, Any] = {
        "message": message,
        "context": context,
        "attachments": attachments,
        "output_schema": output_schema,
        "success_criteria": success_criteria,
        "hand_off": hand_off,
        "idempotency_key": idempotency_key,
    }
    stream = (
        await api.conversations.create(user_id=user, deployment=deployment, stream=True, **sent)
        if conversation is None
        else await api.conversations.send(conversation, stream=True, **sent)
    )
    feed = stream._feed
    feed.deadline = deadline
    seen = _Seen()
    calls = _UnansweredCalls(api, on_hint or _warn)
    try:
        while True:
            event = await _next(api.transport, feed, deadline)
            if event is None:
                break
            _note(seen, event)
            calls.note(event)
            if on_event is not None:
                on_event(event)
            if not _opens_wait(event):
                continue
            created = cast(types.InteractionCreatedEvent, event)
            if on_wait is not None and await _answer_of(on_wait(created.data.interaction)):
                continue
            open_now = await _open_in(api, event.conversation_id, seen.asked)
            # Unless somebody has answered it meanwhile: the turn then continues.
            if any(each.id == created.data.interaction.id for each in open_now):
                return _show(seen, open_now, None)
    except TimeoutError:
        pass
    finally:
        calls.end()
        await feed.close()
    is_left = bool(seen.asked) and seen.turn is not None and seen.turn.status not in _OVER
    left = await _open_in(api, seen.turn.conversation_id, seen.asked) if is_left and seen.turn else []
    return _show(seen, left, _unanswered_hint(left))


async def _next(
    transport: Transport, feed: Feed[types.StreamEvent], deadline: float | None
) -> types.StreamEvent | None:
    if deadline is None:
        return await feed.next()
    return await transport.io.within(max(0.0, deadline - monotonic()), feed.next())


async def _answer_of(given: bool | Awaitable[bool]) -> bool:
    answered: bool = await given if inspect.isawaitable(given) else given
    return bool(answered)


def _note(seen: _Seen, event: types.StreamEvent) -> None:
    turn = getattr(event.data, "turn", None)
    if isinstance(turn, types.Turn):
        seen.turn = turn
        seen.task_id = turn.task_id or seen.task_id
        return
    if isinstance(event, types.ReplyCompletedEvent) and event.data.message.role == "agent":
        seen.acknowledgement = event.data.message.text
        return
    seen.task_id = event.task_id or seen.task_id
    if isinstance(event, types.InteractionCreatedEvent):
        seen.asked.add(event.data.interaction.id)


def _is_for_company_code(interaction: types.Interaction) -> bool:
    """A call of a function that the deployment declares. One that a message declared is for its sender to answer."""
    return interaction.type == "tool_call" and interaction.details.declared_by != "message"


def _opens_wait(event: types.StreamEvent) -> bool:
    """Somebody has to act before the turn continues, other than the company's code."""
    if not isinstance(event, types.InteractionCreatedEvent):
        return False
    return event.data.interaction.status == "pending" and not _is_for_company_code(event.data.interaction)


def _unanswered_hint(interactions: Sequence[types.Interaction]) -> str | None:
    """Names the functions whose calls no process has taken."""
    names = dict.fromkeys(
        str(each.details.tool_name) for each in interactions if _is_for_company_code(each) and each.taken_until is None
    )
    if not names:
        return None
    return f"Nobody is answering {', '.join(names)}: run `vestra functions serve <file>`."


# How long a call may remain unclaimed before it is reported.
_PATIENCE = 5.0


class _UnansweredCalls:
    """Reports calls of the company's functions that no process answers.

    The server says whether a process has claimed a call: a slow function raises no alarm, and a dead process does.
    """

    def __init__(self, api: Api, report: OnHint) -> None:
        self._api = api
        self._report = report
        self._looks: dict[str, Callable[[], object]] = {}

    def note(self, event: types.StreamEvent) -> None:
        if isinstance(event, types.InteractionCreatedEvent) and _is_for_company_code(event.data.interaction):
            self._look_later(event.data.interaction.id)
        if isinstance(event, types.InteractionResolvedEvent):
            self._forget(event.data.interaction.id)

    def end(self) -> None:
        for id in list(self._looks):
            self._forget(id)

    def _forget(self, id: str) -> None:
        cancel = self._looks.pop(id, None)
        if cancel is not None:
            cancel()

    def _look_later(self, id: str) -> None:
        self._looks[id] = self._api.transport.io.later(_PATIENCE, lambda: self._look(id))

    async def _look(self, id: str) -> None:
        call = await self._api.interactions.get(id)
        if call.status != "pending" or id not in self._looks:
            return
        hint = _unanswered_hint([call])
        if hint is None:
            self._look_later(id)
        else:
            self._report(hint)


def _warn(hint: str) -> None:
    warnings.warn(hint, stacklevel=2)


_OVER = ("settled", "failed", "stopped")


def _show(seen: _Seen, interactions: list[types.Interaction], hint: str | None) -> Asked:
    turn = seen.turn
    if turn is None:
        raise UpstreamError(
            "The message was sent, but its turn had not begun in time.", code="timeout", status=504, type="upstream"
        )
    unsettled = "waiting" if interactions else "replying" if seen.task_id is None else "working"
    return Asked(
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        status=turn.status if turn.status in _OVER else cast(Any, unsettled),
        reply=turn.reply,
        acknowledgement=None if seen.task_id is None else seen.acknowledgement,
        task_id=seen.task_id,
        error=turn.error,
        interactions=interactions,
        turn=turn,
        hint=hint,
    )


async def _open_in(api: Api, conversation_id: str | None, asked: set[str]) -> list[types.Interaction]:
    """The conversation's pending interactions, oldest first; none if all that the turn asked for are settled."""
    if conversation_id is None:
        return []
    page = await api.interactions.list(conversation_id=conversation_id, limit=100)
    return list(reversed(page.data)) if any(each.id in asked for each in page.data) else []


async def _assert_fits(api: Api, user: str | None, conversation: str, deployment: str | None) -> None:
    if deployment is not None:
        raise refused("A conversation cannot change its deployment.", "invalid_request", "deployment")
    if user is None:
        return
    if (await api.conversations.get(conversation)).user_id != user:
        raise refused("The conversation belongs to another user.", "conversation_user_mismatch", "user")


def yes_to(interaction: types.Interaction) -> dict[str, Any]:
    """The arguments of an approval, for ``client.answer(interaction.id, **yes_to(interaction))``.

    ``present_user`` confirms that the user approved it just now: code that decides by itself must
    not send it.
    """
    nonce = interaction.nonce if "nonce" in interaction.needs else None
    return {
        "approve": True,
        **({"present_user": True} if "present_user" in interaction.needs else {}),
        **({} if nonce is None else {"nonce": nonce}),
    }


# So many pages of waits that are others' are looked through for one.
_MOST_PAGES = 10


async def answer(
    api: Api,
    interaction: str | None,
    *,
    user: str | None,
    approve: bool | None,
    answers: Sequence[str] | None,
    decision: Literal["done", "could_not", "not_now"] | None,
    output: object | Omit,
    error: str | None,
    present_user: bool | None,
    nonce: str | None,
) -> types.Interaction:
    """Answers what the agent waits on, and gives it as it ended."""
    return await api.interactions.answer(
        interaction or (await _only_open(api, user)).id,
        approve=approve,
        answers=answers,
        decision=decision,
        output=output,
        error=error,
        present_user=present_user,
        nonce=nonce,
    )


async def _only_open(api: Api, user: str | None) -> types.Interaction:
    """An approval without a user never answers a user's interaction."""
    whose = "the org's own agent" if user is None else f"the agent of {user}"
    found: list[types.Interaction] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await api.interactions.list(user_id=user, limit=100, cursor=cursor)
        found += [each for each in page.data if each.user_id == user]
        cursor = page.next_cursor
        if cursor is None or len(found) > 1:
            break
    else:
        message = f"Too many interactions are open to search for {whose}. Name the interaction."
        raise refused(message, "invalid_request", "interaction")
    if len(found) > 1:
        message = f"More than one interaction is open for {whose}. Name one, such as {found[0].id} or {found[1].id}."
        raise refused(message, "invalid_request", "interaction")
    if found:
        return found[0]
    raise NotFoundError(
        f"No interaction is open for {whose}. Name the interaction or its user.",
        code="interaction_not_found",
        status=404,
        type="not_found",
    )


async def test(
    api: Api, deployment: str | None, *, on_tested: OnTested | None, idempotency_key: str | None
) -> types.TestRun:
    """Plays the scenarios of a deployment and gives the run with every verdict."""
    named = deployment or await _only_deployment(api)
    run = await api.test_runs.create(named, idempotency_key=idempotency_key)
    feed = test_run_feed(api.transport, types.TestRunEvent, run.id)
    told: set[str] = set()
    try:
        while True:
            event = await feed.next()
            if event is None:
                return await api.test_runs.get(run.id)
            ended = event.data.test_run if event.type == "test_run.completed" else None
            for result in (ended or event.data).results:
                if result.status in ("queued", "running") or result.scenario_id in told:
                    continue
                told.add(result.scenario_id)
                if on_tested is not None:
                    on_tested(result)
            if ended is not None:
                return cast(types.TestRun, ended)
    finally:
        await feed.close()


async def _only_deployment(api: Api) -> str:
    page = await api.deployments.list(limit=2)
    if len(page.data) == 1:
        return page.data[0].id
    raise refused("Name the `deployment` whose scenarios to play.", "deployment_required", "deployment")


def turn_events(api: Api, conversation_id: str, turn: str | types.Turn, after: int) -> Feed[types.StreamEvent]:
    turn_id = turn if isinstance(turn, str) else turn.id
    return conversation_feed(api.transport, types.StreamEvent, conversation_id, after=after, turn_id=turn_id)


async def download(api: Api, file_id: str, http_get: Callable[[str], httpx.Request]) -> bytes:
    """The bytes of a file, by the link that its row gives for a while."""
    file = await api.files.get(file_id)
    io = api.transport.io
    try:
        # The link opens the file by itself: the key is not sent along.
        response = await io.send(http_get(file.download_url))
        try:
            content = await io.read(response)
        finally:
            await io.close(response)
    except httpx.HTTPError as error:
        raise ConnectionFailedError(f"The file could not be fetched: {error}.", code="connection_failed") from error
    if not response.is_success:
        raise error_of(response.status_code, response.headers, None, content.decode("utf-8", "replace"))
    return content

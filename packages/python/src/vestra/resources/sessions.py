"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import params, types
from .._group import AsyncGroup, Group

class Sessions(Group):
    def create(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        reuse: bool | None = None,
        chat: bool | None = None,
        screen: Literal[False, "view", "control"] | None = None,
        voice: bool | str | None = None,
        memory: bool | None = None,
        driver: Literal["bash", "user"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SessionWithToken:
        """Open a page for one user to chat, watch or drive the screen, or talk; its token is shown
        once.

        Call it from your server and open `url` in the user’s browser, or embed it:
        `allowed_embed_origins` of the org says where. At least one of chat, screen, voice and
        memory should be on; the token opens nothing else.

        Args:
            user_id: Whom the page is for; absent: the org’s own agent, unless the org requires a
                user.
            conversation_id: A conversation of that user to go on with; absent with chat or voice: a
                new one.
            deployment: Which agent answers a new conversation; absent: the user’s default
                deployment, then the org’s.
            reuse: Go on in the conversation of the user’s last session with the deployment, where
                there is one.
            chat: True: the page has a chat.
            screen: `view` shows the agent’s screen, `control` also lets the person use it; false:
                no screen.
            voice: True, or the name of a voice.
            memory: True: the page lists what is remembered; the org’s `memory_panel` must be on.
            driver: `user` opens the screen in the user’s hands from the first frame; absent:
                `bash`.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `user_disabled`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `deployment_required`,
        `invalid_deployment`, `deployment_not_live`, `deployment_archived`.
        """
        return self._call(
            types.SessionWithToken,
            "sessions.create",
            "POST",
            "/v1/sessions",
            body={
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "reuse": reuse,
                "chat": chat,
                "screen": screen,
                "voice": voice,
                "memory": memory,
                "driver": driver,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def get(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Session:
        """Show a session.

        By a key, or by the session’s own token.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return self._call(
            types.Session,
            "sessions.get",
            "GET",
            "/v1/sessions/{session_id}",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Session:
        """End a session at once: its token stops working, streams close, a call hangs up.

        By a key, or by the session’s own token. The embedding page is told.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return self._call(
            types.Session,
            "sessions.delete",
            "DELETE",
            "/v1/sessions/{session_id}",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def frame_policy(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FramePolicy:
        """Say which origins may embed the page of a session.

        Open to everybody: the page itself asks for it before it lets itself be framed.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return self._call(
            types.FramePolicy,
            "sessions.framePolicy",
            "GET",
            "/v1/sessions/{session_id}/frame-policy",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def screen(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserStream:
        """Answer the address of the screen’s stream, good for 5 minutes.

        The session’s own token alone, with `screen`. Ask again while it answers `browser_not_open`:
        the computer is waking.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.

        Fails with `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`,
        `computer_unavailable`.
        """
        return self._call(
            types.BrowserStream,
            "sessions.screen",
            "GET",
            "/v1/sessions/{session_id}/screen",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def screen_input(
        self,
        session_id: str,
        *,
        inputs: Sequence[params.SessionInputMouseParam | params.SessionInputWheelParam | params.SessionInputKeyParam | params.SessionInputTextParam | params.SessionInputNavigateParam | params.SessionInputHandBackParam],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ScreenInput:
        """Pass what the person does with mouse and keyboard on to the page that the screen shows.

        The session’s own token alone, with `screen: control`. The first input takes the browser out
        of the agent’s hands, `hand_back` returns it.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
            inputs: What the person did, in order; 1 to 64 at once.

        Fails with `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`,
        `no_open_tab`, `computer_unavailable`.
        """
        return self._call(
            types.ScreenInput,
            "sessions.screenInput",
            "POST",
            "/v1/sessions/{session_id}/screen/input",
            path={"session_id": session_id},
            body={"inputs": inputs},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def voice(
        self,
        session_id: str,
        *,
        sdp: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.VoiceCall:
        """Begin a voice call with the browser’s WebRTC offer.

        The session’s own token alone, with `voice`. Deleting the session hangs up. Billed by the
        second and by what is said.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
            sdp: The browser’s WebRTC offer.

        Fails with `conversation_required`, `sdp_required`, `user_disabled`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`.
        """
        return self._call(
            types.VoiceCall,
            "sessions.voice",
            "POST",
            "/v1/sessions/{session_id}/voice",
            path={"session_id": session_id},
            body={"sdp": sdp},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncSessions(AsyncGroup):
    async def create(
        self,
        *,
        user_id: str | None = None,
        conversation_id: str | None = None,
        deployment: str | None = None,
        reuse: bool | None = None,
        chat: bool | None = None,
        screen: Literal[False, "view", "control"] | None = None,
        voice: bool | str | None = None,
        memory: bool | None = None,
        driver: Literal["bash", "user"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.SessionWithToken:
        """Open a page for one user to chat, watch or drive the screen, or talk; its token is shown
        once.

        Call it from your server and open `url` in the user’s browser, or embed it:
        `allowed_embed_origins` of the org says where. At least one of chat, screen, voice and
        memory should be on; the token opens nothing else.

        Args:
            user_id: Whom the page is for; absent: the org’s own agent, unless the org requires a
                user.
            conversation_id: A conversation of that user to go on with; absent with chat or voice: a
                new one.
            deployment: Which agent answers a new conversation; absent: the user’s default
                deployment, then the org’s.
            reuse: Go on in the conversation of the user’s last session with the deployment, where
                there is one.
            chat: True: the page has a chat.
            screen: `view` shows the agent’s screen, `control` also lets the person use it; false:
                no screen.
            voice: True, or the name of a voice.
            memory: True: the page lists what is remembered; the org’s `memory_panel` must be on.
            driver: `user` opens the screen in the user’s hands from the first frame; absent:
                `bash`.
            idempotency_key: Made by the client where none is given.

        Fails with `user_required`, `user_disabled`, `invalid_conversation_id`,
        `conversation_not_found`, `conversation_user_mismatch`, `deployment_required`,
        `invalid_deployment`, `deployment_not_live`, `deployment_archived`.
        """
        return await self._call(
            types.SessionWithToken,
            "sessions.create",
            "POST",
            "/v1/sessions",
            body={
                "user_id": user_id,
                "conversation_id": conversation_id,
                "deployment": deployment,
                "reuse": reuse,
                "chat": chat,
                "screen": screen,
                "voice": voice,
                "memory": memory,
                "driver": driver,
            },
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def get(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Session:
        """Show a session.

        By a key, or by the session’s own token.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return await self._call(
            types.Session,
            "sessions.get",
            "GET",
            "/v1/sessions/{session_id}",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Session:
        """End a session at once: its token stops working, streams close, a call hangs up.

        By a key, or by the session’s own token. The embedding page is told.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return await self._call(
            types.Session,
            "sessions.delete",
            "DELETE",
            "/v1/sessions/{session_id}",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def frame_policy(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FramePolicy:
        """Say which origins may embed the page of a session.

        Open to everybody: the page itself asks for it before it lets itself be framed.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
        """
        return await self._call(
            types.FramePolicy,
            "sessions.framePolicy",
            "GET",
            "/v1/sessions/{session_id}/frame-policy",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def screen(
        self,
        session_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserStream:
        """Answer the address of the screen’s stream, good for 5 minutes.

        The session’s own token alone, with `screen`. Ask again while it answers `browser_not_open`:
        the computer is waking.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.

        Fails with `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`,
        `computer_unavailable`.
        """
        return await self._call(
            types.BrowserStream,
            "sessions.screen",
            "GET",
            "/v1/sessions/{session_id}/screen",
            path={"session_id": session_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def screen_input(
        self,
        session_id: str,
        *,
        inputs: Sequence[params.SessionInputMouseParam | params.SessionInputWheelParam | params.SessionInputKeyParam | params.SessionInputTextParam | params.SessionInputNavigateParam | params.SessionInputHandBackParam],
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ScreenInput:
        """Pass what the person does with mouse and keyboard on to the page that the screen shows.

        The session’s own token alone, with `screen: control`. The first input takes the browser out
        of the agent’s hands, `hand_back` returns it.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
            inputs: What the person did, in order; 1 to 64 at once.

        Fails with `user_disabled`, `payment_in_progress`, `browser_in_use`, `browser_not_open`,
        `no_open_tab`, `computer_unavailable`.
        """
        return await self._call(
            types.ScreenInput,
            "sessions.screenInput",
            "POST",
            "/v1/sessions/{session_id}/screen/input",
            path={"session_id": session_id},
            body={"inputs": inputs},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def voice(
        self,
        session_id: str,
        *,
        sdp: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.VoiceCall:
        """Begin a voice call with the browser’s WebRTC offer.

        The session’s own token alone, with `voice`. Deleting the session hangs up. Billed by the
        second and by what is said.

        Args:
            session_id: The id of a session, `ses_` and 24 characters.
            sdp: The browser’s WebRTC offer.

        Fails with `conversation_required`, `sdp_required`, `user_disabled`, `wallet_empty`,
        `org_cap_reached`, `user_cap_reached`, `model_unavailable`.
        """
        return await self._call(
            types.VoiceCall,
            "sessions.voice",
            "POST",
            "/v1/sessions/{session_id}/voice",
            path={"session_id": session_id},
            body={"sdp": sdp},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )


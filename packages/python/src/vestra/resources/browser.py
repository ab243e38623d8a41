"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import params, types
from .._group import AsyncGroup, Group
from .._streams import AsyncStream, Stream

class Browser(Group):
    def fetch(
        self,
        user_id: str,
        *,
        deployment: str | None = None,
        url: str | None = None,
        capture: Sequence[params.BrowserCaptureParam] | None = None,
        steps: Sequence[params.BrowserStepClickParam | params.BrowserStepTypeParam | params.BrowserStepScrollParam | params.BrowserStepWaitForParam | params.BrowserStepPageFetchParam] | None = None,
        timeout_ms: int | None = None,
        keep_open_ms: int | None = None,
        tab: str | None = None,
        tag: str | None = None,
        stage: str | None = None,
        front: bool | None = None,
        front_device: Literal["desktop"] | None = None,
        front_crop: params.BrowserFrontCropParam | None = None,
        private: bool | None = None,
        challenge: Literal["turnstile"] | None = None,
        frames: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserFetch:
        """Open one page in the user’s browser and answer what its own data calls brought.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            url: Left out to go on in a kept tab.
            keep_open_ms: Keeps the tab for the next fetch.
            tab: A kept tab, as an answer named it.
            tag: Names the tab in the watch.
            stage: A label shown in the watch.
            front: Opens in front of the person, for a sign-in they finish.
            front_crop: The one element that the screen of a hand-off shows.
            private: Never shown in the watch.
            frames: Small pictures at milestones.
        """
        return self._call(
            types.BrowserFetch,
            "browser.fetch",
            "POST",
            "/v1/users/{user_id}/browser/fetch",
            path={"user_id": user_id},
            body={
                "deployment": deployment,
                "url": url,
                "capture": capture,
                "steps": steps,
                "timeout_ms": timeout_ms,
                "keep_open_ms": keep_open_ms,
                "tab": tab,
                "tag": tag,
                "stage": stage,
                "front": front,
                "front_device": front_device,
                "front_crop": front_crop,
                "private": private,
                "challenge": challenge,
                "frames": frames,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cookies(
        self,
        user_id: str,
        *,
        domain: str,
        names: str,
        deployment: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserCookies:
        """Say which of the named cookies the browser holds for a site and until when, never a value.

        Args:
            names: Names of cookies, separated by commas.
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return self._call(
            types.BrowserCookies,
            "browser.cookies",
            "GET",
            "/v1/users/{user_id}/browser/cookies",
            path={"user_id": user_id},
            query={"domain": domain, "names": names, "deployment": deployment},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def watch(
        self,
        user_id: str,
        *,
        deployment: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Stream[types.BrowserFrame]:
        """Watch the fetch tabs of a user’s browser; never wakes the computer.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return self._stream(
            types.BrowserFrame,
            "browser.watch",
            "GET",
            "/v1/users/{user_id}/browser/watch",
            path={"user_id": user_id},
            query={"deployment": deployment},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncBrowser(AsyncGroup):
    async def fetch(
        self,
        user_id: str,
        *,
        deployment: str | None = None,
        url: str | None = None,
        capture: Sequence[params.BrowserCaptureParam] | None = None,
        steps: Sequence[params.BrowserStepClickParam | params.BrowserStepTypeParam | params.BrowserStepScrollParam | params.BrowserStepWaitForParam | params.BrowserStepPageFetchParam] | None = None,
        timeout_ms: int | None = None,
        keep_open_ms: int | None = None,
        tab: str | None = None,
        tag: str | None = None,
        stage: str | None = None,
        front: bool | None = None,
        front_device: Literal["desktop"] | None = None,
        front_crop: params.BrowserFrontCropParam | None = None,
        private: bool | None = None,
        challenge: Literal["turnstile"] | None = None,
        frames: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserFetch:
        """Open one page in the user’s browser and answer what its own data calls brought.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
            url: Left out to go on in a kept tab.
            keep_open_ms: Keeps the tab for the next fetch.
            tab: A kept tab, as an answer named it.
            tag: Names the tab in the watch.
            stage: A label shown in the watch.
            front: Opens in front of the person, for a sign-in they finish.
            front_crop: The one element that the screen of a hand-off shows.
            private: Never shown in the watch.
            frames: Small pictures at milestones.
        """
        return await self._call(
            types.BrowserFetch,
            "browser.fetch",
            "POST",
            "/v1/users/{user_id}/browser/fetch",
            path={"user_id": user_id},
            body={
                "deployment": deployment,
                "url": url,
                "capture": capture,
                "steps": steps,
                "timeout_ms": timeout_ms,
                "keep_open_ms": keep_open_ms,
                "tab": tab,
                "tag": tag,
                "stage": stage,
                "front": front,
                "front_device": front_device,
                "front_crop": front_crop,
                "private": private,
                "challenge": challenge,
                "frames": frames,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cookies(
        self,
        user_id: str,
        *,
        domain: str,
        names: str,
        deployment: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.BrowserCookies:
        """Say which of the named cookies the browser holds for a site and until when, never a value.

        Args:
            names: Names of cookies, separated by commas.
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return await self._call(
            types.BrowserCookies,
            "browser.cookies",
            "GET",
            "/v1/users/{user_id}/browser/cookies",
            path={"user_id": user_id},
            query={"domain": domain, "names": names, "deployment": deployment},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def watch(
        self,
        user_id: str,
        *,
        deployment: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncStream[types.BrowserFrame]:
        """Watch the fetch tabs of a user’s browser; never wakes the computer.

        Args:
            deployment: A dep_ id, a slug or a name; `@version` after it pins a version.
        """
        return await self._stream(
            types.BrowserFrame,
            "browser.watch",
            "GET",
            "/v1/users/{user_id}/browser/watch",
            path={"user_id": user_id},
            query={"deployment": deployment},
            timeout=timeout,
            extra_headers=extra_headers,
        )


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

        No model runs. Only sites of the deployment’s `browser.allowed_domains`. Wakes a sleeping
        computer; at most four run at once in one browser (409 `browser_busy`), and none while a
        person drives (409 `browser_in_use`).

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            deployment: Whose allowed sites count: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            url: Left out to go on in a kept tab.
            capture: Which of the page’s own data calls to answer, at most 20.
            steps: What to do on the page once it is open, in order, at most 50.
            timeout_ms: How long the whole fetch may take; then 504 `timeout` with what came in
                `partial`.
            keep_open_ms: Keeps the tab for the next fetch.
            tab: A kept tab, as an answer named it.
            tag: Names the tab in the watch.
            stage: A label shown in the watch.
            front: Opens in front of the person, for a sign-in they finish.
            front_device: `desktop`: the site’s desktop page at the shape of a phone.
            front_crop: The one element that the screen of a hand-off shows.
            private: Never shown in the watch.
            challenge: `turnstile`: waits for the page’s bot check to pass by itself or by the
                person; it is never solved.
            frames: Small pictures at milestones.

        Fails with `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `domain_not_allowed`, `page_blocked`, `browser_in_use`, `browser_busy`,
        `no_open_tab`, `computer_unavailable`, `timeout`.
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

        To see whether a sign-in still holds before using it. Opens no page and wakes the computer.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            domain: The site, a bare host name among the deployment’s allowed ones.
            names: Names of cookies, separated by commas.
            deployment: Whose allowed sites count; absent: the user’s default, then the org’s.

        Fails with `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `domain_not_allowed`, `computer_unavailable`.
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

        An event stream for showing what fetches do. Only allowed sites; tabs that are private or on
        a blocked path are hidden.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            deployment: Whose allowed sites count; absent: the user’s default, then the org’s.

        Fails with `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`.
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

        No model runs. Only sites of the deployment’s `browser.allowed_domains`. Wakes a sleeping
        computer; at most four run at once in one browser (409 `browser_busy`), and none while a
        person drives (409 `browser_in_use`).

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            deployment: Whose allowed sites count: a dep_ id, a slug or a name; absent: the user’s
                default, then the org’s.
            url: Left out to go on in a kept tab.
            capture: Which of the page’s own data calls to answer, at most 20.
            steps: What to do on the page once it is open, in order, at most 50.
            timeout_ms: How long the whole fetch may take; then 504 `timeout` with what came in
                `partial`.
            keep_open_ms: Keeps the tab for the next fetch.
            tab: A kept tab, as an answer named it.
            tag: Names the tab in the watch.
            stage: A label shown in the watch.
            front: Opens in front of the person, for a sign-in they finish.
            front_device: `desktop`: the site’s desktop page at the shape of a phone.
            front_crop: The one element that the screen of a hand-off shows.
            private: Never shown in the watch.
            challenge: `turnstile`: waits for the page’s bot check to pass by itself or by the
                person; it is never solved.
            frames: Small pictures at milestones.

        Fails with `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `domain_not_allowed`, `page_blocked`, `browser_in_use`, `browser_busy`,
        `no_open_tab`, `computer_unavailable`, `timeout`.
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

        To see whether a sign-in still holds before using it. Opens no page and wakes the computer.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            domain: The site, a bare host name among the deployment’s allowed ones.
            names: Names of cookies, separated by commas.
            deployment: Whose allowed sites count; absent: the user’s default, then the org’s.

        Fails with `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`, `domain_not_allowed`, `computer_unavailable`.
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

        An event stream for showing what fetches do. Only allowed sites; tabs that are private or on
        a blocked path are hidden.

        Args:
            user_id: Your own id of the user: a user exists from its first use.
            deployment: Whose allowed sites count; absent: the user’s default, then the org’s.

        Fails with `user_not_found`, `user_disabled`, `invalid_deployment`, `deployment_required`,
        `deployment_not_live`, `deployment_archived`.
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


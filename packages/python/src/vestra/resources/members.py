"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Members(Group):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Member]:
        """List the people who may use the console.

        Needs scope `admin`, or an owner or admin. Both modes share the members.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Member,
            "members.list",
            "GET",
            "/v1/members",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def invite(
        self,
        *,
        email: str,
        role: Literal["owner", "admin", "developer"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemberWithInviteUrl:
        """Invite a person; the answer carries the link to send them.

        The service sends no mail: pass the link on yourself. Only an owner invites owners; a key
        needs live mode.

        Args:
            email: Whom to invite.
            role: What the person will be allowed to do.
            idempotency_key: Made by the client where none is given.

        Fails with `member_exists`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.MemberWithInviteUrl,
            "members.invite",
            "POST",
            "/v1/members",
            body={"email": email, "role": role},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def accept(
        self,
        *,
        token: str,
        name: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Member:
        """Accept an invitation with a name and a password of at least 12 characters.

        Open to whoever holds the link, once.

        Args:
            token: What the link carries.
            name: What the person is called, 1 to 200 characters.
            password: At least 12 characters. The password of a login that the email already has
                adds the org to that login; any other creates a separate login for this org.

        Fails with `invite_not_found`, `login_failed`, `rate_limited`.
        """
        return self._call(
            types.Member,
            "members.accept",
            "POST",
            "/v1/members/accept",
            body={"token": token, "name": name, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        member_id: str,
        *,
        role: Literal["owner", "admin", "developer"] | None = None,
        name: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Member:
        """Change a member’s role or name; the last owner stays one.

        Only an owner changes owners; a key needs live mode.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.
            role: What the member may do from now on.
            name: What the member is called from now on.

        Fails with `last_owner`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.Member,
            "members.update",
            "PATCH",
            "/v1/members/{member_id}",
            path={"member_id": member_id},
            body={"role": role, "name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def remove(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove a member and end their console sessions; the last owner stays.

        Keys that the member made stay.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.

        Fails with `last_owner`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.Deleted,
            "members.remove",
            "DELETE",
            "/v1/members/{member_id}",
            path={"member_id": member_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def reset_password(
        self,
        member_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasswordResetWithMemberId:
        """Make a link with which a member who forgot their password chooses a new one; it works once,
        for a day.

        The service sends no mail: pass the link on yourself. Refused where the login opens other
        orgs too.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `password_not_used`, `member_of_other_orgs`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.PasswordResetWithMemberId,
            "members.resetPassword",
            "POST",
            "/v1/members/{member_id}/password-reset",
            path={"member_id": member_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncMembers(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Member]:
        """List the people who may use the console.

        Needs scope `admin`, or an owner or admin. Both modes share the members.

        Args:
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.
        """
        return self._page(
            types.Member,
            "members.list",
            "GET",
            "/v1/members",
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def invite(
        self,
        *,
        email: str,
        role: Literal["owner", "admin", "developer"],
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemberWithInviteUrl:
        """Invite a person; the answer carries the link to send them.

        The service sends no mail: pass the link on yourself. Only an owner invites owners; a key
        needs live mode.

        Args:
            email: Whom to invite.
            role: What the person will be allowed to do.
            idempotency_key: Made by the client where none is given.

        Fails with `member_exists`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.MemberWithInviteUrl,
            "members.invite",
            "POST",
            "/v1/members",
            body={"email": email, "role": role},
            takes_body=True,
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def accept(
        self,
        *,
        token: str,
        name: str,
        password: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Member:
        """Accept an invitation with a name and a password of at least 12 characters.

        Open to whoever holds the link, once.

        Args:
            token: What the link carries.
            name: What the person is called, 1 to 200 characters.
            password: At least 12 characters. The password of a login that the email already has
                adds the org to that login; any other creates a separate login for this org.

        Fails with `invite_not_found`, `login_failed`, `rate_limited`.
        """
        return await self._call(
            types.Member,
            "members.accept",
            "POST",
            "/v1/members/accept",
            body={"token": token, "name": name, "password": password},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        member_id: str,
        *,
        role: Literal["owner", "admin", "developer"] | None = None,
        name: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Member:
        """Change a member’s role or name; the last owner stays one.

        Only an owner changes owners; a key needs live mode.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.
            role: What the member may do from now on.
            name: What the member is called from now on.

        Fails with `last_owner`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.Member,
            "members.update",
            "PATCH",
            "/v1/members/{member_id}",
            path={"member_id": member_id},
            body={"role": role, "name": name},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def remove(
        self,
        member_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Remove a member and end their console sessions; the last owner stays.

        Keys that the member made stay.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.

        Fails with `last_owner`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.Deleted,
            "members.remove",
            "DELETE",
            "/v1/members/{member_id}",
            path={"member_id": member_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def reset_password(
        self,
        member_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.PasswordResetWithMemberId:
        """Make a link with which a member who forgot their password chooses a new one; it works once,
        for a day.

        The service sends no mail: pass the link on yourself. Refused where the login opens other
        orgs too.

        Args:
            member_id: The id of a member, `mbr_` and 24 characters.
            idempotency_key: Made by the client where none is given.

        Fails with `password_not_used`, `member_of_other_orgs`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.PasswordResetWithMemberId,
            "members.resetPassword",
            "POST",
            "/v1/members/{member_id}/password-reset",
            path={"member_id": member_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit

class IdentityProvider(Group):
    def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.IdentityProvider:
        """Show the org’s own sign-in, without its secret; the same in both modes.

        The client secret is never shown. `sign_in_url` is where members begin, and `redirect_uri`
        is what to allow at the provider.

        Fails with `identity_provider_not_found`.
        """
        return self._call(
            types.IdentityProvider,
            "identityProvider.get",
            "GET",
            "/v1/identity-provider",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def set(
        self,
        *,
        issuer: str,
        client_id: str,
        allowed_domains: Sequence[str],
        client_secret: str | None | Omit = OMIT,
        default_role: Literal["owner", "admin", "developer"] | None | Omit = OMIT,
        role_claim: str | None | Omit = OMIT,
        roles_by_claim: Mapping[str, Literal["owner", "admin", "developer"]] | None = None,
        password_sign_in: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.IdentityProvider:
        """Let members sign in by the company’s own OpenID Connect provider; it is asked at once.

        For an owner, or a live key with scope `all`. Another issuer or client forgets every link
        that members have, and ends what the provider signed in.

        Args:
            issuer: The provider’s issuer, as its discovery document writes it.
            client_id: What the provider calls this server.
            allowed_domains: The domains of emails that may sign in; no other email is taken.
            client_secret: Kept sealed. Left out, the one of the same issuer and client stays; null:
                the client has none.
            default_role: What a person becomes who signs in for the first time; null: only invited
                people come in.
            role_claim: The claim that decides the role on the first sign-in, such as `groups`.
            roles_by_claim: The role for each value of that claim; of several the highest counts,
                and none leaves `default_role`.
            password_sign_in: Whether members who have linked the provider may still use a password
                or passkey here; owners always may.

        Fails with `identity_provider_error`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.IdentityProvider,
            "identityProvider.set",
            "PUT",
            "/v1/identity-provider",
            body={
                "issuer": issuer,
                "client_id": client_id,
                "allowed_domains": allowed_domains,
                "roles_by_claim": roles_by_claim,
                "password_sign_in": password_sign_in,
            },
            nullable={
                "client_secret": client_secret,
                "default_role": default_role,
                "role_claim": role_claim,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def remove(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Take the org’s own sign-in away; whoever it signed in is logged out.

        For an owner, or a live key with scope `all`. Members with a password go on with it; those
        whom the provider made cannot come in until it is set again.

        Fails with `identity_provider_not_found`, `role_missing`, `live_key_required`.
        """
        return self._call(
            types.Deleted,
            "identityProvider.remove",
            "DELETE",
            "/v1/identity-provider",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncIdentityProvider(AsyncGroup):
    async def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.IdentityProvider:
        """Show the org’s own sign-in, without its secret; the same in both modes.

        The client secret is never shown. `sign_in_url` is where members begin, and `redirect_uri`
        is what to allow at the provider.

        Fails with `identity_provider_not_found`.
        """
        return await self._call(
            types.IdentityProvider,
            "identityProvider.get",
            "GET",
            "/v1/identity-provider",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def set(
        self,
        *,
        issuer: str,
        client_id: str,
        allowed_domains: Sequence[str],
        client_secret: str | None | Omit = OMIT,
        default_role: Literal["owner", "admin", "developer"] | None | Omit = OMIT,
        role_claim: str | None | Omit = OMIT,
        roles_by_claim: Mapping[str, Literal["owner", "admin", "developer"]] | None = None,
        password_sign_in: bool | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.IdentityProvider:
        """Let members sign in by the company’s own OpenID Connect provider; it is asked at once.

        For an owner, or a live key with scope `all`. Another issuer or client forgets every link
        that members have, and ends what the provider signed in.

        Args:
            issuer: The provider’s issuer, as its discovery document writes it.
            client_id: What the provider calls this server.
            allowed_domains: The domains of emails that may sign in; no other email is taken.
            client_secret: Kept sealed. Left out, the one of the same issuer and client stays; null:
                the client has none.
            default_role: What a person becomes who signs in for the first time; null: only invited
                people come in.
            role_claim: The claim that decides the role on the first sign-in, such as `groups`.
            roles_by_claim: The role for each value of that claim; of several the highest counts,
                and none leaves `default_role`.
            password_sign_in: Whether members who have linked the provider may still use a password
                or passkey here; owners always may.

        Fails with `identity_provider_error`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.IdentityProvider,
            "identityProvider.set",
            "PUT",
            "/v1/identity-provider",
            body={
                "issuer": issuer,
                "client_id": client_id,
                "allowed_domains": allowed_domains,
                "roles_by_claim": roles_by_claim,
                "password_sign_in": password_sign_in,
            },
            nullable={
                "client_secret": client_secret,
                "default_role": default_role,
                "role_claim": role_claim,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def remove(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Take the org’s own sign-in away; whoever it signed in is logged out.

        For an owner, or a live key with scope `all`. Members with a password go on with it; those
        whom the provider made cannot come in until it is set again.

        Fails with `identity_provider_not_found`, `role_missing`, `live_key_required`.
        """
        return await self._call(
            types.Deleted,
            "identityProvider.remove",
            "DELETE",
            "/v1/identity-provider",
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping, Sequence

from .. import params, types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit

class Orgs(Group):
    def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Org:
        """Show the org with its settings, wallet balance and caps.

        Needs scope `admin`. Settings are those of the key’s mode; name and members are shared by
        both.
        """
        return self._call(
            types.Org,
            "orgs.get",
            "GET",
            "/v1/org",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        *,
        name: str | None = None,
        allowed_return_urls: Sequence[str] | None = None,
        allowed_embed_origins: Sequence[str] | None = None,
        default_deployment: str | None | Omit = OMIT,
        require_user: bool | None = None,
        memory_panel: bool | None = None,
        memory_mode: Literal["vestra", "customer", "none"] | None = None,
        memory_endpoint: str | None | Omit = OMIT,
        otlp_endpoint: str | None | Omit = OMIT,
        otlp_headers_secret: str | None | Omit = OMIT,
        otlp_content: bool | None = None,
        model_fallbacks: Mapping[str, Sequence[str]] | None = None,
        openings: Mapping[str, params.OrgOpeningParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Org:
        """Change settings of the org; a list sent replaces the list kept.

        Needs scope `admin`. Fields left out stay. Changes count for the key’s mode, so that a test
        key never changes what live users see.

        Args:
            name: What the org is called, 1 to 200 characters.
            allowed_return_urls: Where users may be sent back to after they connected an app, at
                most 20; replaces the list.
            allowed_embed_origins: https origins whose pages may embed sessions, at most 20;
                replaces the list.
            default_deployment: The deployment that answers where none is named: a dep_ id, a slug
                or a name; null clears it.
            require_user: True: calls that name no user are refused with `user_required`.
            memory_panel: True: sessions may show users what is remembered.
            memory_mode: Who keeps what is learnt of users; `customer` needs a `memory_endpoint`.
            memory_endpoint: An https address that keeps memory in place of the service; null clears
                it.
            otlp_endpoint: Where to send traces as OpenTelemetry over HTTP; null stops it.
            otlp_headers_secret: The name of a secret that holds a JSON object of header names to
                values; null clears it.
            otlp_content: True: traces hold what was said and what tools were given and answered,
                without credentials.
            model_fallbacks: By the slug of a deployment, or `*` for the rest: up to 5 models to go
                on with where its own is away; replaces all.
            openings: By the slug of a deployment, or `*` for the rest: what a session’s page says
                first; replaces all.
        """
        return self._call(
            types.Org,
            "orgs.update",
            "PATCH",
            "/v1/org",
            body={
                "name": name,
                "allowed_return_urls": allowed_return_urls,
                "allowed_embed_origins": allowed_embed_origins,
                "require_user": require_user,
                "memory_panel": memory_panel,
                "memory_mode": memory_mode,
                "otlp_content": otlp_content,
                "model_fallbacks": model_fallbacks,
                "openings": openings,
            },
            nullable={
                "default_deployment": default_deployment,
                "memory_endpoint": memory_endpoint,
                "otlp_endpoint": otlp_endpoint,
                "otlp_headers_secret": otlp_headers_secret,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def roll_memory_secret(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemoryEndpoint:
        """Get a new secret for the signatures of calls to the org’s memory endpoint; the old one signs
        for 24 hours more.

        Needs scope `admin`. For 24 hours calls carry a signature by each secret.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return self._call(
            types.MemoryEndpoint,
            "orgs.rollMemorySecret",
            "POST",
            "/v1/org/memory-endpoint/roll-secret",
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncOrgs(AsyncGroup):
    async def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Org:
        """Show the org with its settings, wallet balance and caps.

        Needs scope `admin`. Settings are those of the key’s mode; name and members are shared by
        both.
        """
        return await self._call(
            types.Org,
            "orgs.get",
            "GET",
            "/v1/org",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        *,
        name: str | None = None,
        allowed_return_urls: Sequence[str] | None = None,
        allowed_embed_origins: Sequence[str] | None = None,
        default_deployment: str | None | Omit = OMIT,
        require_user: bool | None = None,
        memory_panel: bool | None = None,
        memory_mode: Literal["vestra", "customer", "none"] | None = None,
        memory_endpoint: str | None | Omit = OMIT,
        otlp_endpoint: str | None | Omit = OMIT,
        otlp_headers_secret: str | None | Omit = OMIT,
        otlp_content: bool | None = None,
        model_fallbacks: Mapping[str, Sequence[str]] | None = None,
        openings: Mapping[str, params.OrgOpeningParam] | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Org:
        """Change settings of the org; a list sent replaces the list kept.

        Needs scope `admin`. Fields left out stay. Changes count for the key’s mode, so that a test
        key never changes what live users see.

        Args:
            name: What the org is called, 1 to 200 characters.
            allowed_return_urls: Where users may be sent back to after they connected an app, at
                most 20; replaces the list.
            allowed_embed_origins: https origins whose pages may embed sessions, at most 20;
                replaces the list.
            default_deployment: The deployment that answers where none is named: a dep_ id, a slug
                or a name; null clears it.
            require_user: True: calls that name no user are refused with `user_required`.
            memory_panel: True: sessions may show users what is remembered.
            memory_mode: Who keeps what is learnt of users; `customer` needs a `memory_endpoint`.
            memory_endpoint: An https address that keeps memory in place of the service; null clears
                it.
            otlp_endpoint: Where to send traces as OpenTelemetry over HTTP; null stops it.
            otlp_headers_secret: The name of a secret that holds a JSON object of header names to
                values; null clears it.
            otlp_content: True: traces hold what was said and what tools were given and answered,
                without credentials.
            model_fallbacks: By the slug of a deployment, or `*` for the rest: up to 5 models to go
                on with where its own is away; replaces all.
            openings: By the slug of a deployment, or `*` for the rest: what a session’s page says
                first; replaces all.
        """
        return await self._call(
            types.Org,
            "orgs.update",
            "PATCH",
            "/v1/org",
            body={
                "name": name,
                "allowed_return_urls": allowed_return_urls,
                "allowed_embed_origins": allowed_embed_origins,
                "require_user": require_user,
                "memory_panel": memory_panel,
                "memory_mode": memory_mode,
                "otlp_content": otlp_content,
                "model_fallbacks": model_fallbacks,
                "openings": openings,
            },
            nullable={
                "default_deployment": default_deployment,
                "memory_endpoint": memory_endpoint,
                "otlp_endpoint": otlp_endpoint,
                "otlp_headers_secret": otlp_headers_secret,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def roll_memory_secret(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MemoryEndpoint:
        """Get a new secret for the signatures of calls to the org’s memory endpoint; the old one signs
        for 24 hours more.

        Needs scope `admin`. For 24 hours calls carry a signature by each secret.

        Args:
            idempotency_key: Made by the client where none is given.
        """
        return await self._call(
            types.MemoryEndpoint,
            "orgs.rollMemorySecret",
            "POST",
            "/v1/org/memory-endpoint/roll-secret",
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )


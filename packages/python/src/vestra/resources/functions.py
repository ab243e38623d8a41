"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group

class Functions(Group):
    def list(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeclaredFunctions:
        """List the functions that the company’s own code answers, of the version that the key’s mode
        runs.

        Needs scope `runtime` or `setup`. What a worker needs to know before it takes calls.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_archived`, `deployment_not_live`.
        """
        return self._call(
            types.DeclaredFunctions,
            "functions.list",
            "GET",
            "/v1/deployments/{deployment_id}/functions",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def take(
        self,
        deployment_id: str,
        *,
        functions: Sequence[str],
        limit: int | None = None,
        lease_s: int | None = None,
        wait_s: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TakenCalls:
        """Take calls of functions that wait, of any conversation of the deployment; waits until there
        are some.

        For workers behind a firewall: long-poll with `wait_s`, carry out what comes, and answer it
        with `POST /v1/interactions/{call_id}/answer`. A call that is neither renewed nor answered
        in `lease_s` goes to another worker with `attempt` counted up.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            functions: The functions whose calls are taken.
            limit: How many calls to take at most.
            lease_s: How long nobody else takes the call, from now on.
            wait_s: How long to wait where no call is open.

        Fails with `deployment_not_found`.
        """
        return self._call(
            types.TakenCalls,
            "functions.take",
            "POST",
            "/v1/deployments/{deployment_id}/tool-calls/take",
            path={"deployment_id": deployment_id},
            body={"functions": functions, "limit": limit, "lease_s": lease_s, "wait_s": wait_s},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def renew(
        self,
        call_id: str,
        *,
        claim_id: str,
        lease_s: int | None = None,
        progress: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RenewedCall:
        """Keep a call that was taken for longer, and say how far it is.

        Call it before `taken_until`. Answers `tool_call_taken` where another worker has the call by
        now: stop then.

        Args:
            call_id: The id of a call of one of your own functions, `call_` and 24 characters.
            claim_id: Tells who has taken the call, from `take`.
            lease_s: How long nobody else takes the call, from now on.
            progress: Shown to the person while they wait.

        Fails with `already_answered`, `interaction_expired`, `tool_call_taken`.
        """
        return self._call(
            types.RenewedCall,
            "functions.renew",
            "POST",
            "/v1/tool-calls/{call_id}/renew",
            path={"call_id": call_id},
            body={"claim_id": claim_id, "lease_s": lease_s, "progress": progress},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def release(
        self,
        call_id: str,
        *,
        claim_id: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ReleasedCall:
        """Give back a call that was taken: others may take it at once.

        For a worker that shuts down. The attempt it took stays counted.

        Args:
            call_id: The id of a call of one of your own functions, `call_` and 24 characters.
            claim_id: Tells who has taken the call, from `take`.

        Fails with `already_answered`, `interaction_expired`, `tool_call_taken`.
        """
        return self._call(
            types.ReleasedCall,
            "functions.release",
            "POST",
            "/v1/tool-calls/{call_id}/release",
            path={"call_id": call_id},
            body={"claim_id": claim_id},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def endpoint(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpoint:
        """Show the https address that answers the deployment’s functions in the key’s mode.

        Kept per mode. Where an address is set, calls go there and need not be taken.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return self._call(
            types.FunctionEndpoint,
            "functions.endpoint",
            "GET",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def set_endpoint(
        self,
        deployment_id: str,
        *,
        url: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpointWithSecret:
        """Name the https address that answers the deployment’s functions; its signing secret is shown
        once.

        The address gets each call as a signed POST and answers it. Kept per mode: a live key sets
        the live one. Setting another address keeps the secret.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            url: A public https address that answers calls within the function’s `timeout_s`.

        Fails with `deployment_not_found`.
        """
        return self._call(
            types.FunctionEndpointWithSecret,
            "functions.setEndpoint",
            "PUT",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            body={"url": url},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def delete_endpoint(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Call that address no more.

        Calls then wait to be taken or answered over the API.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return self._call(
            types.Deleted,
            "functions.deleteEndpoint",
            "DELETE",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def roll_endpoint_secret(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpointWithSecret2:
        """Give that address a new signing secret; the old one is accepted for 24 hours.

        Calls carry a signature of each secret for 24 hours, so that nothing is refused meanwhile.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return self._call(
            types.FunctionEndpointWithSecret2,
            "functions.rollEndpointSecret",
            "POST",
            "/v1/deployments/{deployment_id}/function-endpoint/roll-secret",
            path={"deployment_id": deployment_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncFunctions(AsyncGroup):
    async def list(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.DeclaredFunctions:
        """List the functions that the company’s own code answers, of the version that the key’s mode
        runs.

        Needs scope `runtime` or `setup`. What a worker needs to know before it takes calls.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `deployment_archived`, `deployment_not_live`.
        """
        return await self._call(
            types.DeclaredFunctions,
            "functions.list",
            "GET",
            "/v1/deployments/{deployment_id}/functions",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def take(
        self,
        deployment_id: str,
        *,
        functions: Sequence[str],
        limit: int | None = None,
        lease_s: int | None = None,
        wait_s: int | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.TakenCalls:
        """Take calls of functions that wait, of any conversation of the deployment; waits until there
        are some.

        For workers behind a firewall: long-poll with `wait_s`, carry out what comes, and answer it
        with `POST /v1/interactions/{call_id}/answer`. A call that is neither renewed nor answered
        in `lease_s` goes to another worker with `attempt` counted up.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            functions: The functions whose calls are taken.
            limit: How many calls to take at most.
            lease_s: How long nobody else takes the call, from now on.
            wait_s: How long to wait where no call is open.

        Fails with `deployment_not_found`.
        """
        return await self._call(
            types.TakenCalls,
            "functions.take",
            "POST",
            "/v1/deployments/{deployment_id}/tool-calls/take",
            path={"deployment_id": deployment_id},
            body={"functions": functions, "limit": limit, "lease_s": lease_s, "wait_s": wait_s},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def renew(
        self,
        call_id: str,
        *,
        claim_id: str,
        lease_s: int | None = None,
        progress: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.RenewedCall:
        """Keep a call that was taken for longer, and say how far it is.

        Call it before `taken_until`. Answers `tool_call_taken` where another worker has the call by
        now: stop then.

        Args:
            call_id: The id of a call of one of your own functions, `call_` and 24 characters.
            claim_id: Tells who has taken the call, from `take`.
            lease_s: How long nobody else takes the call, from now on.
            progress: Shown to the person while they wait.

        Fails with `already_answered`, `interaction_expired`, `tool_call_taken`.
        """
        return await self._call(
            types.RenewedCall,
            "functions.renew",
            "POST",
            "/v1/tool-calls/{call_id}/renew",
            path={"call_id": call_id},
            body={"claim_id": claim_id, "lease_s": lease_s, "progress": progress},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def release(
        self,
        call_id: str,
        *,
        claim_id: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.ReleasedCall:
        """Give back a call that was taken: others may take it at once.

        For a worker that shuts down. The attempt it took stays counted.

        Args:
            call_id: The id of a call of one of your own functions, `call_` and 24 characters.
            claim_id: Tells who has taken the call, from `take`.

        Fails with `already_answered`, `interaction_expired`, `tool_call_taken`.
        """
        return await self._call(
            types.ReleasedCall,
            "functions.release",
            "POST",
            "/v1/tool-calls/{call_id}/release",
            path={"call_id": call_id},
            body={"claim_id": claim_id},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def endpoint(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpoint:
        """Show the https address that answers the deployment’s functions in the key’s mode.

        Kept per mode. Where an address is set, calls go there and need not be taken.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return await self._call(
            types.FunctionEndpoint,
            "functions.endpoint",
            "GET",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def set_endpoint(
        self,
        deployment_id: str,
        *,
        url: str,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpointWithSecret:
        """Name the https address that answers the deployment’s functions; its signing secret is shown
        once.

        The address gets each call as a signed POST and answers it. Kept per mode: a live key sets
        the live one. Setting another address keeps the secret.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            url: A public https address that answers calls within the function’s `timeout_s`.

        Fails with `deployment_not_found`.
        """
        return await self._call(
            types.FunctionEndpointWithSecret,
            "functions.setEndpoint",
            "PUT",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            body={"url": url},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def delete_endpoint(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Deleted:
        """Call that address no more.

        Calls then wait to be taken or answered over the API.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return await self._call(
            types.Deleted,
            "functions.deleteEndpoint",
            "DELETE",
            "/v1/deployments/{deployment_id}/function-endpoint",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def roll_endpoint_secret(
        self,
        deployment_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FunctionEndpointWithSecret2:
        """Give that address a new signing secret; the old one is accepted for 24 hours.

        Calls carry a signature of each secret for 24 hours, so that nothing is refused meanwhile.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            idempotency_key: Made by the client where none is given.

        Fails with `deployment_not_found`, `function_endpoint_not_found`.
        """
        return await self._call(
            types.FunctionEndpointWithSecret2,
            "functions.rollEndpointSecret",
            "POST",
            "/v1/deployments/{deployment_id}/function-endpoint/roll-secret",
            path={"deployment_id": deployment_id},
            idempotent=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
            extra_headers=extra_headers,
        )


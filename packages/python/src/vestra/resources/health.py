"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group

class Health(Group):
    def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Health:
        """Say whether the API is up; 503 while the database is away.

        Open to everybody, for load balancers and monitors: 503 while the server cannot take
        requests.
        """
        return self._call(
            types.Health,
            "health.get",
            "GET",
            "/v1/health",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncHealth(AsyncGroup):
    async def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Health:
        """Say whether the API is up; 503 while the database is away.

        Open to everybody, for load balancers and monitors: 503 while the server cannot take
        requests.
        """
        return await self._call(
            types.Health,
            "health.get",
            "GET",
            "/v1/health",
            timeout=timeout,
            extra_headers=extra_headers,
        )


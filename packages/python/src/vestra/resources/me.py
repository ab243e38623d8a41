"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group

class Me(Group):
    def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Me:
        """Show the org, the mode and the key or member behind this call.

        Any scope will do. The first call to make with a new key.
        """
        return self._call(
            types.Me,
            "me.get",
            "GET",
            "/v1/me",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncMe(AsyncGroup):
    async def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Me:
        """Show the org, the mode and the key or member behind this call.

        Any scope will do. The first call to make with a new key.
        """
        return await self._call(
            types.Me,
            "me.get",
            "GET",
            "/v1/me",
            timeout=timeout,
            extra_headers=extra_headers,
        )


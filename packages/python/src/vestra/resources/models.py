"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._pages import AsyncPages, Page

class Models(Group):
    def list(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.Model]:
        """List the models that a deployment may choose.

        Any scope will do. Also those that are not configured, with `unavailable_reason`.
        """
        return self._page(
            types.Model,
            "models.list",
            "GET",
            "/v1/models",
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncModels(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.Model]:
        """List the models that a deployment may choose.

        Any scope will do. Also those that are not configured, with `unavailable_reason`.
        """
        return self._page(
            types.Model,
            "models.list",
            "GET",
            "/v1/models",
            timeout=timeout,
            extra_headers=extra_headers,
        )


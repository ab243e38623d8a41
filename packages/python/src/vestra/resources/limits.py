"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Mapping

from .. import params, types
from .._group import AsyncGroup, Group

class Limits(Group):
    def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Limits:
        """Show spending caps, alert thresholds and rate limits.

        Needs scope `admin`. Caps and thresholds are kept for each mode; rate limits are the
        operator’s.
        """
        return self._call(
            types.Limits,
            "limits.get",
            "GET",
            "/v1/limits",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def update(
        self,
        *,
        caps: params.LimitCapsParam | None = None,
        usage_alerts: params.LimitUsageAlertsParam | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Limits:
        """Set spending caps and alert thresholds within what the service allows.

        Needs scope `admin`. Counts from the next message on; work that is running is stopped once a
        cap is reached.

        Args:
            caps: The caps to change; those left out stay.
            usage_alerts: When spending is to be told of.

        Fails with `cap_above_maximum`.
        """
        return self._call(
            types.Limits,
            "limits.update",
            "PATCH",
            "/v1/limits",
            body={"caps": caps, "usage_alerts": usage_alerts},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncLimits(AsyncGroup):
    async def get(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Limits:
        """Show spending caps, alert thresholds and rate limits.

        Needs scope `admin`. Caps and thresholds are kept for each mode; rate limits are the
        operator’s.
        """
        return await self._call(
            types.Limits,
            "limits.get",
            "GET",
            "/v1/limits",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def update(
        self,
        *,
        caps: params.LimitCapsParam | None = None,
        usage_alerts: params.LimitUsageAlertsParam | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.Limits:
        """Set spending caps and alert thresholds within what the service allows.

        Needs scope `admin`. Counts from the next message on; work that is running is stopped once a
        cap is reached.

        Args:
            caps: The caps to change; those left out stay.
            usage_alerts: When spending is to be told of.

        Fails with `cap_above_maximum`.
        """
        return await self._call(
            types.Limits,
            "limits.update",
            "PATCH",
            "/v1/limits",
            body={"caps": caps, "usage_alerts": usage_alerts},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )


"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Literal, Mapping

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit
from .._pages import AsyncPages, Page

class Feedback(Group):
    def rate(
        self,
        message_id: str,
        *,
        rating: Literal["good", "bad"],
        note: str | None | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MessageFeedback:
        """Say whether an answer was good or bad; each rater has one say, and the last counts.

        Of an answer of the agent, not of what the user said. It counts for the version that gave
        the answer, and webhooks hear `message.feedback`.

        Args:
            message_id: An answer of the agent.
            rating: Whether the answer was good or bad.
            note: What was good or bad about it.
        """
        return self._call(
            types.MessageFeedback,
            "feedback.rate",
            "POST",
            "/v1/messages/{message_id}/feedback",
            path={"message_id": message_id},
            body={"rating": rating},
            nullable={"note": note},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def of_conversation(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.MessageFeedback]:
        """List what was said of the answers of a conversation, newest first; a session sees its user’s
        own.

        All raters’ for a key or a member. A session uses it to show which answers its user has
        rated already.

        Args:
            conversation_id: The conversation in which the answer was given.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `conversation_not_found`.
        """
        return self._page(
            types.MessageFeedback,
            "feedback.ofConversation",
            "GET",
            "/v1/conversations/{conversation_id}/feedback",
            path={"conversation_id": conversation_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list(
        self,
        deployment_id: str,
        *,
        rating: Literal["good", "bad"] | None = None,
        version: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Page[types.MessageFeedback]:
        """List what was said of a deployment’s answers in the mode of the call, newest first.

        Each names its conversation, so that the answer can be read where it was given.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            rating: Only the good, or only the bad.
            version: Only answers of this version.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.MessageFeedback,
            "feedback.list",
            "GET",
            "/v1/deployments/{deployment_id}/feedback",
            path={"deployment_id": deployment_id},
            query={"rating": rating, "version": version, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def counts(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FeedbackCounts:
        """Count what was said of a deployment’s answers per version, the newest version first.

        One line for each version whose answers were rated, in the mode of the call.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`.
        """
        return self._call(
            types.FeedbackCounts,
            "feedback.counts",
            "GET",
            "/v1/deployments/{deployment_id}/feedback/counts",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncFeedback(AsyncGroup):
    async def rate(
        self,
        message_id: str,
        *,
        rating: Literal["good", "bad"],
        note: str | None | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.MessageFeedback:
        """Say whether an answer was good or bad; each rater has one say, and the last counts.

        Of an answer of the agent, not of what the user said. It counts for the version that gave
        the answer, and webhooks hear `message.feedback`.

        Args:
            message_id: An answer of the agent.
            rating: Whether the answer was good or bad.
            note: What was good or bad about it.
        """
        return await self._call(
            types.MessageFeedback,
            "feedback.rate",
            "POST",
            "/v1/messages/{message_id}/feedback",
            path={"message_id": message_id},
            body={"rating": rating},
            nullable={"note": note},
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def of_conversation(
        self,
        conversation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.MessageFeedback]:
        """List what was said of the answers of a conversation, newest first; a session sees its user’s
        own.

        All raters’ for a key or a member. A session uses it to show which answers its user has
        rated already.

        Args:
            conversation_id: The conversation in which the answer was given.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `conversation_not_found`.
        """
        return self._page(
            types.MessageFeedback,
            "feedback.ofConversation",
            "GET",
            "/v1/conversations/{conversation_id}/feedback",
            path={"conversation_id": conversation_id},
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def list(
        self,
        deployment_id: str,
        *,
        rating: Literal["good", "bad"] | None = None,
        version: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncPages[types.MessageFeedback]:
        """List what was said of a deployment’s answers in the mode of the call, newest first.

        Each names its conversation, so that the answer can be read where it was given.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.
            rating: Only the good, or only the bad.
            version: Only answers of this version.
            limit: How many entries a page holds, 1 to 100.
            cursor: The `next_cursor` of the page before, unchanged; absent: the first page.

        Fails with `deployment_not_found`.
        """
        return self._page(
            types.MessageFeedback,
            "feedback.list",
            "GET",
            "/v1/deployments/{deployment_id}/feedback",
            path={"deployment_id": deployment_id},
            query={"rating": rating, "version": version, "limit": limit, "cursor": cursor},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def counts(
        self,
        deployment_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.FeedbackCounts:
        """Count what was said of a deployment’s answers per version, the newest version first.

        One line for each version whose answers were rated, in the mode of the call.

        Args:
            deployment_id: The deployment’s `dep_` id, its slug or its name.

        Fails with `deployment_not_found`.
        """
        return await self._call(
            types.FeedbackCounts,
            "feedback.counts",
            "GET",
            "/v1/deployments/{deployment_id}/feedback/counts",
            path={"deployment_id": deployment_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )


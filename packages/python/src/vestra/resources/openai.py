"""Written by `npm run fix` from the contract."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from .. import types
from .._group import AsyncGroup, Group
from .._omit import OMIT, Omit

class Openai(Group):
    def chat(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, object]],
        user: str | None | Omit = OMIT,
        safety_identifier: str | None | Omit = OMIT,
        tools: Sequence[Mapping[str, object]] | None | Omit = OMIT,
        tool_choice: Literal["auto", "none"] | None | Omit = OMIT,
        response_format: Mapping[str, object] | None | Omit = OMIT,
        stream: bool | None | Omit = OMIT,
        stream_options: Mapping[str, object] | None | Omit = OMIT,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        store: bool | None | Omit = OMIT,
        n: Literal[1] | None | Omit = OMIT,
        logprobs: Literal[False] | None | Omit = OMIT,
        modalities: Sequence[Literal["text"]] | None | Omit = OMIT,
        temperature: object | Omit = OMIT,
        top_p: object | Omit = OMIT,
        frequency_penalty: object | Omit = OMIT,
        presence_penalty: object | Omit = OMIT,
        seed: object | Omit = OMIT,
        logit_bias: object | Omit = OMIT,
        stop: object | Omit = OMIT,
        verbosity: object | Omit = OMIT,
        max_tokens: object | Omit = OMIT,
        max_completion_tokens: object | Omit = OMIT,
        max_output_tokens: object | Omit = OMIT,
        max_tool_calls: object | Omit = OMIT,
        parallel_tool_calls: object | Omit = OMIT,
        reasoning: object | Omit = OMIT,
        reasoning_effort: object | Omit = OMIT,
        service_tier: object | Omit = OMIT,
        prediction: object | Omit = OMIT,
        truncation: object | Omit = OMIT,
        include: object | Omit = OMIT,
        context_management: object | Omit = OMIT,
        prompt_cache_key: object | Omit = OMIT,
        prompt_cache_options: object | Omit = OMIT,
        prompt_cache_retention: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Talk to a deployment as clients of OpenAI’s chat completions do.

        Point an OpenAI client at `/v1/openai` with an API key of ours. A call that repeats what was
        said goes on in its conversation. What cannot be done is refused in OpenAI’s error shape and
        named.

        Args:
            model: A deployment: its slug, its dep_ id or its name, with `@version`.
            messages: The conversation so far; one that continues an earlier call goes on in the
                same conversation.
            user: The user whom the agent works for.
            safety_identifier: Another name for `user`: whom the agent works for.
            tools: Functions of yours that the agent may call, besides those of the deployment.
            tool_choice: `auto`: the agent decides; `none`: it calls none of `tools`.
            response_format: The form of the answer: text, any JSON, or JSON that fits a schema.
            stream: True: the answer comes as chunks while it is written.
            stream_options: What a stream tells besides.
            store: Taken as OpenAI’s clients send it; the conversation is kept either way.
            n: Only 1: one answer is given.
            logprobs: Only false: probabilities of words are not given.
            modalities: Only text is answered.
            temperature: Taken, and without effect.
            top_p: Taken, and without effect.
            frequency_penalty: Taken, and without effect.
            presence_penalty: Taken, and without effect.
            seed: Taken, and without effect.
            logit_bias: Taken, and without effect.
            stop: Taken, and without effect.
            verbosity: Taken, and without effect.
            max_tokens: Taken, and without effect.
            max_completion_tokens: Taken, and without effect.
            max_output_tokens: Taken, and without effect.
            max_tool_calls: Taken, and without effect.
            parallel_tool_calls: Taken, and without effect.
            reasoning: Taken, and without effect.
            reasoning_effort: Taken, and without effect.
            service_tier: Taken, and without effect.
            prediction: Taken, and without effect.
            truncation: Taken, and without effect.
            include: Taken, and without effect.
            context_management: Taken, and without effect.
            prompt_cache_key: Taken, and without effect.
            prompt_cache_options: Taken, and without effect.
            prompt_cache_retention: Taken, and without effect.

        Fails with `invalid_deployment`, `deployment_not_live`, `deployment_archived`,
        `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`,
        `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`,
        `file_not_found`, `file_too_large`.
        """
        return self._streamable(
            object,
            "openai.chat",
            "POST",
            "/v1/openai/chat/completions",
            body={"model": model, "messages": messages},
            nullable={
                "user": user,
                "safety_identifier": safety_identifier,
                "tools": tools,
                "tool_choice": tool_choice,
                "response_format": response_format,
                "stream": stream,
                "stream_options": stream_options,
                "metadata": metadata,
                "store": store,
                "n": n,
                "logprobs": logprobs,
                "modalities": modalities,
                "temperature": temperature,
                "top_p": top_p,
                "frequency_penalty": frequency_penalty,
                "presence_penalty": presence_penalty,
                "seed": seed,
                "logit_bias": logit_bias,
                "stop": stop,
                "verbosity": verbosity,
                "max_tokens": max_tokens,
                "max_completion_tokens": max_completion_tokens,
                "max_output_tokens": max_output_tokens,
                "max_tool_calls": max_tool_calls,
                "parallel_tool_calls": parallel_tool_calls,
                "reasoning": reasoning,
                "reasoning_effort": reasoning_effort,
                "service_tier": service_tier,
                "prediction": prediction,
                "truncation": truncation,
                "include": include,
                "context_management": context_management,
                "prompt_cache_key": prompt_cache_key,
                "prompt_cache_options": prompt_cache_options,
                "prompt_cache_retention": prompt_cache_retention,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def respond(
        self,
        *,
        input: str | Sequence[Mapping[str, object]],
        model: str | None = None,
        instructions: str | None | Omit = OMIT,
        user: str | None | Omit = OMIT,
        safety_identifier: str | None | Omit = OMIT,
        previous_response_id: str | None | Omit = OMIT,
        conversation: str | Mapping[str, object] | None | Omit = OMIT,
        tools: Sequence[Mapping[str, object]] | None | Omit = OMIT,
        tool_choice: Literal["auto", "none"] | None | Omit = OMIT,
        text: Mapping[str, object] | None | Omit = OMIT,
        stream: bool | None | Omit = OMIT,
        stream_options: object | Omit = OMIT,
        background: bool | None | Omit = OMIT,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        store: bool | None | Omit = OMIT,
        prompt: None | Omit = OMIT,
        top_logprobs: Literal[0] | None | Omit = OMIT,
        temperature: object | Omit = OMIT,
        top_p: object | Omit = OMIT,
        frequency_penalty: object | Omit = OMIT,
        presence_penalty: object | Omit = OMIT,
        seed: object | Omit = OMIT,
        logit_bias: object | Omit = OMIT,
        stop: object | Omit = OMIT,
        verbosity: object | Omit = OMIT,
        max_tokens: object | Omit = OMIT,
        max_completion_tokens: object | Omit = OMIT,
        max_output_tokens: object | Omit = OMIT,
        max_tool_calls: object | Omit = OMIT,
        parallel_tool_calls: object | Omit = OMIT,
        reasoning: object | Omit = OMIT,
        reasoning_effort: object | Omit = OMIT,
        service_tier: object | Omit = OMIT,
        prediction: object | Omit = OMIT,
        truncation: object | Omit = OMIT,
        include: object | Omit = OMIT,
        context_management: object | Omit = OMIT,
        prompt_cache_key: object | Omit = OMIT,
        prompt_cache_options: object | Omit = OMIT,
        prompt_cache_retention: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Talk to a deployment as clients of OpenAI’s responses do.

        Goes on by `previous_response_id` or `conversation`. Calls of your functions and approvals
        come as output items; send their results as input.

        Args:
            input: What the person says: a text, or a list of items.
            model: The deployment; may be left out where the conversation is named.
            instructions: Read as facts beside the instructions of the deployment.
            user: The user whom the agent works for.
            safety_identifier: Another name for `user`: whom the agent works for.
            previous_response_id: The response that this one goes on from, `resp_…`.
            conversation: The conversation that this one goes on in.
            tools: Functions of yours that the agent may call, besides those of the deployment.
            tool_choice: `auto`: the agent decides; `none`: it calls none of `tools`.
            text: The form of the answer.
            stream: True: the answer comes as events while it is written.
            stream_options: Taken, and without effect.
            background: True: answers at once with `in_progress`; read the response for the rest.
            store: False: the response cannot be asked for again.
            prompt: Only null: the deployment holds the instructions.
            top_logprobs: Only 0: probabilities of words are not given.
            temperature: Taken, and without effect.
            top_p: Taken, and without effect.
            frequency_penalty: Taken, and without effect.
            presence_penalty: Taken, and without effect.
            seed: Taken, and without effect.
            logit_bias: Taken, and without effect.
            stop: Taken, and without effect.
            verbosity: Taken, and without effect.
            max_tokens: Taken, and without effect.
            max_completion_tokens: Taken, and without effect.
            max_output_tokens: Taken, and without effect.
            max_tool_calls: Taken, and without effect.
            parallel_tool_calls: Taken, and without effect.
            reasoning: Taken, and without effect.
            reasoning_effort: Taken, and without effect.
            service_tier: Taken, and without effect.
            prediction: Taken, and without effect.
            truncation: Taken, and without effect.
            include: Taken, and without effect.
            context_management: Taken, and without effect.
            prompt_cache_key: Taken, and without effect.
            prompt_cache_options: Taken, and without effect.
            prompt_cache_retention: Taken, and without effect.

        Fails with `invalid_deployment`, `deployment_not_live`, `deployment_archived`,
        `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`,
        `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`,
        `file_not_found`, `file_too_large`.
        """
        return self._streamable(
            object,
            "openai.respond",
            "POST",
            "/v1/openai/responses",
            body={"model": model, "input": input},
            nullable={
                "instructions": instructions,
                "user": user,
                "safety_identifier": safety_identifier,
                "previous_response_id": previous_response_id,
                "conversation": conversation,
                "tools": tools,
                "tool_choice": tool_choice,
                "text": text,
                "stream": stream,
                "stream_options": stream_options,
                "background": background,
                "metadata": metadata,
                "store": store,
                "prompt": prompt,
                "top_logprobs": top_logprobs,
                "temperature": temperature,
                "top_p": top_p,
                "frequency_penalty": frequency_penalty,
                "presence_penalty": presence_penalty,
                "seed": seed,
                "logit_bias": logit_bias,
                "stop": stop,
                "verbosity": verbosity,
                "max_tokens": max_tokens,
                "max_completion_tokens": max_completion_tokens,
                "max_output_tokens": max_output_tokens,
                "max_tool_calls": max_tool_calls,
                "parallel_tool_calls": parallel_tool_calls,
                "reasoning": reasoning,
                "reasoning_effort": reasoning_effort,
                "service_tier": service_tier,
                "prediction": prediction,
                "truncation": truncation,
                "include": include,
                "context_management": context_management,
                "prompt_cache_key": prompt_cache_key,
                "prompt_cache_options": prompt_cache_options,
                "prompt_cache_retention": prompt_cache_retention,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def response(
        self,
        response_id: str,
        *,
        stream: Literal["true", "false"] | None = None,
        starting_after: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Show a response as far as it has come, or follow it.

        For responses made with `background`, or to read one again.

        Args:
            response_id: The id of a response, `resp_…`.
            stream: `true` answers its events as a stream.
            starting_after: The `sequence_number` of the last event seen: the stream goes on after
                it.

        Fails with `response_not_found`.
        """
        return self._streamable(
            object,
            "openai.response",
            "GET",
            "/v1/openai/responses/{response_id}",
            path={"response_id": response_id},
            query={"stream": stream, "starting_after": starting_after},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def cancel(
        self,
        response_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiResponse:
        """Stop a response, with the work it began.

        One that has ended stays as it is.

        Args:
            response_id: The id of a response, `resp_…`.

        Fails with `response_not_found`.
        """
        return self._call(
            types.OpenaiResponse,
            "openai.cancel",
            "POST",
            "/v1/openai/responses/{response_id}/cancel",
            path={"response_id": response_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def create_conversation(
        self,
        *,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        items: Sequence[object] | None | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiConversation:
        """Start a conversation that responses go on with; `metadata.model` and `metadata.user` say
        whose.

        Name it as `conversation` of a response; without `metadata.model` the org’s default
        deployment answers.

        Args:
            items: Only empty: send what is said with a response.

        Fails with `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`.
        """
        return self._call(
            types.OpenaiConversation,
            "openai.createConversation",
            "POST",
            "/v1/openai/conversations",
            nullable={"metadata": metadata, "items": items},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def conversation(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiConversation:
        """Show a conversation as clients of OpenAI’s API read it.

        The same conversation as `GET /v1/conversations/{conversation_id}`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
        return self._call(
            types.OpenaiConversation,
            "openai.conversation",
            "GET",
            "/v1/openai/conversations/{conversation_id}",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def models(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiModels:
        """List the deployments that can be named as a model: those that are live, with a test key all.

        What an OpenAI client offers to choose from.
        """
        return self._call(
            types.OpenaiModels,
            "openai.models",
            "GET",
            "/v1/openai/models",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    def model(
        self,
        model: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiModel:
        """Show one deployment as a model.

        404 where a live key names a deployment that is not live.

        Args:
            model: The slug, id or name of a deployment.

        Fails with `deployment_not_found`.
        """
        return self._call(
            types.OpenaiModel,
            "openai.model",
            "GET",
            "/v1/openai/models/{model}",
            path={"model": model},
            timeout=timeout,
            extra_headers=extra_headers,
        )



class AsyncOpenai(AsyncGroup):
    async def chat(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, object]],
        user: str | None | Omit = OMIT,
        safety_identifier: str | None | Omit = OMIT,
        tools: Sequence[Mapping[str, object]] | None | Omit = OMIT,
        tool_choice: Literal["auto", "none"] | None | Omit = OMIT,
        response_format: Mapping[str, object] | None | Omit = OMIT,
        stream: bool | None | Omit = OMIT,
        stream_options: Mapping[str, object] | None | Omit = OMIT,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        store: bool | None | Omit = OMIT,
        n: Literal[1] | None | Omit = OMIT,
        logprobs: Literal[False] | None | Omit = OMIT,
        modalities: Sequence[Literal["text"]] | None | Omit = OMIT,
        temperature: object | Omit = OMIT,
        top_p: object | Omit = OMIT,
        frequency_penalty: object | Omit = OMIT,
        presence_penalty: object | Omit = OMIT,
        seed: object | Omit = OMIT,
        logit_bias: object | Omit = OMIT,
        stop: object | Omit = OMIT,
        verbosity: object | Omit = OMIT,
        max_tokens: object | Omit = OMIT,
        max_completion_tokens: object | Omit = OMIT,
        max_output_tokens: object | Omit = OMIT,
        max_tool_calls: object | Omit = OMIT,
        parallel_tool_calls: object | Omit = OMIT,
        reasoning: object | Omit = OMIT,
        reasoning_effort: object | Omit = OMIT,
        service_tier: object | Omit = OMIT,
        prediction: object | Omit = OMIT,
        truncation: object | Omit = OMIT,
        include: object | Omit = OMIT,
        context_management: object | Omit = OMIT,
        prompt_cache_key: object | Omit = OMIT,
        prompt_cache_options: object | Omit = OMIT,
        prompt_cache_retention: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Talk to a deployment as clients of OpenAI’s chat completions do.

        Point an OpenAI client at `/v1/openai` with an API key of ours. A call that repeats what was
        said goes on in its conversation. What cannot be done is refused in OpenAI’s error shape and
        named.

        Args:
            model: A deployment: its slug, its dep_ id or its name, with `@version`.
            messages: The conversation so far; one that continues an earlier call goes on in the
                same conversation.
            user: The user whom the agent works for.
            safety_identifier: Another name for `user`: whom the agent works for.
            tools: Functions of yours that the agent may call, besides those of the deployment.
            tool_choice: `auto`: the agent decides; `none`: it calls none of `tools`.
            response_format: The form of the answer: text, any JSON, or JSON that fits a schema.
            stream: True: the answer comes as chunks while it is written.
            stream_options: What a stream tells besides.
            store: Taken as OpenAI’s clients send it; the conversation is kept either way.
            n: Only 1: one answer is given.
            logprobs: Only false: probabilities of words are not given.
            modalities: Only text is answered.
            temperature: Taken, and without effect.
            top_p: Taken, and without effect.
            frequency_penalty: Taken, and without effect.
            presence_penalty: Taken, and without effect.
            seed: Taken, and without effect.
            logit_bias: Taken, and without effect.
            stop: Taken, and without effect.
            verbosity: Taken, and without effect.
            max_tokens: Taken, and without effect.
            max_completion_tokens: Taken, and without effect.
            max_output_tokens: Taken, and without effect.
            max_tool_calls: Taken, and without effect.
            parallel_tool_calls: Taken, and without effect.
            reasoning: Taken, and without effect.
            reasoning_effort: Taken, and without effect.
            service_tier: Taken, and without effect.
            prediction: Taken, and without effect.
            truncation: Taken, and without effect.
            include: Taken, and without effect.
            context_management: Taken, and without effect.
            prompt_cache_key: Taken, and without effect.
            prompt_cache_options: Taken, and without effect.
            prompt_cache_retention: Taken, and without effect.

        Fails with `invalid_deployment`, `deployment_not_live`, `deployment_archived`,
        `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`,
        `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`,
        `file_not_found`, `file_too_large`.
        """
        return await self._streamable(
            object,
            "openai.chat",
            "POST",
            "/v1/openai/chat/completions",
            body={"model": model, "messages": messages},
            nullable={
                "user": user,
                "safety_identifier": safety_identifier,
                "tools": tools,
                "tool_choice": tool_choice,
                "response_format": response_format,
                "stream": stream,
                "stream_options": stream_options,
                "metadata": metadata,
                "store": store,
                "n": n,
                "logprobs": logprobs,
                "modalities": modalities,
                "temperature": temperature,
                "top_p": top_p,
                "frequency_penalty": frequency_penalty,
                "presence_penalty": presence_penalty,
                "seed": seed,
                "logit_bias": logit_bias,
                "stop": stop,
                "verbosity": verbosity,
                "max_tokens": max_tokens,
                "max_completion_tokens": max_completion_tokens,
                "max_output_tokens": max_output_tokens,
                "max_tool_calls": max_tool_calls,
                "parallel_tool_calls": parallel_tool_calls,
                "reasoning": reasoning,
                "reasoning_effort": reasoning_effort,
                "service_tier": service_tier,
                "prediction": prediction,
                "truncation": truncation,
                "include": include,
                "context_management": context_management,
                "prompt_cache_key": prompt_cache_key,
                "prompt_cache_options": prompt_cache_options,
                "prompt_cache_retention": prompt_cache_retention,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def respond(
        self,
        *,
        input: str | Sequence[Mapping[str, object]],
        model: str | None = None,
        instructions: str | None | Omit = OMIT,
        user: str | None | Omit = OMIT,
        safety_identifier: str | None | Omit = OMIT,
        previous_response_id: str | None | Omit = OMIT,
        conversation: str | Mapping[str, object] | None | Omit = OMIT,
        tools: Sequence[Mapping[str, object]] | None | Omit = OMIT,
        tool_choice: Literal["auto", "none"] | None | Omit = OMIT,
        text: Mapping[str, object] | None | Omit = OMIT,
        stream: bool | None | Omit = OMIT,
        stream_options: object | Omit = OMIT,
        background: bool | None | Omit = OMIT,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        store: bool | None | Omit = OMIT,
        prompt: None | Omit = OMIT,
        top_logprobs: Literal[0] | None | Omit = OMIT,
        temperature: object | Omit = OMIT,
        top_p: object | Omit = OMIT,
        frequency_penalty: object | Omit = OMIT,
        presence_penalty: object | Omit = OMIT,
        seed: object | Omit = OMIT,
        logit_bias: object | Omit = OMIT,
        stop: object | Omit = OMIT,
        verbosity: object | Omit = OMIT,
        max_tokens: object | Omit = OMIT,
        max_completion_tokens: object | Omit = OMIT,
        max_output_tokens: object | Omit = OMIT,
        max_tool_calls: object | Omit = OMIT,
        parallel_tool_calls: object | Omit = OMIT,
        reasoning: object | Omit = OMIT,
        reasoning_effort: object | Omit = OMIT,
        service_tier: object | Omit = OMIT,
        prediction: object | Omit = OMIT,
        truncation: object | Omit = OMIT,
        include: object | Omit = OMIT,
        context_management: object | Omit = OMIT,
        prompt_cache_key: object | Omit = OMIT,
        prompt_cache_options: object | Omit = OMIT,
        prompt_cache_retention: object | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Talk to a deployment as clients of OpenAI’s responses do.

        Goes on by `previous_response_id` or `conversation`. Calls of your functions and approvals
        come as output items; send their results as input.

        Args:
            input: What the person says: a text, or a list of items.
            model: The deployment; may be left out where the conversation is named.
            instructions: Read as facts beside the instructions of the deployment.
            user: The user whom the agent works for.
            safety_identifier: Another name for `user`: whom the agent works for.
            previous_response_id: The response that this one goes on from, `resp_…`.
            conversation: The conversation that this one goes on in.
            tools: Functions of yours that the agent may call, besides those of the deployment.
            tool_choice: `auto`: the agent decides; `none`: it calls none of `tools`.
            text: The form of the answer.
            stream: True: the answer comes as events while it is written.
            stream_options: Taken, and without effect.
            background: True: answers at once with `in_progress`; read the response for the rest.
            store: False: the response cannot be asked for again.
            prompt: Only null: the deployment holds the instructions.
            top_logprobs: Only 0: probabilities of words are not given.
            temperature: Taken, and without effect.
            top_p: Taken, and without effect.
            frequency_penalty: Taken, and without effect.
            presence_penalty: Taken, and without effect.
            seed: Taken, and without effect.
            logit_bias: Taken, and without effect.
            stop: Taken, and without effect.
            verbosity: Taken, and without effect.
            max_tokens: Taken, and without effect.
            max_completion_tokens: Taken, and without effect.
            max_output_tokens: Taken, and without effect.
            max_tool_calls: Taken, and without effect.
            parallel_tool_calls: Taken, and without effect.
            reasoning: Taken, and without effect.
            reasoning_effort: Taken, and without effect.
            service_tier: Taken, and without effect.
            prediction: Taken, and without effect.
            truncation: Taken, and without effect.
            include: Taken, and without effect.
            context_management: Taken, and without effect.
            prompt_cache_key: Taken, and without effect.
            prompt_cache_options: Taken, and without effect.
            prompt_cache_retention: Taken, and without effect.

        Fails with `invalid_deployment`, `deployment_not_live`, `deployment_archived`,
        `user_required`, `user_disabled`, `conversation_not_found`, `conversation_user_mismatch`,
        `interaction_not_found`, `already_answered`, `interaction_expired`, `present_user_required`,
        `output_schema_invalid`, `output_schema_too_large`, `wallet_empty`, `org_cap_reached`,
        `user_cap_reached`, `model_unavailable`, `model_error`, `unsupported_media_type`,
        `file_not_found`, `file_too_large`.
        """
        return await self._streamable(
            object,
            "openai.respond",
            "POST",
            "/v1/openai/responses",
            body={"model": model, "input": input},
            nullable={
                "instructions": instructions,
                "user": user,
                "safety_identifier": safety_identifier,
                "previous_response_id": previous_response_id,
                "conversation": conversation,
                "tools": tools,
                "tool_choice": tool_choice,
                "text": text,
                "stream": stream,
                "stream_options": stream_options,
                "background": background,
                "metadata": metadata,
                "store": store,
                "prompt": prompt,
                "top_logprobs": top_logprobs,
                "temperature": temperature,
                "top_p": top_p,
                "frequency_penalty": frequency_penalty,
                "presence_penalty": presence_penalty,
                "seed": seed,
                "logit_bias": logit_bias,
                "stop": stop,
                "verbosity": verbosity,
                "max_tokens": max_tokens,
                "max_completion_tokens": max_completion_tokens,
                "max_output_tokens": max_output_tokens,
                "max_tool_calls": max_tool_calls,
                "parallel_tool_calls": parallel_tool_calls,
                "reasoning": reasoning,
                "reasoning_effort": reasoning_effort,
                "service_tier": service_tier,
                "prediction": prediction,
                "truncation": truncation,
                "include": include,
                "context_management": context_management,
                "prompt_cache_key": prompt_cache_key,
                "prompt_cache_options": prompt_cache_options,
                "prompt_cache_retention": prompt_cache_retention,
            },
            takes_body=True,
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def response(
        self,
        response_id: str,
        *,
        stream: Literal["true", "false"] | None = None,
        starting_after: str | None = None,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Show a response as far as it has come, or follow it.

        For responses made with `background`, or to read one again.

        Args:
            response_id: The id of a response, `resp_…`.
            stream: `true` answers its events as a stream.
            starting_after: The `sequence_number` of the last event seen: the stream goes on after
                it.

        Fails with `response_not_found`.
        """
        return await self._streamable(
            object,
            "openai.response",
            "GET",
            "/v1/openai/responses/{response_id}",
            path={"response_id": response_id},
            query={"stream": stream, "starting_after": starting_after},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def cancel(
        self,
        response_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiResponse:
        """Stop a response, with the work it began.

        One that has ended stays as it is.

        Args:
            response_id: The id of a response, `resp_…`.

        Fails with `response_not_found`.
        """
        return await self._call(
            types.OpenaiResponse,
            "openai.cancel",
            "POST",
            "/v1/openai/responses/{response_id}/cancel",
            path={"response_id": response_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def create_conversation(
        self,
        *,
        metadata: Mapping[str, str] | None | Omit = OMIT,
        items: Sequence[object] | None | Omit = OMIT,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiConversation:
        """Start a conversation that responses go on with; `metadata.model` and `metadata.user` say
        whose.

        Name it as `conversation` of a response; without `metadata.model` the org’s default
        deployment answers.

        Args:
            items: Only empty: send what is said with a response.

        Fails with `invalid_deployment`, `deployment_required`, `user_required`, `user_disabled`.
        """
        return await self._call(
            types.OpenaiConversation,
            "openai.createConversation",
            "POST",
            "/v1/openai/conversations",
            nullable={"metadata": metadata, "items": items},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def conversation(
        self,
        conversation_id: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiConversation:
        """Show a conversation as clients of OpenAI’s API read it.

        The same conversation as `GET /v1/conversations/{conversation_id}`.

        Args:
            conversation_id: The id of a conversation, `conv_` and 24 characters.

        Fails with `conversation_not_found`.
        """
        return await self._call(
            types.OpenaiConversation,
            "openai.conversation",
            "GET",
            "/v1/openai/conversations/{conversation_id}",
            path={"conversation_id": conversation_id},
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def models(
        self,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiModels:
        """List the deployments that can be named as a model: those that are live, with a test key all.

        What an OpenAI client offers to choose from.
        """
        return await self._call(
            types.OpenaiModels,
            "openai.models",
            "GET",
            "/v1/openai/models",
            timeout=timeout,
            extra_headers=extra_headers,
        )

    async def model(
        self,
        model: str,
        *,
        timeout: float | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> types.OpenaiModel:
        """Show one deployment as a model.

        404 where a live key names a deployment that is not live.

        Args:
            model: The slug, id or name of a deployment.

        Fails with `deployment_not_found`.
        """
        return await self._call(
            types.OpenaiModel,
            "openai.model",
            "GET",
            "/v1/openai/models/{model}",
            path={"model": model},
            timeout=timeout,
            extra_headers=extra_headers,
        )


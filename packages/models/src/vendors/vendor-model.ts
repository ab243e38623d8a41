import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from '@vestra/agent/message';
import type { Model, ModelEvent, ModelRequest } from '@vestra/agent/model';
import { readAnswer } from './answer.ts';
import { type Fault, failureOf, faultOf } from './fault.ts';
import { hasText, messagesFor } from './messages.ts';
import { outputFormatOf } from './output-format.ts';
import { pauseBefore, type Timing } from './timing.ts';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireNames } from './wire-names.ts';
import type { WireRequest } from './wires/wire.ts';

/**
 * A vendor's model behind the port. An aborted call throws the signal's reason; every other end but the good one
 * is a `ModelFailure`.
 */
export function createVendorModel(dependencies: { vendor: Vendor; timing: Timing }): Model {
  return { stream: (request) => callWithRetries(dependencies, request) };
}

async function* callWithRetries(
  { vendor, timing }: { vendor: Vendor; timing: Timing },
  request: ModelRequest,
): AsyncGenerator<ModelEvent> {
  const names = wireNames(request.tools, vendor.longestToolName);
  let isSchemaRefused = false;
  let isReasoningLeftOut = false;
  for (let attempt = 1; ; attempt++) {
    request.signal.throwIfAborted();
    let hasYielded = false;
    let fault: Fault;
    try {
      const asked = wireRequestOf(request, vendor, names, { isSchemaRefused, isReasoningLeftOut });
      for await (const event of readAnswer({ vendor, timing, names, request, ...asked })) {
        hasYielded = true;
        yield event;
      }
      return;
    } catch (error) {
      request.signal.throwIfAborted();
      fault = faultOf(error, vendor, timing.idleTimeoutMs);
    }
    if (hasYielded) throw failureOf(fault);
    if (fault.isOfReasoning && !isReasoningLeftOut) {
      isReasoningLeftOut = true;
      continue;
    }
    if (isRefusalOfSchema(fault, vendor, request) && !isSchemaRefused) {
      isSchemaRefused = true;
      continue;
    }
    if (!mayTryAgain(fault, attempt, timing)) throw failureOf(fault);
    await delay(pauseBefore(timing, attempt, fault.retryAfterMs), undefined, { signal: request.signal }).catch(() =>
      request.signal.throwIfAborted(),
    );
  }
}

/** Each timeout has already cost its whole length: one more try, not three. */
function mayTryAgain(fault: Fault, attempt: number, timing: Timing): boolean {
  const attempts = fault.reason === 'timeout' ? Math.min(2, timing.attempts) : timing.attempts;
  return fault.isPassing && attempt < attempts && (fault.retryAfterMs ?? 0) <= timing.longestRetryAfterMs;
}

/** Endpoints that only resemble OpenAI's often know JSON but no schemas. */
function isRefusalOfSchema(fault: Fault, vendor: Vendor, request: ModelRequest): boolean {
  if (vendor.name !== 'compatible' || !request.outputSchema) return false;
  return fault.reason === 'refused' && (fault.status === 400 || fault.status === 422);
}

function wireRequestOf(
  request: ModelRequest,
  vendor: Vendor,
  names: WireNames,
  { isSchemaRefused, isReasoningLeftOut }: { isSchemaRefused: boolean; isReasoningLeftOut: boolean },
): { wireRequest: WireRequest; answerTool: string | null } {
  const own = request.tools.map((tool) => ({ ...tool, name: names.toWire(tool.name) }));
  const { output, instruction, answerTool } = outputFormatOf(request.outputSchema, own, vendor, isSchemaRefused);
  const wireRequest = {
    modelId: vendor.modelId,
    system: [...request.system, ...(instruction ? [instruction] : [])].filter(hasText),
    messages: messagesFor(
      vendor,
      names,
      isReasoningLeftOut ? request.messages.map(withoutReasoning) : request.messages,
    ),
    tools: answerTool ? [...own, answerTool] : own,
    mustCallTool: answerTool !== null,
    output,
    maxOutputTokens: Math.min(request.maxOutputTokens ?? vendor.mostOutputTokens, vendor.mostOutputTokens),
    isReasoningLeftOut,
  };
  return { wireRequest, answerTool: answerTool?.name ?? null };
}

const withoutReasoning = (message: Message): Message =>
  message.role === 'agent' ? { ...message, reasoning: null } : message;

import { setTimeout as delay } from 'node:timers/promises';
import type { JSONSchema7, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Model, ModelEvent, ModelRequest } from '@vestra/agent/model';
import { readAnswer } from './answer.ts';
import { type Fault, failureOf, faultOf } from './fault.ts';
import { outputFormatOf } from './output-format.ts';
import { promptOf } from './prompt.ts';
import { pauseBefore, type Timing } from './timing.ts';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireNames } from './wire-names.ts';

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
  for (let attempt = 1; ; attempt++) {
    request.signal.throwIfAborted();
    let hasYielded = false;
    let fault: Fault;
    try {
      const options = optionsOf(request, vendor, names, isSchemaRefused);
      for await (const event of readAnswer({ vendor, timing, names, request, options })) {
        hasYielded = true;
        yield event;
      }
      return;
    } catch (error) {
      request.signal.throwIfAborted();
      fault = faultOf(error, vendor, timing.idleTimeoutMs);
    }
    if (hasYielded) throw failureOf(fault);
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

function optionsOf(
  request: ModelRequest,
  vendor: Vendor,
  names: WireNames,
  isSchemaRefused: boolean,
): LanguageModelV4CallOptions {
  const { responseFormat, instruction, strict } = outputFormatOf(request.outputSchema, vendor, isSchemaRefused);
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name: names.toWire(name),
    description,
    inputSchema: inputSchema as JSONSchema7,
  }));
  return {
    prompt: promptOf(request, vendor, names, instruction),
    ...(tools.length > 0 && { tools }),
    ...(responseFormat && { responseFormat }),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    providerOptions: { [vendor.name]: { ...vendor.options, ...(responseFormat && strictOption(vendor, strict)) } },
  };
}

const strictOption = (vendor: Vendor, strict: boolean) =>
  vendor.name === 'openai' || vendor.name === 'compatible' ? { strictJsonSchema: strict } : {};

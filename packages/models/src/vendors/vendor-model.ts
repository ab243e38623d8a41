import { setTimeout as delay } from 'node:timers/promises';
import { shownIn } from '@vestra/agent/media';
import type { JsonSchema, Message, ToolDefinition } from '@vestra/agent/message';
import type { Model, ModelEvent, ModelRequest } from '@vestra/agent/model';
import { readAnswer } from './answer.ts';
import { type Fault, failureOf, faultOf } from './fault.ts';
import { hasText, messagesFor } from './messages.ts';
import { levelFor } from './reasoning-level.ts';
import { pauseBefore, type Timing } from './timing.ts';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireNames } from './wire-names.ts';
import type { WireRequest } from './wires/wire.ts';

/**
 * A vendor's model behind the port. An aborted call throws the signal's reason; every other error is a `ModelFailure`.
 */
export function createVendorModel(dependencies: { vendor: Vendor; timing: Timing }): Model {
  const learnt: Learnt = { hasNoReasoning: false };
  return { stream: (request) => callWithRetries(dependencies, request, learnt) };
}

/** Features that this model's endpoint rejected once. It always will, so they are omitted while the process runs. */
type Learnt = { hasNoReasoning: boolean };

async function* callWithRetries(
  { vendor, timing }: { vendor: Vendor; timing: Timing },
  request: ModelRequest,
  learnt: Learnt,
): AsyncGenerator<ModelEvent> {
  const names = wireNames(request.tools, vendor.longestToolName);
  const refused: Refused = { schema: false, reasoning: learnt.hasNoReasoning, media: false };
  for (let attempt = 1; ; attempt++) {
    request.signal.throwIfAborted();
    let hasYielded = false;
    let fault: Fault;
    try {
      const asked = wireRequestOf(request, vendor, names, refused);
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
    if (fault.hasNoReasoning) learnt.hasNoReasoning = true;
    const found = findRefused(fault, vendor, request, refused);
    if (found) {
      refused[found] = true;
      continue;
    }
    if (!mayTryAgain(fault, attempt, timing)) throw failureOf(fault);
    await delay(pauseBefore(timing, attempt, fault.retryAfterMs), undefined, { signal: request.signal }).catch(() =>
      request.signal.throwIfAborted(),
    );
  }
}

/** Each timeout has already cost its full length, so it is retried once, not three times. */
export function mayTryAgain(fault: Fault, attempt: number, timing: Timing): boolean {
  const attempts = fault.reason === 'timeout' ? Math.min(2, timing.attempts) : timing.attempts;
  return fault.isPassing && attempt < attempts && (fault.retryAfterMs ?? 0) <= timing.longestRetryAfterMs;
}

/** Features that the vendor rejected, and that further requests omit. */
type Refused = { schema: boolean; reasoning: boolean; media: boolean };

/** Returns the feature that a rejection may be about. Each is omitted once. */
function findRefused(fault: Fault, vendor: Vendor, request: ModelRequest, refused: Refused): keyof Refused | null {
  if (fault.reason !== 'refused' || fault.status === null) return null;
  if (fault.isOfReasoning && !refused.reasoning) return 'reasoning';
  // OpenAI-compatible endpoints often support JSON but no schemas.
  const mayBeSchema = vendor.name === 'compatible' && request.outputSchema !== undefined;
  if (mayBeSchema && !refused.schema && [400, 422].includes(fault.status)) return 'schema';
  // A tool's picture may be corrupt after its first bytes, and every further request would be rejected.
  return request.messages.some(hasMedia) && !refused.media ? 'media' : null;
}

const hasMedia = (message: Message) =>
  message.role === 'tool' && message.results.some(({ media }) => media !== undefined && media.length > 0);

function withoutRefused(message: Message, { reasoning, media }: Refused): Message {
  if (message.role === 'agent' && reasoning) return { ...message, reasoning: null };
  if (message.role !== 'tool' || !media) return message;
  return { ...message, results: message.results.map((result) => shownIn(result, () => 'it cannot be read')) };
}

/** Tool servers may omit the type of the arguments. Vendors reject a whole request for it. */
const withRootType = (schema: JsonSchema): JsonSchema =>
  schema.type === undefined && schema.$ref === undefined ? { type: 'object', ...schema } : schema;

function wireRequestOf(
  request: ModelRequest,
  vendor: Vendor,
  names: WireNames,
  refused: Refused,
): { wireRequest: WireRequest; answerTool: string | null } {
  const own = request.tools.map((tool) => ({
    ...tool,
    name: names.toWire(tool.name),
    inputSchema: withRootType(tool.inputSchema),
  }));
  const { output, instruction, answerTool } = outputFormatOf(request.outputSchema, own, vendor, refused.schema);
  const wireRequest = {
    modelId: vendor.modelId,
    system: [...request.system, ...(instruction ? [instruction] : [])].filter(hasText),
    messages: messagesFor(
      vendor,
      names,
      request.messages.map((message) => withoutRefused(message, refused)),
    ),
    tools: answerTool ? [...own, answerTool] : own,
    mustCallTool: answerTool !== null && vendor.forcesTools,
    output,
    maxOutputTokens: Math.min(request.maxOutputTokens ?? vendor.mostOutputTokens, vendor.mostOutputTokens),
    reasoning: levelFor(vendor, request),
    asksForReasoning: vendor.reasons && !refused.reasoning,
    isReasoningLeftOut: refused.reasoning,
  };
  return { wireRequest, answerTool: answerTool?.name ?? null };
}

type OutputFormat = {
  output: WireRequest['output'];
  /** If the vendor cannot enforce the schema, the model is instructed instead. */
  instruction: string | null;
  /** A tool whose arguments are the answer. */
  answerTool: ToolDefinition | null;
};

const plain: OutputFormat = { output: { type: 'text' }, instruction: null, answerTool: null };

/**
 * Uses native structured output if the vendor supports this schema, else an answer tool, else an instruction.
 * `isRefused`: the endpoint rejected the schema.
 */
function outputFormatOf(
  schema: JsonSchema | undefined,
  tools: readonly ToolDefinition[],
  vendor: Vendor,
  isRefused: boolean,
): OutputFormat {
  if (!schema) return plain;
  const instruction = `Answer with one JSON value and nothing else. It must be valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  if (schema.type !== 'object') return { ...plain, instruction };
  if (isRefused) return { ...plain, output: { type: 'json' }, instruction };
  if (!vendor.takesSchema(schema, tools.length > 0)) {
    const tool = answerTool(schema, tools);
    const asked = `Give your answer by calling the tool \`${tool.name}\`, and write nothing else.`;
    return { ...plain, answerTool: tool, instruction: vendor.forcesTools ? null : asked };
  }
  return { ...plain, output: { type: 'schema', schema, strict: isStrict(schema) } };
}

function answerTool(inputSchema: JsonSchema, tools: readonly ToolDefinition[]): ToolDefinition {
  let name = 'json';
  while (tools.some((tool) => tool.name === name)) name += '_';
  return { name, description: 'Respond with a JSON object.', inputSchema };
}

const notStrict = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'];

/** In strict mode, OpenAI rejects every schema with an optional property or additional properties. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const node = schema as Record<string, unknown>;
  if (notStrict.some((keyword) => keyword in node) || 'patternProperties' in node) return false;
  const properties = (node.properties ?? {}) as Record<string, unknown>;
  if (node.type === 'object' || node.properties) {
    const required = Array.isArray(node.required) ? node.required : [];
    if (node.additionalProperties !== false) return false;
    if (!Object.keys(properties).every((name) => required.includes(name))) return false;
  }
  const definitions = { ...(node.$defs as object), ...(node.definitions as object) };
  return [...Object.values(properties), ...Object.values(definitions), node.items, node.anyOf].every(isStrict);
}

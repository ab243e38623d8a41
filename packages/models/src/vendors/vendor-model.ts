import { setTimeout as delay } from 'node:timers/promises';
import type { Model, ModelEvent, ModelRequest } from '@vestra/agent/model';
import { type Adjustments, adjustedAfter, mostAdjustments } from './adjustments.ts';
import { readAnswer } from './answer.ts';
import { type Fault, failureOf, faultOf } from './fault.ts';
import { createLearnt, type Learnt, type NewAdjustment, saidOfTool, titleInside } from './learnt.ts';
import { withoutFields } from './spare-fields.ts';
import { mayTryAgain, pauseBefore, type Timing } from './timing.ts';
import type { Vendor } from './vendor.ts';
import { type WireNames, wireNames } from './wire-names.ts';
import { type PreparedRequest, prepareRequest } from './wire-request.ts';
import { renamed } from './wires/tool-schema.ts';

/** `rules` says what the vendor rejected, and how requests changed since. */
export type VendorModel = Model & Pick<Learnt, 'rules' | 'restore'>;

type Dependencies = {
  vendor: Vendor;
  timing: Timing;
  /** Called once for each adjustment that the vendor required. */
  onAdjusted?: (adjustment: NewAdjustment) => void;
};

/**
 * A vendor's model behind the port. An aborted call throws the signal's reason; every other error is a `ModelFailure`.
 */
export function createVendorModel(dependencies: Dependencies): VendorModel {
  const learnt = createLearnt(dependencies.vendor);
  const { rules, restore } = learnt;
  return { stream: (request) => callWithRetries(dependencies, request, learnt), rules, restore };
}

async function* callWithRetries(
  { vendor, timing, onAdjusted }: Dependencies,
  request: ModelRequest,
  learnt: Learnt,
): AsyncGenerator<ModelEvent> {
  const names = wireNames(request.tools, vendor.longestToolName);
  const offered = request.tools.map(({ name, inputSchema }) => ({ name: names.toWire(name), inputSchema }));
  let made = learnt.of(offered, request.outputSchema);
  let hasNoReasoning = made.isReasoningLeftOut;
  let adjustments = 0;
  for (let attempt = 1; ; ) {
    request.signal.throwIfAborted();
    const prepared = prepareRequest(request, vendor, names, made);
    let hasYielded = false;
    let fault: Fault;
    try {
      for await (const event of answerTo(prepared, { vendor, timing, names, request, made })) {
        if (!hasYielded) {
          hasYielded = true;
          const used = { tools: offered, outputSchema: request.outputSchema, hasNoReasoning };
          if (adjustments > 0) for (const each of learnt.learn(made, used)) onAdjusted?.(each);
          yield* warningsOf(made, vendor, names);
        }
        yield event;
      }
      return;
    } catch (error) {
      request.signal.throwIfAborted();
      fault = faultOf(error, vendor, timing.idleTimeoutMs);
    }
    if (hasYielded) throw failureOf(fault);
    hasNoReasoning ||= fault.hasNoReasoning ?? false;
    const adjusted = adjustments < mostAdjustments ? adjustedAfter(fault, vendor, prepared.sent(), made) : null;
    if (adjusted) {
      made = adjusted;
      adjustments += 1;
      continue;
    }
    if (!mayTryAgain(fault, attempt, timing)) throw failureOf(fault);
    await delay(pauseBefore(timing, attempt, fault.retryAfterMs), undefined, { signal: request.signal }).catch(() =>
      request.signal.throwIfAborted(),
    );
    attempt += 1;
  }
}

type Call = { vendor: Vendor; timing: Timing; names: WireNames; request: ModelRequest; made: Adjustments };

/** Reads the answer. A further generator would cost time for every event, so only renamed properties pass through one. */
function answerTo(prepared: PreparedRequest, { vendor, made, ...call }: Call): AsyncGenerator<ModelEvent> {
  const { wireRequest, answerTool, keys } = prepared;
  const sending = made.fields.length === 0 ? vendor : withAdjustedBody(vendor, made);
  const answer = readAnswer({ ...call, vendor: sending, wireRequest, answerTool });
  return keys === null ? answer : withTrueKeys(answer, { keys, answerTool, names: call.names });
}

/** Gives the properties of arguments their true names. */
async function* withTrueKeys(
  answer: AsyncGenerator<ModelEvent>,
  of: { keys: NonNullable<PreparedRequest['keys']>; answerTool: string | null; names: WireNames },
): AsyncGenerator<ModelEvent> {
  const { keys, answerTool, names } = of;
  for await (const event of answer) {
    if (event.type === 'call') {
      const { call: given } = event;
      const trueKeys = keys.get(names.toWire(given.name));
      yield trueKeys ? { ...event, call: { ...given, arguments: renamed(given.arguments, trueKeys) } } : event;
    } else if (event.type === 'text' && answerTool !== null && keys.has(answerTool)) {
      yield { ...event, text: renamedJson(event.text, keys.get(answerTool) ?? new Map()) };
    } else yield event;
  }
}

function renamedJson(json: string, keys: ReadonlyMap<string, string>): string {
  try {
    return JSON.stringify(renamed(JSON.parse(json), keys));
  } catch {
    return json;
  }
}

const withAdjustedBody = (vendor: Vendor, { fields }: Adjustments): Vendor => ({
  ...vendor,
  wire: { ...vendor.wire, body: (request) => withoutFields(vendor.wire.body(request), fields, vendor.wire.spare) },
});

function* warningsOf({ tools }: Adjustments, { title }: Vendor, names: WireNames): Generator<ModelEvent> {
  for (const [wireName, form] of tools) {
    if (form !== 'left_out') continue;
    const tool = names.fromWire(wireName);
    yield { type: 'warning', tool, message: saidOfTool(tool, form, titleInside(title)) };
  }
}

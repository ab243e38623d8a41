import type { Client } from './client.ts';
import { isPassing, VestraError } from './errors.ts';
import { type CompanyFunction, carryOut, isToolError } from './functions/company-function.ts';
import { deliverAnswer } from './functions/deliver-answer.ts';
import { type HeldCall, holdCall, type TakenCall } from './functions/held-call.ts';
import type { StandardSchema } from './functions/standard-schema.ts';

export { defineFunction, type FunctionContext, ToolError } from './functions/company-function.ts';

export type ServeEvent =
  /** `warnings`: differences between the served functions and the deployment's declarations. */
  | { type: 'started'; functions: readonly string[]; warnings: readonly string[] }
  | { type: 'taken'; call: TakenCall }
  | { type: 'answered'; call: TakenCall; ms: number }
  /** The failure was reported to the agent. */
  | { type: 'failed'; call: TakenCall; error: unknown }
  /** The answer had no effect: it was too late, or another process had answered. */
  | { type: 'late'; call: TakenCall; code: string }
  /** The service is unreachable; it is polled again. */
  | { type: 'away'; error: unknown };

export type ServeOptions = {
  /** A `dep_` id, a slug or a name. */
  deployment: string;
  /** By name. Calls of other functions are left to other processes. */
  functions: Readonly<Record<string, CompanyFunction | CompanyFunction['run']>>;
  /** The maximum number of parallel calls in this process. Default: 10. */
  concurrency?: number | undefined;
  /** How long after this process dies others may take its calls, in seconds. Default: 30. */
  leaseSeconds?: number | undefined;
  /** Ends serving: no further calls are taken, and running ones have `graceMs` to finish. */
  signal?: AbortSignal | undefined;
  /** Default: 25 seconds. Calls that still run then are returned to the service for another process. */
  graceMs?: number | undefined;
  /** Default: everything except successful calls is written to the console. */
  onEvent?: ((event: ServeEvent) => void) | undefined;
};

const waitSeconds = 25;

/**
 * Answers the calls of your functions in all conversations of a deployment in the key's mode, until the signal is
 * aborted. Any number of processes may serve: each call is taken by one of them, and by another only after that one
 * died.
 */
export async function serveFunctions(client: Client, options: ServeOptions): Promise<void> {
  const { deployment, concurrency = 10, leaseSeconds = 30, graceMs = 25_000, onEvent = toConsole } = options;
  const functions = Object.fromEntries(
    Object.entries(options.functions).map(([name, each]) => [name, typeof each === 'function' ? { run: each } : each]),
  );
  const names = Object.keys(functions);
  if (names.length === 0) throw new TypeError('`functions` names no function.');
  const stopping = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const running = new Map<Promise<void>, HeldCall>();
  let failure: unknown;

  onEvent({ type: 'started', functions: names, warnings: await warningsOf(client, deployment, functions, signal) });
  try {
    await takeUntil(signal);
  } finally {
    await endRunning();
  }
  if (failure !== undefined) throw failure;

  async function takeUntil(ends: AbortSignal): Promise<void> {
    for (let attempt = 1; !ends.aborted; ) {
      if (running.size >= concurrency) {
        await Promise.race([...running.keys(), untilAborted(ends)]);
        continue;
      }
      const limit = Math.min(100, concurrency - running.size);
      const asked = { deployment_id: deployment, functions: names, limit, lease_s: leaseSeconds, wait_s: waitSeconds };
      const askedAt = performance.now();
      try {
        const { data } = await client.functions.take(asked, { signal: ends });
        for (const call of data) begin(call);
        attempt = 1;
        // A service that shuts down returns at once and must not be polled in a tight loop.
        if (data.length === 0 && performance.now() - askedAt < 1000) await client.backOff(1, ends);
      } catch (error) {
        if (ends.aborted) return;
        if (!isPassing(error)) throw error;
        onEvent({ type: 'away', error });
        await client.backOff(attempt++, ends);
      }
    }
  }

  function begin(call: TakenCall): void {
    onEvent({ type: 'taken', call });
    const held = holdCall(client, call, leaseSeconds);
    const answering = answer(call, held)
      .catch((error: unknown) => {
        // If an answer cannot be delivered, the error is thrown: the agent would otherwise wait unnoticed.
        failure ??= error;
        stopping.abort();
      })
      .finally(() => {
        held.end();
        running.delete(answering);
      });
    running.set(answering, held);
  }

  async function answer(call: TakenCall, held: HeldCall): Promise<void> {
    const begunAt = performance.now();
    const made = await carryOut(functions[call.name] as CompanyFunction, call, held);
    await held.told();
    if (held.signal.aborted && isGivenUp(held.signal.reason)) return;
    const code = await deliverAnswer(client, call.call_id, made.answer, undefined);
    if (code !== null) onEvent({ type: 'late', call, code });
    else if (made.error !== undefined) onEvent({ type: 'failed', call, error: made.error });
    else onEvent({ type: 'answered', call, ms: Math.round(performance.now() - begunAt) });
  }

  async function endRunning(): Promise<void> {
    let timer: NodeJS.Timeout | number | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(running.keys()), grace]);
    clearTimeout(timer);
    await Promise.all([...running.values()].map((held) => held.giveUp()));
  }
}

/** The reason of a lost claim is an error of the service. Any other reason is that this server stops. */
const isGivenUp = (reason: unknown) => !(reason instanceof VestraError);

async function warningsOf(
  client: Client,
  deployment: string,
  served: Readonly<Record<string, CompanyFunction>>,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const { data } = await client.functions.list({ deployment_id: deployment }, { signal });
    return differencesOf(deployment, data, served);
  } catch (error) {
    if (signal.aborted) return [];
    if (!(error instanceof VestraError) || error.code !== 'deployment_not_live') throw error;
    return [`No version of \`${deployment}\` is live yet: its functions are called once one is.`];
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Describes an event for the operator. */
export function lineOf(event: ServeEvent): string {
  switch (event.type) {
    case 'started':
      return [`Answering ${event.functions.join(', ')}.`, ...event.warnings].join('\n');
    case 'taken':
      return `${nameOf(event.call)} was called${event.call.attempt > 1 ? `, attempt ${event.call.attempt}` : ''}.`;
    case 'answered':
      return `${nameOf(event.call)} answered in ${event.ms} ms.`;
    case 'failed':
      return `${nameOf(event.call)} failed: ${detailsOf(event.error)}`;
    case 'late':
      return `${nameOf(event.call)} was answered too late: ${whyLate[event.code] ?? event.code}.`;
    case 'away':
      return `The server is unreachable. Retrying: ${messageOf(event.error)}`;
  }
}

const whyLate: Readonly<Record<string, string>> = {
  interaction_expired: 'its time was over, and the agent was informed',
  already_answered: 'it was answered already, or cancelled',
  interaction_not_found: 'its conversation is gone',
};

const nameOf = ({ name, call_id }: TakenCall) => `${name} (${call_id})`;
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
/** An error thrown on purpose needs no stack. */
const detailsOf = (error: unknown) =>
  error instanceof Error && !isToolError(error) ? (error.stack ?? error.message) : messageOf(error);

function toConsole(event: ServeEvent): void {
  if (event.type === 'taken' || event.type === 'answered') return;
  // biome-ignore lint/suspicious/noConsole: who gives no `onEvent` is still to see that a function fails.
  console.error(lineOf(event));
}

type Declared = { name: string; input_schema: Record<string, unknown> };
type Served = Readonly<Record<string, { input?: StandardSchema | undefined }>>;

/** The differences between the declared and the served functions, one sentence each. */
function differencesOf(deployment: string, declared: readonly Declared[], served: Served): string[] {
  const names = new Set(declared.map(({ name }) => name));
  const unknown = Object.keys(served).filter((name) => !names.has(name));
  const missing = declared.filter(({ name }) => !Object.hasOwn(served, name));
  return [
    ...unknown.map((name) => `\`${deployment}\` declares no function \`${name}\`: the agent does not call it.`),
    ...missing.map(({ name }) => `\`${deployment}\` declares \`${name}\`, and nothing here answers it.`),
    ...declared.flatMap(({ name, input_schema }) => {
      const input = Object.hasOwn(served, name) ? served[name]?.input : undefined;
      return input ? differencesOfInput(name, input_schema, input) : [];
    }),
  ];
}

/** Compares the names of arguments and which are required, because these decide whether calls succeed. */
function differencesOfInput(name: string, declared: Record<string, unknown>, input: StandardSchema): string[] {
  const schema = schemaOf(input);
  if (!schema) return [];
  const [told, taken] = [fieldsOf(declared), fieldsOf(schema)];
  const notGiven = [...taken.required].filter((field) => !told.required.has(field));
  const notTaken = [...told.names].filter((field) => taken.isClosed && !taken.names.has(field));
  return [
    ...notGiven.map((field) => {
      const why = told.names.has(field) ? 'the deployment lets the agent leave out' : 'the deployment does not declare';
      return `\`${name}\` needs \`${field}\`, which ${why}.`;
    }),
    ...notTaken.map((field) => `\`${name}\` does not accept \`${field}\`, which the deployment declares.`),
  ];
}

/** Null if the library cannot produce a schema. */
function schemaOf(input: StandardSchema): Record<string, unknown> | null {
  try {
    return input['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
  } catch {
    return null;
  }
}

function fieldsOf(schema: Record<string, unknown>) {
  const properties = schema.properties;
  return {
    names: new Set(typeof properties === 'object' && properties !== null ? Object.keys(properties) : []),
    required: new Set(Array.isArray(schema.required) ? schema.required.map(String) : []),
    isClosed: schema.additionalProperties === false,
  };
}

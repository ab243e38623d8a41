import type { InteractionDraft } from './interaction.ts';
import { runAgent } from './loop.ts';
import type { ToolCall } from './message.ts';
import type { Model, ModelEvent, ModelRequest } from './model.ts';
import type { FinalEnd, NewWait, Ports, RunEnd, RunStore, ToolOutcome } from './ports.ts';
import type { Run } from './progress.ts';
import type { CallResult, ModelStep, RecordedCall, Step, WaitOutcome, WaitPurpose } from './step.ts';
import type { Tool, ToolEffect } from './tool.ts';

/** The process crashed. */
class Crash extends Error {}

export type CrashPoint = 'none' | 'before' | 'after';

type Interaction = NewWait & { outcome: WaitOutcome | null };

/**
 * An in-memory `RunStore` that keeps the contract and rejects every violation. `crashes` lists, for each write, whether
 * the process dies before or after the write reaches the store.
 */
export function memoryStore(crashes: readonly CrashPoint[] = []) {
  let steps: Step[] = [];
  let end: FinalEnd | null = null;
  let writes = 0;
  /** A dead process writes nothing more. Its successor starts with `load`. */
  let isDead = false;
  let answeredSinceLoad = false;
  const interactions: Interaction[] = [];
  const deltas: { stepIndex: number; text: string }[] = [];
  /** Messages sent to the run while it works. */
  const notes: string[] = [];

  const write = async (apply: () => void) => {
    const crash = crashes[writes] ?? 'none';
    writes += 1;
    await Promise.resolve();
    isDead ||= crash === 'before';
    if (isDead) throw new Crash();
    if (end !== null) throw new Error('The run has ended, and something was written.');
    apply();
    isDead = crash === 'after';
    if (isDead) throw new Crash();
  };
  const change = (callId: string, to: (recorded: RecordedCall) => RecordedCall) => {
    if (!callsOf(steps).some(({ call }) => call.id === callId)) throw new Error(`No call ${callId} is recorded.`);
    const changed = (step: ModelStep): ModelStep => ({
      ...step,
      calls: step.calls.map((each) => (each.call.id === callId ? to(each) : each)),
    });
    steps = steps.map((step) => (step.kind === 'model' ? changed(step) : step));
  };
  const open = (recorded: RecordedCall) => {
    if (recorded.result !== null) throw new Error(`${recorded.call.id} has a result, and was touched again.`);
    return recorded;
  };
  const finish = (given: FinalEnd | null) => {
    if (given !== null) end = given;
  };

  const store: RunStore = {
    load: async () => {
      answeredSinceLoad = false;
      isDead = false;
      return structuredClone({ kind: 'recorded', steps, activeMs: 0 });
    },
    recordModelStep: (step, given) =>
      write(() => {
        if (callsOf(steps).some(({ result }) => result === null)) throw new Error('A call of the last step is open.');
        const ids = callsOf([...steps, step]).map(({ call }) => call.id);
        if (new Set(ids).size < ids.length) throw new Error('Two calls have the same id.');
        steps.push(structuredClone(step));
        finish(given);
      }),
    takeNotes: async () => {
      if (notes.length === 0) return [];
      const taken = notes.map((text) => ({ kind: 'note' as const, text }));
      await write(() => {
        notes.length = 0;
        steps.push(...taken);
      });
      return taken;
    },
    recordSummary: (step) => write(() => void steps.push(step)),
    recordStart: (callId) => write(() => change(callId, (each) => ({ ...open(each), isStarted: true }))),
    recordUnderWay: (callId, underWay) => write(() => change(callId, (each) => ({ ...open(each), underWay }))),
    recordResult: (callId, result, given) =>
      write(() => {
        change(callId, (each) => ({ ...open(each), result }));
        finish(given);
      }),
    wait: async (waits) => {
      await write(() => {
        for (const { callId, purpose } of waits) {
          change(callId, (each) => ({
            ...open(each),
            isStarted: false,
            waits: [...each.waits, { purpose, outcome: null }],
          }));
        }
        interactions.push(...waits.map((wait) => ({ ...wait, outcome: null })));
      });
      return answeredSinceLoad ? 'answered' : 'waiting';
    },
    recordEnd: (given) => write(() => finish(given)),
    appendText: async (stepIndex, text) => void deltas.push({ stepIndex, text }),
  };

  return {
    store,
    deltas,
    interactions,
    steps: () => steps,
    calls: () => callsOf(steps),
    end: () => end,
    answer: (interaction: Interaction, outcome: WaitOutcome) => {
      interaction.outcome = outcome;
      answeredSinceLoad = true;
      change(interaction.callId, (each) => ({
        ...each,
        waits: each.waits.map((wait) => (wait.outcome === null ? { ...wait, outcome } : wait)),
      }));
    },
  };
}

type MemoryStore = ReturnType<typeof memoryStore>;

export type ScriptedAnswer = { text?: string; calls?: readonly Omit<ToolCall, 'id'>[]; cut?: boolean };

/** Answers by the length of the conversation, so that a repeated request for a recorded step shows in the count. */
export function scriptedModel(answer: (turn: number, request: ModelRequest) => ScriptedAnswer) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    async *stream(request): AsyncGenerator<ModelEvent> {
      requests.push(request);
      const turn = request.messages.filter(({ role }) => role === 'agent').length;
      const { text = '', calls = [], cut = false } = answer(turn, request);
      for (const word of text.split(/(?<= )/)) if (word !== '') yield { type: 'text', text: word };
      for (const call of calls) yield { type: 'call', call: { ...call, id: 'call_1' } };
      yield {
        type: 'end',
        usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
        cut,
      };
    },
  };
  return { model, requests };
}

/** A tool runner that records its calls. */
export function toolLog(outcome: (call: ToolCall) => ToolOutcome | Promise<ToolOutcome>) {
  const ran: ToolCall[] = [];
  return {
    ran,
    runner: {
      validate: async ({ arguments: given }: ToolCall) =>
        typeof given === 'object' && given !== null && 'bad' in given
          ? { kind: 'error' as const, message: 'bad is not an argument.' }
          : { kind: 'ok' as const },
      run: async (call: ToolCall) => {
        ran.push(call);
        return outcome(call);
      },
    },
  };
}

export function portsWith(given: Pick<Ports, 'model' | 'store' | 'tools'> & Partial<Ports>): Ports {
  let ids = 0;
  return {
    budget: { mayContinue: async () => ({ kind: 'allowed', taskUsd: 0, turnUsd: null }) },
    hook: { mayRun: async () => ({ kind: 'allowed' }) },
    readMedia: async ({ fileId }) => new TextEncoder().encode(fileId),
    clock: silentClock,
    newCallId: () => {
      ids += 1;
      return `call_${ids}`;
    },
    isLeaving: () => false,
    ...given,
  };
}

/** A clock that stands still. */
export const silentClock: Ports['clock'] = { now: () => 0, alarm: () => () => {} };

/** A clock whose alarms the test rings: all that were set for this duration, and those set by them. */
export function handClock() {
  const alarms = new Set<{ ms: number; ring: () => void }>();
  return {
    now: () => 0,
    alarm: (ms: number, ring: () => void) => {
      const alarm = { ms, ring };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    ring: (ms: number) => {
      for (const alarm of [...alarms].filter((each) => each.ms === ms)) {
        alarms.delete(alarm);
        alarm.ring();
      }
    },
    pending: () => [...alarms].map(({ ms }) => ms),
  };
}

export function runWith(given: Partial<Run>): Run {
  return {
    model: 'scripted',
    contextTokens: 1_000_000,
    system: ['You are an agent.'],
    history: [{ role: 'user', parts: [{ kind: 'text', text: 'Please.' }] }],
    tools: [],
    approvals: [],
    limits: { max_steps: 100, max_minutes: 60 },
    output: null,
    fence: 'f3nce',
    signal: new AbortController().signal,
    ...given,
  };
}

/** Resumes after each crash and each answer, as jobs do. Null if it waits for an answer that does not come. */
export async function driveToEnd(
  run: Run,
  ports: Ports,
  memory: MemoryStore,
  outcomeOf: (call: ToolCall, purpose: WaitPurpose) => WaitOutcome | null = () => null,
): Promise<RunEnd | null> {
  for (let rounds = 0; rounds < 10_000; rounds += 1) {
    const end = await runAgent(run, ports).catch((error: unknown) => {
      if (error instanceof Crash) return null;
      throw error;
    });
    const recorded = memory.end();
    if (recorded !== null) return recorded;
    if (end?.kind !== 'waiting') continue;
    const answerable = memory.interactions
      .filter(({ outcome }) => outcome === null)
      .map((interaction) => ({ interaction, outcome: outcomeOf(callOf(memory, interaction), interaction.purpose) }))
      .filter(({ outcome }) => outcome !== null);
    if (answerable.length === 0) return null;
    for (const { interaction, outcome } of answerable) if (outcome) memory.answer(interaction, outcome);
  }
  throw new Error('The run does not settle.');
}

const callOf = (memory: MemoryStore, { callId }: Interaction) =>
  memory.calls().find(({ call }) => call.id === callId)?.call ?? { id: callId, name: '', arguments: {} };

const callsOf = (steps: readonly Step[]) => steps.flatMap((step) => (step.kind === 'model' ? step.calls : []));

export const noted = (output: string): CallResult => ({ output, isError: false, from: 'tool' });

const draft: InteractionDraft = {
  kind: 'custom',
  type: 'tool_call',
  summary: 'Asks.',
  moves_money: null,
  requires_present_user: false,
  details: {},
  expires_in_s: 120,
};

const asking: ToolEffect = { kind: 'ask', answeredBy: 'tool', draft: () => draft };
const noLists = { deny: [], require_approval: [], run_without_asking: [] };

function serverTool(name: string, is: { readOnly?: boolean; free?: boolean; denied?: boolean }): Tool {
  const policy = { ...noLists, run_without_asking: is.free ? [name] : [], deny: is.denied ? [name] : [] };
  return {
    definition: { name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
    origin: { from: 'server', name, floor: noLists, policy, isReadOnly: is.readOnly ?? false },
    server: 'shop',
    effect: { kind: 'run' },
  };
}

function functionTool(name: string, read_only: boolean): Tool {
  return {
    definition: { name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
    origin: { from: 'function', read_only, run_without_asking: false },
    server: null,
    effect: asking,
  };
}

function agentTool(name: string, effect: ToolEffect): Tool {
  return {
    definition: { name, description: `Does ${name}.`, inputSchema: { type: 'object' } },
    origin: { from: 'agent', isReadOnly: true },
    server: null,
    effect,
  };
}

/** One tool of each kind. */
export const tools = {
  look: serverTool('look', { readOnly: true }),
  change: serverTool('change', { free: true }),
  pay: serverTool('pay', {}),
  denied: serverTool('denied', { denied: true }),
  stock: functionTool('stock', true),
  order: functionTool('order', false),
  ask_question: agentTool('ask_question', { ...asking, answeredBy: 'person' }),
  finish: agentTool('finish', { kind: 'finish', answer: () => ({ text: 'Finished.', data: { ok: true } }) }),
  hand_off_to_work: agentTool('hand_off_to_work', { kind: 'hand_off' }),
} satisfies Record<string, Tool>;

export const ok = (output: string): ToolOutcome => ({ kind: 'result', output, isError: false });
export const call = (name: string, given: unknown = {}) => ({ name, arguments: given });

/** A run with all tools and these answers in order. */
export function scene(
  answers: readonly ScriptedAnswer[],
  options: { crashes?: CrashPoint[]; ports?: Partial<Ports> } = {},
) {
  const memory = memoryStore(options.crashes);
  const script = scriptedModel((turn) => answers[turn] ?? { text: 'Nothing more.' });
  const log = toolLog(({ name }) => ok(`${name} done`));
  const ports = portsWith({ model: script.model, store: memory.store, tools: log.runner, ...options.ports });
  const results = () => memory.calls().map(({ result }) => result);
  return { memory, script, log, ports, results, run: runWith({ tools: Object.values(tools) }) };
}

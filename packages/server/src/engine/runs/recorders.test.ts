import { setImmediate } from 'node:timers/promises';
import type { InteractionDraft } from '@vestra/agent/interaction';
import { ModelFailure, type Usage } from '@vestra/agent/model';
import type { CallResult, ModelStep, SummaryStep } from '@vestra/agent/step';
import { newId } from '@vestra/contract/ids';
import { flatPrice } from '@vestra/models/prices';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { createDeltaWriter } from '../../account/events/reply-deltas.ts';
import { insertOrg } from '../../account/orgs/store.ts';
import { createGroupCommit } from '../../platform/db/group-commit.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { one } from '../../platform/db/query.ts';
import { createRowCache } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { json } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type RunLease, RunTakenOver, takeRun } from '../../platform/jobs/run-lease.ts';
import { changeConversation } from '../records/change.ts';
import { insertConversation } from '../records/conversation-log.ts';
import { newConversationRow } from '../records/conversations.ts';
import { pendingInteractions } from '../records/interactions.ts';
import type { InteractionRow, TaskRow, TurnRow } from '../records/tables.ts';
import { insertTask } from '../records/tasks.ts';
import { insertTurn } from '../records/turns.ts';
import { resolveInteraction } from '../turns/interactions.ts';
import type { Engine } from './ports.ts';
import type { RunRecorder } from './recorder.ts';
import { createReplyRecorder } from './reply-recorder.ts';
import { createRunMoney } from './run-money.ts';
import { createTaskRecorder, type TaskRecorder } from './task-recorder.ts';

const tenant = { orgId: newId('org'), mode: 'test' as const };
const isAppConnected = vi.fn(async () => false);
/** Calls that reached followers of the conversation and the trace exporter. */
const outside = { published: vi.fn(), traced: vi.fn() };

let database: TestDatabase;
let db: Database;
let engine: Engine;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  const caps = { org_daily_micros: null, user_daily_micros: null };
  await insertOrg(db, { id: tenant.orgId, name: 'A', wrapped_data_key: Buffer.alloc(1) }, caps);
  const seen: Engine['seen']['conversations'] = createRowCache({ most: 100 });
  const writes = createGroupCommit(db);
  const parts: Partial<Engine> = {
    db,
    writes,
    appendDelta: createDeltaWriter(db, writes),
    seen: { conversations: seen, users: createRowCache({ most: 1 }), deployments: createRowCache({ most: 1 }) },
    announcer: { seen, followers: { publish: outside.published }, notify: () => {} },
    openTasks: { ofOrg: 100, ofUser: 100 },
    money: {
      hold: () => Promise.reject(new Error('nothing is held here')),
      hasWaiting: () => false,
      freed: () => {},
      waiting: () => ({ count: 0, longestMs: 0 }),
    },
    apps: { connectable: async () => [], find: (id) => ({ id, name: id }), isConnected: isAppConnected },
    jobs: { send: async () => '', sendMany: async () => [] },
    runner: { hasRoom: () => false } as Partial<Engine['runner']> as Engine['runner'],
    traces: { ended: outside.traced },
  };
  engine = parts as Engine;
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});
beforeEach(() => void vi.clearAllMocks());

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
const price = flatPrice(1, 4);
const model = { id: 'scripted', price, max_output_tokens: 100 };

const said = (words: string): ModelStep => ({
  kind: 'model',
  text: words,
  calls: [],
  notice: null,
  isCut: false,
  reasoning: null,
  usage,
});
const calling = (id: string, name: string, given: unknown = {}): ModelStep => ({
  ...said(''),
  calls: [{ call: { id, name, arguments: given }, waits: [], isStarted: false, result: null }],
});
const summary: SummaryStep = { kind: 'summary', text: 'In short.', covers: 1, usage };
const found: CallResult = { output: 'Found.', isError: false, from: 'tool' };
const answered = { kind: 'answered' as const, text: 'Done.', data: null, isCut: false };
const failedCall = (of: { usage?: Usage } = {}) => new ModelFailure('refused', 'It refused.', of);
const broken = { kind: 'failed' as const, code: 'model_error' as const, message: 'Broken.' };
const draft = (of: Pick<InteractionDraft, 'kind' | 'type'>, details = {}): InteractionDraft => ({
  ...of,
  summary: 'May I?',
  moves_money: false,
  requires_present_user: false,
  details,
  expires_in_s: null,
});
const plan = { steps: [{ content: 'Look', status: 'pending' }] };

type Subject = { turn: TurnRow; task: TaskRow | null; run: RunLease };

/** A running reply or task that this process owns. */
async function taken(kind: 'reply' | 'task', asks: Partial<TurnRow['request']> = {}): Promise<Subject> {
  const [conversationId, turnId] = [newId('conv'), newId('turn')];
  const isTask = kind === 'task';
  const of = {
    ...(isTask ? { open_tasks: 1 } : { replying_turn_id: turnId }),
    memory_due_at: new Date(),
    turn_count: 1,
  };
  const version = { deployment_id: newId('dep'), deployment_version: 1 };
  const { turn, task } = await transaction(db, async (tx) => {
    await insertConversation(tx, newConversationRow(tenant, conversationId, { ...of, ...version }));
    const ids = { org_id: tenant.orgId, mode: tenant.mode, conversation_id: conversationId, user_id: null, ...version };
    const turn = await insertTurn(tx, {
      ...ids,
      id: turnId,
      ordinal: 1,
      state: isTask ? 'working' : 'replying',
      request: { hand_off: 'auto', plan: false, ...asks },
      origin: 'message',
      message_id: newId('msg'),
      reply_message_id: newId('msg'),
      fence: 'f3nce',
    });
    const task = isTask
      ? await insertTask(tx, { ...ids, id: newId('task'), turn_id: turnId, status: 'working', fence: 'f3nce' })
      : null;
    return { turn, task };
  });
  await changeConversation(
    engine,
    conversationId,
    null,
    async ({ conversation }) => void Object.assign(conversation, of),
  );
  const run = await takeRun(db, { runId: task?.id ?? turnId, owner: 'here', leaseMs: 60_000 });
  return { turn, task, run };
}

type As = { isFirstRun?: boolean; awaitsPlan?: boolean; connected?: number };

function recordingOf({ turn, task, run }: Subject, { isFirstRun = true, connected = 0 }: As) {
  const { signal } = new AbortController();
  const runMoney = createRunMoney(engine, { tenant, subject: { turn, task }, run, model, hold: null, signal });
  return { run, isFirstRun, runMoney, connected, signal };
}

function replyRecorder(subject: Subject, as: As = {}): RunRecorder {
  const options = { remembers: false, hasNotebooks: false, storeSummary: () => {} };
  return createReplyRecorder(engine, subject.turn, recordingOf(subject, as), options);
}

function taskRecorder(subject: Subject, as: As = {}): TaskRecorder {
  const of = { turn: subject.turn, task: subject.task as TaskRow };
  return createTaskRecorder(engine, of, recordingOf(subject, as), {
    awaitsPlan: as.awaitsPlan ?? false,
    remembers: false,
    hasNotebooks: false,
    isJustBegun: false,
  });
}

async function allRows(): Promise<unknown> {
  const rowsOf = (table: string) => sql.raw(`(SELECT json_agg(t ORDER BY t::text) FROM ${table} t)`);
  const { rows } = await one(
    db,
    { rows: json() },
    sql`SELECT json_build_array(${rowsOf('conversations')}, ${rowsOf('conversation_events')}, ${rowsOf('events')},
      ${rowsOf('turns')}, ${rowsOf('tasks')}, ${rowsOf('messages')}, ${rowsOf('interactions')}, ${rowsOf('runs')},
      ${rowsOf('run_steps')}, ${rowsOf('run_calls')}, ${rowsOf('ledger_entries')}) AS rows`,
  );
  return rows;
}

type RecorderAction<R extends RunRecorder> = (recorder: R, callId: string, subject: Subject) => Promise<unknown>;

const permission = (callId: string) => ({
  callId,
  purpose: 'permission' as const,
  draft: draft({ kind: 'tool_permission', type: 'approval' }),
});

const ofBoth: [string, RecorderAction<RunRecorder>][] = [
  ['a step with calls', (recorder) => recorder.recordModelStep(calling(newId('call'), 'look'), null)],
  ['an answer', (recorder) => recorder.recordModelStep(said('Done.'), answered)],
  ['a summary', (recorder) => recorder.recordSummary(summary)],
  ['the start of a call', (recorder, callId) => recorder.recordStart(callId)],
  ['the result of a call', (recorder, callId) => recorder.recordResult(callId, found, null)],
  ['the result of a call that ends it', (recorder, callId) => recorder.recordResult(callId, found, answered)],
  ['a wait', (recorder, callId) => recorder.wait([permission(callId)])],
  ['a failure with usage', (recorder) => recorder.recordEnd(broken, failedCall({ usage }))],
  ['a failure without usage', (recorder) => recorder.recordEnd(broken, failedCall())],
  ['the hand-back', (recorder) => recorder.handBack()],
];

const ofReply: [string, RecorderAction<RunRecorder>][] = [
  ...ofBoth,
  [
    'an answer in a conversation that is not cached',
    (recorder, _callId, { turn }) => {
      engine.seen.conversations.forget(turn.conversation_id);
      return recorder.recordModelStep(said('Done.'), answered);
    },
  ],
  ['text', writeText],
];

const ofTask: [string, RecorderAction<TaskRecorder>][] = [
  ...ofBoth,
  [
    'the judgement',
    (recorder) => recorder.complete({ ...answered, outcome: { met: true, reason: 'So.', rounds: 1 } }, usage),
  ],
];

/** Text is written in the background: a failed write surfaces with the next piece. */
async function writeText(recorder: RunRecorder): Promise<void> {
  while (outside.published.mock.calls.length === 0) {
    await recorder.appendText(1, 'More. ');
    await setImmediate();
  }
  await recorder.recordEnd(broken, null);
}

/** A run that has called a tool, in a conversation that this process has cached. */
async function underWay<R extends RunRecorder>(kind: 'reply' | 'task', make: (subject: Subject) => R) {
  const subject = await taken(kind);
  const recorder = make(subject);
  await recorder.load();
  const callId = newId('call');
  await recorder.recordModelStep(calling(callId, 'look'), null);
  await changeConversation(engine, subject.turn.conversation_id, null, async ({ conversation }) => {
    conversation.last_active_at = new Date();
  });
  vi.clearAllMocks();
  return { subject, recorder, callId };
}

function testFencing<R extends RunRecorder>(
  kind: 'reply' | 'task',
  make: (subject: Subject) => R,
  actions: [string, RecorderAction<R>][],
) {
  describe(`the recorder of a ${kind}`, () => {
    it.each(actions)('writes %s while it owns the run', async (_what, act) => {
      const { subject, recorder, callId } = await underWay(kind, make);
      const before = await allRows();
      await act(recorder, callId, subject);
      expect(await allRows()).not.toEqual(before);
    });

    it.each(actions)('writes nothing for %s after another process took the run over [JOB-006]', async (_what, act) => {
      const { subject, recorder, callId } = await underWay(kind, make);
      await takeRun(db, { runId: subject.run.runId, owner: 'there', leaseMs: 60_000 });
      const before = await allRows();
      await expect(act(recorder, callId, subject)).rejects.toThrow(RunTakenOver);
      expect(await allRows()).toEqual(before);
      expect([outside.published.mock.calls, outside.traced.mock.calls]).toEqual([[], []]);
    });
  });
}

testFencing('reply', replyRecorder, ofReply);
testFencing('task', taskRecorder, ofTask);

describe('a run is assembled again', () => {
  it.each([
    ['reply', replyRecorder],
    ['task', taskRecorder],
  ] as const)('as a %s, with the tools of an app that was connected meanwhile', async (kind, make) => {
    const { subject, recorder, callId } = await underWay<RunRecorder>(kind, make);
    isAppConnected.mockResolvedValueOnce(true);
    const connect = draft({ kind: 'connector_auth', type: 'connect' }, { app: 'shop' });
    expect(await recorder.wait([{ callId, purpose: 'connection', draft: connect }])).toBe('answered');
    expect(await recorder.load()).toEqual({ kind: 'take_up_anew' });
    const reassembled = make(subject, { isFirstRun: false, connected: 1 });
    expect(await reassembled.load()).toMatchObject({
      kind: 'recorded',
      steps: [{ calls: [{ call: { id: callId } }] }],
    });
  });

  it('with all tools if its plan was approved meanwhile', async () => {
    const subject = await taken('task', { plan: true });
    const first = taskRecorder(subject, { awaitsPlan: true });
    await first.load();
    const callId = newId('call');
    await first.recordModelStep(calling(callId, 'update_plan', plan), null);
    const exitPlan = draft({ kind: 'exit_plan', type: 'approval' });
    expect(await first.wait([{ callId, purpose: 'permission', draft: exitPlan }])).toBe('waiting');

    const again = { ...subject, run: await takeRun(db, { runId: subject.run.runId, owner: 'here', leaseMs: 60_000 }) };
    const recorder = taskRecorder(again, { isFirstRun: false, awaitsPlan: true });
    expect(await recorder.load()).toMatchObject({ kind: 'recorded', steps: [{}] });
    await approvePlanOf(subject);
    expect(await recorder.wait([])).toBe('answered');
    expect(await recorder.load()).toEqual({ kind: 'take_up_anew' });
    const reassembled = taskRecorder(again, { isFirstRun: false, awaitsPlan: false });
    expect(await reassembled.load()).toMatchObject({
      kind: 'recorded',
      steps: [{ calls: [{ waits: [{ outcome: { decision: 'approved' } }] }] }],
    });
  });
});

const approvePlanOf = ({ turn }: Subject) =>
  changeConversation(engine, turn.conversation_id, null, async (change) => {
    const [plan] = await pendingInteractions(change.tx, [turn.conversation_id]);
    await resolveInteraction(engine, change, plan as InteractionRow, { status: 'resolved', decision: 'approved' });
  });

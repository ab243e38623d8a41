import { describe, expect, it } from 'vitest';
import { costOfKinds } from '../../billing/index.ts';
import { collectEvents } from '../records/change.ts';
import { newConversationRow } from '../records/conversations.ts';
import type { TaskRow, TurnRow } from '../records/tables.ts';
import { type Admission, decideTask, decideTurn, type NewMessage } from './begin-turn.ts';
import { decideEnd, publishResult, publishSettled, type RunEnd } from './end-run.ts';

const admission = { version: 3, readsNewest: true, functions: ['book'], model: {} } as unknown as Admission;
const request: NewMessage['request'] = { hand_off: 'auto', plan: false };
const message: NewMessage = { text: 'Hello', context: null, attachments: [], request, origin: 'message' };
const conversation = newConversationRow({ orgId: 'org_1', mode: 'test' }, 'conv_1', { deployment_id: 'dep_1' });

const begun = decideTurn(conversation, admission, message, collectEvents());
const turn: TurnRow = { ...begun.turn, active_ms: 40 };
const { task } = decideTask(
  begun.conversation,
  turn,
  { status: 'working', title: null, ask: 'Hello', brief: null, acknowledgement: 'On it.', unstreamed: 'On it.' },
  collectEvents(),
);

const said = { whole: 'Hello there', unstreamed: 'there' };
const silent = { whole: ' ', unstreamed: '' };
const error = { code: 'model_error', message: 'The model failed.' };
const limit = { reason: 'max_budget' as const, message: 'The limit was reached.' };
const answered: RunEnd = { kind: 'answered', said, data: { a: 1 }, isCut: true };

/** The rows and event types of an end. */
function ended(of: { turn: TurnRow; task: TaskRow | null }, end: RunEnd) {
  const decision = decideEnd(of, end);
  const events = collectEvents();
  const done = of.task && { ...of.task, ...decision.task };
  publishResult(events, { ...decision, task: done }, end, done && costOfKinds({}));
  publishSettled(events, { ...of.turn, ...decision.turn, task_id: of.task?.id ?? null }, 0n);
  return {
    turn: [decision.turn.state, decision.turn.error_code ?? null, decision.turn.reply_text ?? null],
    task: decision.task && [decision.task.status, decision.task.error_code ?? null, decision.task.result_text ?? null],
    line: decision.message && [decision.message.role, decision.message.text],
    log: events.logged.map(({ type }) => type),
    webhooks: events.emitted.map(({ type }) => type),
  };
}

describe('the end of a reply', () => {
  it.each<[string, RunEnd, Partial<ReturnType<typeof ended>>]>([
    [
      'with an answer settles the turn with its text',
      answered,
      {
        turn: ['settled', null, 'Hello there'],
        line: ['agent', 'Hello there'],
        log: ['reply.delta', 'reply.completed', 'turn.settled'],
        webhooks: ['reply.completed'],
      },
    ],
    [
      'by a failure keeps the text that the user has seen',
      { kind: 'failed', said, error },
      {
        turn: ['failed', 'model_error', null],
        line: ['agent', 'Hello there'],
        log: ['reply.delta', 'reply.completed', 'turn.failed', 'turn.settled'],
        webhooks: ['reply.completed', 'turn.failed'],
      },
    ],
    [
      'by a failure before any text leaves no message',
      { kind: 'failed', said: silent, error },
      { turn: ['failed', 'model_error', null], line: null, log: ['turn.failed', 'turn.settled'] },
    ],
    [
      'by a person is no error',
      { kind: 'stopped', said: silent, error: null },
      { turn: ['stopped', null, null], line: null, log: ['turn.settled'], webhooks: [] },
    ],
  ])('%s', (_title, end, expected) => {
    expect(ended({ turn, task: null }, end)).toMatchObject({ task: null, ...expected });
  });
});

describe('the end of a task', () => {
  it.each<[string, RunEnd, Partial<ReturnType<typeof ended>>]>([
    [
      'with an answer settles its turn with the same text',
      answered,
      {
        turn: ['settled', null, 'Hello there'],
        task: ['done', null, 'Hello there'],
        line: ['work', 'Hello there'],
        log: ['reply.delta', 'reply.completed', 'task.completed', 'turn.settled'],
        webhooks: ['reply.completed', 'task.completed'],
      },
    ],
    [
      'by a failure leaves a line, and only the task reports it',
      { kind: 'failed', said: silent, error },
      {
        turn: ['failed', 'model_error', null],
        task: ['failed', 'model_error', null],
        line: ['work', 'This work could not be finished.'],
        log: ['task.failed', 'turn.settled'],
        webhooks: ['task.failed'],
      },
    ],
    [
      'by a limit is stopped with its reason',
      { kind: 'stopped', said: silent, error: { code: limit.reason, message: limit.message }, cause: limit },
      {
        turn: ['stopped', 'max_budget', null],
        task: ['failed', 'max_budget', null],
        line: ['work', 'This work could not be finished.'],
        log: ['task.stopped', 'turn.settled'],
      },
    ],
    [
      'because its user or deployment is gone is stopped with that reason',
      {
        kind: 'stopped',
        said: silent,
        error: { code: 'user_disabled', message: 'The user was disabled.' },
        taskError: { code: 'user_disabled', message: 'The user was disabled.' },
        cause: { reason: 'user_disabled', message: 'The user was disabled.' },
      },
      {
        turn: ['stopped', 'user_disabled', null],
        task: ['failed', 'user_disabled', null],
        line: ['work', 'This work was stopped before it was finished.'],
        log: ['task.stopped', 'turn.settled'],
      },
    ],
    [
      'by a person is an error of the task alone',
      { kind: 'stopped', said: silent, error: null, taskError: { code: 'stopped', message: 'The work was stopped.' } },
      {
        turn: ['stopped', null, null],
        task: ['failed', 'stopped', null],
        line: ['work', 'This work was stopped before it was finished.'],
        log: ['task.stopped', 'turn.settled'],
      },
    ],
  ])('%s', (_title, end, expected) => {
    expect(ended({ turn, task }, end)).toMatchObject(expected);
  });

  it('stores the verdict of the judge', () => {
    const end: RunEnd = { ...answered, outcome: { met: false, reason: 'No total.', rounds: 2 } };
    expect(decideEnd({ turn, task }, end).task).toMatchObject({ outcome_met: false, outcome_reason: 'No total.' });
  });

  it.each([answered, { kind: 'failed' as const, said, error }])(
    'stores how long processes worked on it: $kind',
    (end) => {
      expect(decideEnd({ turn, task: { ...task, active_ms: 70 } }, end)).toMatchObject({
        turn: { active_ms: 40 },
        task: { active_ms: 70 },
      });
    },
  );
});

describe('a message', () => {
  const replying = { ...conversation, replying_turn_id: 'turn_0' };
  const log = (before: typeof conversation, of: Partial<NewMessage>) => {
    const events = collectEvents();
    const decided = decideTurn(before, admission, { ...message, ...of }, events);
    return { ...decided, log: events.logged.map(({ type }) => type) };
  };

  it.each<[string, typeof conversation, Partial<NewMessage>, string, string[], Partial<typeof conversation>]>([
    ['starts a reply', conversation, {}, 'replying', ['turn.started'], { queued_turns: 0, turn_count: 1 }],
    ['waits behind a reply', replying, {}, 'queued', [], { queued_turns: 1, replying_turn_id: 'turn_0' }],
    [
      'that asks for a task starts it beside a reply',
      replying,
      { request: { hand_off: 'always', plan: false } },
      'working',
      ['turn.started'],
      { queued_turns: 0, replying_turn_id: 'turn_0' },
    ],
  ])('%s', (_title, before, of, state, events, changed) => {
    const decided = log(before, of);
    expect([decided.turn.state, decided.log]).toEqual([state, events]);
    expect(decided.conversation).toMatchObject({ deployment_version: 3, ...changed });
    // A queued reply reads the history when it starts.
    expect(decided.turn.history_until).toBe(state === 'queued' ? null : decided.asked.id);
  });

  it('of a test run reads the content that its version fixes', () => {
    expect(log(conversation, {}).turn.reads_newest).toBe(true);
    expect(log(conversation, { origin: 'test' }).turn.reads_newest).toBe(false);
  });

  it('cannot redeclare a function of the version', () => {
    const tools = [{ name: 'book' }] as never;
    expect(() => log(conversation, { request: { ...request, tools } })).toThrow(/has a function of this name/);
  });
});

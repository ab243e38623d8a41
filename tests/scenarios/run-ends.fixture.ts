import { readdir, readFile } from 'node:fs/promises';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { expect } from 'vitest';
import type { AgentServer, StreamEvent } from '../support/agent.ts';
import { query } from '../support/database.ts';
import type { ApiResponse } from '../support/server.ts';
import { door } from './conversations.fixture.ts';
import { calling } from './interactions.fixture.ts';
import { shown, sum } from './money.fixture.ts';

type Body = ApiResponse['body'];

/** Everything that a reply or task can be doing when it ends. */
export const states = [
  'model call of a reply',
  'model call of a task',
  'tool call',
  'command',
  'browser page',
  'open question',
  'approval',
  'queued',
] as const;
export type State = (typeof states)[number];

const isTask: Record<State, boolean> = {
  'model call of a reply': false,
  'model call of a task': true,
  'tool call': false,
  command: true,
  'browser page': true,
  'open question': false,
  approval: true,
  queued: false,
};

/** The tools of the deployments in which the runs are. */
export const tools = [
  { function: 'look_up', description: 'Look up an order.', input: { order: 'string' }, read_only: true },
  { function: 'order_paper', description: 'Order paper.', input: { sheets: 'integer' } },
];

/** One conversation that was brought into a state. */
export type OpenRun = {
  state: State;
  isTask: boolean;
  user: string;
  id: string;
  /** The turn and, in a task, the task of the run. */
  turnId: string;
  taskId: string | null;
  /** Lets the model and the people answer, so that the run continues. */
  release: () => Promise<void>;
  /** The request of the reply to a later message. */
  asked: NormalisedRequest[];
};

type Options = {
  state: State;
  deployment: string;
  user: string;
  key?: string;
  /** The model hangs in the middle of its answer and never ends it. Otherwise it answers when the run is released. */
  hangs: boolean;
  /** Asks a question first, so that the time that was used can be set before the state begins. */
  asksFirst: boolean;
  /** The answers after the state: a result, or one call after another. */
  goesOn: boolean;
};

type Cell = Options & { number: number; gate: ReturnType<typeof door>; heard: number; next: NormalisedRequest[] };

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(server: AgentServer, payPage: string) {
  const cells = new Map<number, Cell>();
  const sql = (text: string, values: unknown[] = []) => query(server.connectionString, text, values);

  server.script(async (request) => {
    const told = JSON.stringify(request.messages);
    const cell = cells.get(Number(/\[cell (\d+)\]/.exec(told)?.[1]));
    if (!cell) return { fail: 500 };
    const said = request.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
    const asked = said.findLast((text) => /\[cell \d+\]/.test(text)) ?? '';
    if (asked.includes('[later]')) {
      cell.next.push(request);
      return { text: 'I see.' };
    }
    return answerOf(cell, request, asked.includes('[second]'));
  });

  async function answerOf(cell: Cell, request: NormalisedRequest, isSecond: boolean): Promise<ScriptedAnswer> {
    const after: ScriptedAnswer = cell.goesOn ? calling('no_such_tool') : { text: 'Done.' };
    if (isSecond) return after;
    const step = stepsIn(request) - Number(cell.asksFirst);
    if (step < 0) return calling('ask_question', { question: 'Begin?' });
    const model = async (): Promise<ScriptedAnswer> => {
      cell.heard += 1;
      if (cell.hangs) return { text: ['One ', 'two '], fail: 'hang' };
      await cell.gate.opened;
      return after;
    };
    switch (cell.state) {
      case 'model call of a reply':
      case 'model call of a task':
      case 'queued':
        return step === 0 ? model() : after;
      case 'browser page':
        if (step === 0) return calling('browser_open', { url: payPage });
        return step === 1 ? model() : after;
      case 'tool call':
        return step === 0 ? calling('look_up', { order: '1' }) : after;
      case 'open question':
        return step === 0 ? calling('ask_question', { question: 'Which size?' }) : after;
      case 'approval':
        return step === 0 ? calling('order_paper', { sheets: 1 }) : after;
      case 'command':
        return step === 0 ? calling('run_command', { command: commandOf(cell) }) : after;
    }
  }

  const pending = async (id: string): Promise<Body[]> =>
    (await server.call('GET', `/v1/interactions?conversation_id=${id}`)).body.data;

  async function answerAll(id: string): Promise<void> {
    for (const { id: of, type } of await pending(id)) {
      const body = {
        approval: { approve: true, present_user: true },
        tool_call: { output: 'Found.' },
        question: { answers: ['Yes'] },
      };
      const { status, text } = await server.call('POST', `/v1/interactions/${of}/answer`, {
        body: body[type as keyof typeof body],
      });
      if (status !== 200) throw new Error(text);
    }
  }

  async function open(options: Options): Promise<OpenRun> {
    const cell: Cell = { ...options, number: cells.size + 1, gate: door(), heard: 0, next: [] };
    cells.set(cell.number, cell);
    const key = options.key ?? server.testKey;
    const begun = await server.call('POST', '/v1/conversations', {
      key,
      body: {
        user_id: cell.user,
        deployment: cell.deployment,
        message: `[cell ${cell.number}] Begin`,
        ...(isTask[cell.state] && { hand_off: 'always' }),
      },
    });
    if (begun.status !== 201) throw new Error(begun.text);
    const { id } = begun.body;
    if (cell.state === 'queued') {
      const sent = await server.call('POST', `/v1/conversations/${id}/messages`, {
        key,
        body: { message: `[cell ${cell.number}] [second]` },
      });
      if (sent.status !== 202) throw new Error(sent.text);
    }
    const [turn] = await sql('SELECT id FROM turns WHERE conversation_id = $1 ORDER BY ordinal LIMIT 1', [id]);
    const task = async () => (await server.call('GET', `/v1/tasks?conversation_id=${id}`)).body.data[0];
    const run: OpenRun = {
      state: cell.state,
      isTask: isTask[cell.state],
      user: cell.user,
      id,
      turnId: (turn as Body).id,
      taskId: isTask[cell.state] ? (await task()).id : null,
      asked: cell.next,
      async release() {
        cell.gate.open();
        await expect
          .poll(
            async () => {
              await answerAll(id);
              return (await server.call('GET', `/v1/conversations/${id}`)).body.status;
            },
            { timeout: 60_000 },
          )
          .toBe('idle');
      },
    };
    if (cell.asksFirst) await expect.poll(() => pending(id)).toHaveLength(1);
    else await reached(cell, run);
    return run;
  }

  /** Waits until the run is in its state. */
  async function reached(cell: Cell, run: OpenRun): Promise<void> {
    const runId = run.taskId ?? run.turnId;
    const held = (which: string) => sql(`SELECT FROM reservations WHERE run_id = $1 AND ${which}`, [runId]);
    if (['tool call', 'open question', 'approval'].includes(cell.state)) {
      await expect.poll(() => pending(run.id)).toHaveLength(1);
    } else if (cell.state === 'command') {
      // By more than a second that is rounded to one.
      await expect.poll(() => held(`metered_since < clock_timestamp() - interval '1.1 seconds'`)).toHaveLength(1);
    } else {
      // An earlier call of the run may be in use as well, so the one that hangs is waited for first.
      await expect.poll(() => cell.heard).toBeGreaterThan(0);
      if (cell.hangs) await expect.poll(() => held('used IS NOT NULL AND metered_since IS NULL')).toHaveLength(1);
    }
  }

  return { open, sql, answerAll, isRunning: (run: OpenRun) => isRunning(commandMark(run.user)) };
}

const stepsIn = ({ messages }: NormalisedRequest) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(asked).filter(({ role }) => role === 'agent').length;
};

/** A command is found among all processes by the name of its user. */
const commandMark = (user: string) => `vestra-run-${user}`;

/** A run that continues waits for the end of its command; one that is ended must not. */
const commandOf = ({ user, hangs, asksFirst }: Cell) => `sleep ${hangs || asksFirst ? 300 : 3}; : ${commandMark(user)}`;

async function isRunning(mark: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.includes(mark));
}

const endsOfTask = ['task.completed', 'task.failed', 'task.stopped'];

/** The whole log of a conversation. */
export async function logOf(server: AgentServer, id: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const path = `/v1/conversations/${id}/events?format=json&limit=100&after=${after}`;
    const page: Body = (await server.call('GET', path)).body;
    events.push(...page.data);
    after = page.next_after;
  }
  return events;
}

/** The faults in the events and the money of a conversation in which nothing is open any more. */
export async function faultsOf(server: AgentServer, id: string): Promise<string[]> {
  const faults: string[] = [];
  const check = (isFine: boolean, fault: string) => isFine || faults.push(fault);
  const log = await logOf(server, id);
  const ofType = (...types: string[]) => log.filter(({ type }) => types.includes(type));
  const same = (one: string[], other: string[]) => JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());

  check(
    log.every(({ seq }, at) => seq === at + 1),
    `seq has a gap: ${log.map(({ seq }) => seq)}`,
  );
  const [started, settled] = [ofType('turn.started'), ofType('turn.settled')].map((events) =>
    events.map(({ turn_id }) => turn_id as string),
  ) as [string[], string[]];
  check(same(started, settled), `turn.started ${started}, turn.settled ${settled}`);
  // The deletion of a task empties its earlier events. If it ran, those of its stop follow.
  const deleted = new Set(ofType('task.deleted').map(({ task_id }) => task_id));
  const interactions = (type: string) =>
    ofType(type).flatMap(({ task_id, data }) => (deleted.has(task_id) ? [] : (data.interaction ?? [])));
  const asked = interactions('interaction.created').filter(({ status }) => status === 'pending');
  const resolved = interactions('interaction.resolved');
  check(
    same(
      asked.map(({ id: of }) => of),
      resolved.map(({ id: of }) => of),
    ),
    `interactions ${asked.length} created, ${resolved.length} resolved`,
  );
  const { data: tasks } = (await server.call('GET', `/v1/tasks?conversation_id=${id}&limit=100`)).body;
  const ended = ofType(...endsOfTask).map(({ task_id }) => task_id as string);
  check(
    tasks.every((task: Body) => ended.includes(task.id)) && new Set(ended).size === ended.length,
    `tasks ${tasks.map((task: Body) => task.id)}, ends of tasks ${ended}`,
  );
  check(
    tasks.every(({ status }: Body) => status === 'done' || status === 'failed'),
    `open tasks: ${tasks.map(({ status }: Body) => status)}`,
  );

  const { body: conversation } = await server.call('GET', `/v1/conversations/${id}`);
  check(conversation.status === 'idle', `the conversation is ${conversation.status}`);
  const turns = ofType('turn.settled').map(({ data }) => data.turn);
  const { total } = (await server.call('GET', `/v1/usage/line-items?conversation_id=${id}`)).body;
  // Each turn is rounded to a hundred-thousandth of a dollar.
  const isSum =
    turns.includes(undefined) || Math.abs(sum(turns) - total.cost_usd) < 0.000011 * Math.max(1, turns.length);
  check(
    conversation.cost_usd === shown(total.cost_usd) && isSum,
    `cost ${conversation.cost_usd}, turns ${turns.map((turn) => turn?.cost_usd)}, line items ${total.cost_usd}`,
  );
  const held = await query(
    server.connectionString,
    `SELECT FROM reservations r WHERE EXISTS (
       SELECT FROM turns t WHERE t.conversation_id = $1 AND (r.run_id = t.id OR r.run_id = t.task_id))`,
    [id],
  );
  check(held.length === 0, `${held.length} reservations are left`);
  return faults;
}

export async function lineItemsOf(server: AgentServer, id: string): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor = ''; ; ) {
    const path = `/v1/usage/line-items?conversation_id=${id}&limit=100${cursor}`;
    const { body } = await server.call('GET', path);
    items.push(...body.data);
    if (body.next_cursor === null) return items;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

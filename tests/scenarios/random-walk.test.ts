import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import type { ApiResponse } from '../support/server.ts';
import { askedFor, startTalk, type Talk } from './conversations.fixture.ts';
import { calling } from './interactions.fixture.ts';
import { faultsOf, tools } from './run-ends.fixture.ts';

/** `VESTRA_WALK_OPERATIONS=2000 VESTRA_WALK_SEED=7` repeats a long walk. */
const operations = Number(process.env.VESTRA_WALK_OPERATIONS ?? 150);
const seed = Number(process.env.VESTRA_WALK_SEED ?? 4711);
const conversations = 6;
const kills = Math.ceil(operations / 75);

/** It accepts requests and runs nothing: the runs are in two processes beside it, which are killed. */
let server: Talk;
let data: Awaited<ReturnType<typeof makeDataDir>>[];
const workers: ServerProcess[] = [];
beforeAll(async () => {
  server = await startTalk({ VESTRA_ROLE: 'api' });
  await server.apply({ name: 'desk', memory: 'none', tools });
  data = [await makeDataDir(), await makeDataDir()];
  await Promise.all([startWorker(0), startWorker(1)]);
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
  await server.stop();
  await Promise.all(data.map(({ remove }) => remove()));
});

async function startWorker(at: number): Promise<void> {
  workers[at] = await startProcess(data[at]?.dataDir ?? '', {
    ...server.env,
    VESTRA_ROLE: 'worker',
    DATABASE_URL: server.connectionString,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_COMPUTER: 'off',
    // Long enough that a slow machine takes nobody for dead who is not.
    VESTRA_LEASE_SECONDS: '8',
  });
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const kinds = ['plain', 'slow', 'hang', 'fail', 'question', 'tool', 'approval', 'loop'] as const;

/** The message says what the model does with it. */
function respond(request: NormalisedRequest): ScriptedAnswer {
  const isFirst = request.messages.at(-1)?.role !== 'tool';
  const kind = /\[(\w+)\]/.exec(askedFor(request))?.[1];
  if (kind === 'slow') return { text: ['One ', 'two ', 'three.'], chunkDelayMs: 50 };
  if (kind === 'hang') return { text: ['One ', 'two '], fail: 'hang' };
  if (kind === 'fail') return { fail: 400 };
  if (isFirst && kind === 'question') return calling('ask_question', { question: 'Which size?' });
  if (isFirst && kind === 'tool') return calling('look_up', { order: '1' });
  if (isFirst && kind === 'approval') return calling('order_paper', { sheets: 1 });
  if (isFirst && kind === 'loop') return calling('no_such_tool');
  return { text: 'Done.' };
}

it(
  `a walk of ${operations} operations over ${conversations} conversations leaves nothing open [RUN-705]`,
  async () => {
    const random = createRandom(seed);
    const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
    server.script(respond);
    let users = 0;
    const create = async () => {
      users += 1;
      const user = `walk-${users}`;
      const { id } = await server.begin({ user_id: user });
      return { id, user };
    };
    const slots = await Promise.all(Array.from({ length: conversations }, create));
    const faults: string[] = [];
    const call = async (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
      const answer = await server.call(method, path, body === undefined ? {} : { body });
      if (answer.status >= 500) faults.push(`${method} ${path}: ${answer.text}`);
      return answer;
    };
    const listed = async (path: string): Promise<{ id: string; type?: string }[]> =>
      (await call('GET', path)).body.data ?? [];

    type Slot = (typeof slots)[number];
    const renew = async (at: number) => {
      slots[at] = await create();
    };
    const steps: Record<string, (slot: Slot, at: number) => Promise<unknown>> = {
      send: ({ id }) => {
        const body = {
          message: `[${oneOf(kinds)}] Go on`,
          ...(random() < 0.3 && { when_busy: 'interrupt' }),
          ...(random() < 0.4 && { hand_off: 'always' }),
        };
        return call('POST', `/v1/conversations/${id}/messages`, body);
      },
      async answer({ id }) {
        const open = oneOf(await listed(`/v1/interactions?conversation_id=${id}`));
        const answers = {
          approval: { approve: random() < 0.7, present_user: true },
          tool_call: { output: 'Found.' },
          question: { answers: ['Yes'] },
        };
        if (open) await call('POST', `/v1/interactions/${open.id}/answer`, answers[open.type as keyof typeof answers]);
      },
      async cancel({ id }) {
        const open = oneOf(await listed(`/v1/interactions?conversation_id=${id}`));
        if (open) await call('POST', `/v1/interactions/${open.id}/cancel`);
      },
      stop: ({ id }) => call('POST', `/v1/conversations/${id}/stop`),
      async deleteTask({ id }) {
        const task = oneOf(await listed(`/v1/tasks?conversation_id=${id}`));
        if (task) await call('DELETE', `/v1/tasks/${task.id}`);
      },
      async deleteConversation({ id }, at) {
        await call('DELETE', `/v1/conversations/${id}`);
        await renew(at);
      },
      async disable({ user }) {
        await call('PATCH', `/v1/users/${user}`, { status: 'disabled' });
        // Half of the users are enabled again before their runs have been stopped.
        if (random() < 0.5) await server.until(`/v1/conversations?user_id=${user}`, areIdle);
        await call('PATCH', `/v1/users/${user}`, { status: 'active' });
      },
      async erase({ user }, at) {
        await call('DELETE', `/v1/users/${user}`);
        await renew(at);
      },
      async kill() {
        const at = Math.floor(random() * workers.length);
        await workers[at]?.kill('SIGKILL');
        await startWorker(at);
      },
    };
    const areIdle = ({ data: rows }: ApiResponse['body']) =>
      rows.every(({ status }: { status: string }) => status === 'idle');
    const weights = {
      send: 46,
      answer: 20,
      cancel: 5,
      stop: 8,
      deleteTask: 5,
      deleteConversation: 4,
      disable: 5,
      erase: 4,
    };
    const bag = Object.entries(weights).flatMap(([name, weight]) => Array<string>(weight).fill(name));
    const killAt = new Set(Array.from({ length: kills }, () => Math.floor(random() * operations)));

    for (let operation = 0; operation < operations; operation++) {
      const at = Math.floor(random() * conversations);
      const name = killAt.has(operation) ? 'kill' : (oneOf(bag) as string);
      await steps[name]?.(slots[at] as Slot, at);
    }

    for (const { id } of slots) await call('POST', `/v1/conversations/${id}/stop`);
    await expect
      .poll(() => query(server.connectionString, 'SELECT FROM users WHERE erasing_since IS NOT NULL'), {
        timeout: 60_000,
      })
      .toEqual([]);
    for (const { id } of slots) {
      await server.rest(id);
      faults.push(...(await faultsOf(server, id)).map((fault) => `${id}: ${fault}`));
    }
    const left = (what: string) => query(server.connectionString, `SELECT FROM ${what}`);
    // A killed process may have left a hold, which the next sweep of the others deletes.
    await expect.poll(() => left('reservations'), { timeout: 60_000 }).toEqual([]);
    expect({
      faults,
      turns: (await left('turns WHERE settled_at IS NULL')).length,
      tasks: (await left(`tasks WHERE status IN ('queued', 'working', 'waiting')`)).length,
      interactions: (await left(`interactions WHERE status = 'pending'`)).length,
      runs: (await left('runs')).length,
    }).toEqual({ faults: [], turns: 0, tasks: 0, interactions: 0, runs: 0 });

    const entries = await query(
      server.connectionString,
      `SELECT COALESCE(sum(amount_micros), 0)::int AS micros FROM ledger_entries WHERE account = 'spend' AND mode = 'test'`,
    );
    const { body: usage } = await call('GET', '/v1/usage?group_by=user');
    // The rows come in pages; the total covers all of them.
    expect(Math.abs(usage.total.cost_usd * 1_000_000 - entries[0]?.micros)).toBeLessThan(10);
  },
  operations * 4_000,
);
